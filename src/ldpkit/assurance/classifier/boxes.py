"""Trees, forests and boosted trees: where they keep a label, as unions of boxes.

With all other columns fixed, each tree is a few boxes of the sensitive columns. Their values
are added up on the grid of all their edges, so a region is exact however many trees there
are. Cells in which the two best classes come within rounding of each other ask the model.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from ldpkit.assurance.classifier.outputs import Outputs
from ldpkit.assurance.classifier.trees import Trees
from ldpkit.core.cached import cached_property
from ldpkit.core.typing import Counts, Floats

__all__ = ["BoxRegions", "box_regions"]

_MOST_CELLS = 1 << 22
_RECORDS = 64  # whose boxes are found together


@dataclass(frozen=True, eq=False)
class BoxRegions:
    """For each record, the grid of its boxes' edges, and the runs of cells in which the label is kept.

    Along the last column, kept cells come in runs. Each end of a run adds or takes away the
    distribution function there, times the chances of its cells of the other columns: there are
    far fewer ends than cells.
    """

    cuts: tuple[Floats, ...]
    """For each column, the edges of each record's grid; rows are filled up with infinity."""
    owner: Counts
    """The record of each end of a run."""
    cells: tuple[Counts, ...]
    """Its cell of each column but the last."""
    end: Counts
    """How many cuts of the last column lie below it."""
    sign: Floats
    """1 where a run ends, -1 where it begins."""
    method: str = "boxes"
    exact: bool = True

    @classmethod
    def of(cls, cuts: Sequence[Sequence[Floats]], masks: Sequence[Any]) -> BoxRegions:
        """Return the regions of records given by masks over the cells of their grids."""
        ends = [np.diff(mask.astype(np.int8), axis=-1, prepend=0, append=0) for mask in masks]
        places = [np.nonzero(each) for each in ends]
        owner = np.repeat(np.arange(len(masks)), [len(each[0]) for each in places])
        indices = [np.concatenate(axis) for axis in zip(*places, strict=True)]
        signs = [-each[place] for each, place in zip(ends, places, strict=True)]
        return cls(
            tuple(_padded(each) for each in cuts),
            owner,
            tuple(indices[:-1]),
            indices[-1],
            np.concatenate(signs).astype(np.float64),
        )

    def take(self, rows: Counts) -> BoxRegions:
        """Return the regions of some records, each once."""
        places = np.full(len(self.cuts[0]), -1)
        places[rows] = np.arange(len(rows))
        mine = places[self.owner] >= 0
        return BoxRegions(
            tuple(cut[rows] for cut in self.cuts),
            places[self.owner[mine]],
            tuple(cell[mine] for cell in self.cells),
            self.end[mine],
            self.sign[mine],
        )

    @cached_property
    def _flat(self) -> list[Counts]:
        """Where the numbers of each end stand in the flat tables of all records."""
        cells = [
            self.owner * (cut.shape[1] + 1) + cell for cut, cell in zip(self.cuts, self.cells, strict=False)
        ]
        return [*cells, self.owner * (self.cuts[-1].shape[1] + 2) + self.end]

    def probability(self, laws: Sequence[Outputs]) -> tuple[Floats, Floats, Floats]:
        """Return the probability that each record keeps its label, and its bounds."""
        n, slack = len(self.cuts[0]), 1e-12
        sides = []
        for cut, law in zip(self.cuts, laws, strict=True):
            ends = np.zeros((n, 1)), np.ones((n, 1))
            sides.append(np.concatenate([ends[0], law.reached(cut), ends[1]], axis=1))
            slack += law.slack * (cut.shape[1] + 1)  # a section has no more ends than that
        terms = np.take(sides[-1].ravel(), self._flat[-1])
        terms *= self.sign
        for side, place in zip(sides[:-1], self._flat[:-1], strict=True):
            terms *= np.take(np.diff(side, axis=1).ravel(), place)
        value: Floats = np.clip(np.bincount(self.owner, terms, n).astype(np.float64), 0.0, 1.0)
        return value, np.maximum(value - slack, 0.0), np.minimum(value + slack, 1.0)


