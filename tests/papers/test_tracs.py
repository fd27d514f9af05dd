"""The reproduction of TraCS: its claims, its corrections, and that verdicts are computed."""

from __future__ import annotations

import os

import numpy as np
import pytest

from ldpkit.core.random import seeded
from ldpkit.mechanisms.spatial.site_response import GridResponse
from ldpkit.papers import REPRODUCTIONS, Settings, Verdict
from ldpkit.papers.tracs import data, directions, published, runs, synthetic
from ldpkit.papers.tracs.cities import rounded_errors
from ldpkit.papers.tracs.data import load_city, random_walks
from ldpkit.papers.tracs.extensions import extension_claims
from ldpkit.papers.tracs.maps import map_claims
from ldpkit.papers.tracs.optimum import least_error
from ldpkit.papers.tracs.runs import SQUARE, chained, mean_and_error, repeated, thesis_c, thesis_d
from ldpkit.simulation.metrics.trajectories import trajectory_errors

QUICK = Settings(quick=True)
REAL = pytest.mark.skipif(
    not os.environ.get("LDPKIT_DATA"), reason="LDPKIT_DATA names no directory of data sets"
)


def by_name(claims):
    return {claim.claim: claim for claim in claims}


def test_it_is_registered():
    assert "tracs" in REPRODUCTIONS


def test_directions_and_their_negative_control(monkeypatch):
    found = by_name(directions.direction_claims(QUICK))
    assert Verdict.NOT_REPRODUCED not in {each.verdict for each in found.values()}
    assert found["the epsilon of the strawman's 6-RR, stated 2, as coded"].verdict is Verdict.CORRECTED
    monkeypatch.setattr(directions, "_window", lambda epsilon: (1.0, 0.5))
    wrong = by_name(directions.direction_claims(QUICK))
    assert wrong["example 10, eps=6: chance of the sector"].verdict is Verdict.NOT_REPRODUCED


@pytest.mark.parametrize(("epsilon", "wanted", "sectors"), [(4.0, 0.3252, 0.3473), (8.0, 0.1670, 0.2590)])
def test_algorithm_1_from_a_random_start(epsilon, wanted, sectors):
    source = seeded(3)
    for value, parts in ((wanted, {}), (sectors, {"direction": "sectors"})):
        walks = random_walks(source, 1_000)
        mean, stderr = mean_and_error(
            trajectory_errors(walks, chained(thesis_d(epsilon, **parts), walks, source))
        )
        assert mean == pytest.approx(value, abs=4 * stderr), "false alarm 6e-5, fixed seed"
        assert stderr < 0.001


def test_figure_5_per_perturbed_point():
    found = by_name(synthetic._figure_5(QUICK, 2_000, seeded(4)))
    coded, right = found.values()
    assert coded.verdict is Verdict.REPRODUCED
    assert right.verdict is Verdict.CORRECTED
    assert float(right.ours.rstrip("%")) == pytest.approx(55.5, abs=1.5)


def test_figure_d5_and_the_disc():
    found = list(extension_claims(QUICK))
    assert Verdict.NOT_REPRODUCED not in {each.verdict for each in found}
    assert float(found[0].ours.rstrip("%")) == pytest.approx(92.3, abs=1.5)
    assert "so coded 5" in found[0].note


def test_published_parts_draw_what_is_said():
    generator = seeded(1).generator()
    turns = np.full(200_000, 0.1)
    drawn = published.published_krr(6, 2.0)(turns, generator)
    own = (np.floor(drawn * 6) == 0).mean()
    assert own == pytest.approx(1 - 5 / 6 / (5 + np.exp(2)), abs=0.004)
    line = published.window(0.2, 1.0, around=False)(np.full(200_000, 0.05), generator)
    assert (line < 0.2).mean() == pytest.approx(0.2 * np.e / (0.2 * np.e + 0.8), abs=0.005)


def test_the_best_mechanism_on_a_grid_is_no_worse_than_those_of_the_house():
    # From 3 x 3 cells to their centres nothing is better than randomised response, at this epsilon.
    assert least_error(4.0, 3) == pytest.approx(GridResponse(SQUARE, 4, columns=3, rows=3).mean_error())
    for side in (4, 6, 8):
        same = GridResponse(SQUARE, 2, columns=side, rows=side).mean_error()
        assert least_error(2.0, side) < same
    assert least_error(4.0, 6, at_centres=True) < least_error(4.0, 6)


def test_without_files_nothing_is_claimed(monkeypatch):
    monkeypatch.setattr(data, "_rows", lambda *_: None)
    load_city.cache_clear()
    try:
        (claim,) = map_claims(QUICK)
        assert claim.verdict is Verdict.NO_DATA
    finally:
        load_city.cache_clear()


@REAL
def test_chicago_rounded_to_places():
    city = load_city("chi")
    assert (len(city.places), len(city.paper)) == (1000, 100)
    mean, stderr = rounded_errors(thesis_c(4.0), city, 60, seeded(1))
    assert mean == pytest.approx(0.1189, abs=4 * stderr + 0.0005), "false alarm 1e-4, fixed seed"


@REAL
def test_published_strawman_of_the_cities_goes_along_the_walks():
    city = load_city("chi")
    walks = repeated(city.first, 2)
    answers = runs.published_strawman(walks, 4.0, seeded(2))
    assert answers.shape == walks.points.shape
    assert SQUARE.region.contains(answers).all()
