"""How wide a window should be: the closed forms behind the optimal piecewise mechanism.

On [0, 1] a report is e^eps times as likely in a window of width s as elsewhere, and the
window holds the outputs nearest to the value. With E = e^eps and the loss |y - x|^r, the
expected loss is (T + (E-1) I(s)) / (1 + (E-1) s), where I integrates the loss over the
window and T over all of [0, 1]. Its derivative has the sign of
I'(s) (1 + (E-1) s) - (E-1) I(s) - T, which grows with s: one root, found by bisection in
decimal arithmetic, so that every machine finds the same integers.

At an end of the interval, and for every value of a circle whose half circumference is 1,
the root is that of s^r (r + 1 + r (E-1) s) = 1, and the least loss is s^r: for r = 1 that
is 1 / (1 + e^(eps/2)). A circle is two such halves.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import Context, Decimal, localcontext
from fractions import Fraction
from functools import lru_cache

import numpy as np

from ldpkit.core.domains.interval import IntervalDomain
from ldpkit.core.errors import InvalidParameterError
from ldpkit.core.exact import exp_bounds
from ldpkit.core.parameters import Parameter
from ldpkit.core.typing import Floats

__all__ = [
    "POWER",
    "check_prior",
    "clamped_error",
    "end_error",
    "height",
    "most_informative_width",
    "optimal_width",
    "prior_width",
]

POWER = Parameter(
    "power",
    float,
    "the power of the distance between report and value whose mean is made small",
    default=1.0,
    above=0,
    least=0.01,
    most=10,
    reason="beyond, all reports count alike, or only the farthest",
)

_DECIMAL = Context(prec=50)
_HALVINGS = 80  # the width is known to 2**-80 of the interval, the finest grid has 2**21 cells


@lru_cache(maxsize=256)
def optimal_width(epsilon: float, power: float, share: Fraction = Fraction(0)) -> Fraction:
    """Return the width of the window with the least expected |y - x|**power at x = share.

    Share 0 is right for the worst value of [0, 1], which is an end, and for a circle.

    Examples
    --------
    >>> round(float(optimal_width(1.0, 1.0)), 6), round(1 / (1 + math.exp(0.5)), 6)
    (0.377541, 0.377541)
    >>> round(height(1.0, float(optimal_width(1.0, 1.0, Fraction(1, 5)))), 6)
    1.54589
    """
    if not 0 <= share <= 1:
        raise InvalidParameterError(f"a share of the interval lies between 0 and 1, got {float(share)}")
    with localcontext(_DECIMAL):  # not the caller's, whose precision may be anything
        return _root(exp_bounds(epsilon)[0] - 1, Fraction(power), min(share, 1 - share))


def _root(excess: Fraction, power: Fraction, share: Fraction) -> Fraction:
    """Return the width at which the loss begins to grow, for e^eps - 1, the power and a share up to 1/2."""
    gain, r, near = map(_decimal, (excess, power, share))

    def power_of(number: Decimal, exponent: Decimal) -> Decimal:
        return number**exponent if number else Decimal(0)

    def grows(s: Decimal) -> bool:
        """Whether the loss grows at width s."""
        order = r + 1
        half = s / 2
        if half <= near:
            edge, inside = power_of(half, r), 2 * power_of(half, order) / order
        else:
            edge, inside = power_of(s - near, r), (power_of(near, order) + power_of(s - near, order)) / order
        whole = (power_of(near, order) + power_of(1 - near, order)) / order
        return edge * (1 + gain * s) - gain * inside - whole > 0

    below, above = 0, 1 << _HALVINGS
    while above - below > 1:
        middle = (below + above) // 2
        below, above = (
            (below, middle) if grows(_decimal(Fraction(middle, 1 << _HALVINGS))) else (middle, above)
        )
    return Fraction(below, 1 << _HALVINGS)


def _decimal(number: Fraction) -> Decimal:
    return Decimal(number.numerator) / Decimal(number.denominator)


def most_informative_width(epsilon: float) -> Fraction:
    """Return the part of a circle that a window holds for a report to tell the most about the value.

    It maximises the mutual information with a value that is equally likely everywhere.

    Examples
    --------
    >>> round(float(most_informative_width(1.0)), 6)
    0.338697
    """
    power = exp_bounds(epsilon)[0]
    return (Fraction(epsilon) * power - power + 1) / (power - 1) ** 2


def height(epsilon: float, width: float) -> float:
    """Return the density p inside a window on [0, 1]; outside it is p / e^eps."""
    return math.exp(epsilon) / (1 + math.expm1(epsilon) * width)


def clamped_error(epsilon: float, width: float, share: float, power: float) -> float:
    """Return the expected |y - x|**power at x = share, for a window of some width clamped to [0, 1].

    Examples
    --------
    >>> width = float(optimal_width(1.0, 1.0))
    >>> round(clamped_error(1.0, width, 0.0, 1), 6), round(clamped_error(1.0, width, 0.2, 1), 6)
    (0.377541, 0.243358)
    """
    near, order = min(share, 1 - share), power + 1
    reach = max(width - near, width / 2)
    inside = (min(near, width / 2) ** order + reach**order) / order
    whole = (near**order + (1 - near) ** order) / order
    gain = math.expm1(epsilon)
    return float((whole + gain * inside) / (1 + gain * width))


def end_error(epsilon: float, power: float, scale: float = 1.0) -> float:
    """Return the least worst-case error: of an interval of length `scale`, or a circle of twice that.

    Examples
    --------
    >>> round(end_error(4.0, 2), 7), round(end_error(1.0, 1) - 1 / (1 + math.exp(0.5)), 12)
    (0.0406356, 0.0)
    """
    return float((float(optimal_width(epsilon, power)) * scale) ** power)


def check_prior(
    interval: IntervalDomain, values: Sequence[float] | Floats, weights: Sequence[float] | Floats | None
) -> tuple[Floats, Floats]:
    """Return where the values of a prior are, low at 0 and high at 1, and how likely each is, or refuse them.

    Examples
    --------
    >>> [each.tolist() for each in check_prior(IntervalDomain(0, 10), [2, 5], [3, 1])]
    [[0.2, 0.5], [0.75, 0.25]]
    """
    shares = (interval.check(values) - interval.low) / interval.width
    chances = np.ones(len(shares)) if weights is None else np.asarray(weights, float)
    if chances.shape != shares.shape or not (np.isfinite(chances) & (chances >= 0)).all():
        raise InvalidParameterError(
            f"a prior has one weight for each of its {len(shares)} values, none of them negative"
        )
    if not chances.sum() > 0:
        raise InvalidParameterError("a prior needs a positive weight")
    return shares, chances / chances.sum()


def prior_width(epsilon: float, power: float, shares: Floats, weights: Floats) -> float:
    """Return the width with the least expected |y - x|**power where x is one of some shares.

    Examples
    --------
    >>> at_one = prior_width(1.0, 1.0, np.array([0.2]), np.array([1.0]))
    >>> abs(at_one - float(optimal_width(1.0, 1.0, Fraction(1, 5)))) < 1e-12
    True
    """
    from scipy.optimize import brentq

    near, order, gain = np.minimum(shares, 1 - shares), power + 1, math.expm1(epsilon)
    chances = weights / weights.sum()
    whole = (near**order + (1 - near) ** order) / order

    def slope(width: float) -> float:
        reach = np.maximum(width - near, width / 2)
        inside = (np.minimum(near, width / 2) ** order + reach**order) / order
        return float(chances @ (reach**power * (1 + gain * width) - gain * inside - whole))

    return float(brentq(slope, 0.0, 1.0, xtol=1e-15))
