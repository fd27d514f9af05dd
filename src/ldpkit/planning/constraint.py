"""Constraints: a metric at most or at least omega, with a probability."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ldpkit.core.errors import InvalidParameterError
from ldpkit.core.parameters import check_fraction
from ldpkit.simulation.metrics import Metric, metric_for
from ldpkit.simulation.metrics.concordance import TrueOrder
from ldpkit.simulation.metrics.ranking import kendall_tau

if TYPE_CHECKING:
    from collections.abc import Callable

    from ldpkit.core.typing import Floats

__all__ = ["Constraint", "Direction"]

Direction = Literal["at most", "at least"]


@dataclass(frozen=True)
class Constraint:
    """What the collector wants: a metric on the good side of omega, often enough.

    Parameters
    ----------
    metric : str
        The name of a metric, such as "mae" or "kendall_tau".
    direction : {"at most", "at least"}
        Errors are bounded from above, agreements from below. The other way round, more
        privacy would look like more accuracy, so it is refused.
    omega : float
        The bound.
    probability : float
        How often the bound must hold, strictly between 0 and 1: the pi of Optimus.

    Examples
    --------
    >>> wanted = Constraint("tau", "at least", 0.5, probability=0.9)
    >>> str(wanted)
    "Kendall's tau-b at least 0.5 with probability at least 0.9"
    >>> wanted.holds(np.array([0.4, 0.5, 0.6])).tolist()
    [False, True, True]
    >>> Constraint("kendall_tau", "at most", 0.5)
    Traceback (most recent call last):
    ...
    ldpkit.core.errors.InvalidParameterError: kendall_tau is an agreement, and larger is better: \
bound it from below, kendall_tau at least 0.5
    """

    metric: str
    direction: Direction
    omega: float
    probability: float = 0.9

    def __post_init__(self) -> None:
        measure = metric_for(self.metric)
        fitting = "at least" if measure.larger_is_better else "at most"
        if self.direction not in ("at most", "at least"):
            raise InvalidParameterError(
                f"the direction is 'at most' or 'at least', got {self.direction!r}: "
                f"{measure.name} needs {fitting!r}"
            )
        omega = _bound(self.omega)
        if self.direction != fitting:
            what = (
                "an agreement, and larger is better: bound it from below"
                if measure.larger_is_better
                else "an error, and smaller is better: bound it from above"
            )
            raise InvalidParameterError(f"{measure.name} is {what}, {measure.name} {fitting} {omega:g}")
        object.__setattr__(self, "metric", measure.name)
        object.__setattr__(self, "omega", omega)
        object.__setattr__(self, "probability", check_fraction(self.probability, "probability (pi)"))

    @classmethod
    def bounded(
        cls, metric: str, at_most: float | None, at_least: float | None, probability: float = 0.9
    ) -> Constraint | None:
        """Return the constraint of one bound or the other, or None if neither is given.

        Examples
        --------
        >>> print(Constraint.bounded("mae", 0.01, None))
        mean absolute error at most 0.01 with probability at least 0.9
        """
        if at_most is not None and at_least is not None:
            raise InvalidParameterError(
                "at_most and at_least are given, and a metric has one good side: choose one"
            )
        if at_most is not None:
            return cls(metric, "at most", at_most, probability)
        return None if at_least is None else cls(metric, "at least", at_least, probability)

    @property
    def measure(self) -> Metric:
        """The metric itself."""
        return metric_for(self.metric)

    def meter(self, truth: Floats) -> Callable[[Floats], Floats]:
        """Return what measures many estimates against one truth."""
        metric = self.measure
        if metric == kendall_tau:  # sort the truth once
            return TrueOrder(truth).tau_b
        return lambda estimates: metric(truth, estimates)

    def holds(self, values: Floats) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """Return for each value of the metric whether it is on the good side of omega."""
        return np.asarray(values >= self.omega if self.direction == "at least" else values <= self.omega)

    def quantile(self, values: Floats) -> float:
        """Return the value that a share `probability` of some values are at least as good as.

        The constraint holds for that share exactly if this value is on the good side.

        Examples
        --------
        >>> Constraint("mae", "at most", 0.1, probability=0.75).quantile(np.array([0.1, 0.2, 0.3, 0.4]))
        0.3
        """
        losses = -values if self.direction == "at least" else values
        kept = math.ceil(self.probability * len(losses) * (1 - 1e-12))  # 0.9 * 10 must stay 9
        quantile = float(np.partition(losses, kept - 1)[kept - 1])
        return -quantile if self.direction == "at least" else quantile

    def __str__(self) -> str:
        wanted = f"{self.measure.title} {self.direction} {self.omega:g}"
        return f"{wanted} with probability at least {self.probability:g}"


def _bound(omega: float) -> float:
    try:
        value = float(omega)
    except (TypeError, ValueError):
        raise InvalidParameterError(f"omega must be a number, got {omega!r}") from None
    if isinstance(omega, bool) or not math.isfinite(value):
        raise InvalidParameterError(f"omega must be a finite number, got {omega!r}")
    return value
