"""Files of values: what is read, and that everything else is refused in one line."""

from __future__ import annotations

import gzip
import io
import itertools
import sys
import tracemalloc

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

import ldpkit
from ldpkit.core.errors import InvalidInputError, LdpkitError, MissingDependencyError, OutOfDomainError
from ldpkit.files import lines, tables
from ldpkit.files.pieces import LONGEST_LABEL
from ldpkit.files.readers import (
    ColumnStream,
    column_names,
    read_cells,
    read_column,
    read_counts,
    read_points,
    read_transactions,
)


@pytest.fixture
def make(tmp_path):
    """Write a file and return its path."""

    def write(name: str, content: str | bytes):
        path = tmp_path / name
        data = content.encode() if isinstance(content, str) else content
        path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
        return path

    return write


def refusal(call, *arguments) -> str:
    with pytest.raises(InvalidInputError) as caught:
        call(*arguments)
    message = str(caught.value)
    assert "\n" not in message
    return message


# --- one column ------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["a.txt", "a.dat", "a", "a.TXT", "a.txt.gz", "a.gz"])
def test_one_value_on_each_line(make, name):
    values = read_column(make(name, "3\n1\n-2\n"))
    assert values.dtype == np.int64
    assert values.tolist() == [3, 1, -2]


@pytest.mark.parametrize("name", ["a.csv", "a.csv.gz", "a.CSV"])
def test_a_table_with_one_column_needs_no_name(make, name):
    assert read_column(make(name, "age\n3\n1\n")).tolist() == [3, 1]
    assert column_names(make(name, "age\n3\n1\n")) == ["age"]


def test_a_single_column_that_starts_with_a_number_has_no_header(make):
    file = make("a.csv", "5\n3\n5\n")
    assert read_column(file).tolist() == [5, 3, 5]
    assert column_names(file) == []


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.csv", "city,age\nOslo,41\nRome,7\n"),
        ("a.tsv", "city\tage\nOslo\t41\nRome\t7\n"),
        ("a.csv", "city;age\nOslo;41\nRome;7\n"),
        ("a.csv", "\ufeffcity , age\r\n Oslo,41 \r\nRome,7\r\n\r\n"),
        ("a.csv", '"city","age"\n"Oslo","41"\n"Rome",7'),
    ],
)
def test_a_column_by_name(make, name, text):
    file = make(name, text)
    assert read_column(file, "age").tolist() == [41, 7]
    assert read_column(file, "city").tolist() == ["Oslo", "Rome"]


def test_quoted_cells_keep_commas_quotes_and_line_ends(make):
    file = make("a.csv", 'name,n\n"a,b",1\n"say ""x""",2\n"two\nlines",3\n')
    assert read_column(file, "name").tolist() == ["a,b", 'say "x"', "two\nlines"]
    assert read_column(file, "n").tolist() == [1, 2, 3]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1\n2.5\n", [1.0, 2.5]),
        ("1e3\n-.5\n", [1000.0, -0.5]),
        ("2020-01-02\n2020-01-03\n", ["2020-01-02", "2020-01-03"]),
        ("1_000\n2\n", ["1_000", "2"]),
        ("?\nPrivate\n", ["?", "Private"]),
        ("nan\nbread\n", ["nan", "bread"]),
        ("99999999999999999999\n1\n", ["99999999999999999999", "1"]),
        ("\u0663\n4\n", ["\u0663", "4"]),  # a digit for Python, text for us
    ],
)
def test_the_narrowest_type_that_loses_nothing(make, text, expected):
    values = read_column(make("a.txt", text)).tolist()
    assert values == expected
    assert [type(value) for value in values] == [type(value) for value in expected]


def test_standard_input(monkeypatch):
    def feed(data: bytes) -> None:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))

    feed(b"a\nb\n")
    assert read_column("-").tolist() == ["a", "b"]
    feed(b"x,y\n1,2\n")
    assert read_column("-", "y").tolist() == [2]
    feed(b"")
    assert refusal(read_column, "-") == "standard input is empty: give at least one value"
    assert column_names("-") == []


