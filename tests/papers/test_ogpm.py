"""The reproduction of the optimal piecewise mechanism: its claims, its corrections, its negative controls."""

from __future__ import annotations

import math
import os

import numpy as np
import pytest

from ldpkit.core.installing import install_command
from ldpkit.core.random import seeded
from ldpkit.papers import REPRODUCTIONS, Settings, Verdict
from ldpkit.papers.ogpm import expected, motion, solver
from ldpkit.papers.ogpm.distances import numeric, percent
from ldpkit.papers.ogpm.expected import circle_claims, line_claims, original_claims
from ldpkit.papers.ogpm.forms import example_claims, polar_claims, unbiased_claims
from ldpkit.papers.ogpm.motion import motion_claims
from ldpkit.papers.ogpm.noise import noise_claims, remap_claims, remapped
from ldpkit.papers.ogpm.sensors import Column, load_columns, raw, smoothed
from ldpkit.papers.ogpm.solver import best_claims, solver_claims

QUICK = Settings(quick=True)
REAL = pytest.mark.skipif(
    not os.environ.get("LDPKIT_DATA"), reason="LDPKIT_DATA names no directory of data sets"
)


def by_name(claims):
    return {claim.claim: claim for claim in claims}


def test_it_is_registered():
    assert "ogpm" in REPRODUCTIONS


def test_errors_on_the_line():
    claims = [*line_claims(QUICK), *original_claims(QUICK)]
    assert {claim.verdict for claim in claims} == {Verdict.REPRODUCED}
    found = by_name(claims)
    for epsilon, label, ratio in (
        (2, "PM-C", 94.22),
        (2, "SW-C", 92.32),
        (4, "PM-C", 90.48),
        (4, "SW-C", 74.72),
    ):
        claim = found[f"figure 5.8, eps={epsilon}, |y-x|: mean error of OGPM over {label}"]
        assert float(claim.ours[:-1]) == pytest.approx(ratio, abs=0.015)
    worst = found["figure 5.9, |y-x|^2: worst error of OGPM over PM-C, average over eps"]
    assert "Theorem 7's own window has 100.0%" in worst.note


def test_errors_on_the_circle_as_published_and_with_arcs_for_everyone():
    found = by_name(circle_claims(QUICK))
    wanted = {
        (2, "PM-C"): (47.6, 85.6),
        (2, "SW-C"): (43.1, 81.9),
        (4, "PM-C"): (41.3, 76.2),
        (4, "SW-C"): (24.6, 48.7),
    }
    for (epsilon, label), numbers in wanted.items():
        name = f"figure 5.10, eps={epsilon}, squares: mean error of OGPM over {label}"
        for how, verdict, number in zip(
            ("as published", "arcs for both"), (Verdict.REPRODUCED, Verdict.CORRECTED), numbers, strict=True
        ):
            claim = found[f"{name}, {how}"]
            assert (claim.verdict, float(claim.ours[:-1])) == (verdict, pytest.approx(number, abs=0.06))
    assert sum(claim.verdict is Verdict.CORRECTED for claim in found.values()) == 8


def test_a_wrong_window_would_be_noticed(monkeypatch):
    """Negative control: with Theorem 8's window the percentages for squares do not come out."""
    real = expected._circular
    monkeypatch.setattr(expected, "_circular", lambda epsilon, power, window: real(epsilon, power, 1))
    monkeypatch.setattr(expected, "WORST_EPSILONS", (1.0, 4.0))
    claims = [claim for claim in circle_claims(QUICK) if "5.10" in claim.claim and "published" in claim.claim]
    assert [claim.verdict for claim in claims] == [Verdict.NOT_REPRODUCED] * 4


def test_verdicts_are_computed():
    assert percent("", 50.0, 0.5).verdict is Verdict.REPRODUCED
    assert percent("", 50.0, 0.6).verdict is Verdict.NOT_REPRODUCED
    assert percent("", 50.0, 0.6, corrected=True).verdict is Verdict.CORRECTED
    assert percent("", 50.0, 0.51, stderr=0.01).verdict is Verdict.REPRODUCED


def test_examples_and_closed_forms():
    claims = [*example_claims(QUICK), *unbiased_claims(QUICK), *polar_claims(QUICK)]
    assert Verdict.NOT_REPRODUCED not in {claim.verdict for claim in claims}
    found = by_name(claims)
    assert found["example 8: p for x0=0.2"].ours == pytest.approx(1.545890, abs=2e-6)
    assert found["C.2.6: eps of the distance"].ours == pytest.approx(1.298547, abs=2e-6)
    assert found["C.2.6: eps of the angle"].verdict is Verdict.CORRECTED
    assert found["example 9: the least error of both together"].ours == pytest.approx(0.298628, abs=2e-6)
    (biased,) = (claim for name, claim in found.items() if "Theorem 10" in name)
    assert biased.ours == "3.14 to 3.93"
    assert "4.29 to 5.10 times PM's" in biased.note


