"""Errors of mechanisms beside each other: the ratios of section 5.6, and one distance for all."""

from __future__ import annotations

import numpy as np
import pytest

import ldpkit
from ldpkit.core.errors import InvalidParameterError
from ldpkit.planning.optimal.errors import arc_error, compare_errors


def of(found, name, epsilon):
    return next(row for row in found.found if (row.mechanism, row.epsilon) == (name, epsilon))


def test_the_ratios_of_the_whole_domain():
    found = compare_errors(["ogpm", "compressed_pm", "compressed_sw"], [2.0, 4.0], points=129)
    for epsilon, ratios in ((2.0, (0.9422, 0.9232)), (4.0, (0.9048, 0.7472))):
        for name, ratio in zip(("compressed_pm", "compressed_sw"), ratios, strict=True):
            mean = of(found, "ogpm", epsilon).mean / of(found, name, epsilon).mean
            assert mean == pytest.approx(ratio, abs=2e-4)
    assert of(found, "ogpm", 2.0).worst_at in (0.0, 1.0)
    assert of(found, "ogpm", 2.0).worst == pytest.approx(0.268941, abs=1e-6)


def test_the_ratios_of_the_circle_with_one_distance_for_all():
    names = ["circular_ogpm", "compressed_pm", "compressed_sw"]
    found = compare_errors(names, [2.0, 4.0], circle=1.0, power=2, points=65)
    for epsilon, ratios in ((2.0, (0.856, 0.819)), (4.0, (0.762, 0.487))):
        for name, ratio in zip(names[1:], ratios, strict=True):
            mean = of(found, "circular_ogpm", epsilon).mean / of(found, name, epsilon).mean
            assert mean == pytest.approx(ratio, abs=1.5e-3)
    assert found.to_dict()["about"]["circular"] is True
    assert "the same distance, the shorter arc, for all mechanisms" in found.caption


def test_arcs_of_a_mechanism_with_atoms():
    mechanism = ldpkit.get("truncated_pm", (0, 1), epsilon=1.0)
    for x in (0.0, 0.3, 1.0):
        reports = mechanism.values_of(mechanism.privatize(np.full(40_000, x), rng=ldpkit.random.seeded(3)))
        away = np.abs(reports - x)
        arcs = np.minimum(away, 1 - away)
        z = (arcs.mean() - arc_error(mechanism, x, 1.0)) / (arcs.std() / np.sqrt(len(arcs)))
        assert abs(z) < 6, f"z-score {z:.1f} (false-alarm rate 2e-9, seed fixed)"


def test_all_are_those_that_need_no_more_than_epsilon():
    found = compare_errors("all", [1.0], points=3)
    names = [row.mechanism for row in found.found]
    assert {"ogpm", "optimal", "pm", "sw"} <= set(names)
    assert "circular_ogpm" not in names
    assert "ogpm_at (needs epsilon and x0)" in found.notes()[0]
    best = min(found.found, key=lambda row: row.worst)
    assert best.mechanism == "optimal"
    round_ = compare_errors("all", [1.0], circle=360, points=3)
    assert min(round_.found, key=lambda row: row.worst).mechanism == "circular_ogpm"


@pytest.mark.parametrize(
    ("names", "options", "message"),
    [
        (["grr"], {}, "grr does not report numbers of an interval"),
        (["circular_ogpm"], {}, "does not report numbers of an interval"),
        (["ogpm"], {"power": 0}, "power must be positive"),
        (["ogpm"], {"power": -1.0}, "power must be positive"),
        (["ogpm"], {"points": 2}, "points must be at least 3"),
    ],
)
def test_what_has_no_meaning_is_refused(names, options, message):
    with pytest.raises(InvalidParameterError, match=message):
        compare_errors(names, [1.0], **options)
    with pytest.raises(InvalidParameterError, match="no epsilon"):
        compare_errors(["ogpm"], [])