@pytest.mark.parametrize(
    ("name", "content", "column", "parts"),
    [
        ("a.txt", "", None, ["is empty", "give at least one"]),
        ("a.txt", "\n\n", None, ["is empty"]),
        ("a.csv", "age\n", None, ["header line but no values"]),
        ("a.csv", "\nage\n1\n", None, ["line 1", "header line is expected"]),
        ("a.txt", "1\n\n2\n", None, ["line 2", "missing", "drop missing values"]),
        ("a.csv", "age\n1\n\n2\n", None, ["line 3", "missing"]),
        ("a.csv", 'x,y\n"a\nb",1\nc,\n', "y", ["line 4", "missing"]),
        ("a.csv", "x,y\n1,2\n3\n", "x", ["line 3", "1 cells, the header has 2"]),
        ("a.csv", "x\n1\n3,4\n", "x", ["line 3", "2 cells, the header has 1", "if 3,4 is one number", "3.4"]),
        ("a.csv", "x,y\nred,-1,5\n", "x", ["line 2", "if -1,5 is one number", "write -1.5"]),
        ("a.csv", "x,y\n1,2\n", None, ["several columns", "choose one of x, y"]),
        ("a.csv", "age,city\n1,2\n", "aeg", ["no column 'aeg'", "did you mean 'age'?", "age, city"]),
        ("a.csv", "x,x\n1,2\n", "x", ["2 columns 'x'", "rename"]),
        ("a.txt", "1\n", "age", ["without columns", "leave out 'age'"]),
        ("a.csv", 'x,y\n"a,1\n', "x", ["line 2", "quote"]),
        ("a.txt", "1\nnan\n2\n", None, ["line 2", "nan", "not a finite number"]),
        ("a.txt", "1.5\n-1e999\n", None, ["line 2", "-inf"]),
        ("a.txt", b"ab\nc\xffd\n", None, ["line 2", "0xff", "UTF-8"]),
        ("a.txt", b"\x00\x01\n", None, ["binary"]),
        ("a.json", "[1, 2]", None, ["unknown ending '.json'", ".csv"]),
        ("a.parquet", b"rubbish", None, ["not a Parquet file"]),
        ("a.txt", "a\n" + "b" * 300, None, ["line 2", "300 characters", str(LONGEST_LABEL)]),
    ],
)
def test_what_cannot_be_used_is_refused(make, name, content, column, parts):
    file = make(name, content)
    message = refusal(read_column, file, column)
    for part in [str(file), *parts]:
        assert part in message


def test_files_that_are_not_there(tmp_path):
    assert "does not exist: check the path" in refusal(read_column, tmp_path / "no.txt")
    assert "is a directory: give a file" in refusal(read_column, tmp_path)
    broken = tmp_path / "a.txt.gz"
    broken.write_bytes(gzip.compress(b"1\n2\n" * 100)[:-9])
    assert "not a complete gzip file" in refusal(read_column, broken)
    broken.write_bytes(b"1\n2\n")
    assert "not a complete gzip file" in refusal(read_column, broken)


@given(st.binary(max_size=60), st.sampled_from(["a.txt", "a.csv", "a.tsv", "a.txt.gz", "a.parquet"]))
def test_any_bytes_give_a_column_or_one_line(tmp_path_factory, data, name):
    path = tmp_path_factory.mktemp("fuzz") / name
    path.write_bytes(data)
    for call in (read_column, read_counts, lambda file: list(read_transactions(file))):
        message = ""
        try:
            call(path)
        except LdpkitError as error:
            message = str(error)
        assert "\n" not in message


@given(st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1))
def test_integers_come_back(tmp_path_factory, numbers):
    path = tmp_path_factory.mktemp("fuzz") / "a.csv"
    path.write_text("x\n" + "\n".join(map(str, numbers)))
    assert read_column(path).tolist() == numbers


# --- Parquet ---------------------------------------------------------------------------


@pytest.fixture
def parquet(tmp_path):
    arrow = pytest.importorskip("pyarrow", reason="reading Parquet files needs pyarrow")
    from pyarrow import parquet

    def write(**columns):
        path = tmp_path / "a.parquet"
        parquet.write_table(arrow.table(columns), path)
        return path

    return write


