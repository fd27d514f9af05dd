"""One model on one table: exact utilities of all records, and the published bound beside them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from ldpkit.assurance.classifier.columns import Clipped, NearestPoint, PrivateColumn, as_private_column
from ldpkit.assurance.classifier.outputs import Outputs
from ldpkit.assurance.classifier.reading import regions
from ldpkit.assurance.classifier.table import record_table
from ldpkit.core.cached import cached_property
from ldpkit.core.typing import Floats
from ldpkit.mechanisms.categorical.exponential import Exponential
from ldpkit.mechanisms.categorical.grr import GRR
from ldpkit.mechanisms.numeric.laplace import Laplace
from ldpkit.mechanisms.numeric.ogpm import OGPM
from ldpkit.mechanisms.numeric.squarewave import CompressedSW
from ldpkit.papers.classifier.published import Boxes, failing_share, published_bound, published_boxes

__all__ = ["GRID", "MECHANISMS", "TAU", "Make", "Study", "concentration", "inside_only"]

GRID = [step / 100 for step in range(101)]
"""The grid of the discrete mechanisms: 101 points, though the thesis counts 100."""

TAU = 0.01
"""The share of a box that may fail, in all case studies as the text says."""

Make = Callable[[float], PrivateColumn]
"""A column for an epsilon."""


def _kept(make: Callable[[float], Any]) -> Make:
    """Return a maker that remembers its columns: the channel of 101 points is worked out once."""
    return lru_cache(maxsize=64)(lambda epsilon: as_private_column(make(epsilon)))


MECHANISMS: dict[str, Make] = {
    "PM": _kept(lambda epsilon: OGPM((0, 1), epsilon=epsilon)),
    "Exponential": _kept(lambda epsilon: NearestPoint(Exponential(GRID, epsilon=epsilon))),
    "Laplace": _kept(lambda epsilon: Clipped(Laplace((0, 1), epsilon=epsilon))),
    "SW": _kept(lambda epsilon: CompressedSW((0, 1), epsilon=epsilon)),
    "k-RR": _kept(lambda epsilon: NearestPoint(GRR(GRID, epsilon=epsilon))),
}
"""PM is what the thesis calls so, our OGPM; Laplace is clipped; Exponential has the epsilon it states."""


def concentration(mechanism: Any, theta: float, x: float = 0.5) -> float:
    """Return the probability that a report of x is within theta of it.

    Examples
    --------
    >>> [round(concentration(MECHANISMS[name](2.0), 0.3), 5) for name in ("PM", "k-RR")]
    [0.85285, 0.62752]
    """
    law = as_private_column(mechanism).outputs(np.array([x]), 1 << 62)  # each law as it is
    reach = theta + 1e-9  # so that a point of the grid at distance theta counts
    return float(law.between(np.array([x - reach]), np.array([x + reach]))[0])


def inside_only(law: Outputs, low: float = 0.0, high: float = 1.0) -> tuple[Outputs, Floats]:
    """Return the law of those reports that are inside an interval, and how likely they are.

    Examples
    --------
    >>> law = as_private_column(Laplace((0, 1), epsilon=1)).outputs(np.array([0.5]))
    >>> within, chance = inside_only(law)
    >>> within.points.tolist(), round(float(chance[0]), 4)
    ([], 0.3935)
    """
    clipped = law.clipped(low, high)
    chance = clipped.masses.sum(axis=1)
    masses = clipped.masses / chance[:, None]
    return Outputs(clipped.edges, masses, np.zeros(0), np.zeros((law.n, 0)), law.slack / chance.min()), chance


class Study:
    """A model that can be read, some records of two sensitive columns, and the published search on them.

    Parameters
    ----------
    model : object with predict
        A linear model or a forest.
    names : sequence of str
        The columns.
    rows : array
        The records, sensitive columns in [0, 1].
    sensitive : sequence of str
        The two sensitive columns.
    """

    def __init__(self, model: Any, names: Sequence[str], rows: Floats, sensitive: Sequence[str]) -> None:
        self.model, self.names, self.rows = model, list(names), rows
        self.sensitive = tuple(sensitive)
        self.positions = [self.names.index(name) for name in sensitive]
        self.centres = rows[:, self.positions]
        table = record_table(model, rows, self.names)
        self.labels = table.predict(rows)
        self.region = regions(table, rows, self.labels, self.positions)
        self._known: dict[tuple[str, Make, float], Floats] = {}

    def laws(self, column: PrivateColumn) -> list[Outputs]:
        """Return the laws of both columns."""
        return [column.outputs(self.rows[:, position]) for position in self.positions]

    def exact(self, make: Make, epsilon: float) -> Floats:
        """Return the probability that each record keeps its label, epsilon a feature."""
        key = "exact", make, epsilon
        if key not in self._known:
            laws = self.laws(make(epsilon))
            self._known[key] = np.asarray(self.region.probability(laws)[0])
        return self._known[key]

    def counted_as_failed(self, make: Make, epsilon: float) -> Floats:
        """Return the same where a report outside [0, 1] counts as a changed label, as the thesis has it."""
        key = "inside", make, epsilon
        if key not in self._known:
            parts = [inside_only(law) for law in self.laws(make(epsilon))]
            kept = self.region.probability([law for law, _ in parts])[0]
            self._known[key] = np.asarray(kept * parts[0][1] * parts[1][1])
        return self._known[key]

    def as_coded(self, make: Make, epsilon: float) -> Floats:
        """Return what the published code estimates: it divides by records and rejected values, not records.

        A value that leaves [0, 1] is drawn again and counted, each column by itself.
        """
        inside = [inside_only(law)[1] for law in self.laws(make(epsilon))]
        kept = self.counted_as_failed(make, epsilon) / (inside[0] * inside[1])
        return np.asarray(kept / (1 / inside[0] + 1 / inside[1] - 1))

    def failing(self, low: Floats, high: Floats) -> Floats:
        """Return the share of each record's box in which its label is not kept."""
        return failing_share(self.region, low, high)

    def boxes(self, tau: float = TAU, *, careful: bool = False) -> Boxes:
        """Return the boxes of the published search."""
        return published_boxes(self.failing, self.centres, tau, careful=careful)

    @cached_property
    def found(self) -> Boxes:
        """The boxes of the published search at the published tau."""
        return self.boxes()

    def bound(self, make: Make, epsilon: float, boxes: Boxes | None = None) -> Floats:
        """Return the published bound of each record."""
        return published_bound([make(epsilon)] * len(self.positions), self.centres, boxes or self.found)

    def stated(self, box: Sequence[tuple[float, float]]) -> Boxes:
        """Return one box for all records, such as a printed one."""
        low, high = (np.array([[each[end] for each in box]]) for end in (0, 1))
        return np.repeat(low, len(self.rows), axis=0), np.repeat(high, len(self.rows), axis=0)
