"""Polar coordinates: a distance by OGPM and an angle by circular OGPM, with the budget split as is best.

The report is two reports, one of each, and epsilon is the sum of theirs. Which part of the
budget the distance gets decides how large the error is; it is a number of its own, so that
whoever reads the description of the mechanism has nothing to solve.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple, Self

import numpy as np

from ldpkit.core.cached import cached_property
from ldpkit.core.domains.circle import CircleDomain, CircleLike, as_circle
from ldpkit.core.domains.interval import IntervalDomain
from ldpkit.core.errors import InvalidInputError, InvalidParameterError
from ldpkit.core.parameters import EPSILON, LARGEST_EPSILON, SMALLEST_EPSILON, Parameter
from ldpkit.core.random import RandomSource, resolve
from ldpkit.core.typing import Floats, Reports, Values
from ldpkit.mechanisms.cells.sharing import product_epsilon, rest_of
from ldpkit.mechanisms.cells.widths import POWER, end_error
from ldpkit.mechanisms.circular.window import CircularOGPM
from ldpkit.mechanisms.numeric.ogpm import OGPM
from ldpkit.mechanisms.tally import CircularTally, NumericTally

__all__ = ["PolarOGPM", "PolarReports", "PolarTally", "best_split"]

_NOTHING = 2 * SMALLEST_EPSILON
_PARTS = Parameter("distance_epsilon", float, "the part of the budget that the distance gets", above=0)


class PolarReports(NamedTuple):
    """The reports of distances and those of angles, of the same people in the same order."""

    distance: Reports
    angle: Reports


class PolarTally(NamedTuple):
    """The tallies of distances and of angles; each is estimated and sent by itself."""

    distance: NumericTally
    angle: CircularTally


def best_split(epsilon: float, reach: float, period: float, power: float = 1.0) -> tuple[float, float]:
    """Return the epsilons of distance and angle with the least worst-case error together.

    The error is the expected |distance|**power of both added up, in the units of the values.

    Examples
    --------
    >>> import math
    >>> [round(part, 4) for part in best_split(1 + 2 * math.pi, 1.0, 2 * math.pi, 2.0)]
    [1.5298, 5.7534]
    """
    from scipy.optimize import minimize_scalar

    low, high = max(SMALLEST_EPSILON, epsilon - LARGEST_EPSILON), epsilon - SMALLEST_EPSILON

    def error(part: float) -> float:
        return end_error(part, power, reach) + end_error(epsilon - part, power, period / 2)

    found = minimize_scalar(error, bounds=(low, high), method="bounded", options={"xatol": 1e-10})
    return float(found.x), epsilon - float(found.x)


def _warn_if_starved(part: float, rest: float, reach: float, period: float) -> None:
    """Warn if the best split leaves the distance or the angle so little that its reports are noise."""
    starved = [name for name, each in (("distance", part), ("angle", rest)) if each < _NOTHING]
    if starved:
        warnings.warn(
            f"the least sum of errors leaves almost none of epsilon for the {starved[0]}: errors are "
            f"added up in the units of the values, with a reach of {reach:g} and a turn of {period:g}; give "
            "distance_epsilon, or other units",
            UserWarning,
            stacklevel=3,
        )


@dataclass(frozen=True, init=False)
class PolarOGPM:
    """Distance and angle of a point, reported within [0, reach] and around a circle.

    Not in the registry: its values are pairs, and its report is two reports, of `ogpm` and
    of `circular_ogpm`, each with the wire form, the tally and the estimates of its own.

    Parameters
    ----------
    reach : float
        The greatest distance.
    circle : CircleDomain or float
        The circle of angles, or its period. Its unit counts: an error of one degree weighs as
        much as one of 1 in the distance.
    epsilon : float
        The privacy budget of the pair.
    power : float
        The power of the errors of both whose sum is made small.
    distance_epsilon : float, optional
        The part of the budget that the distance gets; by default what is best for the power.

    Examples
    --------
    >>> import math
    >>> polar = PolarOGPM(1.0, 2 * math.pi, epsilon=1 + 2 * math.pi, power=2)
    >>> round(polar.distance.epsilon, 4), round(polar.angle.epsilon, 4), round(polar.worst_error(), 5)
    (1.5298, 5.7534, 0.29863)
    >>> reports = polar.privatize([[0.2, 3.1], [0.9, 6.0]])
    >>> polar.values_of(reports).shape
    (2, 2)
    """

    reach: float
    circle: CircleDomain
    epsilon: float
    power: float
    distance_epsilon: float

    def __init__(
        self,
        reach: float,
        circle: CircleLike,
        epsilon: float,
        *,
        power: float = 1.0,
        distance_epsilon: float | None = None,
    ) -> None:
        interval, around = IntervalDomain(0, reach), as_circle(circle)
        budget, order = EPSILON.check(epsilon), POWER.check(power)
        if budget < 2 * SMALLEST_EPSILON:
            raise InvalidParameterError(
                f"epsilon must be at least {2 * SMALLEST_EPSILON}, got {epsilon}: it is for two reports"
            )
        if distance_epsilon is None:
            part, rest = best_split(budget, interval.width, around.period, order)
            _warn_if_starved(part, rest, interval.width, around.period)
        else:
            part = _PARTS.check(distance_epsilon)
        if not SMALLEST_EPSILON <= part <= budget - SMALLEST_EPSILON:
            raise InvalidParameterError(
                f"distance_epsilon must leave at least {SMALLEST_EPSILON} of epsilon={budget:g} to each of "
                f"distance and angle, got {distance_epsilon}"
            )
        self.__dict__.update(
            reach=interval.high, circle=around, epsilon=budget, power=order, distance_epsilon=part
        )

    @cached_property
    def distance(self) -> OGPM:
        """What reports distances."""
        return OGPM((0.0, self.reach), self.distance_epsilon, power=self.power)

    @cached_property
    def angle(self) -> CircularOGPM:
        """What reports angles; its epsilon is rounded so that both together keep the budget."""
        rest = rest_of(self.epsilon, self.distance_epsilon)
        return CircularOGPM(self.circle, rest, power=self.power)

    def exact_epsilon(self) -> float:
        """Return the realised epsilon of both reports together, rounded up."""
        return product_epsilon(*(Fraction(*part.window.weights) for part in (self.distance, self.angle)))

    def worst_error(self) -> float:
        """Return the greatest expected error: that of a distance of 0 or `reach`, and of any angle."""
        distance = self.distance.error(0.0, self.power)
        return float(distance + self.angle.error(self.circle.low, self.power))

    def privatize(
        self, values: Values, *, rng: RandomSource | None = None, wrap: bool = False
    ) -> PolarReports:
        """Return the reports of points, each a distance and an angle.

        Parameters
        ----------
        values : array, shape (n, 2)
            A row for each point. Anything else is refused before any randomness is drawn.
        rng : RandomSource, optional
            Secure randomness by default; `ldpkit.random.seeded` for a repeatable run.
        wrap : bool
            True wraps angles outside of a turn around the circle; a warning says how many.
        """
        try:
            pairs = np.asarray(values, float)
        except (TypeError, ValueError):
            raise InvalidInputError("points are pairs of numbers: a distance and an angle") from None
        if pairs.ndim != 2 or pairs.shape[1] != 2 or len(pairs) == 0:
            raise InvalidInputError(f"points have shape (n, 2): a distance and an angle, got {pairs.shape}")
        distances = self.distance.domain.check(pairs[:, 0])
        angles = self.circle.take(pairs[:, 1], wrap=wrap)
        first, second = resolve(rng).spawn(2)
        return PolarReports(
            self.distance.privatize(distances, rng=first), self.angle.privatize(angles, rng=second)
        )

    def values_of(self, reports: PolarReports) -> Floats:
        """Return the distance and angle that each pair of reports stands for."""
        pairs = PolarReports(*reports)
        return np.stack([self.distance.values_of(pairs.distance), self.angle.values_of(pairs.angle)], axis=1)

    def tally(self, reports: PolarReports) -> PolarTally:
        """Return the tallies of distances and of angles."""
        pairs = PolarReports(*reports)
        if len(pairs.distance) != len(pairs.angle):
            raise InvalidInputError(
                f"{len(pairs.distance)} distances and {len(pairs.angle)} angles are not reports of the same "
                "people"
            )
        return PolarTally(self.distance.tally(pairs.distance), self.angle.tally(pairs.angle))

    def spec(self) -> dict[str, Any]:
        """Return a JSON-ready description from which `from_spec` makes an equal one."""
        return {
            "reach": self.reach,
            "circle": self.circle.to_json(),
            "epsilon": self.epsilon,
            "power": self.power,
            "distance_epsilon": self.distance_epsilon,
        }

    @classmethod
    def from_spec(cls, spec: Mapping[str, Any]) -> Self:
        """Return what a `spec` describes, or refuse it; nothing is solved."""
        if not isinstance(spec, Mapping) or set(spec) != {
            "reach",
            "circle",
            "epsilon",
            "power",
            "distance_epsilon",
        }:
            raise InvalidParameterError(f"not the description of PolarOGPM: {str(spec)[:50]!r}")
        if spec["distance_epsilon"] is None:
            raise InvalidParameterError("the description of PolarOGPM has a distance_epsilon: give a number")
        numbers = dict(spec)
        circle = CircleDomain.from_json(numbers.pop("circle"))
        return cls(numbers.pop("reach"), circle, numbers.pop("epsilon"), **numbers)