def test_parquet_columns(parquet):
    arrow = pytest.importorskip("pyarrow")
    file = parquet(
        small=arrow.array([1, 2], arrow.int16()),
        huge=arrow.array([1, 2**64 - 1], arrow.uint64()),
        real=[1.5, 2.0],
        yes=[True, False],
        text=arrow.array(["b", "a"]).dictionary_encode(),
        nested=[[1], [2]],
        hole=[1, None],
        empty=["", "a"],
        nan=[1.0, float("nan")],
    )
    assert read_column(file, "small").dtype == np.int64
    assert read_column(file, "small").tolist() == [1, 2]
    assert read_column(file, "huge").tolist() == ["1", str(2**64 - 1)]
    assert read_column(file, "real").tolist() == [1.5, 2.0]
    assert read_column(file, "yes").tolist() == ["true", "false"]
    assert read_column(file, "text").tolist() == ["b", "a"]
    assert "not values" in refusal(read_column, file, "nested")
    assert "row 2: the value is missing" in refusal(read_column, file, "hole")
    assert "row 1: the value is missing" in refusal(read_column, file, "empty")
    assert "row 2: the value nan" in refusal(read_column, file, "nan")
    assert "several columns" in refusal(read_column, file)


def test_an_empty_parquet_table_is_refused(parquet):
    assert "no values" in refusal(read_column, parquet(x=[]))


def test_parquet_without_pyarrow_says_what_to_install(make, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingDependencyError, match=r'-m pip install .*\[frames\]"'):
        read_column(make("a.parquet", b""))


# --- counts, points, transactions ------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "value", "count", "labels"),
    [
        ("value,count\na,3\nb,0\n", None, None, ["a", "b"]),
        ("rating,n\n1,3\n2,0\n", None, None, [1, 2]),
        ("count,rating\n3,1\n0,2\n", None, None, [1, 2]),
        ("id,name,n,m\n7,a,3,1\n8,b,0,1\n", "name", "n", ["a", "b"]),
        ("x,y,count\n1,2,3\n1,3,0\n", ("x", "y"), None, ["1/2", "1/3"]),
        ("value,count\na,3.0\nb,0\n", None, None, ["a", "b"]),
    ],
)
def test_counts(make, text, value, count, labels):
    found, counts = read_counts(make("a.csv", text), value, count)
    assert found == labels
    assert counts.dtype == np.int64
    assert counts.tolist() == [3, 0]


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("value,count\na,-3\n", ["line 2", "-3", "whole number"]),
        ("value,count\na,1\nb,1.5\n", ["line 3", "1.5"]),
        ("value,count\na,many\n", ["line 2", "'many'"]),
        ("value,count\na,1\na,2\n", ["line 3", "'a' has a count already"]),
        ("value,count\na,9223372036854775807\nb,1\n", ["64 bits"]),
        ("a,b,c\n1,2,3\n", ["no column 'value'"]),
        ("1\n2\n", ["no columns"]),
    ],
)
def test_counts_that_cannot_be_used(make, text, parts):
    message = refusal(read_counts, make("a.csv", text))
    for part in parts:
        assert part in message


def test_points(make):
    file = make("a.csv", "lon,lat,who\n1,2.5,a\n-3,4,b\n")
    assert read_points(file, "lon", "lat").tolist() == [[1.0, 2.5], [-3.0, 4.0]]
    assert "line 2: the who 'a' is not a number" in refusal(read_points, file, "lon", "who")
    assert "without columns" in refusal(read_points, make("b.txt", "1 2\n"), "lon", "lat")


@pytest.mark.parametrize(
    ("text", "delimiter", "expected"),
    [
        ("1 2 2\n\n3\n", None, [["1", "2", "2"], [], ["3"]]),
        ("1,2\n3\n", None, [["1", "2"], ["3"]]),
        ("a b, c ,\n", None, [["a b", "c"]]),
        ("1|2\n3\n", "|", [["1", "2"], ["3"]]),
        ("1\t2  3\n", "\t", [["1", "2", "3"]]),
    ],
)
def test_transactions(make, text, delimiter, expected):
    assert list(read_transactions(make("a.dat", text), delimiter)) == expected


def test_a_missing_file_of_transactions_is_refused_at_once(tmp_path):
    assert "does not exist" in refusal(read_transactions, tmp_path / "no.dat")


def test_packed_text_does_not_unpack_without_bounds(tmp_path, monkeypatch):
    """A packed file of 292 kB took 3.9 GB."""
    bomb = tmp_path / "bomb.txt.gz"
    bomb.write_bytes(gzip.compress(b"0\n" * 10_000_000))
    with pytest.raises(
        InvalidInputError, match=r"unpacks to more than 16 MiB: .* unpack it first, or set LDPKIT_MEMORY"
    ):
        read_column(bomb)
    fair = tmp_path / "fair.txt.gz"
    fair.write_bytes(gzip.compress(b"0\n" * 1_000_000))
    monkeypatch.setattr("ldpkit.core.limits._DEFAULT", 1)
    with pytest.raises(InvalidInputError, match="unpacks to more than 0 MiB"):
        read_column(fair)
    monkeypatch.setenv("LDPKIT_MEMORY", "32M")
    assert len(read_column(fair)) == 1_000_000


