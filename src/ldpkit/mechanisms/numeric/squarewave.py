"""The square wave mechanism, and what becomes of it inside the domain."""

from __future__ import annotations

from fractions import Fraction

from ldpkit.core.exact import exp_bounds
from ldpkit.mechanisms.base import register
from ldpkit.mechanisms.cells.law import Placement
from ldpkit.mechanisms.numeric.mechanism import NumericMechanism
from ldpkit.mechanisms.numeric.window import Compressed, Truncated, WindowMechanism

__all__ = ["SW", "CompressedSW", "TruncatedSW", "wave_ratio"]

_LI = "Li et al.: Estimating numerical distributions under local differential privacy. SIGMOD 2020"
_ZHENG = "Zheng: comparators of the optimal piecewise mechanism, dissertation, section 5.6"


def wave_ratio(mechanism: NumericMechanism) -> Fraction:
    """Return 2b, the width of the wave on [0, 1].

    b = (eps e^eps - e^eps + 1) / (2 e^eps (e^eps - 1 - eps)) gives the report the most
    information about a value that is equally likely everywhere.
    """
    epsilon, power = Fraction(mechanism.epsilon), exp_bounds(mechanism.epsilon)[0]
    return (epsilon * power - power + 1) / (power * (power - 1 - epsilon))


class _Wave(WindowMechanism):
    """The width that all of them have."""

    @property
    def width_ratio(self) -> Fraction:
        return wave_ratio(self)


@register
class SW(_Wave):
    """The square wave mechanism: made for the distribution of values.

    On [0, 1] the report lies in [-b, 1+b], and is e^eps times as likely within b of the
    value as elsewhere.

    Utility: with EMS the best known recovery of a smooth density. The report is biased
    towards the middle; the bias is linear, so the mean is still estimated without any.
    Runtime: O(1) a user, O(1) a report; memory O(1).
    Citation: Li et al. (SIGMOD 2020).

    Examples
    --------
    >>> import ldpkit
    >>> mechanism = ldpkit.get("sw", (0, 1), epsilon=1)
    >>> [round(end, 4) for end in mechanism.output_range]
    [-0.2561, 1.2561]
    """

    name = "sw"
    aliases = ("square_wave",)
    title = "Square wave"
    citation = _LI

    @property
    def placement(self) -> Placement:
        return Fraction(-self.window.width, 2 * self.grid), Fraction(1, self.grid)


@register
class TruncatedSW(Truncated, _Wave):
    """The square wave (T-SW) whose reports outside the domain are moved to its nearest end.

    Utility: a somewhat smaller error of a single report than that of SW.
    Runtime: O(1) a user, O(1) a report; memory O(1).
    Citation: Zheng, section 5.6.

    Examples
    --------
    >>> mechanism = TruncatedSW((0, 10), epsilon=1)
    >>> reports = mechanism.privatize([4.0, 9.0])
    >>> bool(((mechanism.values_of(reports) >= 0) & (mechanism.values_of(reports) <= 10)).all())
    True
    """

    name = "truncated_sw"
    aliases = ("t_sw",)
    title = "Square wave, truncated"
    citation = _ZHENG

    @property
    def inner_placement(self) -> Placement:
        return Fraction(-self.window.width, 2 * self.grid), Fraction(1, self.grid)


@register
class CompressedSW(Compressed, _Wave):
    """The square wave (SW-C) whose range is compressed to the domain.

    The wave is at [x, x+2b] / (1+2b): it moves with the value, it is not clamped around it.

    Utility: a smaller error of a single report than that of SW.
    Runtime: O(1) a user, O(1) a report; memory O(1).
    Citation: Zheng, section 5.6.

    Examples
    --------
    >>> mechanism = CompressedSW((0, 10), epsilon=1)
    >>> reports = mechanism.privatize([4.0, 9.0])
    >>> bool(((mechanism.values_of(reports) >= 0) & (mechanism.values_of(reports) <= 10)).all())
    True
    """

    name = "compressed_sw"
    aliases = ("sw_c",)
    title = "Square wave, compressed"
    citation = _ZHENG
