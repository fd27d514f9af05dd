"""Columns that are gone through twice: the distinct values, and then each, without keeping them all."""

from __future__ import annotations

import gzip
import io
import sys

import numpy as np
import pytest

from ldpkit.core import limits
from ldpkit.core.errors import InvalidInputError
from ldpkit.files import distinct, lines, tables
from ldpkit.files.distinct import DistinctColumn
from ldpkit.files.readers import read_column

_COLUMNS = [
    "3\n1\n3\n0\n",
    "-5\n4294967296\n-5\n7\n",
    "9223372036854775807\n-1\n",
    "99999999999999999999\n1\n",
    "1\n2.5\n1\n1e3\n",
    "007\n7\n7\n+7\n",
    "7\n8\n7\n8\n7\n8\nseven\n7\n",
    "b\na\nb\n",
    "1\n2\nnan\nbread\n",
    "1_000\n2\n",
    "0\n-0\n",
    "\u0663\n4\n",
]


@pytest.fixture(autouse=True)
def _small_pieces(monkeypatch):
    monkeypatch.setattr(tables, "_PIECE", 2)
    monkeypatch.setattr(distinct, "_FEW", 2)


def _same(column, path):
    whole = read_column(path)
    assert column.values.dtype.kind == whole.dtype.kind
    assert np.unique(column.values).tolist() == np.unique(whole).tolist()
    pieces = list(column.again())
    assert {piece.dtype.kind for piece in pieces} == {whole.dtype.kind}
    assert np.concatenate(pieces).tolist() == whole.tolist()
    assert column.column.read == len(whole)


@pytest.mark.parametrize("text", _COLUMNS)
def test_the_values_are_those_of_the_whole_column(tmp_path, monkeypatch, text):
    path = tmp_path / "a.txt"
    path.write_text(text)
    _same(DistinctColumn(path), path)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
    _same(DistinctColumn("-"), path)


@pytest.mark.parametrize(
    "cells", [[1, 2, 1, -3, 1], [1.5, 2, 1.5, 2, 2], ["b", "a", "b", "1", "c"], [1, 1, 1, 2**64 - 1, 1]]
)
def test_parquet_columns(tmp_path, cells):
    arrow = pytest.importorskip("pyarrow", reason="reading Parquet files needs pyarrow")
    from pyarrow import parquet

    path = tmp_path / "a.parquet"
    kind = arrow.uint64() if 2**64 - 1 in cells else None
    parquet.write_table(arrow.table({"v": arrow.array(cells, kind)}), path)
    _same(DistinctColumn(path), path)


def test_memory_does_not_grow_with_the_file(tmp_path, monkeypatch):
    """Ten million lines took 1.3 GB: a file is read twice, and a value that is read once takes a byte."""
    monkeypatch.setattr(tables, "_PIECE", 1 << 10)
    for text, bytes_each in (("yes\nno\n", 1), ("7\n255\n", 1), ("-1\n300\n", 2)):
        path = tmp_path / "a.txt"
        path.write_text(text * 5000)
        assert DistinctColumn(path)._kept == []
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO((text * 5000).encode())))
        kept = [cells for _, cells in DistinctColumn("-")._kept]
        assert sum(cells.nbytes for cells in kept) == bytes_each * sum(map(len, kept)) == bytes_each * 10_000


def test_missing_values_are_left_out_twice(tmp_path, monkeypatch):
    monkeypatch.setattr(lines, "_EMPTY", 3)
    path = tmp_path / "a.txt"
    path.write_text("a\n" + "\n" * 20 + "b\na\n")
    column = DistinctColumn(path, missing="drop")
    assert np.concatenate(list(column.again())).tolist() == ["a", "b", "a"]
    assert (column.column.read, column.column.dropped) == (3, 20)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1\n2\n3\nnan\n4\n", r"a\.txt', line 4: the value nan is not a finite number"),
        ("1\n2\n3\n\n4\n", r"a\.txt', line 4: the value is missing"),
        ("a\nb\nc\n" + "d" * 300, r"a\.txt', line 4: the value 'ddd.* has 300 characters"),
    ],
)
def test_what_is_refused_is_named_by_its_line(tmp_path, text, message):
    path = tmp_path / "a.txt"
    path.write_text(text)
    with pytest.raises(InvalidInputError, match=message):
        DistinctColumn(path)


@pytest.mark.parametrize("text", [b"%d\n", b"a%d\n"])
def test_the_list_of_values_has_a_limit_where_a_file_is_packed(tmp_path, monkeypatch, text):
    monkeypatch.setattr(tables, "_PIECE", 1 << 10)
    path = tmp_path / "a.txt.gz"
    path.write_bytes(gzip.compress(b"".join(text % number for number in range(10_000))))
    assert len(DistinctColumn(path).values) == 10_000
    monkeypatch.setattr(limits, "_TIMES", 1)
    monkeypatch.setattr(limits, "_DEFAULT", 1 << 16)
    with pytest.raises(InvalidInputError, match=r"a list of the values of .* set LDPKIT_MEMORY="):
        DistinctColumn(path)


def test_a_file_that_changes_while_it_is_read_is_refused(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("1\n2\n")
    column = DistinctColumn(path)
    path.write_text("1\ntwo\n")
    with pytest.raises(InvalidInputError, match="was changed while it was read"):
        list(column.again())


def test_a_piece_that_alone_looks_like_text_has_the_type_of_the_column(tmp_path, monkeypatch):
    """Whole numbers beyond 64 bits are text by themselves, and decimals beside a decimal."""
    monkeypatch.setattr(tables, "_PIECE", 3)
    path = tmp_path / "a.txt"
    path.write_text("9223372036854775808\n" * 7 + "1.5\n1\n")
    seen = DistinctColumn(path)
    whole = read_column(path)
    assert whole.dtype.kind == "f"
    assert np.concatenate(list(seen.again())).tolist() == whole.tolist()


@pytest.mark.parametrize("after", ["a\nb\n", "a\nb\na\nb\na\n", "a\nb\nc\n", "1\n2\n3\n"])
def test_a_file_that_changes_between_two_readings_is_refused(tmp_path, after):
    path = tmp_path / "a.txt"
    path.write_text("a\nb\na\n")
    seen = DistinctColumn(path)
    path.write_text(after)
    with pytest.raises(InvalidInputError, match="was changed while it was read: try again"):
        list(seen.again())


def test_a_negative_zero_is_zero(tmp_path):
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    pq.write_table(pa.table({"v": [-0.0, 0.5, 0.0]}), tmp_path / "a.parquet")
    seen = DistinctColumn(tmp_path / "a.parquet")
    assert sorted(map(str, seen.values.tolist())) == ["0.0", "0.5"]