# --- streams ----------------------------------------------------------------------------


def _stream(path, column=None):
    return [piece.typed().tolist() for piece in ColumnStream(path, column)]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_a_stream_has_the_values_of_the_whole_column_whatever_ends_the_lines(tmp_path, monkeypatch, end):
    monkeypatch.setattr(lines, "_BLOCK", 7)  # ends of lines fall on every place of a block
    path = tmp_path / "values.txt"
    path.write_bytes(("\ufeff" + end.join(map(str, range(100))) + 3 * end).encode())
    assert list(itertools.chain(*_stream(path))) == list(range(100)) == read_column(path).tolist()


def test_a_csv_is_streamed_in_pieces_that_know_their_lines(tmp_path, monkeypatch):
    monkeypatch.setattr(tables, "_PIECE", 3)
    path = tmp_path / "people.csv"
    path.write_text('name,age\n"a\nb",1\nc,2\nd,3\ne,4\nf,x\n')
    pieces = list(ColumnStream(path, "age"))
    assert [piece.cells for piece in pieces] == [["1", "2", "3"], ["4", "x"]]
    assert pieces[1].place(1) == f"{str(path)!r}, line 7"


def test_a_packed_bomb_passes_through_little_memory(tmp_path):
    path = tmp_path / "zeros.txt.gz"
    with gzip.open(path, "wb") as stream:
        for _ in range(10):
            stream.write(b"0\n" * (1 << 19))
    tracemalloc.start()
    total = sum(len(piece.cells) for piece in ColumnStream(path))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert total == 10 << 19
    assert peak < 100 << 20, "the whole text and its list of lines would take 300 MB and more"


@pytest.mark.parametrize("name", ["values.txt", "values.txt.gz", "values.csv"])
def test_empty_lines_pass_through_in_small_pieces(make, monkeypatch, name):
    """300 MB of them, 300 kB packed, took 4.9 GB: all that stood between two values were held at once."""
    monkeypatch.setattr(lines, "_BLOCK", 64)
    monkeypatch.setattr(lines, "_EMPTY", 5)
    path = make(name, "1\n" + "\n" * 1000 + "2")
    blocks = list(lines.line_blocks(path))
    assert sum(map(len, blocks)) == 1002
    assert max(map(len, blocks)) <= 64
    column = ColumnStream(path, missing="drop")
    assert [piece.typed().tolist() for piece in column] == [[1], [2]]
    assert (column.read, column.dropped) == (2, 1000)


def test_a_piece_has_few_cells_and_few_characters_whatever_a_block_holds(make, monkeypatch):
    monkeypatch.setattr(tables, "_PIECE", 4)
    monkeypatch.setattr(tables, "_TEXT", 10)
    listed = list(ColumnStream(make("a.txt", "1\n" * 9)))
    assert [len(piece.cells) for piece in listed] == [4, 4, 1]
    assert [piece.place(0)[-1] for piece in listed] == ["1", "5", "9"]
    table = make("a.csv", "id,name\n" + "1,abcdef\n" * 3 + "2,a\n" * 5)
    assert [len(piece.cells) for piece in ColumnStream(table, "name")] == [2, 4, 2]


def _with_gaps(tmp_path, name, cells):
    """Write cells to a file, with None for a missing one."""
    path = tmp_path / name
    if name.endswith(".parquet"):
        arrow = pytest.importorskip("pyarrow", reason="reading Parquet files needs pyarrow")
        from pyarrow import parquet

        parquet.write_table(arrow.table({"v": arrow.array(cells, arrow.float64())}), path)
    else:
        head = "v\n" if name.endswith(".csv") else ""
        path.write_text(head + "\n".join("" if cell is None else str(cell) for cell in cells) + "\n")
    return path


