"""Circles: both ends are one point, and what lies outside is wrapped only where the user says so."""

from __future__ import annotations

import json
import math
import pickle

import numpy as np
import pytest

from ldpkit.core.domains.circle import CircleDomain, WrappedWarning, as_circle
from ldpkit.core.errors import FrozenError, InvalidInputError, InvalidParameterError, OutOfDomainError

COMPASS, SIGNED = CircleDomain(360), CircleDomain(360, low=-180)


def test_both_ends_are_one_point():
    assert COMPASS.encode([0, 360, 359.9999, 0.0001]).tolist()[:2] == [0, 0]
    assert SIGNED.encode([-180, 180], steps=8).tolist() == [0, 0]
    assert COMPASS.encode([350.0, 10.0], steps=8).tolist() == [0, 0]
    assert COMPASS.distance(0, 360) == 0
    assert COMPASS.encode(np.linspace(0, 360, 9), steps=8).tolist() == [*range(8), 0]


def test_arcs_are_the_shorter_way_round():
    assert COMPASS.distance(350, 10) == 20
    assert COMPASS.difference(350, 10) == -20
    assert COMPASS.distance([0, 90, 270], 180).tolist() == [180, 90, 90]
    # Where the distance of the thesis, min(|y-x|, |y-(2 pi-x)|), is 0.
    assert CircleDomain(2 * math.pi).distance(1.5 * math.pi, 0.5 * math.pi) == pytest.approx(math.pi)


@pytest.mark.parametrize("values", [[370.0], [-0.001], [1.0, 360.001]])
def test_values_outside_need_wrap(values):
    with pytest.raises(OutOfDomainError, match=f"position {len(values) - 1} .*wrap=True"):
        COMPASS.encode(values)


def test_wrapped_values_are_counted():
    with pytest.warns(WrappedWarning, match="3 of 4 values were outside the circle from -180 to 180"):
        places = SIGNED.encode([190.0, -190.0, 0.0, 540.0], steps=36, wrap=True)
    assert places.tolist() == SIGNED.encode([-170.0, 170.0, 0.0, 180.0], steps=36).tolist()
    assert SIGNED.wrap([180.0, -180.0])[1] == 0


@pytest.mark.parametrize("wrap", [False, True])
@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf, 1e300])
def test_what_has_no_place_is_refused_wrapped_or_not(bad, wrap):
    with pytest.raises(InvalidInputError):
        COMPASS.encode(np.array([1.0, bad]), wrap=wrap)


@pytest.mark.parametrize("period", [0, -360, math.nan, math.inf, "a day", True, None, 1e-70, 1e70])
def test_a_period_that_is_not_positive_is_refused(period):
    with pytest.raises(InvalidParameterError):
        as_circle(period)
    with pytest.raises(InvalidParameterError, match="period"):
        CircleDomain(period)


def test_a_turn_too_far_from_zero_is_refused():
    with pytest.raises(InvalidParameterError, match="too short for a turn that begins"):
        CircleDomain(1.0, low=1e12)


def test_json_equality_and_copies():
    for circle in (COMPASS, SIGNED):
        assert CircleDomain.from_json(json.loads(json.dumps(circle.to_json()))) == circle
        assert pickle.loads(pickle.dumps(circle)) == circle
    assert COMPASS != SIGNED
    assert len({COMPASS, SIGNED, CircleDomain(360.0), CircleDomain(24)}) == 3
    assert COMPASS.digest != SIGNED.digest
    for form in (
        [0, 360],
        360,
        {"period": 360},
        {"period": 360, "low": 0, "high": 1},
        {"period": -1, "low": 0},
    ):
        with pytest.raises(InvalidParameterError):
            CircleDomain.from_json(form)
    with pytest.raises(FrozenError):
        COMPASS.period = 24


def test_radians_and_back():
    assert SIGNED.radians(-180) == 0
    assert SIGNED.from_radians(SIGNED.radians(77.0)) == pytest.approx(77.0)
    assert COMPASS.from_radians(-1e-20) == 0.0