def box_regions(
    trees: Trees, rows: Floats, labels: Counts, sensitive: Sequence[int], ask: Callable[[Floats], Counts]
) -> BoxRegions | None:
    """Return where labels are kept, or None where the grid of a record has too many cells.

    Parameters
    ----------
    trees : Trees
        The model.
    rows : array
        The records.
    labels : array of int
        The index of the label that is to be kept, one for each record.
    sensitive : sequence of int
        The privatized columns.
    ask : callable
        The labels, as indices, that the model itself gives rows.
    """
    edges = [trees.edges(feature) for feature in sensitive]
    cuts: list[list[Floats]] = [[] for _ in sensitive]
    masks = list[Any]()
    for first in range(0, len(rows), _RECORDS):
        some = slice(first, first + _RECORDS)
        found = _leaf_boxes(trees, trees.seen(rows[some]), sensitive, [each[0] for each in edges])
        owners, low, high, values = found
        splits = np.searchsorted(owners, np.arange(len(rows[some]) + 1))
        grids = list[tuple[Any, Any, list[Floats], Floats]]()
        for own, record in enumerate(rows[some]):
            mine = slice(splits[own], splits[own + 1])
            grid = _added(trees, low[mine], high[mine], values[mine], [len(each[0]) for each in edges])
            if grid is None:
                return None
            starts, scores = grid
            ends = [edge[1][start[1:] - 1] for start, edge in zip(starts, edges, strict=True)]
            best, near = _best(scores, trees)
            grids.append((best, near, ends, _points(record, sensitive, ends, near)))
        # One question about all cells of the block in which the scores do not decide.
        answers = ask(np.concatenate([points for *_, points in grids]))
        asked = 0
        for (best, near, ends, points), label in zip(grids, labels[some].tolist(), strict=True):
            best[tuple(near.T)] = answers[asked : asked + len(points)]
            asked += len(points)
            mask = best == label
            for axis in range(len(sensitive)):
                mask, ends[axis] = _thinned(mask, ends[axis], axis)
                cuts[axis].append(ends[axis])
            masks.append(mask)
    return BoxRegions.of(cuts, masks)


def _leaf_boxes(
    trees: Trees, seen: Floats, sensitive: Sequence[int], thresholds: Sequence[Floats]
) -> tuple[Counts, Counts, Counts, Floats]:
    """Return the boxes of the leaves that records can reach: owner, first and last cell, value."""
    count, trunks = len(seen), len(trees.roots)
    owner = np.repeat(np.arange(count), trunks)
    node = np.tile(trees.roots, count)
    low = np.zeros((len(node), len(sensitive)), np.int64)
    high = np.tile(np.array([len(each) + 1 for each in thresholds]), (len(node), 1))
    ranks = np.full(len(trees.feature), -1)
    axis_of = np.full(len(trees.feature), -1)
    for place, (feature, known) in enumerate(zip(sensitive, thresholds, strict=True)):
        used = (trees.left >= 0) & (trees.feature == feature)
        ranks[used] = np.searchsorted(known, trees.threshold[used]) + 1
        axis_of[used] = place
    done: list[tuple[Any, ...]] = []
    while len(node):
        leaf = trees.left[node] < 0
        done.append((owner[leaf], low[leaf], high[leaf], trees.value[node[leaf]]))
        owner, node, low, high = owner[~leaf], node[~leaf], low[~leaf], high[~leaf]
        axis = axis_of[node]
        fixed = axis < 0
        goes_left = seen[owner, trees.feature[node]] <= trees.threshold[node]
        parts = []
        for side, child, fits in ((0, trees.left, goes_left), (1, trees.right, ~goes_left)):
            its_low, its_high = low.copy(), high.copy()
            for each in range(len(sensitive)):
                split = axis == each
                if side == 0:
                    its_high[split, each] = np.minimum(high[split, each], ranks[node[split]])
                else:
                    its_low[split, each] = np.maximum(low[split, each], ranks[node[split]])
            alive = np.where(fixed, fits, (its_low < its_high).all(axis=1))
            parts.append((owner[alive], child[node[alive]], its_low[alive], its_high[alive]))
        owner, node, low, high = (np.concatenate(both) for both in zip(*parts, strict=True))
    owners, lows, highs, values = (np.concatenate(each) for each in zip(*done, strict=True))
    order = np.argsort(owners, kind="stable")
    return owners[order], lows[order], highs[order], values[order]