def test_noise_and_remapping():
    found = by_name([*noise_claims(QUICK), *remap_claims(QUICK)])
    assert found["C.2.8: error of B-Laplace at eps=4, x=0.5"].ours == pytest.approx(0.171741, abs=2e-6)
    assert (
        found["figure 5.14: OGPM has the smallest worst-case error for every eps"].verdict
        is Verdict.REPRODUCED
    )
    ends = next(claim for name, claim in found.items() if "both ends" in name)
    assert ends.verdict is Verdict.NOT_REPRODUCED, "at the ends truncated noise is better"


def test_remapping_never_hurts_and_finds_what_a_prior_knows():
    values, prior = np.array([0.1, 0.5]), np.array([1.0, 0.0])
    assert remapped(numeric("ogpm", 1.0), values, prior) == 0.0
    even = np.full(2, 0.5)
    # one bit about one of two values: the chance to take the wrong one, times their distance
    mistaken = remapped(numeric("compressed_duchi", 2.0), np.array([0.0, 1.0]), even)
    assert mistaken == pytest.approx(1 / (1 + math.exp(2)), abs=1e-6)


def test_the_solver_needs_its_library(monkeypatch):
    def missing():
        from ldpkit.core.errors import MissingDependencyError

        raise MissingDependencyError("pyscipopt", "the program of pieces", "optimisation")

    monkeypatch.setattr(solver, "check_solver", missing)
    (claim,) = solver_claims(QUICK)
    assert claim.verdict is Verdict.NO_DATA
    assert claim.note.endswith(install_command("optimisation"))


def test_the_solver_finds_the_closed_form(monkeypatch):
    pytest.importorskip("pyscipopt")
    monkeypatch.setattr(solver, "_NODES", 5)
    claims = list(solver_claims(QUICK))
    assert [claim.verdict for claim in claims] == [Verdict.REPRODUCED] * 3 + [Verdict.CORRECTED]


def test_the_best_of_all_is_better_than_theorem_7():
    (claim,) = best_claims(QUICK)
    assert (claim.verdict, claim.published) == (Verdict.CORRECTED, pytest.approx(0.377541, abs=1e-6))
    assert 0.316169 < claim.ours < 0.3175


def test_without_data_nothing_is_claimed(monkeypatch):
    monkeypatch.setattr(motion, "load_columns", lambda: None)
    (claim,) = motion_claims(QUICK)
    assert (claim.verdict, claim.ours) == (Verdict.NO_DATA, None)


def test_raw_reports_of_one_value_have_the_bias_of_the_mechanism():
    found = raw(Column("ends", np.zeros(2000)), "ogpm", 1.0, 20, seeded(1))
    assert found.bias == pytest.approx(0.3775, abs=0.005), "seven standard errors; the seed is fixed"
    assert found.error == pytest.approx(found.bias)


@REAL
def test_real_motion_raw_and_estimated():
    line, circle = load_columns()
    source = seeded(2)
    assert raw(line, "ogpm", 1.0, 20, source).l1 == pytest.approx(0.887, abs=0.015), "the seed is fixed"
    assert raw(circle, "circular_ogpm", 1.0, 20, source).l1 == pytest.approx(1.0, abs=0.015)
    for column, name in ((line, "sw"), (circle, "circular_sw")):
        mean, stderr = smoothed(column, name, 1.0, 4, source)
        assert 0.1 < mean < 0.4, "raw it is four times as much"
        assert stderr < 0.1


@REAL
def test_real_motion_claims(monkeypatch, tmp_path):
    monkeypatch.setattr(motion, "EPSILONS", (1.0, 2.0))
    monkeypatch.setattr(motion, "smoothed", lambda *_: (0.2, 0.01))
    claims = list(motion_claims(Settings(quick=True, folder=tmp_path)))
    biased = [claim for claim in claims if "|bias| as a part" in claim.claim]
    assert [claim.verdict for claim in biased] == [Verdict.CORRECTED]
    assert {path.name for path in tmp_path.iterdir()} >= {
        "figure-5.16.png",
        "figure-5.17.png",
        "histograms-motionsense.png",
    }
