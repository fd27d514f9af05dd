"""With what probability a model still predicts the same when some of its inputs are privatized."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, ClassVar

import numpy as np

from ldpkit.assurance.classifier.columns import PIECES, PrivateColumn
from ldpkit.assurance.classifier.reading import Unread, regions
from ldpkit.assurance.classifier.table import BATCH, RecordTable, Sensitive, private_columns, record_table
from ldpkit.core.binomial import binomial_interval
from ldpkit.core.numbertext import ends_text
from ldpkit.core.parameters import check_fraction, check_whole
from ldpkit.core.random import RandomSource, seeded
from ldpkit.core.results import Result
from ldpkit.core.typing import Floats

__all__ = [
    "DRAWS",
    "KeptRegions",
    "RecordUtility",
    "Utilities",
    "drawn_utility",
    "utility",
]

DRAWS = 4000
"""So many reports are drawn for each record of a model that can only be asked."""

_MOST_COMBINATIONS = 1 << 12
_AT_ONCE = 500  # records whose laws are held together


@dataclass(frozen=True)
class RecordUtility:
    """How likely one record keeps its prediction.

    `exact` says that it was computed from the model and the law of the reports, with proven bounds;
    anything else is a confidence interval of draws.
    """

    value: float
    low: float
    high: float
    method: str
    exact: bool


@dataclass(frozen=True, repr=False, eq=False)
class Utilities(Result):
    """The utility of a model for each of some records, on average, and for the worst.

    Examples
    --------
    >>> import ldpkit, numpy as np
    >>> from sklearn.linear_model import LogisticRegression
    >>> people = np.random.default_rng(1).random((100, 2))
    >>> model = LogisticRegression().fit(people, people[:, 0] > 0.5)
    >>> found = ldpkit.utility(model, people, {0: ldpkit.OGPM((0, 1), epsilon=4)})
    >>> isinstance(found, Utilities), 0.5 < found.worst.value <= found.average.value <= 1
    (True, True)
    """

    kind: ClassVar[str] = "classifier utility"

    values: Floats
    lows: Floats
    highs: Floats
    method: str
    exact: bool
    labels: Any
    mechanisms: Mapping[str, str]
    epsilon: float
    """What the reports of all columns together may tell: the sum of the realised epsilons."""
    confidence: float
    reason: str = ""
    draws: int = 0

    def __getitem__(self, row: int) -> RecordUtility:
        return RecordUtility(
            float(self.values[row]), float(self.lows[row]), float(self.highs[row]), self.method, self.exact
        )

    def __len__(self) -> int:
        return len(self.values)

    @property
    def average(self) -> RecordUtility:
        """The mean over all records."""
        value = float(self.values.mean())
        if not self.draws:
            low, high = self.lows.mean(), self.highs.mean()
            return RecordUtility(value, float(low), float(high), self.method, self.exact)
        kept, tries = round(value * self.draws * len(self)), self.draws * len(self)
        low, high = binomial_interval(kept, tries, self.confidence)
        return RecordUtility(value, float(low), float(high), self.method, False)

    @property
    def worst(self) -> RecordUtility:
        """The record with the least utility; an interval of draws holds over the choice of it."""
        value = float(self.values.min())
        if not self.draws:
            low, high = self.lows.min(), self.highs.min()
            return RecordUtility(value, float(low), float(high), self.method, self.exact)
        level = 1 - (1 - self.confidence) / len(self)
        low, high = binomial_interval(np.rint(self.values * self.draws), self.draws, level)
        return RecordUtility(value, float(low.min()), float(high.min()), self.method, False)

    @property
    def title(self) -> str:
        """The title above the table."""
        under = f"{self.epsilon:.4g}-LDP inputs" if np.isfinite(self.epsilon) else "noise without an epsilon"
        return f"Predictions kept under {under}, {len(self)} records"

    @property
    def caption(self) -> str:
        """The caption below the table."""
        how = "computed from the model and the law of the reports"
        if self.draws:
            how = f"from {self.draws:,} draws a record, with {self.confidence:.0%} intervals"
        columns = "; ".join(f"{name}: {mechanism}" for name, mechanism in self.mechanisms.items())
        return (
            f"utility: the probability that the prediction stays the same, {how} ({self.method}); {columns}"
        )

    def notes(self) -> list[str]:
        """Return the average and the worst, and why a model was not read."""
        average, worst = self.average, self.worst
        told = [
            f"on average {average.value:.4f}, from {ends_text(average.low, average.high)}",
            f"at worst {worst.value:.4f}, from {ends_text(worst.low, worst.high)}",
        ]
        return [*told, *([self.reason] if self.reason else [])]

    def about(self) -> dict[str, Any]:
        """Return what holds for all records."""
        return {
            "mechanisms": dict(self.mechanisms),
            "epsilon": self.epsilon,
            "method": self.method,
            "exact": self.exact,
            "average": self.average.__dict__,
            "worst": self.worst.__dict__,
        }

    def rows(self, top: int | None = None) -> list[dict[str, Any]]:
        """Return the records, with `top` those that lose most."""
        order = range(len(self)) if top is None else np.argsort(self.values, kind="stable")[:top].tolist()
        return [
            {
                "record": row,
                "prediction": self.labels[row].item(),
                "utility": float(self.values[row]),
                "low": float(self.lows[row]),
                "high": float(self.highs[row]),
            }
            for row in order
        ]


def utility(
    model: Any,
    records: Any,
    mechanisms: Mapping[Any, Any],
    *,
    columns: Sequence[str] | None = None,
    confidence: float = 0.95,
    draws: int = DRAWS,
    pieces: int = PIECES,
    rng: RandomSource | None = None,
) -> Utilities:
    """Return how likely each record keeps its prediction when some of its columns are privatized.

    It is computed exactly where the model can be read: linear and logistic models and linear
    support vector machines with any number of sensitive columns, discriminant analysis, naive
    Bayes, linear models of several classes and rectified networks with two, trees, forests and boosted
    trees; and for any model if all sensitive columns have few values. Else the model is asked.

    Parameters
    ----------
    model : object with predict, or callable
        What gives a label for each row.
    records : table of numbers
        The records as the model takes them, an array or a frame.
    mechanisms : mapping
        For each sensitive column, by name or number, the mechanism that privatizes it: numeric,
        `Clipped(numeric)`, or on a grid of numbers, such as `NearestPoint(ldpkit.GRR(grid, epsilon))`.
    columns : sequence of str, optional
        The names of the columns of an array.
    confidence : float
        The level of intervals where a model is only asked.
    draws : int
        How many reports of each record such a model is asked about.
    pieces : int
        A law with more pieces is merged; what that can change is within the intervals.
    rng : RandomSource, optional
        For draws; by default they are the same every time, since a simulation protects nobody.

    Examples
    --------
    >>> import ldpkit
    >>> from ldpkit.assurance.classifier.columns import NearestPoint
    >>> def inside(rows):
    ...     return ((rows[:, 0] >= 0.2) & (rows[:, 0] <= 0.8)).astype(int)
    >>> grid = [step / 100 for step in range(101)]
    >>> found = utility(inside, [[0.5]], {0: NearestPoint(ldpkit.GRR(grid, epsilon=2))})
    >>> round(found[0].value, 6), found[0].method, found[0].exact
    (0.627523, 'enumeration', True)
    """
    check_fraction(confidence, "confidence")
    check_whole(draws, "draws")
    table = record_table(model, records, columns)
    sensitive = private_columns(table, mechanisms)
    labels = table.predict(table.values)
    exact, reason, drawn = True, "", 0
    try:
        kept = KeptRegions(table, labels, [each.position for each in sensitive])
        value, low, high = kept.probability([each.column for each in sensitive], pieces)
        method, exact = kept.method, kept.exact
    except Unread as why:
        counted = _enumerated(table, labels, sensitive)
        if counted is not None:
            value, low, high, method = *counted, "enumeration"
        else:
            value, low, high = drawn_utility(table, labels, sensitive, draws, confidence, rng or seeded(0))
            method, exact, reason, drawn = "drawn", False, str(why), draws
    return Utilities(
        value,
        low,
        high,
        method,
        exact,
        labels,
        {str(each.name): repr(each.column.mechanism) for each in sensitive},
        float(sum(each.column.mechanism.exact_epsilon() for each in sensitive)),
        confidence,
        reason,
        drawn,
    )


class KeptRegions:
    """Where a model keeps the labels of some records; read once, for all mechanisms and epsilons.

    Parameters
    ----------
    table : RecordTable
        The records and the model.
    labels : array
        The labels to be kept.
    positions : sequence of int
        The sensitive columns.
    """

    def __init__(self, table: RecordTable, labels: Any, positions: Sequence[int]) -> None:
        blocks = [slice(start, start + _AT_ONCE) for start in range(0, table.n, _AT_ONCE)]
        self._rows = [table.values[block] for block in blocks]
        self._regions = [regions(table, table.values[block], labels[block], positions) for block in blocks]
        self._positions = tuple(positions)

    @property
    def method(self) -> str:
        """How probabilities are computed."""
        return self._regions[0].method

    @property
    def exact(self) -> bool:
        """Whether the bounds of these probabilities are proven."""
        return self._regions[0].exact

    def probability(self, columns: Sequence[PrivateColumn], pieces: int = PIECES) -> tuple[Floats, ...]:
        """Return the probability that each record keeps its label, and its bounds."""
        found = []
        for rows, region in zip(self._rows, self._regions, strict=True):
            laws = [
                column.outputs(rows[:, position], pieces)
                for column, position in zip(columns, self._positions, strict=True)
            ]
            found.append(region.probability(laws))
        return tuple(np.concatenate(each) for each in zip(*found, strict=True))


def _enumerated(
    table: RecordTable, labels: Any, sensitive: Sequence[Sensitive]
) -> tuple[Floats, Floats, Floats] | None:
    """Return exact probabilities by asking about every combination of points; None if they are too many."""
    laws = [each.column.outputs(table.values[:, each.position]) for each in sensitive]
    sizes = [len(law.points) for law in laws]
    if not all(law.discrete for law in laws) or np.prod(sizes, dtype=np.float64) > _MOST_COMBINATIONS:
        return None
    value = np.zeros(table.n)
    grid = np.array(list(product(*(law.points for law in laws))))
    step = max(BATCH // len(grid), 1)
    for start in range(0, table.n, step):
        some = range(start, min(start + step, table.n))
        rows = np.repeat(table.values[some.start : some.stop], len(grid), axis=0)
        rows[:, [each.position for each in sensitive]] = np.tile(grid, (len(some), 1))
        same = table.predict(rows).reshape(len(some), len(grid)) == labels[some.start : some.stop, None]
        for place, row in enumerate(some):
            found: Any = same[place].reshape(sizes).astype(np.float64)
            for law in laws[::-1]:
                found = found @ law.chances[row]
            value[row] = found
    return value, np.maximum(value - 1e-12, 0.0), np.minimum(value + 1e-12, 1.0)


def drawn_utility(
    table: RecordTable,
    labels: Any,
    sensitive: Sequence[Sensitive],
    draws: int,
    confidence: float,
    rng: RandomSource,
) -> tuple[Floats, Floats, Floats]:
    """Return estimates from draws of the mechanisms themselves, with exact binomial intervals."""
    sources = rng.spawn(len(sensitive))
    kept = np.zeros(table.n)
    step = max(BATCH // draws, 1)
    for start in range(0, table.n, step):
        rows = np.repeat(table.values[start : start + step], draws, axis=0)
        for each, source in zip(sensitive, sources, strict=True):
            rows[:, each.position] = each.column.draw(rows[:, each.position], source.spawn(1)[0])
        same = table.predict(rows) == np.repeat(labels[start : start + step], draws)
        kept[start : start + step] = same.reshape(-1, draws).sum(axis=1)
    low, high = binomial_interval(kept, draws, confidence)
    return kept / draws, low, high
