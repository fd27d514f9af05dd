"""Trees, forests and boosted trees: where they keep a label, as unions of boxes.

With all other columns fixed, each tree is a few boxes of the sensitive columns. Their values
are added up on the grid of all their edges, so a region is exact however many trees there
are. Edges are those of `predict`: scikit-learn rounds a feature to 32 bits before comparing
it. Cells in which the two best classes come within rounding of each other ask the model.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from ldpkit.assurance.classifier.outputs import Outputs
from ldpkit.core.typing import Counts, Floats

__all__ = ["BoxRegions", "Trees", "box_regions", "read_trees"]

_NEAR = 1e-9
_MOST_CELLS = 1 << 22
_RECORDS = 64  # whose boxes are found together


@dataclass(frozen=True, eq=False)
class Trees:
    """The nodes of all trees in one table, and what their leaves add to the scores.

    A single score means two classes, the second where it is above zero.
    """

    left: Counts
    right: Counts
    feature: Counts
    threshold: Floats
    value: Floats
    roots: Counts
    start: Floats
    classes: Any
    shift: Floats
    scale: Floats

    @property
    def whole(self) -> bool:
        """Whether all leaves and the start are whole numbers."""
        leaves = self.value[self.left < 0]
        return bool((leaves == np.rint(leaves)).all() and (self.start == np.rint(self.start)).all())

    def before(self, shift: Floats, scale: Floats) -> Trees:
        """Return the trees behind a scaler that makes (x - shift) / scale."""
        return Trees(**{**self.__dict__, "shift": shift, "scale": scale})

    def seen(self, rows: Floats) -> Floats:
        """Return what the trees compare: scaled features, rounded to 32 bits."""
        return ((rows - self.shift) / self.scale).astype(np.float32).astype(np.float64)

    def edges(self, feature: int) -> tuple[Floats, Floats]:
        """Return the thresholds on a feature, and for each the largest number that goes left."""
        used = (self.left >= 0) & (self.feature == feature)
        thresholds = np.unique(self.threshold[used])
        with np.errstate(over="ignore"):
            below = thresholds.astype(np.float32)
            below = np.where(below > thresholds, np.nextafter(below, np.float32(-np.inf)), below)
            above = np.nextafter(below, np.float32(np.inf))
        middle = (below.astype(np.float64) + above.astype(np.float64)) / 2
        last = np.where(middle.astype(np.float32) == below, middle, np.nextafter(middle, -np.inf))
        shift, scale = self.shift[feature], self.scale[feature]
        if shift == 0 and scale == 1:
            return thresholds, last
        ends = last * scale + shift
        for _ in range(64):  # rounding of the scaler moves an end by a few steps of the floating point
            over = (ends - shift) / scale > last
            up = np.nextafter(ends, np.inf)
            under = (up - shift) / scale <= last
            ends = np.where(over, np.nextafter(ends, -np.inf), np.where(under, up, ends))
            if not (over | under).any():
                break
        return thresholds, ends


@dataclass(frozen=True, eq=False)
class BoxRegions:
    """For each record, the grid of its boxes' edges and the cells in which the label is kept."""

    cuts: tuple[Floats, ...]
    """For each column, the edges of each record's grid; rows are filled up with infinity."""
    masks: tuple[Any, ...]
    method: str = "boxes"
    exact: bool = True

    def take(self, rows: Counts) -> BoxRegions:
        """Return the regions of some records."""
        return BoxRegions(tuple(cut[rows] for cut in self.cuts), tuple(self.masks[row] for row in rows))

    def probability(self, laws: Sequence[Outputs]) -> tuple[Floats, Floats, Floats]:
        """Return the probability that each record keeps its label, and its bounds."""
        cells = []
        for cut, law in zip(self.cuts, laws, strict=True):
            below = law.below(cut, inclusive=True)
            full = np.concatenate([np.zeros((len(cut), 1)), below, np.ones((len(cut), 1))], axis=1)
            cells.append(np.diff(full, axis=1))
        value = np.zeros(len(self.masks))
        for row, mask in enumerate(self.masks):
            found = mask
            for column, size in zip(cells[::-1], mask.shape[::-1], strict=True):
                chances = column[row, :size].copy()
                chances[-1] += column[row, size:].sum()
                found = found @ chances
            value[row] = found
        shapes = np.max([mask.shape for mask in self.masks], axis=0)  # a section has no more ends than that
        slack = sum(law.slack * int(size) for law, size in zip(laws, shapes, strict=True)) + 1e-12
        value = np.clip(value, 0.0, 1.0)
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
            best, near = _best(scores, whole=trees.whole)
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
            masks.append(mask.astype(np.float64))
    return BoxRegions(tuple(_padded(each) for each in cuts), tuple(masks))


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
        np.cumsum(sums, axis=axis + 1, out=sums)
    inner = sums[(slice(None), *(slice(size) for size in shape))]
    return starts, inner + trees.start.reshape(-1, *([1] * len(shape)))


