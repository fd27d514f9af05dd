"""Files of values and of counts: text, CSV, TSV, packed or not, and Parquet.

The first line of an input is JSON that tells the file's name and how it is read; the rest is
the file, which is packed here if the line says so.
"""

from __future__ import annotations

import functools
import gzip
import io
import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from fuzz.mutate import HOSTILE_TEXTS, change_bytes, change_json, change_text
from fuzz.target import Target, refused_if, require
from fuzz.targets.forged import forged_parquet
from ldpkit.files.distinct import DistinctColumn
from ldpkit.files.readers import (
    ColumnStream,
    column_names,
    read_cells,
    read_column,
    read_counts,
    read_points,
    read_transactions,
    row_count,
)
from ldpkit.protocols.people import person_keys
from ldpkit.simulation.datasets import load

__all__ = ["COUNTS", "PARQUET", "TEXTS", "change_footer", "framed"]

_NAMES = (
    "a.txt",
    "a.csv",
    "a.tsv",
    "a.dat",
    "a",
    "a.csv.gz",
    "a.txt.gz",
    "a.TSV.GZ",
    "a.gz",
    "a.json",
    "a.gz.gz",
)
_WORDS = (
    "\n",
    "\r\n",
    "\r",
    ",",
    ";",
    "\t",
    '"',
    '""',
    "1",
    "-5",
    "2.5",
    "1e5",
    "Oslo",
    "value",
    "count",
    "\n\n\n",
)


def framed(name: str, content: bytes, read: str = "column", *, pack: bool = False, **options: Any) -> bytes:
    """Return an input of these targets."""
    return json.dumps({"name": name, "read": read, "pack": pack, **options}).encode() + b"\n" + content


def _same(one: Any, other: Any) -> bool:
    return bool(np.array_equal(np.asarray(one), np.asarray(other)))


def _column(path: Path, asked: dict[str, Any]) -> None:
    values = read_column(path, asked.get("column"))
    require(values.ndim == 1 and len(values) and values.dtype.kind in "ifU", f"a column of {values.dtype}")
    require(values.dtype.kind != "f" or np.isfinite(values).all(), "a column holds what is not finite")
    require(_same(values, read_column(path, asked.get("column"))), "a second reading gives other values")
    if values.dtype.kind != "f":
        person_keys(values)


def _stream(path: Path, asked: dict[str, Any]) -> None:
    stream = ColumnStream(path, asked.get("column"))
    pieces = [piece.typed() for piece in stream]
    require(sum(map(len, pieces)) == len(read_column(path, asked.get("column"))), "a stream loses values")


def _cells(path: Path, asked: dict[str, Any]) -> None:
    """Cells that may be missing, and about how many rows there are."""
    kept = read_cells(path, asked.get("column"), missing="drop")
    rows = row_count(path)
    require(len(kept.cells) and (rows is None or rows >= 0), "a column without cells")


def _distinct(path: Path, asked: dict[str, Any]) -> None:
    """The values of a column that is looked at twice are those of one that is kept."""
    whole = read_column(path, asked.get("column"))
    refused_if(whole.dtype.kind == "f", "decimals are no categories")
    seen = DistinctColumn(path, asked.get("column"))
    require(_same(np.unique(seen.values), np.unique(whole)), "other values are distinct")
    require(_same(np.concatenate(list(seen.again())), whole), "a second reading gives other values")


def _counts(path: Path, asked: dict[str, Any]) -> None:
    labels, counts = read_counts(path, asked.get("column"), asked.get("count"))
    require(len(labels) == len(counts) == len(set(labels)), "labels of counts are there twice")
    require(counts.dtype == np.int64 and (counts >= 0).all(), "counts are not whole numbers of people")


def _points(path: Path, asked: dict[str, Any]) -> None:
    points = read_points(path, str(asked.get("column")), str(asked.get("count")))
    require(points.shape[1] == 2 and np.isfinite(points).all(), "points are not finite pairs")


