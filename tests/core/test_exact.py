"""Directed rounding, against series and interval arithmetic that share no code with it."""

from __future__ import annotations

import math
from decimal import Context, Decimal
from fractions import Fraction

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from ldpkit.core.exact import WORD, exp_bounds, log_up, probability


def exp_bracket(x: Fraction, terms: int = 120) -> tuple[Fraction, Fraction]:
    """Return rationals around e**x: the series at x / 2**h, whose tail is below its last term, squared up."""
    halvings = max(0, math.ceil(math.log2(float(abs(x)) + 1e-9)) + 2)
    small = x / 2**halvings  # at most 1/4 in size
    total = term = Fraction(1)
    scale = 10**200
    for n in range(1, terms):
        term = term * small / n
        total += term
    rest = abs(term)
    low, high = total - rest, total + rest
    for _ in range(halvings):  # square up, keeping the numbers short but the bracket valid
        low, high = (
            Fraction(math.floor(low * low * scale), scale),
            Fraction(math.ceil(high * high * scale), scale),
        )
    return low, high


EXPONENTS = [0.001, 0.1, 0.5, 1.0, 2.0, 4.0, 8.0, 20.0, 1 / 3, math.pi, Fraction(1, 7), 1e-12, -1.0, -20.0]


@pytest.mark.parametrize("exponent", EXPONENTS)
def test_exp_lies_between_its_bounds(exponent):
    low, high = exp_bounds(exponent)
    inner_low, inner_high = exp_bracket(Fraction(exponent))
    assert low < inner_low <= inner_high < high, "e**x is outside its bounds"
    assert (high - low) / low < Fraction(1, 10**90), "the bounds are wide enough to be felt in 64 bits"


def test_exp_of_zero_is_bracketed():
    low, high = exp_bounds(0)
    assert low < 1 < high


@given(st.floats(-25, 25))
def test_bounds_are_ordered_and_tight(exponent):
    low, high = exp_bounds(exponent)
    assert 0 < low < high
    other = Fraction(Context(prec=80).exp(Decimal(exponent)))  # another precision
    assert abs(other - low) < low * Fraction(1, 10**78)


@given(st.floats(0.001, 20), st.floats(0.001, 20))
def test_bounds_keep_the_order_of_exponents(first, second):
    assume(first < second)
    assert exp_bounds(first)[1] < exp_bounds(second)[0]


@given(st.fractions(min_value=Fraction(1, 10**6), max_value=10**9))
def test_log_up_is_the_least_float_that_is_large_enough(ratio):
    """Directed rounding, checked by exponentiating back: e^result >= ratio > e^(result - one step)."""
    result = log_up(ratio)
    if ratio == 1:
        assert result == 0
        return
    assert exp_bounds(result)[1] >= ratio, "log_up rounded down: an epsilon would be understated"
    below = math.nextafter(result, -math.inf)
    assert exp_bounds(below)[0] < ratio, "log_up is not the least float"


@pytest.mark.parametrize("epsilon", [0.001, 0.1, 0.5, 1.0, 2.0, 8.0, 20.0])
def test_log_up_tells_just_below_from_just_above(epsilon):
    low, high = exp_bounds(epsilon)
    assert log_up(low * (1 - Fraction(1, 10**80))) <= epsilon
    assert log_up(high) > epsilon
    assert log_up(high) == math.nextafter(epsilon, math.inf)


@pytest.mark.parametrize("step", [1, 2, 1000])
def test_log_up_near_one_keeps_the_last_bit(step):
    """The smallest leak that integers over 2**64 can have is not rounded away."""
    ratio = Fraction(WORD // 2 + step, WORD // 2)
    assert 0 < log_up(ratio) <= float(Fraction(step, WORD // 2)) * (1 + 1e-15)
    assert log_up(1 + Fraction(1, 10**90)) > 0
    assert log_up(1 / ratio) < 0
    assert exp_bounds(log_up(1 / ratio))[1] >= 1 / ratio


def test_log_up_takes_astronomic_fractions():
    huge = Fraction(10**3000 + 1, 10**2999)
    assert log_up(huge) >= math.log(10)
    assert log_up(huge) - math.log(10) < 1e-14
    assert log_up(Fraction(2) ** 1000) == pytest.approx(1000 * math.log(2))


@pytest.mark.parametrize("ratio", [Fraction(0), Fraction(-1, 2)])
def test_log_of_nothing_is_refused(ratio):
    with pytest.raises(ValueError, match="positive"):
        log_up(ratio)


def test_probability_is_the_nearest_float():
    assert probability(0) == 0.0
    assert probability(WORD // 2) == 0.5
    assert probability(WORD) == 1.0
    assert probability(1) == 2.0**-64
    assert probability(WORD - 1) == 1.0
