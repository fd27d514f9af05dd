"""Models as data: boosted trees in the JSON of XGBoost and LightGBM or LightGBM's text, networks in ONNX.

The first byte of an input says which kind of file the rest is.
"""

from __future__ import annotations

import functools
import json
import random
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from fuzz.mutate import HOSTILE_TEXTS, NUMBERS, change_bytes, change_json_text, change_text
from fuzz.target import Target, refused_if, require
from ldpkit.assurance.classifier.loading import load_model
from ldpkit.assurance.classifier.reading import Unread, regions
from ldpkit.assurance.classifier.table import record_table

__all__ = ["BOOSTED", "NETWORKS", "check_model"]

_ROWS = np.array([[0.25, 0.5], [0.75, 0.25], [0.5, 1.0]])
_KEYS = (
    *("learner", "gradient_booster", "objective", "learner_model_param", "num_class", "num_feature"),
    *("base_score", "tree_info", "trees", "left_children", "right_children", "split_indices"),
    *("split_conditions", "split_type", "tree_structure", "split_feature", "threshold", "left_child"),
    *("right_child", "leaf_value", "max_feature_idx", "average_output", "feature_names", "best_iteration"),
)
_WORDS = (
    "=",
    "\n",
    "\n\n",
    " ",
    "Tree=1",
    "-1",
    "-2",
    "0",
    "1",
    "2",
    "0.5",
    "1e400",
    "nan",
    "num_class=",
    "inf",
)
_ENDINGS = {b"j": "json", b"t": "txt"}


def _xgboost(classes: int) -> dict[str, Any]:
    """Return a model of XGBoost with a tree of three nodes for each score."""
    width = 1 if classes == 2 else classes
    tree = {
        "left_children": [1, -1, -1],
        "right_children": [2, -1, -1],
        "split_indices": [1, 0, 0],
        "split_conditions": [0.5, -0.4, 0.3],
        "split_type": [0, 0, 0],
        "tree_param": {"size_leaf_vector": "1", "num_nodes": "3", "num_feature": "2"},
    }
    objective = "binary:logistic" if classes == 2 else "multi:softprob"
    model = {
        "gbtree_model_param": {"num_parallel_tree": "1", "num_trees": str(width)},
        "tree_info": list(range(width)),
        "trees": [tree] * width,
    }
    told = {"base_score": "5E-1", "num_class": str(0 if classes == 2 else classes), "num_feature": "2"}
    learner = {
        "attributes": {"best_iteration": "0"},
        "feature_names": ["a", "b"],
        "gradient_booster": {"name": "gbtree", "model": model},
        "learner_model_param": told,
        "objective": {"name": objective},
    }
    return {"learner": learner, "version": [3, 0, 0]}


def _lightgbm() -> dict[str, Any]:
    """Return what LightGBM dumps of a model with one tree."""
    leaves = [{"leaf_index": place, "leaf_value": value} for place, value in enumerate((-0.4, 0.2, 0.3))]
    split = {"split_feature": 0, "threshold": 0.25, "decision_type": "<=", "missing_type": "None"}
    inner = {**split, "left_child": leaves[1], "right_child": leaves[2]}
    root = {**split, "split_feature": 1, "threshold": 0.5, "left_child": leaves[0], "right_child": inner}
    return {
        "objective": "binary sigmoid:1",
        "num_class": 1,
        "max_feature_idx": 1,
        "average_output": False,
        "feature_names": ["Column_0", "Column_1"],
        "tree_info": [{"tree_index": 0, "tree_structure": root}],
    }


_TEXT = """\
tree
version=v4
num_class=1
num_tree_per_iteration=1
max_feature_idx=1
objective=binary sigmoid:1
feature_names=Column_0 Column_1

Tree=0
num_leaves=3
num_cat=0
split_feature=1 0
threshold=0.5 0.25
decision_type=2 2
left_child=-1 -2
right_child=1 -3
leaf_value=-0.4 0.2 0.3
is_linear=0

end of trees
"""


def _seeds() -> list[bytes]:
    documents = (_xgboost(2), _xgboost(3), _lightgbm())
    return [*(b"j" + json.dumps(each).encode() for each in documents), b"t" + _TEXT.encode()]


def _mutate(rng: random.Random, data: bytes) -> bytes:
    kind, content = data[:1], data[1:]
    chance = rng.randrange(10)
    if chance == 0:
        return kind + change_bytes(rng, content)
    if kind == b"j":
        return kind + change_json_text(rng, json.loads(content), _KEYS)
    lines = content.decode("utf-8", "replace").split("\n")
    at = rng.randrange(len(lines))
    if chance < 6 and "=" in lines[at]:  # one number of a line, or all of them
        name, _, told = lines[at].partition("=")
        numbers = told.split()
        if numbers:
            numbers[rng.randrange(len(numbers))] = str(rng.choice((*NUMBERS, *HOSTILE_TEXTS)))[:500]
        lines[at] = f"{name}={' '.join(numbers)}"
    else:
        lines[at] = change_text(rng, lines[at], _WORDS)
    return kind + "\n".join(lines).encode("utf-8", "surrogatepass")