def _transactions(path: Path, asked: dict[str, Any]) -> None:
    delimiter = asked.get("column")
    for items in read_transactions(path, delimiter if delimiter else None):
        require(all(items), "an item is empty")


def _load(path: Path, asked: dict[str, Any]) -> None:
    data = load(path, column=asked.get("column"), count=asked.get("count"))
    require(data.n == int(data.counts.sum()) and data.k >= 2, "a data set does not add up")
    repr(data)


_READERS: dict[str, Callable[[Path, dict[str, Any]], None]] = {
    "column": _column,
    "stream": _stream,
    "names": lambda path, _: require(set(map(type, column_names(path))) <= {str}, "a name is no text"),
    "cells": _cells,
    "distinct": _distinct,
    "counts": _counts,
    "points": _points,
    "transactions": _transactions,
    "load": _load,
}


def _check(data: bytes, folder: Path) -> None:
    first, _, content = data.partition(b"\n")
    try:
        asked = json.loads(first)
        name, read = asked["name"], _READERS[asked["read"]]
        options = [asked.get(key) for key in ("column", "count")]
        proper = isinstance(name, str) and "/" not in name and "\0" not in name and 0 < len(name) < 50
        path = folder / (name if proper else "a.txt")
        path.write_bytes(gzip.compress(content, 1) if asked.get("pack") else content)
    except (ValueError, KeyError, TypeError, RecursionError, AttributeError, OSError):
        refused_if(True, "not a question of this target")
        return
    refused_if(not all(each is None or isinstance(each, str) for each in options), "names are text")
    read(path, asked)


def _text_seeds() -> list[bytes]:
    return [
        framed("a.txt", b"1\n2\n3\n1\n"),
        framed("a.txt", b"Oslo\nRome\nOslo\n", "load"),
        framed("a.csv", b"city,age\nOslo,41\nRome,7\n", column="age"),
        framed("a.csv", b'city;age\n"Os;lo";4.5\nRome;7\n', "stream", column="city"),
        framed("a.tsv", b"x\ty\n1\t2\n3.5\t-4\n", "points", column="x", count="y"),
        framed("a.csv.gz", b"city,age\nOslo,41\nRome,7\n", "names", pack=True),
        framed("a.txt.gz", gzip.compress(b"1\n2\n3\n"), "stream"),
        framed("a.dat", b"1 2 3\n2 3\n\n7\n", "transactions"),
        framed("a.csv", b"1,2,3\n2,3\n", "transactions", column=","),
        framed("a.txt", b"7\n07\nx\n7\n", "distinct"),
        framed("a.csv.gz", b"n\n1\n2\n1\n", "distinct", pack=True),
        framed("a", "\ufeffé\r\nb\rc\n".encode(), "load"),
        framed("a.csv", b'value\n"a\nb"\nc\n', "load", column="value"),
    ]


def _count_seeds() -> list[bytes]:
    return [
        framed("a.csv", b"value,count\na,3\nb,4\n", "counts"),
        framed("a.csv", b"value,count\n'=a,3\n'-b,4\n", "load"),
        framed("a.tsv", b"item\tn\n1\t3\n2\t4\n", "counts"),
        framed(
            "a.csv.gz", b"value,count,x\n1,3,0\n2,4,0\n", "load", pack=True, column="value", count="count"
        ),
    ]


def _mutate(rng: random.Random, data: bytes) -> bytes:
    first, _, content = data.partition(b"\n")
    try:
        asked = json.loads(first)
        assert isinstance(asked, dict)
    except (ValueError, AssertionError, RecursionError):
        return rng.choice((*_text_seeds(), *_count_seeds()))
    kind = rng.randrange(12)
    if kind == 0:
        asked["name"] = rng.choice(_NAMES)
    elif kind == 1:
        asked["read"] = rng.choice(list(_READERS))
    elif kind == 2:
        asked[rng.choice(("column", "count"))] = rng.choice((None, "value", "age", "city", *HOSTILE_TEXTS))
    elif kind == 3:
        asked["pack"] = not asked.get("pack")
    elif kind < 10:
        text = content.decode("utf-8", "replace")
        for _ in range(rng.choice((1, 1, 2, 4))):
            text = change_text(rng, text, _WORDS)
        content = text.encode("utf-8", "surrogatepass")
    else:
        content = change_bytes(rng, content)
    return json.dumps(asked).encode() + b"\n" + content[: 1 << 16]


