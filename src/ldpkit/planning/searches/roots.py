"""Where a function of one variable is zero.

SciPy's `brentq` does the same, but to load it takes longer than most searches here.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from ldpkit.core.errors import InvalidParameterError

__all__ = ["find_root"]


def find_root(function: Callable[[float], float], low: float, high: float, precision: float) -> float:
    """Return a place within `precision` of a root, by Chandrupatla's method (1997).

    It interpolates where three points lie on a fair curve and halves the range elsewhere,
    so it never takes many more steps than bisection.

    Parameters
    ----------
    function : callable
        Its values at low and high have different signs; they may be infinite.
    low, high : float
        Where to look.
    precision : float
        How exactly; what floating point cannot tell apart is exact enough.

    Examples
    --------
    >>> round(find_root(lambda x: x**3 - 2, 0, 2, 1e-12), 9)
    1.25992105
    """
    newest, opposite = float(high), float(low)
    at_newest, at_opposite = function(newest), function(opposite)
    if at_newest == 0 or at_opposite == 0:
        return newest if at_newest == 0 else opposite
    if not at_newest * at_opposite < 0:
        raise InvalidParameterError(f"no root between {low:g} and {high:g}: the signs there are the same")
    part = 0.5
    while True:
        point = newest + part * (opposite - newest)
        at_point = function(point)
        if at_point * at_newest > 0:
            last, at_last = newest, at_newest
        else:
            last, at_last = opposite, at_opposite
            opposite, at_opposite = newest, at_newest
        newest, at_newest = point, at_point
        is_newest = abs(at_newest) < abs(at_opposite)
        best, at_best = (newest, at_newest) if is_newest else (opposite, at_opposite)
        width = abs(opposite - last)
        smallest = (precision / 2 + 2 * math.ulp(best)) / width if width else 1.0
        if smallest > 0.5 or at_best == 0:
            return best
        part = _interpolate(newest, at_newest, opposite, at_opposite, last, at_last)
        part = min(max(part, smallest), 1 - smallest)


def _interpolate(a: float, at_a: float, b: float, at_b: float, c: float, at_c: float) -> float:
    """Return how far from a towards b the root is, by a parabola through all three if it is a fair curve."""
    if not (math.isfinite(at_a) and math.isfinite(at_b) and math.isfinite(at_c)) or at_c in (at_a, at_b):
        return 0.5
    place, rise = (a - b) / (c - b), (at_a - at_b) / (at_c - at_b)
    if not (rise**2 < place and (1 - rise) ** 2 < 1 - place):
        return 0.5
    return at_a / (at_b - at_a) * at_c / (at_b - at_c) + (c - a) / (b - a) * at_a / (at_c - at_a) * at_b / (
        at_c - at_b
    )
