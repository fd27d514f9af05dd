"""The probability of polygons, and networks with one or two sensitive columns.

Reports are spread over pieces, and some have points with a chance of their own. Where a
column is at such a point, the other one alone decides, and at two points the model is asked.
What is left is spread over the plane: the mass of a polygon is a sum over its edges of the
second column's distribution function, integrated along the first. Edges are cut where either
law has an edge, so that this function is linear along each part and the trapezoid is exact.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from typing import Any

import numpy as np

from ldpkit.assurance.classifier.cells import CellList, TooManyCells, kept_cells
from ldpkit.assurance.classifier.networks import Network
from ldpkit.assurance.classifier.outputs import Outputs
from ldpkit.assurance.classifier.table import Unread
from ldpkit.core.typing import Counts, Floats

__all__ = ["PolygonRegions", "polygon_masses"]

_RECORDS = 32  # whose cells are found together
_ROUNDING = 1e-11
_MOST_ASKED = 1 << 24


class PolygonRegions:
    """Where a rectified network keeps labels, for one or two sensitive columns.

    Cells are found for the box that the reports can reach, and found again when other
    mechanisms reach farther.

    Parameters
    ----------
    network : Network
        The model.
    rows : array
        The records.
    labels : array of int
        The index of the label that each keeps.
    sensitive : sequence of int
        One or two columns.
    ask : callable
        The labels, as indices, that the model itself gives rows.
    """

    method = "polygons"
    exact = True

    def __init__(
        self,
        network: Network,
        rows: Floats,
        labels: Counts,
        sensitive: Sequence[int],
        ask: Callable[[Floats], Counts],
    ) -> None:
        self._network, self._rows, self._labels = network, rows, labels
        self._sensitive, self._ask = tuple(sensitive), ask
        self._found: dict[Any, Any] = {}

    def take(self, rows: Counts) -> PolygonRegions:
        """Return the regions of some records."""
        return PolygonRegions(self._network, self._rows[rows], self._labels[rows], self._sensitive, self._ask)

    def probability(self, laws: Sequence[Outputs]) -> tuple[Floats, Floats, Floats]:
        """Return the probability that each record keeps its label, and its bounds."""
        try:
            low, high = self._atoms(laws)
            spread = [axis for axis, law in enumerate(laws) if not law.discrete]
            for axis in spread:
                low, high = self._add_lines(laws, axis, low, high)
            if len(spread) == 2:
                low, high = self._add_plane(laws, low, high)
        except TooManyCells:
            raise Unread(
                "the network is cut into too many cells of its sensitive columns, so the model is only asked"
            ) from None
        low, high = np.clip(low - _ROUNDING, 0.0, 1.0), np.clip(high + _ROUNDING, 0.0, 1.0)
        return (low + high) / 2, low, high

    def _atoms(self, laws: Sequence[Outputs]) -> tuple[Floats, Floats]:
        """Return the probability that all columns are at points and the label is kept."""
        n = len(self._rows)
        if not all(len(law.points) for law in laws):
            return np.zeros(n), np.zeros(n)
        key = ("points", *(law.points.tobytes() for law in laws))
        if key not in self._found:
            grid = np.array(list(product(*(law.points for law in laws))))
            if n * len(grid) > _MOST_ASKED:
                raise Unread(
                    f"{len(grid):,} combinations of points for each of {n} records are too many to be asked "
                    "about, so the model is only asked about draws"
                )
            rows = np.repeat(self._rows, len(grid), axis=0)
            rows[:, self._sensitive] = np.tile(grid, (n, 1))
            same = self._ask(rows).reshape(n, len(grid)) == self._labels[:, None]
            self._found[key] = same.reshape(n, *(len(law.points) for law in laws))
        chance: Any = self._found[key].astype(np.float64)
        for law in laws[::-1]:
            chance = (chance * law.chances.reshape(n, *([1] * (chance.ndim - 2)), -1)).sum(axis=-1)
        return chance, chance.copy()

    def _add_lines(
        self, laws: Sequence[Outputs], axis: int, low: Floats, high: Floats
    ) -> tuple[Floats, Floats]:
        """Add the probability that one column is spread and the other, if there is one, is at a point."""
        law = laws[axis]
        if len(laws) == 1:
            below, above = self._lines(self._rows, self._labels, axis, law, "line")
            return low + below, high + above
        other = laws[1 - axis]
        for place, point in enumerate(other.points.tolist()):
            rows = self._rows.copy()
            rows[:, self._sensitive[1 - axis]] = point
            below, above = self._lines(rows, self._labels, axis, law, ("line", axis, point))
            low = low + other.chances[:, place] * below
            high = high + other.chances[:, place] * above
        return low, high

    def _lines(
        self, rows: Floats, labels: Counts, axis: int, law: Outputs, key: Any
    ) -> tuple[Floats, Floats]:
        """Return bounds on the spread part of a column's law where labels are kept along it."""
        kept, strips = self._cells(key, rows, labels, (self._sensitive[axis],), [law])
        n = len(rows)
        close = 1e-12 * max(law.reach, 1.0)
        owner, start, end = _merged(kept.owner, kept.corners[:, :, 0], close)
        low = _open(law, owner, start + close, end - close, n)
        whole = CellList.joined([kept, strips], 1)
        owner, start, end = _merged(whole.owner, whole.corners[:, :, 0], close)
        high = _closed(law, owner, start - close, end + close, n)
        ends = np.bincount(owner, minlength=n) * 2 * law.slack
        return np.maximum(low - ends, 0.0), np.minimum(high + ends, law.masses.sum(axis=1))

    def _add_plane(self, laws: Sequence[Outputs], low: Floats, high: Floats) -> tuple[Floats, Floats]:
        """Add the probability that both columns are spread."""
        kept, strips = self._cells("plane", self._rows, self._labels, self._sensitive, laws)
        n = len(self._rows)
        mass, open_ = (polygon_masses(cells, laws, n) for cells in (kept, strips))
        # A section along one column ends only in strips: each end is off by what that law is off by.
        off = sum(
            law.off * _overlaps(strips.owner, strips.corners[:, :, 1 - axis], n)
            for axis, law in enumerate(laws)
        )
        return low + np.maximum(mass - off, 0.0), high + mass + open_ + off

    def _cells(
        self, key: Any, rows: Floats, labels: Counts, sensitive: tuple[int, ...], laws: Sequence[Outputs]
    ) -> tuple[CellList, CellList]:
        """Return the kept cells and the strips in a box that holds all that the laws can reach."""
        low = np.array([law.edges.min() for law in laws])
        high = np.array([law.edges.max() for law in laws])
        known = self._found.get(key)
        if known is not None and (known[0] <= low).all() and (known[1] >= high).all():
            return known[2], known[3]
        kept, strips = list[CellList](), list[CellList]()
        for label in np.unique(labels).tolist():
            mine = np.flatnonzero(labels == label)
            for start in range(0, len(mine), _RECORDS):
                some = mine[start : start + _RECORDS]
                found = kept_cells(self._network, rows[some], label, sensitive, low, high)
                for target, cells in zip((kept, strips), found, strict=True):
                    target.append(CellList(some[cells.owner], cells.corners))
        columns = len(sensitive)
        both = CellList.joined(kept, columns), CellList.joined(strips, columns)
        self._found[key] = (low, high, *both)
        return both


