"""Boosted trees from the JSON of XGBoost, and from the JSON or text of LightGBM, without these libraries.

XGBoost holds features, thresholds and sums in 32 bits and goes left below a threshold;
LightGBM holds them in 64 and goes left up to it. What ldpkit cannot compute with is refused by name:
categorical splits, linear leaves, and boosters other than trees.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

import numpy as np

from ldpkit.assurance.classifier.trees import TreeParts, Trees
from ldpkit.core.errors import InvalidInputError

__all__ = ["lightgbm_trees", "lightgbm_tables", "read_boosted", "xgboost_trees"]

_SINGLE = 2.0**-24  # half the spacing of 32-bit numbers around 1
_CATEGORICAL, _ZERO_IS_MISSING = 1, 4  # of LightGBM's decision_type
_MOST_CLASSES = 100_000
_LINEAR = (
    "this LightGBM model has linear models in its leaves, which ldpkit does not support: train it with "
    "linear_tree=false"
)


def read_boosted(model: Any) -> Trees | None:
    """Return the trees of a classifier of XGBoost or LightGBM in memory, or None.

    Only a library that is loaded already can have made the model.
    """
    xgboost, lightgbm = (sys.modules.get(name) for name in ("xgboost", "lightgbm"))
    if xgboost is not None and isinstance(model, xgboost.XGBClassifier):
        import json

        return xgboost_trees(json.loads(model.get_booster().save_raw("json")), model.classes_)
    if lightgbm is not None and isinstance(model, lightgbm.LGBMClassifier):
        return lightgbm_trees(model.booster_.dump_model(), model.classes_)
    return None


def xgboost_trees(document: Mapping[str, Any], classes: Any = None) -> Trees:
    """Return the trees of a model that XGBoost saved as JSON.

    Parameters
    ----------
    document : mapping
        The JSON of `save_model("model.json")`.
    classes : array, optional
        The labels; by default 0, 1, ...
    """
    learner = document["learner"]
    booster, objective = learner["gradient_booster"], learner["objective"]["name"]
    if booster["name"] != "gbtree":
        raise InvalidInputError(
            f"this XGBoost model has the booster {booster['name']!r}, which ldpkit does not support: "
            "train it with booster='gbtree'"
        )
    if objective not in ("binary:logistic", "multi:softprob", "multi:softmax"):
        raise InvalidInputError(
            f"this XGBoost model has the objective {objective!r}, which ldpkit does not support: train "
            "it with 'binary:logistic', 'multi:softprob' or 'multi:softmax'"
        )
    told = learner["learner_model_param"]
    width = _class_count(int(told["num_class"]), single=objective == "binary:logistic")
    if int(told.get("num_target", 1)) != 1:
        raise InvalidInputError(
            f"this XGBoost model predicts {told['num_target']} targets, and ldpkit supports one: train a "
            "model for each target"
        )
    start = np.array([float(each) for each in str(told["base_score"]).strip("[]").split(",")])
    if objective == "binary:logistic":
        if not (start > 0).all() or not (start < 1).all():
            raise InvalidInputError(f"base_score {told['base_score']!r} of XGBoost is not a probability")
        start = np.log(start / (1 - start))
    if len(start) not in (1, width):
        raise InvalidInputError(f"base_score has {len(start)} numbers for {width} scores")
    model, parts = booster["model"], TreeParts(width)
    if any(
        float(each) != 1.0 for each in model.get("weight_drop", ())
    ):  # newer versions (3.4) keep them in a 'gbtree'
        raise InvalidInputError(
            "this XGBoost model weights its trees, as the booster 'dart' does, which ldpkit does not "
            "support: train it with booster='gbtree'"
        )
    owners = model["tree_info"]
    rounds = learner.get("attributes", {}).get("best_iteration")
    if rounds is not None:  # early stopping: `predict` takes no trees after the best round
        each_round = width * int(model["gbtree_model_param"].get("num_parallel_tree", 1))
        owners = owners[: (int(rounds) + 1) * each_round]
    for tree, owner in zip(model["trees"], owners, strict=False):
        if any(tree.get("split_type", ())):
            raise InvalidInputError(
                "categorical splits of XGBoost are not supported: code categories as numbers"
            )
        if int(tree.get("tree_param", {}).get("size_leaf_vector", 1)) > 1:
            raise InvalidInputError(
                "the leaves of this XGBoost model hold several values, which ldpkit does not support: "
                "train it with multi_strategy='one_output_per_tree'"
            )
        _check_column(owner, width)
        left = np.asarray(tree["left_children"], np.int64)
        told_values = np.asarray(tree["split_conditions"], np.float64).astype(np.float32)
        # Below a threshold is at most the number before it.
        before = np.nextafter(told_values, np.float32(-np.inf)).astype(np.float64)
        leaf = np.where(left < 0, told_values.astype(np.float64), 0.0)
        parts.add(left, tree["right_children"], tree["split_indices"], before, leaf, int(owner))
    _check_labels(classes, width)
    return parts.trees(
        np.broadcast_to(start, width).astype(np.float32).astype(np.float64),
        np.arange(max(width, 2)) if classes is None else classes,
        int(told["num_feature"]),
        unit=_SINGLE,
    )


def lightgbm_trees(document: Mapping[str, Any], classes: Any = None) -> Trees:
    """Return the trees of a model that LightGBM dumped, as JSON or as `lightgbm_tables` reads its text.

    Parameters
    ----------
    document : mapping
        What `booster.dump_model()` gives.
    classes : array, optional
        The labels; by default 0, 1, ...
    """
    objective = str(document.get("objective", ""))
    kind = objective.split(" ")[0]
    if kind not in ("binary", "multiclass", "softmax", "cross_entropy"):
        raise InvalidInputError(
            f"this LightGBM model has the objective {objective!r}, which ldpkit does not support: train "
            "it with 'binary' or 'multiclass'"
        )
    single = kind in ("binary", "cross_entropy")
    width = _class_count(int(document["num_class"]), single=single)
    trees, parts = document["tree_info"], TreeParts(width)
    share = width / len(trees) if document.get("average_output") and trees else 1.0
    for place, tree in enumerate(trees):
        nodes = _flattened(tree["tree_structure"])
        left, right, feature, threshold, leaf = (np.array(each) for each in zip(*nodes, strict=True))
        parts.add(left, right, feature, threshold, leaf * share, place % width)
    _check_labels(classes, width)
    features = int(document["max_feature_idx"]) + 1
    made = np.arange(max(width, 2)) if classes is None else classes
    return parts.trees(np.zeros(width), made, features, single=False)


def _flattened(root: Mapping[str, Any]) -> list[tuple[int, int, int, float, float]]:
    """Return the nodes of a nested tree: children, feature, threshold and value."""
    found, waiting = list[Any](), [(root, -1, 0)]
    while waiting:
        node, parent, side = waiting.pop()
        place = len(found)
        if parent >= 0:
            found[parent][side] = place
        if "split_feature" not in node:
            if "leaf_const" in node or "leaf_features" in node:
                raise InvalidInputError(_LINEAR)
            found.append([-1, -1, 0, 0.0, float(node["leaf_value"])])
            continue
        if node["decision_type"] != "<=":
            raise InvalidInputError(
                "categorical splits of LightGBM are not supported: code categories as numbers"
            )
        if node.get("missing_type") == "Zero":
            raise InvalidInputError(
                "this LightGBM model treats zero as missing, which ldpkit does not support: train it with "
                "zero_as_missing=false"
            )
        found.append([-1, -1, int(node["split_feature"]), float(node["threshold"]), 0.0])
        waiting += [(node["right_child"], place, 1), (node["left_child"], place, 0)]
    return [tuple(each) for each in found]


def lightgbm_tables(text: str) -> dict[str, Any]:
    """Return what `lightgbm_trees` takes from the text that LightGBM's `save_model` writes."""
    blocks = text.split("\n\n")
    about: dict[str, Any] = dict(line.partition("=")[::2] for line in blocks[0].splitlines())
    about["average_output"] = "average_output" in about
    about["feature_names"] = about.get("feature_names", "").split()
    about["tree_info"] = [
        {"tree_structure": _nested(block)} for block in blocks if block.lstrip().startswith("Tree=")
    ]
    return about


