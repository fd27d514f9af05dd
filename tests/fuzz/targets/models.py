"""Models in skops files: an archive of a description and arrays, packed again with checksums that fit."""

from __future__ import annotations

import functools
import io
import json
import random
import warnings
import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np

from fuzz.mutate import change_bytes, change_json_text
from fuzz.target import Target, require
from ldpkit.assurance.classifier.loading import load_model
from ldpkit.assurance.classifier.reading import Unread, regions
from ldpkit.assurance.classifier.table import record_table

__all__ = ["MODELS", "forged", "packed"]

_SCHEMA = "schema.json"
_ROWS = np.array([[0.25, 0.5], [0.75, 0.25], [0.5, 1.0]])
_KEYS = (
    "__class__",
    "__module__",
    "__loader__",
    "content",
    "type",
    "file",
    "coef_",
    "tree_",
    "n_features_in_",
)
_TYPES = (
    *("os", "system", "builtins", "eval", "exec", "open", "posix", "subprocess", "Popen", "numpy", "load"),
    *("sklearn.tree._tree", "Tree", "sklearn.linear_model._logistic", "LogisticRegression", "ndarray"),
    *("ObjectNode", "TreeNode", "FunctionNode", "MethodNode", "PartialNode", "TypeNode", "ReduceNode"),
    *("JsonNode", "NdArrayNode", "DictNode", "OperatorFuncNode", "CachedNode", "SparseMatrixNode"),
)


def packed(members: dict[str, bytes], *, how: int = zipfile.ZIP_STORED) -> bytes:
    """Return an archive, with checksums that fit."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", how) as archive:
        for name, content in members.items():
            archive.writestr(zipfile.ZipInfo(name), content, how)
    return stream.getvalue()


def _unpacked(data: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


@functools.cache
def _seeds() -> tuple[bytes, ...]:
    import skops.io
    from sklearn.ensemble import (
        GradientBoostingClassifier,
        HistGradientBoostingClassifier,
        RandomForestClassifier,
    )
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.tree import DecisionTreeClassifier

    rows = np.stack(np.meshgrid(np.linspace(0, 1, 7), np.linspace(0, 1, 7)), axis=-1).reshape(-1, 2)
    labels = (rows[:, 0] + rows[:, 1] ** 2 > 0.8).astype(int)
    models: tuple[Any, ...] = (
        LogisticRegression(),
        make_pipeline(StandardScaler(), LogisticRegression()),
        DecisionTreeClassifier(max_depth=2, random_state=0),
        RandomForestClassifier(2, max_depth=2, random_state=0),
        GradientBoostingClassifier(n_estimators=2, max_depth=1, random_state=0),
        HistGradientBoostingClassifier(max_iter=2, max_depth=2, min_samples_leaf=5, random_state=0),
    )
    return tuple(skops.io.dumps(each.fit(rows, labels)) for each in models)


def forged() -> dict[str, bytes]:
    """Return models whose trees lead astray, and files that would fill the memory."""
    tree = _unpacked(_seeds()[2])
    nodes = next(name for name, content in tree.items() if b"left_child" in content)
    head = tree[nodes].index(b"\n") + 1
    made = {}
    for what, at, number in (
        ("child", 0, 1 << 40),
        ("child that is its parent", 0, 0),
        ("column", 16, 1 << 40),
    ):
        content = bytearray(tree[nodes])
        content[head + at : head + at + 8] = number.to_bytes(8, "little")
        made[f"a tree with a wrong {what}"] = packed({**tree, nodes: bytes(content)})
    full = {**tree, "more": bytes(1 << 27)}
    made["a packed model of 128 MiB"] = packed(full, how=zipfile.ZIP_DEFLATED)
    made["a model without a description"] = packed({"a": b""})
    made["a description of 50,000 brackets"] = packed({_SCHEMA: b"[" * 50_000})
    return made


def _mutate(rng: random.Random, data: bytes) -> bytes:
    kind = rng.randrange(12)
    if kind == 0:
        return change_bytes(rng, data)
    try:
        members = _unpacked(data)
    except (zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError, EOFError, OSError):
        return rng.choice(_seeds())
    arrays = [name for name in members if name != _SCHEMA]
    if kind < 6:
        members[_SCHEMA] = change_json_text(rng, _retyped(rng, json.loads(members[_SCHEMA])), _KEYS)
    elif kind < 10 and arrays:  # numbers behind the head of an array, or the head itself
        name = rng.choice(arrays)
        head = members[name].find(b"\n") + 1
        if rng.random() < 0.7:
            members[name] = members[name][:head] + _renumbered(rng, members[name][head:])
        else:
            members[name] = change_bytes(rng, members[name][:head]) + members[name][head:]
    elif kind == 10 and len(arrays) > 1:
        one, other = rng.sample(arrays, 2)
        members[one], members[other] = members[other], members[one]
    else:
        members[rng.choice(("../out", "/dev/full", "a" * 300, _SCHEMA + "/"))] = b"x" * rng.choice(
            (0, 9, 9999)
        )
    return packed(members, how=rng.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)))


def _renumbered(rng: random.Random, content: bytes) -> bytes:
    """Return the bytes of an array with some eight of them being another whole number or decimal."""
    made = bytearray(content)
    for _ in range(rng.choice((1, 1, 2, 5))):
        at = rng.randrange(max(1, len(made) // 8)) * 8
        number = rng.choice((0, 1, 2, 3, -1, -2, 7, 100, 1 << 31, 1 << 40, -(1 << 62), rng.getrandbits(62)))
        decimal = np.array(rng.choice((np.nan, np.inf, -1e308, 5e-324, 0.5)), "<f8").tobytes()
        made[at : at + 8] = number.to_bytes(8, "little", signed=True) if rng.random() < 0.7 else decimal
    return bytes(made[: len(content)])


def _retyped(rng: random.Random, node: Any) -> Any:
    """Return a description in which, often, one type is called otherwise."""
    if rng.random() < 0.5 or not isinstance(node, dict):
        return node
    inside = [(key, value) for key, value in node.items() if isinstance(value, dict)]
    if inside and rng.random() < 0.8:
        key, value = rng.choice(inside)
        return {**node, key: _retyped(rng, value)}
    return {**node, rng.choice(("__class__", "__module__", "__loader__", "content")): rng.choice(_TYPES)}


def _check(data: bytes, folder: Path) -> None:
    path = folder / "a.skops"
    path.write_bytes(data)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = load_model(path)
        table = record_table(model, _ROWS)
        labels = table.predict(_ROWS)
        require(labels.shape == (len(_ROWS),), "labels of another number")
        try:
            regions(table, _ROWS, labels, [0, 1])
        except Unread:
            return


MODELS = Target("models", _seeds, _mutate, _check)
