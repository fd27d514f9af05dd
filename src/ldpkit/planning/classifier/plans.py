"""The least epsilon at which a classifier keeps most of its predictions, by mechanism and split."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ldpkit.assurance.classifier.columns import PrivateColumn
from ldpkit.assurance.classifier.corrected import label_response
from ldpkit.assurance.classifier.reading import Unread
from ldpkit.assurance.classifier.table import RecordTable, Sensitive, record_table
from ldpkit.assurance.classifier.utility import KeptRegions, drawn_utility
from ldpkit.core.domains.interval import IntervalDomain, IntervalLike, as_interval
from ldpkit.core.errors import InvalidParameterError
from ldpkit.core.parameters import check_epsilon, check_fraction
from ldpkit.core.random import RandomSource, seeded
from ldpkit.core.results import TOP, Result
from ldpkit.core.tables import Table
from ldpkit.core.typing import Floats
from ldpkit.core.watching import Watch, collect, unwatched
from ldpkit.planning.classifier.choices import USUAL, Split, column_of, splits

__all__ = ["ClassifierPlan", "ClassifierPlans", "classifier"]

_PIECES = 128  # of a law: what merging can change is about 1e-4
_GRID = 13  # epsilons of a curve
_CLOSE = 1.005  # the answer is the least epsilon up to this factor
_DRAWS = 200  # reports a record, of a model that can only be asked
LABEL = "label response"


@dataclass(frozen=True)
class ClassifierPlan:
    """The least total epsilon of one mechanism and split, and what is kept there."""

    mechanism: str
    split: str
    epsilon: float | None
    """None where even the largest epsilon does not keep enough."""
    average: float | None
    worst: float | None
    shares: tuple[float, ...] = ()
    curve: tuple[tuple[float, float, float], ...] = ()
    """Total epsilon, average and worst utility."""


@dataclass(frozen=True, repr=False)
class ClassifierPlans(Result):
    """All choices with the epsilon that each needs, the least first."""

    kind: ClassVar[str] = "plan classifier"

    plans: tuple[ClassifierPlan, ...]
    sensitive: tuple[str, ...]
    keep: float
    criterion: str
    records: int
    classes: int
    method: str
    largest: float
    reason: str = ""

    @property
    def feasible(self) -> bool:
        """Whether some mechanism keeps enough; the label response is not counted."""
        return self.best is not None

    @property
    def best(self) -> ClassifierPlan | None:
        """The choice with the least epsilon among those that privatize features."""
        found = [each for each in self.plans if each.epsilon is not None and each.mechanism != LABEL]
        return found[0] if found else None

    @property
    def title(self) -> str:
        """What stands above the table."""
        whose = "on average" if self.criterion == "average" else "for the worst record"
        return f"The least epsilon that keeps {self.keep:.0%} of predictions {whose}"

    @property
    def caption(self) -> str:
        """What stands below the table."""
        drawn = " and is drawn" if self.method == "drawn" else f", computed exactly ({self.method})"
        return (
            f"epsilon: the total for {', '.join(self.sensitive)}; utility: the probability that a prediction "
            f"stays the same, over {self.records:,} records{drawn}; of a withheld column the model "
            "sees the middle of its range"
        )

    def notes(self) -> list[str]:
        """Return the answer in words."""
        best = self.best
        told = [
            f"no mechanism keeps as much up to epsilon {self.largest:g}"
            if best is None
            else f"best: {best.mechanism}, {best.split}, at epsilon {best.epsilon:.4g}"
        ]
        label = next(each for each in self.plans if each.mechanism == LABEL)
        told.append(
            f"if the model may run on the device, its label through randomised response needs epsilon "
            f"{label.epsilon:.4g} and no feature is sent"
        )
        return [*told, *([self.reason] if self.reason else [])]

    def about(self) -> dict[str, Any]:
        """Return the question, and how it was answered."""
        return {
            "sensitive": list(self.sensitive),
            "keep": self.keep,
            "criterion": self.criterion,
            "records": self.records,
            "classes": self.classes,
            "method": self.method,
        }

    def rows(self, top: int | None = None) -> list[dict[str, Any]]:
        """Return one record for each choice, with its curve."""
        return [
            {**each.__dict__, "curve": [list(point) for point in each.curve]} for each in self.plans[:top]
        ]

    def tables(self, top: int | None = TOP) -> list[Table]:
        """Return the choices without their curves, which are in the figure."""
        kept = ("mechanism", "split", "epsilon", "average", "worst")
        shown = [
            {name: "not reached" if row[name] is None else row[name] for name in kept}
            for row in self.rows(top)
        ]
        return [Table.of(shown, title=self.title, caption=self.caption)]


def classifier(
    model: Any,
    records: Any,
    sensitive: Mapping[str, IntervalLike] | Sequence[str],
    keep: float = 0.9,
    *,
    criterion: str = "average",
    mechanisms: Sequence[str] = USUAL,
    columns: Sequence[str] | None = None,
    epsilon_min: float = 0.1,
    epsilon_max: float = 20.0,
    rng: RandomSource | None = None,
    watch: Watch = unwatched,
) -> ClassifierPlans:
    """Return which mechanism and split keep most predictions at the least total epsilon.

    Parameters
    ----------
    model : object with predict
        The classifier.
    records : table of numbers
        The records for which predictions are to be kept.
    sensitive : mapping or sequence
        The sensitive columns with their public ranges; 0 to 1 where only names are given.
    keep : float
        The probability of an unchanged prediction that is wanted.
    criterion : {"average", "worst"}
        Over all records, or for the worst of them.
    mechanisms : sequence of str
        What is compared.
    columns : sequence of str, optional
        The names of the columns of an array.
    epsilon_min, epsilon_max : float
        The range of total epsilons that is searched.
    rng : RandomSource, optional
        For models that can only be asked; by default the draws are the same every time.
    watch : callable, optional
        Shows how far the work is.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> rows = np.linspace(0, 1, 64).reshape(-1, 1)
    >>> model = LogisticRegression(C=100).fit(rows, rows[:, 0] > 0.5)
    >>> found = classifier(model, rows, {0: (0, 1)}, 0.9, mechanisms=["ogpm", "laplace"])
    >>> found.best.mechanism, round(found.best.epsilon, 1)
    ('ogpm', 3.8)
    """
    check_fraction(keep, "keep")
    if criterion not in ("average", "worst"):
        raise InvalidParameterError(f"criterion is 'average' or 'worst', got {criterion!r}")
    low, high = check_epsilon(epsilon_min, "epsilon_min"), check_epsilon(epsilon_max, "epsilon_max")
    if not low < high:
        raise InvalidParameterError(f"epsilon_min must be below epsilon_max, got {low:g} and {high:g}")
    table = record_table(model, records, columns)
    ranges = sensitive if isinstance(sensitive, Mapping) else dict.fromkeys(sensitive, (0, 1))
    domains = {name: as_interval(interval) for name, interval in ranges.items()}
    positions = [table.position(name) for name in domains]
    if not positions:
        raise InvalidParameterError("name at least one sensitive column")
    for name, position in zip(domains, positions, strict=True):
        column_of(mechanisms[0], domains[name], 1.0).check(table.values[:, position], name)
    labels = table.predict(table.values)
    classes = max(len(getattr(model, "classes_", ())), len(np.unique(labels)), 2)
    evaluate, method, reason = _evaluator(table, labels, list(domains), positions, rng or seeded(0))
    ways = splits([str(name) for name in domains])
    search = _LeastEpsilon(evaluate, domains, keep, criterion, low, high)
    asked = [(name, way) for name in mechanisms for way in ways]
    plans = collect((search.plan(*each) for each in asked), len(asked), "mechanisms and splits", watch)
    plans.append(_label_plan(classes, keep, low, high))
    plans.sort(key=lambda each: math.inf if each.epsilon is None else each.epsilon)
    return ClassifierPlans(
        tuple(plans), tuple(map(str, domains)), keep, criterion, table.n, classes, method, high, reason
    )


Evaluate = Callable[[Sequence[PrivateColumn]], Floats]


def _evaluator(
    table: RecordTable, labels: Any, names: Sequence[str], positions: Sequence[int], rng: RandomSource
) -> tuple[Evaluate, str, str]:
    """Return what computes the utility of each record for some columns, the method, and why it was drawn."""
    try:
        kept = KeptRegions(table, labels, positions)
    except Unread as why:

        def drawn(columns: Sequence[PrivateColumn]) -> Floats:
            chosen = [Sensitive(*each) for each in zip(names, positions, columns, strict=True)]
            return drawn_utility(table, labels, chosen, _DRAWS, 0.95, rng)[0]

        return drawn, "drawn", str(why)
    return lambda columns: kept.probability(columns, _PIECES)[0], kept.method, ""


@dataclass(frozen=True)
class _LeastEpsilon:
    evaluate: Evaluate
    domains: Mapping[str, IntervalDomain]
    keep: float
    criterion: str
    low: float
    high: float

    def plan(self, name: str, split: Split) -> ClassifierPlan:
        """Return the least epsilon of one choice: a curve first, then halving around its crossing."""
        curve = list(self._curve(name, split))
        wanted = 1 if self.criterion == "average" else 2
        enough = [place for place, point in enumerate(curve) if point[wanted] >= self.keep]
        if not enough:
            return ClassifierPlan(name, split.title, None, None, None, split.shares, tuple(curve))
        found = curve[enough[0]]
        below = curve[enough[0] - 1][0] if enough[0] else found[0]
        while found[0] > below * _CLOSE:
            middle = self._point(name, split, math.sqrt(below * found[0]))
            if middle[wanted] >= self.keep:
                found = middle
            else:
                below = middle[0]
        return ClassifierPlan(name, split.title, *found, split.shares, tuple(curve))

    def _curve(self, name: str, split: Split) -> Iterator[tuple[float, float, float]]:
        for epsilon in np.geomspace(self.low, self.high, _GRID).tolist():
            try:
                yield self._point(name, split, epsilon)
            except InvalidParameterError:  # an epsilon beyond what the integers of a mechanism can hold
                return

    def _point(self, name: str, split: Split, epsilon: float) -> tuple[float, float, float]:
        values = self.evaluate(split.columns(name, self.domains, epsilon))
        return epsilon, float(values.mean()), float(values.min())


def _label_plan(classes: int, keep: float, low: float, high: float) -> ClassifierPlan:
    """Return the plan of sending the label alone; it keeps every record's label alike."""
    epsilon = max(math.log(keep * (classes - 1) / (1 - keep)), 0.0) if keep * classes > 1 else 0.0
    epsilon = math.nextafter(max(epsilon, 1e-3) * (1 + 1e-9), math.inf)
    curve = [(each, label_response(classes, each)) for each in np.geomspace(low, high, _GRID).tolist()]
    kept = label_response(classes, epsilon)
    return ClassifierPlan(
        LABEL, "whole", epsilon, kept, kept, (), tuple((each, value, value) for each, value in curve)
    )
