"""The root finder against SciPy's, and on functions that are hard to interpolate."""

from __future__ import annotations

import math

import pytest
from scipy.optimize import brentq

from ldpkit.core.errors import InvalidParameterError
from ldpkit.planning.searches.roots import find_root

FUNCTIONS = {
    "cubic": (lambda x: x**3 - 2, 0.0, 2.0),
    "falling": (lambda x: 1 / x - 3, 1e-9, 1e9),
    "flat": (lambda x: (x - 1) ** 9, 0.0, 5.0),
    "steep": (lambda x: math.atan(1e8 * (x - 0.123)), -4.0, 7.0),
    "tiny": (lambda x: x - 1e-17, 0.0, 1.0),
    "jump": (lambda x: -1.0 if x < 0.3 else 1.0, 0.0, 1.0),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_roots_are_those_of_scipy(name):
    function, low, high = FUNCTIONS[name]
    precision = 1e-18 if name == "tiny" else 1e-12
    expected = brentq(function, low, high, xtol=precision, rtol=1e-15, maxiter=1000)
    slack = 0.02 if name == "flat" else 2e-12  # a ninth power is zero to the last bit all around its root
    assert find_root(function, low, high, precision) == pytest.approx(expected, abs=slack, rel=1e-12)
    assert find_root(function, high, low, precision) == pytest.approx(expected, abs=slack, rel=1e-12)


def test_few_steps_on_a_fair_curve_and_never_many_more_than_halving():
    for function, low, high in FUNCTIONS.values():
        calls: list[float] = []

        def counted(x: float, function=function, calls=calls) -> float:
            calls.append(x)
            return function(x)

        find_root(counted, low, high, 1e-12)
        assert len(calls) <= 3 * math.log2((high - low) / 1e-12)
    calls = []
    find_root(lambda x: calls.append(x) or x**3 - 2, 0.0, 2.0, 1e-12)
    assert len(calls) <= 15


def test_infinite_values_have_a_sign_too():
    assert find_root(lambda x: -math.inf if x < 0.25 else x - 0.5, 0.0, 1.0, 1e-9) == pytest.approx(0.5)
    assert find_root(lambda x: -math.inf if x < 0.25 else math.inf, 0.0, 1.0, 1e-9) == pytest.approx(0.25)


def test_an_end_may_be_the_root():
    assert find_root(lambda x: x, 0.0, 1.0, 1e-9) == 0.0
    assert find_root(lambda x: x - 1, 0.0, 1.0, 1e-9) == 1.0


def test_equal_signs_are_refused():
    with pytest.raises(InvalidParameterError, match="no root between 1 and 2"):
        find_root(lambda x: x, 1.0, 2.0, 1e-9)
    with pytest.raises(InvalidParameterError, match="no root"):
        find_root(lambda x: math.nan, 1.0, 2.0, 1e-9)
