"""Does a charge cover a report? Decided in integers, with the same answer in every language.

A charge is a whole number of millionths of an epsilon. It covers a report if the worst ratio of
chances, a fraction of two integers, is at most e to the charge. Logarithms differ between
machines, so e to the charge is bounded from below by a sum of integers over 2**128.
"""

from __future__ import annotations

from typing import NamedTuple

from ldpkit.core.errors import InvalidParameterError

__all__ = ["MICRO", "Ratio", "covers", "larger"]

MICRO = 1_000_000
"""How many units of a charge an epsilon of one has."""

_BITS = 128
_ONE = 1 << _BITS
_LARGEST = 1 << 53  # what every language has as a number


class Ratio(NamedTuple):
    """The worst ratio of the chances of a report: (num / den) ** times.

    Examples
    --------
    >>> covers(1_000_000, *Ratio(5, 2)), covers(1_000_000, *Ratio(5, 2, times=2))
    (True, False)
    """

    num: int
    den: int
    times: int = 1


def covers(micro: int, num: int, den: int, times: int = 1) -> bool:
    """Return whether (num / den) ** times is at most e ** (micro / 10**6).

    It never says yes where that is false, and says no where it is true only within 2**-118 of
    equality.

    Examples
    --------
    >>> covers(1_000_000, 2718281828, 10**9), covers(1_000_000, 2718281829, 10**9)
    (True, False)
    >>> covers(0, 1, 1), covers(0, 2**64 + 1, 2**64)
    (True, False)
    """
    for name, number, least in (("micro", micro, 0), ("num", num, 1), ("den", den, 1), ("times", times, 1)):
        if type(number) is not int or number < least:
            raise InvalidParameterError(f"{name} must be a whole number of at least {least}, got {number!r}")
    if micro > _LARGEST:
        raise InvalidParameterError(f"a charge is at most 2**53 millionths of an epsilon, got {micro}")
    whole, rest = divmod(micro, MICRO * times)
    power, limit = _series(rest, MICRO * times), num << _BITS
    while power * den < limit:
        if whole == 0:
            return False
        power, whole = power * _E >> _BITS, whole - 1
    return True


def larger(*ratios: Ratio) -> Ratio:
    """Return the largest of some ratios without powers.

    Examples
    --------
    >>> larger(Ratio(3, 2), Ratio(7, 4), Ratio(5, 3))
    Ratio(num=7, den=4, times=1)
    """
    worst = ratios[0]
    for each in ratios[1:]:
        if each.num * worst.den > worst.num * each.den:
            worst = each
    return worst


def _series(a: int, b: int) -> int:
    """Return e ** (a / b) over 2**128, rounded down, for a up to b: all terms are, so their sum is."""
    total = term = _ONE
    step = 0
    while term:
        step += 1
        term = term * a // (b * step)
        total += term
    return total


_E = _series(1, 1)