def polygon_masses(cells: CellList, laws: Sequence[Outputs], n: int) -> Floats:
    """Return the probability of each record's polygons under the spread parts of two laws.

    Examples
    --------
    >>> even = Outputs(np.array([[0.0, 1.0]]), np.ones((1, 1)), np.zeros(0), np.zeros((1, 0)))
    >>> half = CellList(np.zeros(1, np.int64), np.array([[[0.0, 0.0], [1.0, 0.0], [1.0, 1.0]]]))
    >>> polygon_masses(half, [even, even], 1).tolist()
    [0.5]
    """
    corners, first, second = cells.corners, laws[0], laws[1]
    if not len(corners):
        return np.zeros(n)
    # Corners go round against the clock, so the upper edges run to the left.
    starts, ends = corners, np.roll(corners, -1, axis=1)
    moves = starts[:, :, 0] != ends[:, :, 0]
    owner = np.broadcast_to(cells.owner[:, None], moves.shape)[moves]
    owner, begin, end = _cut_edges(owner, starts[moves], ends[moves], first, 0)
    owner, begin, end = _cut_edges(owner, begin, end, second, 1)
    middle = (begin[:, 0] + end[:, 0]) / 2
    piece, inside = first.piece_of(owner, middle)
    density = np.where(inside == middle, first.densities[owner, piece], 0.0)
    height = (second.spread_below(owner, begin[:, 1]) + second.spread_below(owner, end[:, 1])) / 2
    return np.asarray(np.bincount(owner, density * height * (begin[:, 0] - end[:, 0]), n), np.float64)


