"""The least epsilon at which a classifier keeps most of its predictions, by mechanism and split."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ldpkit.assurance.classifier.columns import PrivateColumn
from ldpkit.assurance.classifier.corrected import label_response
from ldpkit.assurance.classifier.table import RecordTable, Sensitive, Unread, record_table
from ldpkit.assurance.classifier.utility import KeptRegions, drawn_utility
from ldpkit.core.domains.categorical import CategoricalDomain
from ldpkit.core.domains.interval import IntervalLike
from ldpkit.core.errors import InvalidParameterError
from ldpkit.core.parameters import check_fraction
from ldpkit.core.random import RandomSource, seeded
from ldpkit.core.typing import Floats
from ldpkit.core.watching import Watch, collect, unwatched
from ldpkit.planning.classifier.choices import USUAL, Range, Split, as_range, column_of, splits
from ldpkit.planning.classifier.drawn import (
    can_be_corrected,
    corrected_utility,
    drawn_average,
    worth_of_reports,
)
from ldpkit.planning.classifier.results import LABEL, ClassifierPlan, ClassifierPlans
from ldpkit.planning.plan import check_range

__all__ = ["classifier"]

_PIECES = 128  # of a law: what merging can change is about 1e-4
_GRID = 13  # epsilons of a curve
_CLOSE = 1.005  # the answer is the least epsilon up to this factor
_CLOSE_DRAWN = 1.1  # and where it is drawn
_EVERY = 3  # points of a curve that are drawn too
_DRAWS = 200  # reports a record, of a model that can only be asked


def classifier(
    model: Any,
    records: Any,
    sensitive: Mapping[str, IntervalLike | CategoricalDomain] | Sequence[str],
    keep: float = 0.9,
    *,
    criterion: str = "average",
    mechanisms: Sequence[str] = USUAL,
    columns: Sequence[str] | None = None,
    epsilon_min: float = 0.1,
    epsilon_max: float = 20.0,
    target: Any = None,
    drawn: bool = True,
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
        The sensitive columns with their public ranges; 0 to 1 where only names are given. A
        `CategoricalDomain` of the numbers that stand for categories is privatized by k-RR.
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
    target : array, optional
        The true labels: with them the plan says what predictions at the best choice are worth, also
        those of the corrected model and of one that is trained on reports.
    drawn : bool
        Whether to draw from the mechanisms too: points beside the exact curves, and the corrected model.
    rng : RandomSource, optional
        For all draws; by default they are the same every time.
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
    low, high = check_range(epsilon_min, epsilon_max)
    table = record_table(model, records, columns)
    ranges = sensitive if isinstance(sensitive, Mapping) else dict.fromkeys(sensitive, (0.0, 1.0))
    domains = {name: as_range(given) for name, given in ranges.items()}
    positions = [table.position(name) for name in domains]
    if not positions:
        raise InvalidParameterError("name at least one sensitive column")
    for name, position in zip(domains, positions, strict=True):
        column_of(mechanisms[0], domains[name], 1.0).check(table.values[:, position], name)
    labels = table.predict(table.values)
    classes = max(len(getattr(model, "classes_", ())), len(np.unique(labels)), 2)
    source = rng or seeded(0)
    ask = _Evaluator(table, labels, list(domains), positions, source.spawn(1)[0])
    ways = splits([str(name) for name in domains])
    search = _LeastEpsilon(ask, domains, keep, criterion, low, high)
    asked = [(name, way) for name in mechanisms for way in ways]
    plans = collect((search.plan(*each) for each in asked), len(asked), "mechanisms and splits", watch)
    plans.append(_label_plan(classes, keep, low, high))
    plans.sort(key=_needed)
    by_title = {way.title: way for way in ways}
    if drawn:
        plans = _checked(plans, table, labels, domains, by_title, source.spawn(1)[0], watch)
        if criterion == "average" and can_be_corrected(model):
            best = next((each for each in plans if each.mechanism != LABEL), plans[0])
            names, source_of = list(domains), source.spawn(1)[0]

            def corrected(columns: Sequence[PrivateColumn]) -> Floats:
                return corrected_utility(table, labels, names, columns, source_of.spawn(1)[0])

            again = _LeastEpsilon(corrected, domains, keep, criterion, low, high, close=_CLOSE_DRAWN)
            better = again.plan(best.mechanism, by_title[best.split])
            title = f"corrected {best.mechanism}"
            plans.append(replace(better, mechanism=title, worst=None, how="corrected"))
            plans.sort(key=_needed)
    found = ClassifierPlans(
        tuple(plans),
        tuple(map(str, domains)),
        keep,
        criterion,
        table.n,
        classes,
        ask.method,
        high,
        ask.reason,
        float(np.unique(labels, return_counts=True)[1].max() / table.n),
    )
    chosen = found.best
    if target is None or chosen is None or chosen.epsilon is None:
        return found
    columns_ = by_title[chosen.split].columns(chosen.mechanism, domains, chosen.epsilon)
    private = dict(zip(domains, columns_, strict=True))
    worth = worth_of_reports(table, labels, target, private, chosen.epsilon, source.spawn(1)[0])
    return replace(found, worth=tuple(worth))


def _needed(plan: ClassifierPlan) -> float:
    return math.inf if plan.epsilon is None else plan.epsilon


def _checked(
    plans: list[ClassifierPlan],
    table: RecordTable,
    labels: Any,
    domains: Mapping[str, Range],
    ways: Mapping[str, Split],
    rng: RandomSource,
    watch: Watch,
) -> list[ClassifierPlan]:
    """Return the plans, the best of each mechanism with some points of its curve drawn."""
    firsts = dict[str, ClassifierPlan]()
    for plan in plans:
        if plan.shares:
            firsts.setdefault(plan.mechanism, plan)

    def check(plan: ClassifierPlan) -> ClassifierPlan:
        points = []
        for epsilon, *_ in plan.curve[::_EVERY]:
            columns = ways[plan.split].columns(plan.mechanism, domains, epsilon)
            average = drawn_average(table, labels, list(domains), columns, rng.spawn(1)[0])
            points.append((epsilon, *average))
        return replace(plan, drawn=tuple(points))

    done = collect((check(plan) for plan in firsts.values()), len(firsts), "draws beside the curves", watch)
    made = dict(zip(map(id, firsts.values()), done, strict=True))
    return [made.get(id(plan), plan) for plan in plans]


Evaluate = Callable[[Sequence[PrivateColumn]], Floats]


class _Evaluator:
    """The utility of each record for some columns: computed as long as the model can be read, else drawn."""

    def __init__(
        self,
        table: RecordTable,
        labels: Any,
        names: Sequence[str],
        positions: Sequence[int],
        rng: RandomSource,
    ) -> None:
        self._table, self._labels, self._names, self._positions = table, labels, names, positions
        self._rng = rng
        self._kept: KeptRegions | None = None
        self.method, self.reason = "drawn", ""
        try:
            kept = KeptRegions(table, labels, positions)
            self._kept, self.method = kept, kept.method
        except Unread as why:
            self.reason = str(why)

    def __call__(self, columns: Sequence[PrivateColumn]) -> Floats:
        if self._kept is not None:
            try:
                return self._kept.probability(columns, _PIECES)[0]
            except Unread as why:
                self._kept, self.method, self.reason = None, "drawn", str(why)
        chosen = [Sensitive(*each) for each in zip(self._names, self._positions, columns, strict=True)]
        return drawn_utility(self._table, self._labels, chosen, _DRAWS, 0.95, self._rng)[0]


@dataclass(frozen=True)
class _LeastEpsilon:
    evaluate: Evaluate
    domains: Mapping[str, Range]
    keep: float
    criterion: str
    low: float
    high: float
    close: float = _CLOSE

    def plan(self, name: str, split: Split) -> ClassifierPlan:
        """Return the least epsilon of one choice: a curve first, then halving around its crossing."""
        curve = list(self._curve(name, split))
        wanted = 1 if self.criterion == "average" else 2
        enough = [place for place, point in enumerate(curve) if point[wanted] >= self.keep]
        if not enough:
            return ClassifierPlan(name, split.title, None, None, None, split.shares, tuple(curve))
        found = curve[enough[0]]
        below = curve[enough[0] - 1][0] if enough[0] else found[0]
        while found[0] > below * self.close:
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
