"""Trees, forests and boosted trees in one table, with the comparisons of their own `predict`.

scikit-learn's trees and XGBoost round a feature to 32 bits before they compare it; LightGBM
and histogram boosting do not. A feature goes left if it is at most the threshold.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from ldpkit.core.cached import cached_property
from ldpkit.core.errors import InvalidInputError
from ldpkit.core.typing import Counts, Floats

__all__ = ["TreeParts", "Trees", "read_trees"]

_NEAR = 1e-9
_MOST_FEATURES = 1_000_000
_MOST_VALUES = 100_000_000  # of all nodes, one for each score: a small file may claim many classes


@dataclass(frozen=True, eq=False)
class Trees:
    """The nodes of all trees in one table, and what their leaves add to the scores.

    A single score means two classes, the second where it is above zero. `single` says that
    features are rounded to 32 bits, and `unit` is half the spacing around 1 of the numbers in
    which leaves are added up.
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
    single: bool = True
    unit: float = 2.0**-53

    @cached_property
    def whole(self) -> bool:
        """Whether all leaves and the start are whole numbers."""
        leaves = self.value[self.left < 0]
        return bool((leaves == np.rint(leaves)).all() and (self.start == np.rint(self.start)).all())

    @cached_property
    def rounding(self) -> float:
        """How close two scores may be for the order of additions to decide between them."""
        bounds = np.append(self.roots, len(self.left))
        most = sum(float(np.abs(self.value[a:b]).max(initial=0.0)) for a, b in pairwise(bounds))
        size = most + float(np.abs(self.start).max(initial=0.0))
        return 2 * max(_NEAR, (len(self.roots) + 8) * self.unit) * max(size, 1e-6)

    def decide(self, scores: Floats) -> tuple[Any, Floats]:
        """Return the index of the class, and how far the next one is behind; scores come first."""
        if len(scores) == 1:
            return (scores[0] > 0).astype(np.int64), np.abs(scores[0])
        top = np.partition(scores, -2, axis=0)
        return scores.argmax(axis=0), top[-1] - top[-2]

    def scores(self, rows: Floats) -> Floats:
        """Return the scores of rows, a row for each score."""
        seen = self.seen(rows)
        total = np.tile(self.start[:, None], len(rows)).astype(np.float64)
        for root in self.roots.tolist():
            node = np.full(len(rows), root)
            inner = self.left[node] >= 0
            while inner.any():
                at = node[inner]
                left = seen[inner, self.feature[at]] <= self.threshold[at]
                node[inner] = np.where(left, self.left[at], self.right[at])
                inner = self.left[node] >= 0
            total += self.value[node].T
        return total

    @property
    def finite(self) -> bool:
        """Whether all leaves and scales are numbers; thresholds were checked when they were read."""
        return all(bool(np.isfinite(each).all()) for each in (self.value, self.start, self.shift, self.scale))

    def before(self, shift: Floats, scale: Floats) -> Trees:
        """Return the trees behind a scaler that makes (x - shift) / scale."""
        return Trees(**{**self.__dict__, "shift": shift, "scale": scale})

    def seen(self, rows: Floats) -> Floats:
        """Return what the trees compare: scaled features, rounded to 32 bits if they are."""
        scaled = (rows - self.shift) / self.scale
        if not self.single:
            return np.asarray(scaled)
        with np.errstate(over="ignore"):
            return scaled.astype(np.float32).astype(np.float64)

    def edges(self, feature: int) -> tuple[Floats, Floats]:
        """Return the thresholds on a feature, and for each the largest number that goes left."""
        used = (self.left >= 0) & (self.feature == feature)
        thresholds = np.unique(self.threshold[used])
        last = self._last_left(thresholds)
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

    def _last_left(self, thresholds: Floats) -> Floats:
        """Return the largest number that goes left of each threshold."""
        if not self.single:
            return thresholds
        with np.errstate(over="ignore"):
            below = thresholds.astype(np.float32)
            below = np.where(below > thresholds, np.nextafter(below, np.float32(-np.inf)), below)
            above = np.nextafter(below, np.float32(np.inf))
        middle = (below.astype(np.float64) + above.astype(np.float64)) / 2
        with np.errstate(over="ignore", invalid="ignore"):
            return np.where(middle.astype(np.float32) == below, middle, np.nextafter(middle, -np.inf))


