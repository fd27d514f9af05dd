"""Directed rounding: integers that never promise more privacy than they keep.

Samplers compare random 64-bit words with integer thresholds. The thresholds come from
here, rounded so that the realised epsilon is at most the stated one, and the realised
epsilon is computed back from the integers, rounded up. `decimal` evaluates `exp` and
`ln` correctly rounded to any precision, so no floating-point library is trusted.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction

__all__ = ["WORD", "exp_bounds", "float_up", "log_product_up", "log_up", "probability", "total_up"]

WORD = 1 << 64
"""The number of values a random word takes: an integer threshold t has probability t / WORD."""

_PRECISION = 120
_SLACK = Decimal(10) ** -100  # far above the rounding of _PRECISION digits, far below 2**-64


def exp_bounds(exponent: float | Fraction) -> tuple[Fraction, Fraction]:
    """Return rationals just below and just above e**exponent.

    Examples
    --------
    >>> low, high = exp_bounds(1.0)
    >>> low < high and float(low) == float(high) == 2.718281828459045
    True
    """
    context = Context(prec=_PRECISION)
    exact = Fraction(exponent)
    ratio = context.divide(Decimal(exact.numerator), Decimal(exact.denominator))
    value = Fraction(context.exp(ratio))
    slack = value * Fraction(_SLACK)
    return value - slack, value + slack


def log_up(ratio: Fraction) -> float:
    """Return the smallest float that is at least ln(ratio); infinity for a zero denominator's limit.

    Examples
    --------
    >>> log_up(Fraction(1))
    0.0
    >>> log_up(Fraction(3)) >= math.log(3)
    True
    """
    return log_product_up({ratio: 1})


def log_product_up(powers: Mapping[Fraction, int]) -> float:
    """Return the smallest float that is at least the logarithm of a product of powers.

    Examples
    --------
    >>> log_product_up({Fraction(3): 2, Fraction(1, 7): 1}) == log_up(Fraction(9, 7))
    True
    """
    down = Context(prec=_PRECISION, rounding=ROUND_FLOOR)
    up = Context(prec=_PRECISION, rounding=ROUND_CEILING)
    exact = Decimal(0)
    for ratio, power in powers.items():
        if ratio <= 0:
            raise ValueError(f"the logarithm needs a positive ratio, got {ratio}")
        if ratio != 1:
            quotient = up.divide(Decimal(ratio.numerator), Decimal(ratio.denominator))
            exact = up.add(exact, up.multiply(power, up.add(up.ln(quotient), _SLACK)))
    nearest = float(exact)
    return nearest if down.create_decimal(Decimal(nearest)) >= exact else math.nextafter(nearest, math.inf)


def float_up(number: Fraction) -> float:
    """Return the smallest float that is at least the number.

    Examples
    --------
    >>> float_up(Fraction(1, 4)), Fraction(float_up(Fraction(1, 3))) > Fraction(1, 3)
    (0.25, True)
    """
    nearest = float(number)
    return nearest if Fraction(nearest) >= number else math.nextafter(nearest, math.inf)


def total_up(parts: Iterable[tuple[float, int]]) -> float:
    """Return a sum of epsilons, each so many times: exact, and rounded up once at its end.

    Examples
    --------
    >>> total_up([(0.1, 3)]) >= 3 * Fraction(0.1), total_up([(1.0, 2), (math.inf, 0)]), total_up([])
    (True, 2.0, 0.0)
    """
    counted = [(epsilon, times) for epsilon, times in parts if times]
    if any(math.isinf(epsilon) for epsilon, _ in counted):
        return math.inf
    return float_up(sum((Fraction(epsilon) * times for epsilon, times in counted), start=Fraction(0)))


def probability(threshold: int) -> float:
    """Return threshold / 2**64 as the nearest float."""
    return float(Fraction(threshold, WORD))
