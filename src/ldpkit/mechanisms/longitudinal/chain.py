"""Two rounds of randomisation in integers, the second solved so that both promises hold.

The first round makes the permanent report with epsilon_inf, the second makes every sent
report from the permanent one. Both compare random words with integers over 2**64, so a
sent report has probabilities over 2**128, exactly. The second round gets the least noise
with which the ratio of the product channel is at most e**epsilon_1: found by bisection
over the integers themselves, so nothing is left to the rounding of a formula.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass
from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction

from ldpkit.core.cached import cached_property
from ldpkit.core.exact import WORD, RandomisedResponse, exp_bounds, log_up

__all__ = ["ChainedBits", "ChainedResponse", "bit_ratio", "least_noise", "repeated_ratio"]

_PRECISION = 120
_SATURATED = 400  # e**400: beyond, another report changes no digit that is shown


def least_noise(ratio: Callable[[int], Fraction], below: int, epsilon: float) -> int:
    """Return the least integer noise, from 1, whose ratio is at most e**epsilon.

    Parameters
    ----------
    ratio : callable
        The worst ratio of the product channel for a noise; it falls as the noise grows.
    below : int
        The noise at which reports say nothing.
    epsilon : float
        What the ratio must keep.

    Examples
    --------
    >>> least_noise(lambda noise: Fraction(100, noise), 100, epsilon=2.0)  # 100 / e**2 is 13.5
    14
    """
    low, _ = exp_bounds(epsilon)
    return 1 + bisect_left(range(1, below), True, key=lambda noise: ratio(noise) <= low)


def bit_ratio(own: Fraction, other: Fraction) -> Fraction:
    """Return the worst ratio of two unary reports: two values differ in two bits."""
    return own * (1 - other) / (other * (1 - own))


def repeated_ratio(p: Fraction, q: Fraction, second: Fraction, times: int) -> Fraction:
    """Return the worst ratio of `times` reports that were made from one permanent report.

    The permanent report says yes with probability p or q, and each sent report that says
    yes speaks for it with odds `second`. Worst is that all say yes: the ratio is
    (p A + 1 - p) / (q A + 1 - q) with A = second**times, which grows to p / q. A is
    rounded up in the 120th digit, so the ratio is never understated.

    Examples
    --------
    >>> p, q = Fraction(3, 4), Fraction(1, 4)
    >>> [round(float(repeated_ratio(p, q, Fraction(2), times)), 3) for times in (1, 10, 1000)]
    [1.4, 2.992, 3.0]
    """
    if times * log_up(second) > _SATURATED:
        return p / q
    up = Context(prec=_PRECISION, rounding=ROUND_CEILING)
    factor = up.divide(Decimal(second.numerator), Decimal(second.denominator))
    power = Decimal(1)
    for digit in f"{times:b}":  # each multiplication rounds up, as Context.power does not promise to
        power = up.multiply(power, power)
        power = up.multiply(power, factor) if digit == "1" else power
    weight = Fraction(power)
    return (p * weight + 1 - p) / (q * weight + 1 - q)


@dataclass(frozen=True)
class _SecondResponse(RandomisedResponse):
    """Randomised response with the least noise that keeps a product channel at its target."""

    first: RandomisedResponse

    @cached_property
    def width(self) -> int:
        return least_noise(self._ratio, WORD // self.size, self.target)

    def _ratio(self, width: int) -> Fraction:
        keep, first = WORD - (self.size - 1) * width, self.first
        own = first.keep * keep + (self.size - 1) * first.width * width
        other = first.keep * width + first.width * keep + (self.size - 2) * first.width * width
        return Fraction(own, other)


@dataclass(frozen=True)
class ChainedResponse(RandomisedResponse):
    """Randomised response on a randomised response; `keep` and `width` count over 2**128.

    Parameters
    ----------
    size : int
        The number of values.
    target : float
        The epsilon of one sent report.
    permanent_target : float
        The epsilon of the permanent report.

    Examples
    --------
    >>> chain = ChainedResponse(16, 1.0, 2.0)
    >>> 1 - 1e-15 < chain.epsilon() <= 1, 2 - 1e-15 < chain.first.epsilon() <= 2
    (True, True)
    >>> round(float(chain.q), 6)                    # q of plain GRR with epsilon 1
    0.056439
    """

    permanent_target: float

    @cached_property
    def first(self) -> RandomisedResponse:
        """The round that makes the permanent report."""
        return RandomisedResponse(self.size, self.permanent_target)

    @cached_property
    def second(self) -> RandomisedResponse:
        """The round that makes each sent report from the permanent one."""
        return _SecondResponse(self.size, self.target, self.first)

    @cached_property
    def width(self) -> int:
        first, second = self.first, self.second
        through = first.keep * second.width + first.width * second.keep
        return through + (self.size - 2) * first.width * second.width

    @cached_property
    def keep(self) -> int:
        return WORD**2 - (self.size - 1) * self.width

    @property
    def p(self) -> Fraction:
        return Fraction(self.keep, WORD**2)

    @property
    def q(self) -> Fraction:
        return Fraction(self.width, WORD**2)

    def largest_ratio(self) -> Fraction:
        """Return the ratio of a sent report when the second round adds nothing."""
        return Fraction(self.first.keep, self.first.width)

    def repeated_epsilon(self, times: int) -> float:
        """Return the exact epsilon of several reports made from one permanent report."""
        second = Fraction(self.second.keep, self.second.width)
        return log_up(repeated_ratio(self.first.p, self.first.q, second, times))


@dataclass(frozen=True)
class ChainedBits:
    """Randomised bits of randomised bits.

    Parameters
    ----------
    first : tuple of int
        Over 2**64: the permanent bit of the own value is one, that of another is one.
    target : float
        The epsilon of one sent report.
    symmetric : bool
        Whether the second round flips ones and zeros alike (SUE), or keeps a one with
        probability 1/2 (OUE).
    """

    first: tuple[int, int]
    target: float
    symmetric: bool

    @cached_property
    def second(self) -> tuple[int, int]:
        """Over 2**64: a permanent one is sent as one, a permanent zero is sent as one."""
        return self._round(least_noise(self._ratio, WORD // 2, self.target))

    @cached_property
    def chained(self) -> tuple[int, int]:
        """Over 2**128: the sent bit of the own value is one, that of another is one."""
        return self._chain(self.second)

    def largest_ratio(self) -> Fraction:
        """Return the ratio of a sent report when no permanent zero becomes a one."""
        return self._ratio(0)

    def _round(self, zero: int) -> tuple[int, int]:
        return (WORD - zero if self.symmetric else WORD // 2), zero

    def _chain(self, second: tuple[int, int]) -> tuple[int, int]:
        own, other = (bit * second[0] + (WORD - bit) * second[1] for bit in self.first)
        return own, other

    def _ratio(self, zero: int) -> Fraction:
        own, other = self._chain(self._round(zero))
        return bit_ratio(Fraction(own, WORD**2), Fraction(other, WORD**2))

    def repeated_epsilon(self, times: int) -> float:
        """Return the exact epsilon of several reports made from one permanent report.

        Two values differ in two bits; the worst is that the one is always sent as one
        and the other never.
        """
        p, q = (Fraction(threshold, WORD) for threshold in self.first)
        one, zero = (Fraction(threshold, WORD) for threshold in self.second)
        ones = repeated_ratio(p, q, one / zero, times)
        return log_up(ones * repeated_ratio(1 - q, 1 - p, (1 - zero) / (1 - one), times))