def _cut_edges(
    owner: Counts, begin: Floats, end: Floats, law: Outputs, axis: int
) -> tuple[Counts, Floats, Floats]:
    """Return edges cut where one coordinate crosses an edge of its law."""
    low, high = np.minimum(begin[:, axis], end[:, axis]), np.maximum(begin[:, axis], end[:, axis])
    width = law.edges.shape[1]
    first = _count(law, owner, low, inclusive=True)
    last = _count(law, owner, high, inclusive=False)
    parts = np.maximum(last - first, 0) + 1
    index = np.repeat(np.arange(len(owner)), parts)
    place = np.arange(len(index)) - np.repeat(np.cumsum(parts) - parts, parts)
    rising = (end[:, axis] >= begin[:, axis])[index]
    count = parts[index]
    # The cut after part `place`, counted along the edge.
    step = np.where(rising, place, count - 2 - place)
    cut = law.edges[owner[index], np.clip(first[index] + step, 0, width - 1)]
    a, b = begin[index], end[index]
    with np.errstate(divide="ignore", invalid="ignore"):
        share = (cut - a[:, axis]) / (b[:, axis] - a[:, axis])
    stops = a + np.clip(np.nan_to_num(share), 0.0, 1.0)[:, None] * (b - a)
    stops[:, axis] = np.where(place == count - 1, b[:, axis], cut)
    stops = np.where((place == count - 1)[:, None], b, stops)
    starts = np.empty_like(stops)
    starts[1:] = stops[:-1]
    starts[place == 0] = a[place == 0]
    return owner[index], starts, stops


def _count(law: Outputs, owner: Counts, at: Floats, *, inclusive: bool) -> Counts:
    """Return how many edges of a record's law lie below numbers, or at them."""
    piece, _ = law.piece_of(owner, at)
    edges, width = law.edges, law.edges.shape[1]
    count = np.where(edges[owner, piece] <= at, piece + 1, piece)
    upper = edges[owner, np.minimum(piece + 1, width - 1)]
    count = np.where((piece + 1 < width) & (upper <= at), piece + 2, count)
    if not inclusive:
        count = count - (edges[owner, np.clip(count - 1, 0, width - 1)] == at) * (count > 0)
    return np.asarray(count)


def _merged(owner: Counts, ends: Floats, close: float) -> tuple[Counts, Floats, Floats]:
    """Return segments of each record as separate intervals, those that touch as one."""
    low, high = ends.min(axis=1), ends.max(axis=1)
    if not len(owner):
        return owner, low, high
    order = np.lexsort((low, owner))
    owner, low, high = owner[order], low[order], high[order]
    # All ends of a record on one line: the next record starts far above.
    span = float(high.max() - low.min()) + 1.0
    farthest = np.maximum.accumulate(high + 2 * span * owner)
    fresh = np.ones(len(owner), bool)
    fresh[1:] = low[1:] + 2 * span * owner[1:] > farthest[:-1] + close + 1e-15 * np.abs(farthest[:-1])
    firsts = np.flatnonzero(fresh)
    return owner[firsts], low[firsts], np.maximum.reduceat(high, firsts)


def _open(law: Outputs, owner: Counts, start: Floats, end: Floats, n: int) -> Floats:
    mass = law.spread_reached(owner, end, inclusive=False) - law.spread_reached(owner, start, inclusive=True)
    return np.asarray(np.bincount(owner, np.maximum(mass, 0.0), n), np.float64)


def _closed(law: Outputs, owner: Counts, start: Floats, end: Floats, n: int) -> Floats:
    mass = law.spread_reached(owner, end, inclusive=True) - law.spread_reached(owner, start, inclusive=False)
    return np.asarray(np.bincount(owner, np.maximum(mass, 0.0), n), np.float64)


def _overlaps(owner: Counts, coordinates: Floats, n: int) -> Floats:
    """Return how many of a record's cells share a coordinate at most."""
    if not len(owner):
        return np.zeros(n)
    low, high = coordinates.min(axis=1), coordinates.max(axis=1)
    who = np.concatenate([owner, owner])
    at, change = np.concatenate([low, high]), np.repeat([1.0, -1.0], len(owner))
    order = np.lexsort((-change, at, who))
    sums = np.cumsum(change[order])  # each record's changes add up to nothing
    most = np.zeros(n)
    np.maximum.at(most, who[order], sums)
    return most
