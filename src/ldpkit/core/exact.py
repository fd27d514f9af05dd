"""Directed rounding: integers that never promise more privacy than they keep.

Samplers compare random 64-bit words with integer thresholds. The thresholds come from
here, rounded so that the realised epsilon is at most the stated one, and the realised
epsilon is computed back from the integers, rounded up. `decimal` evaluates `exp` and
`ln` correctly rounded to any precision, so no floating-point library is trusted.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction

from ldpkit.core.cached import cached_property
from ldpkit.core.errors import InvalidParameterError

__all__ = [
    "WORD",
    "RandomisedResponse",
    "exp_bounds",
    "float_up",
    "log_product_up",
    "log_up",
    "probability",
    "total_up",
    "two_levels",
]

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


@dataclass(frozen=True)
class RandomisedResponse:
    """The integers of randomised response over `size` values: keep one, else a uniform other one.

    GRR uses it on the domain, local hashing on the buckets of a hash. One random word w
    decides: below `keep` the value stays, and the rest of the range is cut into pieces of
    equal width, one for each other value. All probabilities are integers over 2**64, so
    the realised epsilon is ln(keep / width), exactly.

    Examples
    --------
    >>> response = RandomisedResponse(3, 1.0)
    >>> response.keep + 2 * response.width == 2**64
    True
    >>> 1 - 1e-15 < response.epsilon() <= 1
    True
    """

    size: int
    target: float

    @cached_property
    def width(self) -> int:
        """The integer width of each other value: 2**64 / (e**eps + size - 1), rounded up."""
        low, _ = exp_bounds(self.target)
        ideal = WORD / (low + self.size - 1)
        return -((-ideal.numerator) // ideal.denominator)

    @cached_property
    def keep(self) -> int:
        """The integer width of the true value: what the others leave."""
        return WORD - (self.size - 1) * self.width

    @property
    def p(self) -> Fraction:
        """The probability of the true value."""
        return Fraction(self.keep, WORD)

    @property
    def q(self) -> Fraction:
        """The probability of each other value."""
        return Fraction(self.width, WORD)

    def epsilon(self) -> float:
        """Return the realised epsilon, rounded up."""
        ratio = Fraction(self.keep, self.width)
        return log_up(max(ratio, 1 / ratio))  # either way round, should rounding ever turn it

    def row(self, value: int) -> list[Fraction]:
        """Return the exact probability of every output for one value."""
        return [self.p if output == value else self.q for output in range(self.size)]


def two_levels(inside: int, outside: int, epsilon: float, total: int = WORD) -> tuple[int, int]:
    """Return the weights of a cell inside and outside, the first at most e^epsilon times the second.

    All weights must sum to the total, so that one random word chooses a cell and no word is left
    over. That is an equation in whole numbers, a inside + b outside = 2**64, whose solutions are a
    few parts in 2**24 apart when there are 2**20 cells; the first one that keeps a / b <= e^eps is
    taken.

    Examples
    --------
    >>> a, b = two_levels(6, 8, 1.0)
    >>> 6 * a + 8 * b == 2**64, a / b <= 2.718281828459045
    (True, True)
    """
    common = math.gcd(inside, outside)
    if total % common:
        raise InvalidParameterError(f"{total} words cannot be shared by multiples of {common} cells")
    period, rest = inside // common, total // common
    low, _ = exp_bounds(epsilon)
    ideal = Fraction(total) / (inside * low + outside)
    least = -(-ideal.numerator // ideal.denominator)
    wanted = rest * pow(outside // common, -1, period) % period  # outside b = total, modulo inside
    b = least + (wanted - least) % period
    return (total - outside * b) // inside, b
