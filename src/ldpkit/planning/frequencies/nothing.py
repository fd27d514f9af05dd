"""Learning nothing: the error of an answer that is published without asking anybody.

Every collection must be better than that. Zeros and equal frequencies need no data; the
better of the two under a metric is what a collection is compared with.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ldpkit.core.numbertext import number_text

if TYPE_CHECKING:
    from ldpkit.core.typing import Counts, Floats
    from ldpkit.planning.constraint import Constraint
    from ldpkit.simulation.metrics import Metric

__all__ = ["Nothing", "learn_nothing", "nothing_warnings"]

_ORDERS = 256  # a constant ranks nobody: the mean over some orders stands for all


@dataclass(frozen=True)
class Nothing:
    """An answer that does not depend on anybody.

    Parameters
    ----------
    answer : str
        "zeros", or "uniform" for equal frequencies.
    error : float
        Its metric.
    """

    answer: str
    error: float

    @property
    def words(self) -> str:
        """What is published, in words."""
        return "zeros" if self.answer == "zeros" else "the same frequency for every value"


def learn_nothing(counts: Counts, metric: Metric) -> Nothing:
    """Return the better constant answer about some people under a metric.

    Examples
    --------
    >>> from ldpkit.simulation.metrics import metric_for
    >>> learn_nothing(np.array([97, 1, 1, 1]), metric_for("mae"))
    Nothing(answer='zeros', error=0.25)
    >>> learn_nothing(np.array([48, 16, 16, 48]), metric_for("mae"))
    Nothing(answer='uniform', error=0.125)
    >>> learn_nothing(np.array([30, 25, 25, 20]), metric_for("kendall_tau")).error
    0.0
    """
    truth = np.asarray(counts / counts.sum())
    answers = {"zeros": np.zeros(len(truth)), "uniform": np.full(len(truth), 1 / len(truth))}
    errors = {name: _measured(metric, truth, answer) for name, answer in answers.items()}
    best = (max if metric.larger_is_better else min)(errors, key=errors.__getitem__)
    return Nothing(best, errors[best])


def nothing_warnings(constraint: Constraint, counts: Counts) -> list[str]:
    """Return a warning if an answer that asks nobody does what is wanted.

    Examples
    --------
    >>> from ldpkit.planning.constraint import Constraint
    >>> print(*nothing_warnings(Constraint("mae", "at most", 0.3), np.array([97, 1, 1, 1])))
    the bound is so loose that no collection is needed: publishing zeros without asking anybody has mean \
absolute error 0.25
    >>> nothing_warnings(Constraint("mae", "at most", 0.2), np.array([97, 1, 1, 1]))
    []
    """
    nothing = learn_nothing(counts, constraint.measure)
    if not constraint.holds(np.array([nothing.error]))[0]:
        return []
    answer = f"publishing {nothing.words} without asking anybody"
    error = f"{constraint.measure.title} {number_text(nothing.error)}"
    return [f"the bound is so loose that no collection is needed: {answer} has {error}"]


def _measured(metric: Metric, truth: Floats, answer: Floats) -> float:
    if metric.at is None:
        return float(metric(truth, answer[None, :])[0])
    # Among equals the metric takes the first, and data is often sorted: that would be knowledge.
    generator = np.random.default_rng(0)
    orders = (generator.permutation(truth) for _ in range(min(_ORDERS, max(2, (1 << 24) // len(truth)))))
    return float(np.mean([metric(order, answer[None, :])[0] for order in orders]))
