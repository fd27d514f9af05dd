"""Circular mechanisms that are a window around the value: OGPM and Square Wave."""

from __future__ import annotations

from fractions import Fraction
from typing import ClassVar

from ldpkit.core.domains.circle import CircleLike
from ldpkit.core.parameters import EPSILON, Parameter
from ldpkit.mechanisms.base import register
from ldpkit.mechanisms.cells.mechanism import GRID_STEPS
from ldpkit.mechanisms.cells.widths import POWER, most_informative_width, optimal_width
from ldpkit.mechanisms.cells.window import Windowed
from ldpkit.mechanisms.circular.mechanism import CircularMechanism

__all__ = ["CircularOGPM", "CircularSW", "CircularWindow"]


class CircularWindow(Windowed, CircularMechanism):
    """A circular mechanism that is a window and nothing else."""

    capabilities = CircularMechanism.capabilities | {"client"}
    stand = "wrap"

    def details(self) -> dict[str, float]:
        return {"width": self.window.width / self.cells * self.domain.period}


@register
class CircularOGPM(CircularWindow):
    """The optimal mechanism for a value on a circle.

    The report is e^eps times as likely in a window around the value as elsewhere. The
    window goes round: there are no ends. For the mean arc it is 1 / (1 + e^(eps/2)) of the
    circle wide (Theorem 8); for a power r of the arc its part s of the circle solves
    s^r (r + 1 + r (e^eps - 1) s) = 1.

    Utility: the expected power of the arc between report and value is (s P / 2)^r, P being
    the period, for every value. No eps-LDP mechanism at all has a smaller worst case:
    averaged over all rotations, any mechanism becomes one whose law turns with the value,
    and among these the best fills the nearest outputs first.
    Runtime: O(1) a user, O(1) a report; memory O(1).
    Citation: Zheng, Theorem 8, with the width for other powers corrected.

    Parameters
    ----------
    domain : CircleDomain or float
        The circle of values, or its period.
    epsilon : float
        The privacy budget.
    power : float
        The power of the arc whose mean is made small: 1 for absolute, 2 for squared error.
    grid : int
        The points of the input grid, a power of two.

    Examples
    --------
    >>> import ldpkit
    >>> mechanism = ldpkit.get("circular_ogpm", 360, epsilon=1)
    >>> mechanism
    CircularOGPM(360, epsilon=1, power=1)
    >>> round(mechanism.error(0.0), 3), round(mechanism.error(200.0), 3)
    (67.957, 67.957)
    >>> round(ldpkit.get("circular_ogpm", 360, epsilon=2).resultant(), 4)
    0.5596
    """

    name = "circular_ogpm"
    aliases = ("ogpm_c",)
    title = "Optimal piecewise mechanism on a circle"
    citation = "Zheng: optimal piecewise-based mechanisms for bounded numerical data, dissertation, chapter 5"
    declared: ClassVar[tuple[Parameter, ...]] = (EPSILON, POWER, GRID_STEPS)
    power: float

    def __init__(
        self, domain: CircleLike, epsilon: float, *, power: float = 1.0, grid: int | None = None
    ) -> None:
        super().__init__(domain, epsilon, grid=grid)
        self._freeze(power=POWER.check(power))

    @property
    def width_ratio(self) -> Fraction:
        return optimal_width(self.epsilon, self.power)


@register
class CircularSW(CircularWindow):
    """The square wave on a circle: made for the distribution of values.

    The window is (eps e^eps - e^eps + 1) / (e^eps - 1)^2 of the circle wide, which makes
    the report tell the most about a value that is equally likely everywhere.

    Utility: with EMS the best of the circular mechanisms for a smooth density.
    Runtime: O(1) a user, O(1) a report; memory O(1).
    Citation: after Li et al. (SIGMOD 2020), whose width is that of a line.

    Examples
    --------
    >>> import ldpkit
    >>> mechanism = ldpkit.get("circular_sw", 24, epsilon=1)
    >>> round(mechanism.details()["width"], 3)
    8.129
    """

    name = "circular_sw"
    title = "Square wave on a circle"
    citation = "Li et al.: Estimating numerical distributions under local differential privacy. SIGMOD 2020"

    @property
    def width_ratio(self) -> Fraction:
        return most_informative_width(self.epsilon)