class TreeParts:
    """The nodes of trees as they are read one after another."""

    def __init__(self, width: int) -> None:
        self._columns: dict[str, list[Any]] = {
            name: [] for name in ("left", "right", "feature", "threshold", "value")
        }
        self._roots, self._size, self._width = list[int](), 0, width

    def add(
        self, left: Any, right: Any, feature: Any, threshold: Any, value: Any, column: int | None = None
    ) -> None:
        """Add one tree: children below 0 are none; a value for each node, of one score or of all."""
        left, right = np.asarray(left, np.int64), np.asarray(right, np.int64)
        if (self._size + len(left)) * self._width > _MOST_VALUES:
            raise InvalidInputError(f"the trees have more than {_MOST_VALUES:,} values: use a smaller model")
        inner = left >= 0
        filled = np.zeros((len(left), self._width))
        filled[:, slice(None) if column is None else column] = value
        for name, part in (
            ("left", np.where(inner, left + self._size, -1)),
            ("right", np.where(inner, right + self._size, -1)),
            ("feature", np.where(inner, np.asarray(feature, np.int64), 0)),
            ("threshold", np.where(inner, np.asarray(threshold, np.float64), 0.0)),
            ("value", filled),
        ):
            self._columns[name].append(part)
        self._roots.append(self._size)
        self._size += len(left)

    def trees(self, start: Floats, classes: Any, features: int, **kind: Any) -> Trees:
        """Return all trees in one table, or refuse what is none: missing nodes, circles, unknown features."""
        if not 0 < features <= _MOST_FEATURES:
            raise InvalidInputError(f"a model has 1 to {_MOST_FEATURES:,} features, got {features}")
        if not self._roots:
            raise InvalidInputError("the model has no trees")
        whole: dict[str, Any] = {name: np.concatenate(parts) for name, parts in self._columns.items()}
        self._check(whole, features)
        return Trees(
            **whole,
            roots=np.array(self._roots),
            start=np.asarray(start, np.float64),
            classes=classes,
            shift=np.zeros(features),
            scale=np.ones(features),
            **kind,
        )

    def _check(self, whole: dict[str, Any], features: int) -> None:
        inner = whole["left"] >= 0
        ends = np.append(self._roots, self._size)
        own = np.searchsorted(ends, np.arange(self._size), "right") - 1  # which tree a node is of
        children = np.concatenate([whole["left"][inner], whole["right"][inner]])
        parents = np.concatenate([np.flatnonzero(inner)] * 2)
        sound = bool(((children >= 0) & (children < self._size)).all())
        if sound:
            met = np.bincount(children, minlength=self._size)
            met[np.array(self._roots, np.int64)] += 1
            # Each node has one parent in its own tree, and one walk from the roots meets them all.
            sound = bool((met <= 1).all() and (own[children] == own[parents]).all())
        if sound:
            level = np.array(self._roots, np.int64)
            seen = len(level)
            while len(level):
                level = level[inner[level]]
                level = np.concatenate([whole["left"][level], whole["right"][level]])
                seen += len(level)
            sound = seen == int((met > 0).sum())
        if not sound:
            raise InvalidInputError("the nodes of the model's trees do not make trees")
        used = whole["feature"][inner]
        if len(used) and not (used.min() >= 0 and used.max() < features):
            raise InvalidInputError(f"a tree of the model asks for a feature beyond its {features}")
        finite = np.isfinite(whole["threshold"][inner]).all() and np.isfinite(whole["value"]).all()
        if not finite:
            raise InvalidInputError("a threshold or a leaf of the model's trees is not a finite number")


def read_trees(model: Any) -> Trees | None:
    """Return the trees of a tree, forest or boosting classifier of scikit-learn, or of a file; else None."""
    held = getattr(model, "trees", None)
    if isinstance(held, Trees):
        return held
    from sklearn.ensemble import (
        ExtraTreesClassifier,
        GradientBoostingClassifier,
        HistGradientBoostingClassifier,
        RandomForestClassifier,
    )
    from sklearn.tree import DecisionTreeClassifier

    if isinstance(model, HistGradientBoostingClassifier):
        return _histogram_boosting(model)
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
    if len(model.classes_) == 1:
        return _constant(model)
    width = model.estimators_.shape[1] if boosted else 1 if len(model.classes_) == 2 else len(model.classes_)
    parts = TreeParts(width)
    for tree, column in members:
        if column is None:
            counts = tree.value[:, 0, :]
            shares = counts / counts.sum(axis=1, keepdims=True)
            value = shares[:, 1:] - shares[:, :1] if width == 1 else shares
        else:
            value = model.learning_rate * tree.value[:, 0, 0]
        parts.add(tree.children_left, tree.children_right, tree.feature, tree.threshold, value, column)
    start = _boosting_start(model) if boosted else np.zeros(width)
    return parts.trees(start, model.classes_, model.n_features_in_)


def _constant(model: Any) -> Trees:
    """Return a single leaf for a model that knows one class only."""
    parts = TreeParts(1)
    parts.add([-1], [-1], [0], [0.0], 0.0)
    return parts.trees(-np.ones(1), model.classes_, model.n_features_in_)


def _histogram_boosting(model: Any) -> Trees | None:
    """Return the trees of histogram boosting, which compares 64 bits; None if it has categories."""
    width = model.n_trees_per_iteration_
    parts = TreeParts(width)
    for row in model._predictors:
        for column, each in enumerate(row):
            nodes = each.nodes
            if nodes["is_categorical"].any():
                return None
            leaf = nodes["is_leaf"].astype(bool)
            left, right = (np.where(leaf, -1, nodes[side].astype(np.int64)) for side in ("left", "right"))
            # An infinite threshold separates missing values, and there are none.
            threshold = np.clip(nodes["num_threshold"], -1e308, 1e308)
            parts.add(left, right, nodes["feature_idx"], threshold, nodes["value"], column)
    start = np.asarray(model._baseline_prediction, np.float64).ravel()
    return parts.trees(start, model.classes_, model.n_features_in_, single=False)


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