_PARQUET_READERS = ("column", "stream", "distinct", "counts", "load")


@functools.cache
def _parquet_seeds() -> tuple[bytes, ...]:
    import pyarrow
    from pyarrow import parquet

    columns: tuple[dict[str, Any], ...] = (
        {"age": [1, 2, 3]},
        {"value": ["a", "b"], "count": [3, 4]},
        {"x": [0.5, 1.5], "y": [2, None]},
        {"d": pyarrow.array(["a", "b", "a"]).dictionary_encode(), "b": [True, False, True]},
        {
            "n": pyarrow.array([1, 2], pyarrow.decimal128(5, 1)),
            "t": pyarrow.array([1, 2], pyarrow.timestamp("s")),
        },
        {"l": [[1], [2, 3]], "s": [{"a": 1}, {"a": 2}], "z": [b"\xff", b"b"]},
        {"u": pyarrow.array([2**64 - 1, 1], pyarrow.uint64())},
        {"w": ["x" * 300] * 400, "c": [7] * 400},
        {"shared": [f"name {place // 7}" for place in range(300)], "e": [None, ""] * 150},
        {},
    )
    made = []
    for index, each in enumerate(columns):
        stream = io.BytesIO()
        codec = ("none", "snappy", "gzip")[index % 3]
        parquet.write_table(
            pyarrow.table(each),
            stream,
            compression=codec,
            write_page_checksum=False,
            store_schema=index % 2 == 0,
            **(
                {"use_dictionary": False, "column_encoding": dict.fromkeys(each, "DELTA_BYTE_ARRAY")}
                if "shared" in each
                else {}
            ),
        )
        name = next(iter(each), None)
        made += [
            framed("a.parquet", stream.getvalue(), read, column=name if read != "counts" else None)
            for read in _PARQUET_READERS
        ]
    return tuple(made)


def _mutate_parquet(rng: random.Random, data: bytes) -> bytes:
    first, _, content = data.partition(b"\n")
    kind = rng.randrange(13)
    if kind == 0:
        return _mutate(rng, data) if rng.random() < 0.5 else _renamed(rng, first, content)
    if kind >= 10:
        return framed("a.parquet", forged_parquet(rng), rng.choice(_PARQUET_READERS))
    return first + b"\n" + (change_footer(rng, content) if kind < 7 else change_bytes(rng, content))


def change_footer(rng: random.Random, content: bytes) -> bytes:
    """Return a Parquet file with another footer, which tells all; its length mostly fits."""
    if len(content) <= 12:
        return change_bytes(rng, content)
    at = max(4, len(content) - 8 - int.from_bytes(content[-8:-4], "little") % (1 << 16))
    footer = change_bytes(rng, content[at:-8])
    length = len(footer) if rng.random() < 0.95 else rng.choice((0, 1 << 31, (1 << 32) - 1))
    return content[:at] + footer + length.to_bytes(4, "little") + content[-4:]


def _renamed(rng: random.Random, first: bytes, content: bytes) -> bytes:
    asked = json.loads(first)
    asked["column"] = rng.choice((None, "age", "value", "x", "l", "t", "d"))
    return json.dumps(change_json(rng, asked) if rng.random() < 0.1 else asked).encode() + b"\n" + content


TEXTS = Target("values", _text_seeds, _mutate, _check)
COUNTS = Target("counts", _count_seeds, _mutate, _check)
PARQUET = Target("parquet", _parquet_seeds, _mutate_parquet, _check)