def _added(
    trees: Trees, low: Counts, high: Counts, values: Floats, sizes: Sequence[int]
) -> tuple[list[Counts], Floats] | None:
    """Return the first cells of a record's coarsest grid, and the scores in each of its cells."""
    starts = [np.unique(np.concatenate([[0], low[:, axis], high[:, axis]])) for axis in range(len(sizes))]
    starts = [start[start <= size] for start, size in zip(starts, sizes, strict=True)]
    shape = [len(start) for start in starts]
    if np.prod(shape, dtype=np.float64) > _MOST_CELLS:
        return None
    larger = [size + 1 for size in shape]
    at_low = [np.searchsorted(start, low[:, axis]) for axis, start in enumerate(starts)]
    at_high = [np.searchsorted(start, high[:, axis]) for axis, start in enumerate(starts)]
    places, added = list[Any](), list[Floats]()
    for corner in product((0, 1), repeat=len(sizes)):
        at = tuple(at_high[axis] if far else at_low[axis] for axis, far in enumerate(corner))
        places.append(np.ravel_multi_index(at, larger))
        added.append(values * (-1) ** sum(corner))
    flat, weights, cells = np.concatenate(places), np.concatenate(added), int(np.prod(larger))
    sums = np.stack([np.bincount(flat, each, cells) for each in weights.T]).reshape(-1, *larger)
    for axis in range(len(sizes)):
        moved = np.moveaxis(sums, axis + 1, 0)
        if axis < len(sizes) - 1:
            for place in range(1, len(moved)):  # whole rows at a time: twice as fast as cumsum across them
                moved[place] += moved[place - 1]
        else:
            np.cumsum(sums, axis=-1, out=sums)
    inner = sums[(slice(None), *(slice(size) for size in shape))]
    return starts, inner + trees.start.reshape(-1, *([1] * len(shape)))


def _best(scores: Floats, trees: Trees) -> tuple[Any, Any]:
    """Return the class in each cell, and the cells in which rounding may decide.

    Whole numbers add up without rounding, and then the first of equal classes is taken.
    """
    best, gap = trees.decide(scores)
    if trees.whole:
        return best, np.zeros((0, best.ndim), np.int64)
    return best, np.argwhere(gap <= trees.rounding)


def _points(record: Floats, sensitive: Sequence[int], ends: Sequence[Floats], near: Any) -> Floats:
    """Return one row in each of some cells of a record."""
    rows = np.tile(record, (len(near), 1))
    for axis, (feature, end) in enumerate(zip(sensitive, ends, strict=True)):
        inside = np.append(end, end[-1] + 1.0 + abs(end[-1])) if len(end) else np.array([record[feature]])
        rows[:, feature] = inside[near[:, axis]]
    return rows


def _thinned(mask: Any, ends: Floats, axis: int) -> tuple[Any, Floats]:
    """Return the mask without the edges at which nothing changes."""
    moved = np.moveaxis(mask, axis, 0)
    changes = (moved[1:] != moved[:-1]).any(axis=tuple(range(1, moved.ndim)))
    return np.moveaxis(moved[np.concatenate([[True], changes])], 0, axis), ends[changes]


def _padded(rows: Sequence[Floats]) -> Floats:
    width = max(len(row) for row in rows)
    filled = np.full((len(rows), width), np.inf)
    for target, row in zip(filled, rows, strict=True):
        target[: len(row)] = row
    return filled
