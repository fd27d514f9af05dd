"""The piecewise mechanism, and what becomes of it inside the domain."""

from __future__ import annotations

from fractions import Fraction

from ldpkit.core.exact import exp_bounds
from ldpkit.mechanisms.base import register
from ldpkit.mechanisms.cells.law import Placement
from ldpkit.mechanisms.numeric.mechanism import NumericMechanism
from ldpkit.mechanisms.numeric.window import Compressed, Truncated, WindowMechanism

__all__ = ["PM", "CompressedPM", "TruncatedPM", "piecewise_ratio"]

_WANG = (
    "Wang et al.: Collecting and analyzing multidimensional data with local differential privacy. ICDE 2019"
)
_ZHENG = "Zheng: comparators of the optimal piecewise mechanism, dissertation, section 5.6"


def piecewise_ratio(mechanism: NumericMechanism) -> Fraction:
    """Return the width of PM's window in units of the domain's grid: (C-1) / (C+1) = e^(-eps/2)."""
    return 1 / exp_bounds(Fraction(mechanism.epsilon) / 2)[0]


class _Piecewise(WindowMechanism):
    """The width that all of them have."""

    @property
    def width_ratio(self) -> Fraction:
        return piecewise_ratio(self)


@register
class PM(_Piecewise):
    """The piecewise mechanism: an unbiased report within a bounded range.

    On [-1, 1] the report lies in [-C, C], C = (e^(eps/2)+1) / (e^(eps/2)-1), and in a
    window of width C-1 around the value with probability e^(eps/2) / (e^(eps/2)+1).

    Utility: variance at most 4 e^(eps/2) / (3 (e^(eps/2)-1)^2) on [-1, 1], at the ends.
    Runtime: O(1) a user, O(1) a report; memory O(1).
    Citation: Wang et al. (ICDE 2019).

    Examples
    --------
    >>> import ldpkit
    >>> mechanism = ldpkit.get("pm", (-1, 1), epsilon=1)
    >>> mechanism
    PM((-1, 1), epsilon=1)
    >>> round(mechanism.variance(1.0), 4), abs(mechanism.bias(0.25)) < 1e-12
    (5.2236, True)
    """

    name = "pm"
    aliases = ("piecewise",)
    title = "Piecewise mechanism"
    capabilities = WindowMechanism.capabilities | {"unbiased"}
    citation = _WANG

    @property
    def placement(self) -> Placement:
        return self.window.unbiased


@register
class TruncatedPM(Truncated, _Piecewise):
    """The piecewise mechanism (T-PM) whose reports outside the domain are moved to its nearest end.

    Utility: a smaller error of a single report than PM's, at the price of bias.
    Runtime: O(1) a user, O(1) a report; memory O(1).
    Citation: Zheng, section 5.6.

    Examples
    --------
    >>> mechanism = TruncatedPM((0, 10), epsilon=1)
    >>> reports = mechanism.privatize([4.0, 9.0])
    >>> bool(((mechanism.values_of(reports) >= 0) & (mechanism.values_of(reports) <= 10)).all())
    True
    """

    name = "truncated_pm"
    aliases = ("t_pm",)
    title = "Piecewise mechanism, truncated"
    citation = _ZHENG

    @property
    def inner_placement(self) -> Placement:
        return self.window.unbiased


@register
class CompressedPM(Compressed, _Piecewise):
    """The piecewise mechanism (PM-C) whose range is compressed to the domain.

    Utility: a smaller error of a single report than PM's, at the price of bias towards
    the middle; the bias is linear, so the mean is still estimated without any.
    Runtime: O(1) a user, O(1) a report; memory O(1).
    Citation: Zheng, section 5.6.

    Examples
    --------
    >>> mechanism = CompressedPM((0, 10), epsilon=1)
    >>> reports = mechanism.privatize([4.0, 9.0])
    >>> bool(((mechanism.values_of(reports) >= 0) & (mechanism.values_of(reports) <= 10)).all())
    True
    """

    name = "compressed_pm"
    aliases = ("pm_c",)
    title = "Piecewise mechanism, compressed"
    citation = _ZHENG
