"""Two levels in integers: some cells are e^eps times as likely as the others, exactly at most.

`inside` cells have weight a and `outside` cells weight b. All weights must sum to 2**64,
so that one random word chooses a cell and no word is left over. That is an equation in
whole numbers, a inside + b outside = 2**64, whose solutions are a few parts in 2**24
apart when there are 2**20 cells; the first one that keeps a / b <= e^eps is taken.
"""

from __future__ import annotations

from fractions import Fraction
from math import gcd

from ldpkit.core.errors import InvalidParameterError
from ldpkit.core.exact import WORD, exp_bounds

__all__ = ["two_levels"]


def two_levels(inside: int, outside: int, epsilon: float, total: int = WORD) -> tuple[int, int]:
    """Return the weights of a cell inside and outside.

    Examples
    --------
    >>> a, b = two_levels(6, 8, 1.0)
    >>> 6 * a + 8 * b == 2**64, a / b <= 2.718281828459045
    (True, True)
    """
    common = gcd(inside, outside)
    if total % common:
        raise InvalidParameterError(f"{total} words cannot be shared by multiples of {common} cells")
    period, rest = inside // common, total // common
    low, _ = exp_bounds(epsilon)
    ideal = Fraction(total) / (inside * low + outside)
    least = -(-ideal.numerator // ideal.denominator)
    wanted = rest * pow(outside // common, -1, period) % period  # outside b = total, modulo inside
    b = least + (wanted - least) % period
    return (total - outside * b) // inside, b