@pytest.mark.parametrize(
    ("name", "place"), [("v.txt", "line 20"), ("v.csv", "line 21"), ("v.parquet", "row 20")]
)
def test_missing_values_are_all_counted_and_leave_the_places_of_others_as_they_are(
    tmp_path, monkeypatch, name, place
):
    """Of a million and one hundred thousand, 51,426 were counted: pieces without a value were forgotten."""
    monkeypatch.setattr(tables, "_PIECE", 3)
    monkeypatch.setattr(lines, "_BLOCK", 8)
    monkeypatch.setattr(lines, "_EMPTY", 2)
    path = _with_gaps(tmp_path, name, [1, *[None] * 17, 2, 9, *[None] * 7, 3])
    column = ColumnStream(path, missing="drop")
    assert list(itertools.chain(*(piece.typed().tolist() for piece in column))) == [1, 2, 9, 3]
    assert (column.read, column.dropped) == (4, 24)
    whole = read_cells(path, missing="drop")
    assert (whole.typed().tolist(), whole.dropped) == ([1, 2, 9, 3], 24)
    assert whole.place(2).endswith(place)
    column, domain = ColumnStream(path, missing="drop"), ldpkit.GRR(5, epsilon=1).domain
    numbers = (domain.encode(piece.typed().astype(np.int64)) for piece in column)
    with pytest.raises(OutOfDomainError, match=place):
        list(column.located(numbers))


@pytest.mark.parametrize(
    ("name", "place"), [("v.txt", "line 4"), ("v.csv", "line 5"), ("v.parquet", "row 4")]
)
@pytest.mark.parametrize("size", [2, 100])
def test_a_number_without_end_is_named_by_its_place_among_missing_ones(
    tmp_path, monkeypatch, name, place, size
):
    monkeypatch.setattr(tables, "_PIECE", size)
    path = _with_gaps(tmp_path, name, [None, None, None, float("inf"), 1])
    assert place in refusal(lambda file: read_cells(file, missing="drop").typed(), path)


def test_a_column_of_missing_values_only_is_refused_with_the_reason(tmp_path):
    for name in ("v.csv", "v.parquet"):
        path = _with_gaps(tmp_path, name, [None] * 5)
        if name == "v.csv":
            path.write_text("v\nnan\nnan\n")
        for read in (read_cells, lambda *what, **how: list(ColumnStream(*what, **how))):
            with pytest.raises(InvalidInputError, match="all values are missing"):
                read(path, missing="drop")


def test_a_stream_names_the_line_of_a_value_that_is_refused(tmp_path):
    path = tmp_path / "values.txt"
    path.write_text("0\n1\n9\n")
    oracle, column = ldpkit.GRR(2, epsilon=1), ColumnStream(path)
    reports = oracle.privatize_stream((piece.typed() for piece in column), rng=ldpkit.random.seeded(1))
    with pytest.raises(OutOfDomainError, match=r"values\.txt', line 3: value 9 is not in the domain"):
        list(column.located(reports))


@pytest.mark.parametrize("name", ["grr", "pm"])
def test_reports_of_a_stream_are_those_of_all_values_together(name):
    mechanism = ldpkit.get(name, 2 if name == "grr" else (0, 1), epsilon=1)
    values = np.arange(2 * mechanism.chunk_size + 5) % 2
    pieces = np.array_split(values, 7)
    made = mechanism.privatize_stream(pieces, rng=ldpkit.random.seeded(3))
    assert (np.concatenate(list(made)) == mechanism.privatize(values, rng=ldpkit.random.seeded(3))).all()


def test_a_parquet_file_without_columns_or_with_a_name_that_is_no_text_is_refused(tmp_path):
    arrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    empty, named = tmp_path / "empty.parquet", tmp_path / "named.parquet"
    parquet.write_table(arrow.table({}), empty)
    parquet.write_table(arrow.table({"name_to_break": [1, 2]}), named)
    named.write_bytes(named.read_bytes().replace(b"name_to_break", b"name_\xff\xfe_break"))
    for read in (read_column, read_counts, column_names):
        with pytest.raises(InvalidInputError, match="has no columns"):
            read(empty)
        with pytest.raises(InvalidInputError, match=r"UTF-8|not a Parquet file"):
            read(named)
    parquet.write_table(arrow.table({"a": ["x", "text_to_break"]}), named, compression="none")
    named.write_bytes(named.read_bytes().replace(b"text_to_break", b"text_\xff\xfe_break"))
    with pytest.raises(InvalidInputError, match=r"row 2: the value b'text_\\xff"):
        read_column(named)