def _nested(block: str) -> dict[str, Any]:
    """Return one tree of LightGBM's text in the form of its JSON."""
    told = dict(line.partition("=")[::2] for line in block.strip().splitlines())
    if told.get("is_linear", "0") != "0":
        raise InvalidInputError(_LINEAR)
    leaves = [{"leaf_value": value} for value in _numbers(told["leaf_value"])]
    if len(leaves) == 1:
        return leaves[0]
    kinds = [int(each) for each in told["decision_type"].split()]
    thresholds, features = _numbers(told["threshold"]), [int(each) for each in told["split_feature"].split()]
    nodes: list[dict[str, Any]] = [
        {
            "split_feature": feature,
            "threshold": threshold,
            "decision_type": "==" if kind & _CATEGORICAL else "<=",
            "missing_type": "Zero" if kind & 12 == _ZERO_IS_MISSING else "None",
        }
        for feature, threshold, kind in zip(features, thresholds, kinds, strict=True)
    ]
    used = set[int]()
    for side in ("left_child", "right_child"):
        for node, child in zip(nodes, (int(each) for each in told[side].split()), strict=True):
            if child == 0 or child in used:
                raise InvalidInputError("the nodes of the model's trees do not make trees")
            used.add(child)
            node[side] = nodes[child] if child > 0 else leaves[~child]
    return nodes[0]


def _numbers(text: str) -> list[float]:
    return [float(each) for each in text.split()]


def _class_count(told: int, *, single: bool) -> int:
    """Return how many scores there are."""
    if single:
        return 1
    if not 2 <= told <= _MOST_CLASSES:
        raise InvalidInputError(f"a model for several classes has 2 or more of them, got {told}")
    return told


def _check_column(owner: Any, width: int) -> None:
    if not 0 <= int(owner) < width:
        raise InvalidInputError(f"a tree of the model belongs to class {owner}, and there are {width}")


def _check_labels(classes: Any, width: int) -> None:
    if classes is not None and len(classes) != max(width, 2):
        raise InvalidInputError(f"the model has {max(width, 2)} classes, and {len(classes)} labels are given")
