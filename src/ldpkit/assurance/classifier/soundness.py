"""Whether a model from a file can be asked: compiled code follows the numbers of a tree without a look.

scikit-learn trusts the arrays that it has made itself. A file may hold others: a child of a node
that is not there, or a column beyond the last one, and reading the memory behind an array ends
the process or gives an answer that means nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ldpkit.core.errors import InvalidInputError

__all__ = ["TREES", "check_trees"]

TREES = (
    "sklearn.tree._tree.Tree",
    "sklearn.ensemble._hist_gradient_boosting.predictor.TreePredictor",
)
"""The trees of scikit-learn, for `trusted` if you trust the author: their constructor checks nothing."""

_MOST_PARTS = 1_000_000


def check_trees(model: Any) -> None:
    """Refuse a model with a tree that leads out of its table of nodes, or in a circle.

    Parameters
    ----------
    model : object
        A model of scikit-learn, or anything that holds some.
    """
    from sklearn.ensemble._hist_gradient_boosting.predictor import TreePredictor
    from sklearn.tree._tree import Tree

    for part, features in _parts(model):
        if isinstance(part, Tree):
            left, right, feature = part.children_left, part.children_right, part.feature
            _check(left, right, feature, left == -1, min(features, part.n_features))
        elif isinstance(part, TreePredictor):
            nodes = part.nodes
            left, right, feature = (nodes[name].astype(np.int64) for name in ("left", "right", "feature_idx"))
            is_leaf = nodes["is_leaf"] != 0
            if (nodes["is_categorical"][~is_leaf] != 0).any():
                sets = nodes["bitset_idx"][~is_leaf & (nodes["is_categorical"] != 0)]
                if (sets >= len(part.raw_left_cat_bitsets)).any():
                    raise InvalidInputError("a tree of the model names categories that are not there")
            _check(left, right, feature, is_leaf, features)


def _check(left: Any, right: Any, feature: Any, is_leaf: Any, features: int) -> None:
    count = len(left)
    inner = np.flatnonzero(~is_leaf)
    for child in (left[inner], right[inner]):
        # A child stands behind its parent, so no way through the tree comes back.
        if (child <= inner).any() or (child >= count).any():
            raise InvalidInputError(f"a tree of the model leads to a node that is not among its {count}")
    if (feature[inner] < 0).any() or (feature[inner] >= features).any():
        raise InvalidInputError(f"a tree of the model asks for a column that is not among its {features}")
    if not count:
        raise InvalidInputError("a tree of the model has no nodes")


def _parts(model: Any) -> Iterator[tuple[Any, int]]:
    """Yield everything that a model holds, each thing once, with the number of columns around it."""
    waiting, seen = [(model, np.iinfo(np.int64).max)], set[int]()
    while waiting:
        part, features = waiting.pop()
        if id(part) in seen or isinstance(part, (str, bytes, int, float, type(None))):
            continue
        seen.add(id(part))
        if len(seen) > _MOST_PARTS:
            raise InvalidInputError(f"the model has more than {_MOST_PARTS:,} parts")
        own = getattr(part, "n_features_in_", features)
        features = own if isinstance(own, int) and own >= 0 else features
        yield part, features
        if isinstance(part, dict):
            inside = list(part.values())
        elif isinstance(part, (list, tuple, set)):
            inside = list(part)
        elif isinstance(part, np.ndarray):
            inside = part.ravel().tolist() if part.dtype.kind == "O" else []
        else:
            inside = list(getattr(part, "__dict__", {}).values())
        waiting += [(each, features) for each in inside]
