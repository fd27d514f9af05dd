"""Polar coordinates: the split of the budget, and that both parts keep it."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

import ldpkit
from ldpkit.core.errors import InvalidInputError, InvalidParameterError
from ldpkit.mechanisms.cells.widths import clamped_error
from ldpkit.mechanisms.circular.polar import PolarOGPM, best_split

BUDGET, TURN = 1 + 2 * math.pi, 2 * math.pi


@pytest.fixture(scope="module")
def polar():
    return PolarOGPM(1.0, TURN, BUDGET, power=2)


def test_the_best_split_of_example_9_for_squared_error(polar):
    split = best_split(BUDGET, 1.0, TURN, 2.0)
    assert split == pytest.approx((1.529773, 5.753413), abs=2e-6)
    assert (polar.distance.epsilon, polar.angle.epsilon) == pytest.approx(split, abs=1e-9)
    assert polar.worst_error() == pytest.approx(0.298628, abs=2e-6)


def test_the_split_with_the_widths_of_theorem_7():
    def error(part):
        parts = ((part, 1.0), (BUDGET - part, math.pi))
        return sum(
            scale**2 * clamped_error(epsilon, 1 / (1 + math.exp(epsilon / 2)), 0.0, 2.0)
            for epsilon, scale in parts
        )

    found = minimize_scalar(error, bounds=(0.1, 6.0), method="bounded", options={"xatol": 1e-10})
    assert (found.x, BUDGET - found.x) == pytest.approx((1.298547, 5.984638), abs=2e-6)
    assert found.fun == pytest.approx(0.365075, abs=5e-7)
    assert pytest.approx(BUDGET, abs=0.2) != 1.32 + 5.69  # as printed


def test_both_parts_keep_the_budget(polar):
    assert BUDGET - 1e-6 < polar.exact_epsilon() <= BUDGET
    assert polar.exact_epsilon() <= polar.distance.exact_epsilon() + polar.angle.exact_epsilon()


def test_points_become_two_reports_and_two_tallies(polar):
    points = np.array([[0.2, 6.2], [0.9, 0.1]] * 2000)
    reports = polar.privatize(points, rng=ldpkit.random.seeded(1))
    again = polar.privatize(points, rng=ldpkit.random.seeded(1))
    assert all((one == other).all() for one, other in zip(reports, again, strict=True))
    tally = polar.tally(reports)
    assert tally.distance == polar.distance.tally(reports.distance)
    assert 0.0 in tally.angle.estimate().interval(0.999999)
    values = polar.values_of(reports)
    assert (values >= 0).all()
    assert (values <= [1, TURN]).all()


def test_a_description_is_read_without_solving(polar, monkeypatch):
    monkeypatch.setattr("ldpkit.mechanisms.circular.polar.best_split", None)
    assert PolarOGPM.from_spec(polar.spec()) == polar
    unsplit = {**polar.spec(), "distance_epsilon": None}
    for bad in ({}, None, {**polar.spec(), "more": 1}, {**polar.spec(), "circle": 3}, unsplit):
        with pytest.raises(InvalidParameterError):
            PolarOGPM.from_spec(bad)


@pytest.mark.parametrize(
    "points", [[], [1.0, 2.0], [[1.0]], [[0.5, 9.0]], [[1.5, 1.0]], [[0.5, math.nan]], "ab"]
)
def test_what_is_no_point_is_refused(polar, points):
    with pytest.raises(InvalidInputError):
        polar.privatize(points)


def test_senseless_parts_are_refused():
    for part in (0.0, -1.0, 7.5, BUDGET):
        with pytest.raises(InvalidParameterError, match="distance_epsilon"):
            PolarOGPM(1.0, TURN, BUDGET, distance_epsilon=part)
    with pytest.raises(InvalidParameterError, match="power"):
        PolarOGPM(1.0, TURN, BUDGET, power=0)
    with pytest.raises(InvalidParameterError, match="two reports"):
        PolarOGPM(1.0, TURN, 0.0015)


def test_units_that_leave_nothing_for_the_distance_are_warned_of():
    with pytest.warns(UserWarning, match="almost none of epsilon for the distance"):
        PolarOGPM(1.0, 360, 4.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        PolarOGPM(1.0, TURN, 8.0)
        PolarOGPM(1.0, 360, 4.0, distance_epsilon=1.0)
