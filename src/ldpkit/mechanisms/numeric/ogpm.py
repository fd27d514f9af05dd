"""The optimal piecewise mechanism on an interval: a clamped window, as wide as is best.

Among densities with a uniform floor (t <= f <= e^eps t for all values alike), the best
one for any increasing loss fills the outputs nearest to the value first; so two levels
and three pieces are all there is to find, and the width is the only choice. Over all
eps-LDP mechanisms this is not optimal on an interval: see the guide for how far it is.

The width is a number that is derived from the parameters, and never from people's data.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import ClassVar, Self

from ldpkit.core.cached import cached_property
from ldpkit.core.domains.interval import IntervalLike, as_interval
from ldpkit.core.errors import InvalidParameterError
from ldpkit.core.exact import exp_bounds
from ldpkit.core.parameters import EPSILON, Parameter
from ldpkit.core.typing import Floats
from ldpkit.mechanisms.base import register
from ldpkit.mechanisms.cells.law import Placement
from ldpkit.mechanisms.cells.mechanism import GRID_STEPS
from ldpkit.mechanisms.cells.widths import POWER, check_prior, optimal_width, prior_width
from ldpkit.mechanisms.cells.window import Window
from ldpkit.mechanisms.numeric.window import Clamped, WindowMechanism

__all__ = ["OGPM", "OGPMAt", "OGPMPrior", "OGPMUnbiased"]

_ZHENG = "Zheng: optimal piecewise-based mechanisms for bounded numerical data, dissertation, chapter 5"
_X0 = Parameter("x0", float, "the value of the interval at which the error is smallest", example=0.25)
_WIDTH = Parameter(
    "width", float, "the width of the window, as a part of the interval", above=0, most=1, example=0.3
)


@register
class OGPM(Clamped):
    """The optimal piecewise mechanism (OGPM) for the worst value of an interval.

    The report is within the interval, and e^eps times as likely in a window around the
    value, clamped to the interval, as elsewhere. For |y - x| the window is
    1 / (1 + e^(eps/2)) of the interval wide (Theorem 7); for a power r its width s solves
    s^r (r + 1 + r (e^eps - 1) s) = 1, which for squared error is not Theorem 7's.

    Utility: the expected power of the error is s^r at the ends, on [0, 1], and less
    within. For a single report only: values within half a window of an end all have the
    same law, so reports identify neither the mean nor the distribution of values there.
    Take PM or HM for a mean and SW for a distribution.
    Runtime: O(1) a user, O(1) a report; memory O(1).
    Citation: Zheng, Theorem 7, with the width for other powers corrected.

    Parameters
    ----------
    domain : IntervalDomain or pair of float
        The interval of values.
    epsilon : float
        The privacy budget.
    power : float
        The power of |y - x| whose mean is made small: 1 for absolute, 2 for squared error.
    grid : int
        The steps of the input grid, a power of two.

    Examples
    --------
    >>> import ldpkit
    >>> mechanism = ldpkit.get("ogpm", (0, 1), epsilon=1)
    >>> round(mechanism.error(0.0), 6), round(mechanism.details()["height"], 4)
    (0.377541, 1.6487)
    >>> squared = ldpkit.get("ogpm", (0, 1), epsilon=4, power=2)
    >>> round(squared.error(0.0, 2), 6), round(ldpkit.get("ogpm", (0, 1), epsilon=4).error(0.0, 2), 6)
    (0.040636, 0.049207)
    """

    name = "ogpm"
    title = "Optimal piecewise mechanism"
    citation = _ZHENG
    declared: ClassVar[tuple[Parameter, ...]] = (EPSILON, POWER, GRID_STEPS)
    power: float

    def __init__(
        self, domain: IntervalLike, epsilon: float, *, power: float = 1.0, grid: int | None = None
    ) -> None:
        super().__init__(domain, epsilon, grid=grid)
        self._freeze(power=POWER.check(power))

    @property
    def width_ratio(self) -> Fraction:
        return optimal_width(self.epsilon, self.power)


@register
class OGPMAt(Clamped):
    """The optimal piecewise mechanism for values around one point of the interval.

    Its window has the width with the least error at x0, which is public knowledge and not
    taken from the data. Epsilon holds for every value, whether near x0 or not.

    Utility: at eps=1 and x0=0.2 on [0, 1] the mean error there is 0.241367, OGPM's 0.243358.
    Runtime: O(1) a user, O(1) a report; memory O(1).
    Citation: Zheng, section 5.5.

    Parameters
    ----------
    domain : IntervalDomain or pair of float
        The interval of values.
    epsilon : float
        The privacy budget.
    x0 : float
        Where the error is made smallest.
    power : float
        The power of |y - x0| whose mean is made small.
    grid : int
        The steps of the input grid, a power of two.

    Examples
    --------
    >>> import ldpkit
    >>> mechanism = ldpkit.get("ogpm_at", (0, 1), epsilon=1, x0=0.2)
    >>> round(mechanism.error(0.2), 5), round(mechanism.details()["height"], 5)
    (0.24137, 1.54589)
    """

    name = "ogpm_at"
    title = "Optimal piecewise mechanism at a point"
    citation = _ZHENG
    declared: ClassVar[tuple[Parameter, ...]] = (EPSILON, _X0, POWER, GRID_STEPS)
    x0: float
    power: float

    def __init__(
        self, domain: IntervalLike, epsilon: float, *, x0: float, power: float = 1.0, grid: int | None = None
    ) -> None:
        super().__init__(domain, epsilon, grid=grid)
        point = _X0.check(x0)
        if not self.domain.low <= point <= self.domain.high:
            raise InvalidParameterError(f"x0 must lie in the interval {self.domain}, got {x0!r}")
        self._freeze(x0=point, power=POWER.check(power))

    @property
    def width_ratio(self) -> Fraction:
        low, high = Fraction(self.domain.low), Fraction(self.domain.high)
        return optimal_width(self.epsilon, self.power, (Fraction(self.x0) - low) / (high - low))


@register
class OGPMPrior(Clamped):
    """The optimal piecewise mechanism for values that are known to be distributed in some way.

    It is described by the width of its window alone. `for_prior` computes the width with
    the least mean error where values come from a public prior, such as a census; whoever
    reads the description of the mechanism has nothing to solve.

    Utility: the mean error over the prior is the least that a window can have.
    Runtime: O(1) a user, O(1) a report; memory O(1).
    Citation: Zheng, section 5.5.

    Parameters
    ----------
    domain : IntervalDomain or pair of float
        The interval of values.
    epsilon : float
        The privacy budget.
    width : float
        The width of the window, as a part of the interval.
    grid : int
        The steps of the input grid, a power of two.

    Examples
    --------
    >>> ages = [20, 30, 40]
    >>> mechanism = OGPMPrior.for_prior((0, 100), 1.0, ages, weights=[1, 2, 1])
    >>> mechanism
    OGPMPrior((0, 100), epsilon=1, width=0.4246...)
    >>> bool(mechanism.error(ages) @ [0.25, 0.5, 0.25] < OGPM((0, 100), 1.0).error(ages) @ [0.25, 0.5, 0.25])
    True
    """

    name = "ogpm_prior"
    title = "Optimal piecewise mechanism for a prior"
    citation = _ZHENG
    tight = False  # a window far wider than is best leaves few integers for the cells outside
    declared: ClassVar[tuple[Parameter, ...]] = (EPSILON, _WIDTH, GRID_STEPS)
    width: float

    def __init__(
        self, domain: IntervalLike, epsilon: float, *, width: float, grid: int | None = None
    ) -> None:
        super().__init__(domain, epsilon, grid=grid)
        self._freeze(width=_WIDTH.check(width))

    @classmethod
    def for_prior(
        cls,
        domain: IntervalLike,
        epsilon: float,
        values: Sequence[float] | Floats,
        weights: Sequence[float] | Floats | None = None,
        *,
        power: float = 1.0,
    ) -> Self:
        """Return the mechanism with the least mean error over a prior.

        Parameters
        ----------
        domain : IntervalDomain or pair of float
            The interval of values.
        epsilon : float
            The privacy budget.
        values : sequence of float
            Where values may be; public, never those of the people who report.
        weights : sequence of float, optional
            How likely each of them is; equally by default.
        power : float
            The power of |y - x| whose mean is made small.
        """
        interval = as_interval(domain)
        shares, chances = check_prior(interval, values, weights)
        width = prior_width(EPSILON.check(epsilon), POWER.check(power), shares, chances)
        return cls(interval, epsilon, width=width)

    @property
    def width_ratio(self) -> Fraction:
        return Fraction(self.width)


@register
class OGPMUnbiased(WindowMechanism):
    """The unbiased variant of OGPM (OGPM-U): the piecewise mechanism with idle cells at both ends.

    On [0, 1] the report lies in [-C, C+1], C = (e^(eps/2)+1) / (e^(eps/2)-1), more than
    twice PM's range, and no value ever makes the outer cells likely. So it is PM with
    part of its budget wasted.

    Utility: unbiased, and worse than PM for every epsilon: from eps=0.5 to 6 PM's variance
    is 3.1 to 3.9 times smaller in the worst case and 4.3 to 5.1 times smaller on average.
    It is here to be compared with; use PM or HM.
    Runtime: O(1) a user, O(1) a report; memory O(1).
    Citation: Zheng, Theorem 10.

    Examples
    --------
    >>> import ldpkit
    >>> variant, pm = (ldpkit.get(name, (0, 1), epsilon=1) for name in ("ogpm_unbiased", "pm"))
    >>> round(variant.worst_variance(), 3), round(pm.worst_variance(), 3)
    (5.025, 1.306)
    """

    name = "ogpm_unbiased"
    aliases = ("ogpm_u",)
    title = "Optimal piecewise mechanism, unbiased"
    capabilities = WindowMechanism.capabilities | {"unbiased"}
    surpassed_by = "pm"
    citation = _ZHENG

    @property
    def _reach(self) -> Fraction:
        """The C of the output range [-C, C+1]."""
        root = exp_bounds(Fraction(self.epsilon) / 2)[0]
        return (root + 1) / (root - 1)

    @property
    def width_ratio(self) -> Fraction:
        reach = self._reach
        return (2 * reach + 1) * (reach - 1) / (reach * (reach + 1))

    @cached_property
    def window(self) -> Window:
        """The sampler's integers."""
        idle = (self._reach + 1) / (2 * self._reach)
        return Window(self.grid, self.width_ratio, self.epsilon, idle=idle)

    @property
    def placement(self) -> Placement:
        return self.window.unbiased