def _best(scores: Floats, *, whole: bool) -> tuple[Any, Any]:
    """Return the class in each cell, and the cells in which rounding may decide.

    Whole numbers add up without rounding, and then the first of equal classes is taken.
    """
    if len(scores) == 1:
        best, gap = (scores[0] > 0).astype(np.int64), np.abs(scores[0])
    else:
        top = np.partition(scores, -2, axis=0)
        best, gap = scores.argmax(axis=0), top[-1] - top[-2]
    if whole:
        return best, np.zeros((0, best.ndim), np.int64)
    return best, np.argwhere(gap <= _NEAR * max(1.0, float(np.abs(scores).max())))


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


def _padded(rows: list[Floats]) -> Floats:
    width = max(len(row) for row in rows)
    filled = np.full((len(rows), width), np.inf)
    for target, row in zip(filled, rows, strict=True):
        target[: len(row)] = row
    return filled


def read_trees(model: Any) -> Trees | None:
    """Return the trees of a scikit-learn tree, forest or gradient boosting classifier, or None."""
    from sklearn.ensemble import ExtraTreesClassifier, GradientBoostingClassifier, RandomForestClassifier
    from sklearn.tree import DecisionTreeClassifier

    members: list[tuple[Any, int | None]]
    if isinstance(model, DecisionTreeClassifier):
        members, boosted = [(model.tree_, None)], False
    elif isinstance(model, (RandomForestClassifier, ExtraTreesClassifier)):
        members, boosted = [(each.tree_, None) for each in model.estimators_], False
    elif isinstance(model, GradientBoostingClassifier) and model.init is None:
        grid = model.estimators_
        members = [(each.tree_, column) for row in grid for column, each in enumerate(row)]
        boosted = True
    else:
        return None
    if getattr(model, "n_outputs_", 1) != 1:
        return None
    width = model.estimators_.shape[1] if boosted else 1 if len(model.classes_) == 2 else len(model.classes_)
    columns: dict[str, list[Any]] = {name: [] for name in ("left", "right", "feature", "threshold", "value")}
    roots, offset = [], 0
    for tree, column in members:
        inner = tree.children_left >= 0
        columns["left"].append(np.where(inner, tree.children_left + offset, -1))
        columns["right"].append(np.where(inner, tree.children_right + offset, -1))
        columns["feature"].append(tree.feature)
        columns["threshold"].append(tree.threshold)
        value = np.zeros((tree.node_count, width))
        if column is None:
            counts = tree.value[:, 0, :]
            shares = counts / counts.sum(axis=1, keepdims=True)
            value[:] = shares[:, 1:] - shares[:, :1] if width == 1 else shares
        else:
            value[:, column] = model.learning_rate * tree.value[:, 0, 0]
        columns["value"].append(value)
        roots.append(offset)
        offset += tree.node_count
    start = np.zeros(width)
    if boosted:
        start = _boosting_start(model)
    whole = {name: np.concatenate(parts) for name, parts in columns.items()}
    features = model.n_features_in_
    shift, scale = np.zeros(features), np.ones(features)
    return Trees(
        **whole, roots=np.array(roots), start=start, classes=model.classes_, shift=shift, scale=scale
    )


def _boosting_start(model: Any) -> Floats:
    """Return what the scores are before the first tree: those of one row, less what its leaves add."""
    import warnings

    zeros = np.zeros((1, model.n_features_in_))
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "X does not have valid feature names", UserWarning)
        scores = np.atleast_1d(model.decision_function(zeros)[0]).astype(np.float64)
        leaves = model.apply(zeros)[0].reshape(model.estimators_.shape).astype(int)
    for row, nodes in zip(model.estimators_, leaves, strict=True):
        for column, (each, leaf) in enumerate(zip(row, nodes, strict=True)):
            scores[column] -= model.learning_rate * each.tree_.value[leaf, 0, 0]
    return scores
