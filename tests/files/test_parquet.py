"""Parquet files that are small and stand for much: every batch is bounded, and whole columns have a limit."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pytest

from ldpkit.core import limits
from ldpkit.core.errors import InvalidInputError
from ldpkit.files import parquet, tables
from ldpkit.files.arrow import open_parquet
from ldpkit.files.readers import ColumnStream, read_cells, read_column, read_points

pa = pytest.importorskip("pyarrow", reason="reading Parquet files needs pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

_TEXT = "x" * 100


@pytest.fixture
def write(tmp_path):
    """Write columns to a file and return its path."""

    def write(columns, **options):
        path = tmp_path / "a.parquet"
        try:
            pq.write_table(pa.table(columns), path, **{"compression": "zstd", **options})
        except pa.ArrowNotImplementedError:
            pytest.skip("this pyarrow does not write such a column")
        return path

    return write


def _repeated(n, value=_TEXT):
    return pa.DictionaryArray.from_arrays(pa.array(np.zeros(n, np.int32)), pa.array([value]))


def _batches(path, most=1 << 16):
    opened = parquet.BoundedParquet.open_path(path, repr(str(path)))
    return list(opened.batches(opened.names, most))


@pytest.mark.parametrize(
    ("column", "options"),
    [
        (_repeated(500), {"store_schema": False}),
        (_repeated(500), {}),
        (_repeated(500, _TEXT.encode()), {}),
        (pa.array([_TEXT] * 500, pa.large_string()), {}),
        (pa.array([_TEXT] * 500, pa.string_view()), {}),
        (pa.array([_TEXT] * 500), {"use_dictionary": False, "row_group_size": 100}),
        (pa.array([_TEXT.encode()] * 500, pa.binary(100)), {}),
    ],
)
def test_a_value_that_is_there_often_is_written_out_a_few_times_at_once(monkeypatch, write, column, options):
    """662 bytes took 1.4 GB, and 4,751 bytes more than a machine has."""
    monkeypatch.setattr(parquet, "_BATCH", 1000)
    batches = _batches(write({"v": column}, **options))
    assert sum(map(len, batches)) == 500
    assert max(map(len, batches)) <= 10
    assert not any(pa.types.is_dictionary(batch.schema.field(0).type) for batch in batches)
    assert {str(cell)[-101:].strip("b'") for batch in batches for cell in batch.column(0).to_pylist()} == {
        _TEXT
    }


def test_text_that_shares_its_beginnings_is_read_in_short_batches(monkeypatch, write):
    """In this encoding a value says how much of the one before it repeats, so none is in a dictionary."""
    encoding = {"use_dictionary": False, "column_encoding": {"v": "DELTA_BYTE_ARRAY"}}
    path = write({"v": pa.array([_TEXT] * 5000)}, **encoding)
    monkeypatch.setattr(limits, "_DEFAULT", 1 << 20)
    most = (1 << 20) // 4 // len(_TEXT)
    batches = _batches(path)
    assert (sum(map(len, batches)), max(map(len, batches))) == (5000, most)
    assert most < 5000
    path = write({"v": pa.array([f"{row:05}" for row in range(5000)])}, **encoding)
    assert len(_batches(path)) == 1, "values that share little are no reason for short batches"


def test_a_long_label_is_refused_in_a_batch_of_its_own_size(monkeypatch, write):
    monkeypatch.setattr(parquet, "_BATCH", 1000)
    path = write({"v": _repeated(5000, "x" * 300)}, store_schema=False)
    seen = []
    monkeypatch.setattr(tables, "as_text", lambda place, cells: seen.append(len(cells)) or 1 / 0)
    with pytest.raises(ZeroDivisionError):
        read_column(path)
    assert seen == [3]
    monkeypatch.undo()
    for read in (read_column, lambda file: list(ColumnStream(file))):
        with pytest.raises(
            InvalidInputError, match=r"row 1: the value 'xxx.* has 300 characters: a label has"
        ):
            read(path)


@pytest.mark.parametrize("groups", [50, 1000])
def test_rows_keep_their_places_and_their_types_however_they_are_cut(monkeypatch, write, groups):
    monkeypatch.setattr(parquet, "_BATCH", 40)
    monkeypatch.setattr(parquet, "_RUN", 400)
    names = [None if row % 7 == 3 else f"name {row % 13}" for row in range(1000)]
    columns = {
        "text": pa.array(names),
        "bytes": pa.array([str(row % 3).encode() for row in range(1000)]),
        "number": pa.array(range(1000)),
        "price": pa.array([row / 4 for row in range(1000)]).cast(pa.decimal128(9, 2)),
    }
    path = write(columns, row_group_size=groups)
    batches = _batches(path, 300)
    found = pa.Table.from_batches(batches)
    assert found.to_pydict() == pa.table(columns).to_pydict()
    assert found.schema.types == pa.table(columns).schema.types
    column = ColumnStream(path, "text", missing="drop")
    read = [(piece.place(row), cell) for piece in column for row, cell in enumerate(piece.cells)]
    assert read == [(f"{str(path)!r}, row {row + 1}", name) for row, name in enumerate(names) if name]
    assert column.dropped == names.count(None)


def test_what_a_part_unpacks_to_has_a_limit(monkeypatch, write):
    path = write({"v": pa.array([_TEXT] * 20_000)}, use_dictionary=False)
    monkeypatch.setattr(limits, "_DEFAULT", 1)
    for read in (read_column, lambda file: list(ColumnStream(file)), _batches):
        with pytest.raises(InvalidInputError, match=r"reading '.*' takes 6 MiB .* set LDPKIT_MEMORY=6M"):
            read(path)
    monkeypatch.setenv("LDPKIT_MEMORY", "6M")
    assert sum(map(len, _batches(path))) == 20_000


def test_columns_that_are_kept_have_a_limit_and_streams_have_none(monkeypatch, write):
    """710 kB of zeros took 5 to 6.5 GB."""
    zeros = pa.array(np.zeros(200_000, np.int8))
    path = write({"x": zeros, "y": zeros})
    monkeypatch.setattr(limits, "_DEFAULT", 1 << 20)
    message = r"the whole of '.*' takes 7 MiB of memory, .* set LDPKIT_MEMORY=7M"
    with pytest.raises(InvalidInputError, match=message):
        read_column(path, "x")
    with pytest.raises(InvalidInputError, match=message.replace("7", "13")):
        read_points(path, "x", "y")
    assert sum(len(piece.cells) for piece in ColumnStream(path, "x")) == 200_000
    monkeypatch.setenv("LDPKIT_MEMORY", "7M")
    assert len(read_column(path, "x")) == 200_000


def test_missing_values_that_are_dropped_take_nothing_of_the_limit(monkeypatch, write):
    path = write({"v": pa.array([1, *[None] * 200_000, 2], pa.int8())})
    monkeypatch.setattr(limits, "_DEFAULT", 1 << 16)
    assert read_column(path, missing="drop").tolist() == [1, 2]


def test_a_list_is_refused_before_it_is_read(monkeypatch, write):
    path = write({"v": pa.array([[0] * 1000])})
    monkeypatch.setattr(parquet, "_written_out", lambda batch: 1 / 0)
    with pytest.raises(InvalidInputError, match=r"the column 'v' holds list<.*>, not values: choose another"):
        read_column(path)


def test_reports_that_are_there_often_are_read_in_bounded_batches(monkeypatch, write):
    monkeypatch.setattr(parquet, "_BATCH", 1000)
    batches = list(open_parquet(write({"report": _repeated(500, b"r" * 100)})).batches(["report"], 1 << 18))
    assert (sum(map(len, batches)), max(map(len, batches))) == (500, 10)
    assert batches[0].column(0).type == pa.binary()


def test_decimals_are_the_numbers_that_their_digits_say(write):
    column = pa.array([Decimal(each) for each in ("0.0042", "0.42", "0.07")], pa.decimal128(30, 4))
    assert read_column(write({"v": column})).tolist() == [0.0042, 0.42, 0.07]


def test_views_of_text_may_be_missing(write):
    view = pa.array(["a", None, "b"], pa.string_view())
    path = write({"v": view}, use_dictionary=False, column_encoding={"v": "DELTA_BYTE_ARRAY"})
    assert read_column(path, missing="drop").tolist() == ["a", "b"]


def test_empty_text_is_missing_as_in_csv(write, tmp_path):
    """Empty text is no label: who drops missing values was told to drop it."""
    cells = ["", "a", None, "NaN", "b", "", "c"]
    path = write({"text": pa.array(cells)}, row_group_size=3)
    csv = tmp_path / "a.csv"
    csv.write_text("text\n" + "".join(f"{cell or ''}\n" for cell in cells))
    for file in (path, csv):
        whole = read_cells(file, "text", missing="drop")
        assert (whole.typed().tolist(), whole.dropped) == (["a", "b", "c"], 4)
        with pytest.raises(InvalidInputError, match=r"(row 3|line 2): the value is missing"):
            read_column(file, "text")
    only = write({"text": pa.array(["", "", None])})
    with pytest.raises(InvalidInputError, match="all values are missing"):
        read_cells(only, missing="drop")