def check_model(path: Path) -> None:
    """Load a model, ask it, and look for the regions of its labels."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        model = load_model(path)
        refused_if(model.n_features_in_ != _ROWS.shape[1], "a model of other columns")
        labels = np.asarray(model.predict(_ROWS))
        require(labels.shape == (len(_ROWS),), "labels of another number")
        require(set(labels.tolist()) <= set(np.asarray(model.classes_).tolist()), "labels that it has not")
        chances = model.predict_proba(_ROWS)
        require(len(chances) == len(_ROWS), "probabilities of another number")
        table = record_table(model, _ROWS)
        require((table.predict(_ROWS) == labels).all(), "a table gives other labels")
        try:
            regions(table, _ROWS, labels, [0, 1])
        except Unread:
            return


def _check(data: bytes, folder: Path) -> None:
    refused_if(data[:1] not in _ENDINGS, "no kind of file")
    path = folder / f"a.{_ENDINGS[data[:1]]}"
    path.write_bytes(data[1:])
    check_model(path)


@functools.cache
def _networks() -> tuple[bytes, ...]:
    from onnx import TensorProto, helper, numpy_helper

    rng = np.random.default_rng(3)
    first, second = (rng.normal(size=shape).astype(np.float32) for shape in ((2, 3), (3, 2)))
    constants = {
        "W": first,
        "b": np.zeros(3, np.float32),
        "V": second,
        "c": np.ones(2, np.float32),
        "m": np.array([0.5, 0.5], np.float32),
    }
    tensors = [numpy_helper.from_array(each, name) for name, each in constants.items()]
    plain = [
        helper.make_node("Gemm", ["x", "W", "b"], ["h"]),
        helper.make_node("Relu", ["h"], ["r"]),
        helper.make_node("MatMul", ["r", "V"], ["s"]),
        helper.make_node("Add", ["s", "c"], ["t"]),
        helper.make_node("Softmax", ["t"], ["p"], axis=1),
    ]
    scaled = [
        helper.make_node("Sub", ["x", "m"], ["y"]),
        helper.make_node("Div", ["y", "m"], ["z"]),
        helper.make_node("Gemm", ["z", "V", "b"], ["p"], transB=1, alpha=0.5),
    ]
    made = []
    for nodes in (plain, scaled):
        ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [None, 2]) for name in ("x", "p")]
        graph = helper.make_graph(nodes, "g", ends[:1], ends[1:], tensors)
        made.append(helper.make_model(graph).SerializeToString())
    return tuple(made)


def _mutate_network(rng: random.Random, data: bytes) -> bytes:
    """Return another message: a field of it set to something else, repeated, taken away or exchanged."""
    from google.protobuf.message import DecodeError
    from onnx import ModelProto

    if rng.random() < 0.15:
        return change_bytes(rng, data)
    model = ModelProto()
    try:
        model.ParseFromString(data)
    except (DecodeError, RuntimeError):
        return rng.choice(_networks())
    for _ in range(rng.choice((1, 1, 2))):
        _change_message(rng, model)
    made: bytes = model.SerializePartialToString()
    return made


def _change_message(rng: random.Random, message: Any) -> None:
    """Change one field somewhere within a message."""
    fields = [(each, value) for each, value in message.ListFields()]
    if not fields:
        return
    field, value = rng.choice(fields)
    is_repeated = hasattr(value, "append") or hasattr(value, "add")
    kind = rng.randrange(6)
    if field.message_type is not None:
        inner = rng.choice(list(value)) if is_repeated else value
        if is_repeated and kind == 0:
            value.remove(inner)
        elif is_repeated and kind == 1:
            value.add().CopyFrom(inner)
        elif kind == 2 and not is_repeated:
            message.ClearField(field.name)
        else:
            _change_message(rng, inner)
        return
    new: Any
    if isinstance(value, bytes):
        new = change_bytes(rng, value)
    elif isinstance(value, str):
        new = rng.choice(("x", "h", "W", "V", "Gemm", "Relu", "Mul", "Tanh", "p", "transB", ""))
    else:
        new = rng.choice((0, 1, 2, 3, 7, 11, -1, 1 << 20, (1 << 31) - 1, 1 << 40, (1 << 63) - 1))
    try:
        if not is_repeated:
            setattr(message, field.name, new)
        elif kind == 0:
            del value[rng.randrange(len(value))]
        else:
            at = rng.randrange(len(value))
            texts = ("x", "h", "r", "W", "b", "p", "")
            value[at] = rng.choice(texts) if isinstance(value[at], str) else new
    except (TypeError, ValueError):
        message.ClearField(field.name)


def _check_network(data: bytes, folder: Path) -> None:
    path = folder / "a.onnx"
    path.write_bytes(data)
    check_model(path)


BOOSTED = Target("boosted models", _seeds, _mutate, _check)
NETWORKS = Target("networks", _networks, _mutate_network, _check_network)
