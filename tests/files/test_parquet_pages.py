"""Pages of Parquet files say themselves what they unpack to, and a footer that says less is not believed."""

from __future__ import annotations

import io
import itertools
import random

import numpy as np
import pytest

from ldpkit.core import limits
from ldpkit.core.errors import InvalidInputError
from ldpkit.files.parquet import BoundedParquet
from ldpkit.files.parquetpages import PageSizes
from ldpkit.files.readers import ColumnStream, read_column

pa = pytest.importorskip("pyarrow", reason="reading Parquet files needs pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

_ROWS = 3000
_COLUMNS = {
    "text": pa.array([f"name {row % 200}" for row in range(_ROWS)]),
    "missing": pa.array([None if row % 3 else row for row in range(_ROWS)]),
    "noise": pa.array(np.random.default_rng(1).random(_ROWS)),
    "flag": pa.array([row % 2 == 0 for row in range(_ROWS)]),
}


@pytest.fixture
def write(tmp_path):
    """Write columns to a file and return its path."""

    def write(columns, **options):
        path = tmp_path / "a.parquet"
        pq.write_table(pa.table(columns), path, **{"compression": "brotli", "store_schema": False, **options})
        return path

    return write


def _sizes(path, optional=(), most=1 << 28):
    return PageSizes(repr(path.name), pa.OSFile(str(path)), frozenset(optional), most)


def _number(value, length=0):
    """Return a number as Thrift writes it, with as many bytes as another one where that is asked."""
    value, data = value << 1, bytearray()
    while value > 127 or len(data) + 1 < length:
        data.append(value & 127 | 128)
        value >>= 7
    return bytes([*data, value])


def _understated(path):
    """Make the end of a file say that all columns unpack to 1,000 bytes."""
    group, data = pq.read_metadata(path).row_group(0), path.read_bytes()
    for size in {group.total_byte_size, *(group.column(0).total_uncompressed_size,)}:
        said = _number(size)
        assert said in data
        data = data.replace(said, _number(1000, len(said)))
    path.write_bytes(data)
    assert pq.read_metadata(path).row_group(0).total_byte_size == 1000
    return path


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"compression": "none", "use_dictionary": False},
        {"data_page_version": "2.0", "compression": "zstd", "data_page_size": 512},
        {"row_group_size": 700, "write_page_index": True},
        {"version": "1.0", "write_statistics": False, "write_page_checksum": True},
    ],
)
def test_pages_say_what_an_honest_footer_says(write, options):
    path = write(_COLUMNS, **options)
    metadata, sizes = pq.read_metadata(path), _sizes(path)
    columns = range(len(_COLUMNS))
    for group, column in itertools.product(range(metadata.num_row_groups), columns):
        said = metadata.row_group(group).column(column).total_uncompressed_size
        assert sizes.unpacked(group, [column]).size == said
    assert sizes.unpacked(0, columns).size == metadata.row_group(0).total_byte_size


@pytest.mark.parametrize("read", [read_column, lambda path: list(ColumnStream(path))])
def test_a_footer_that_says_less_than_the_pages_is_not_believed(monkeypatch, write, read):
    """3,056 bytes took more than 9 GB."""
    path = _understated(write({"v": pa.array([b"a", bytes(5_000_000)])}, use_dictionary=False))
    assert path.stat().st_size < 1000
    monkeypatch.setattr(limits, "_DEFAULT", 1 << 20)
    with pytest.raises(InvalidInputError, match=r"reading '.*' takes 20 MiB .* set LDPKIT_MEMORY=20M"):
        read(path)


def test_only_the_columns_that_are_read_count(monkeypatch, write):
    long = pa.array([b"a", bytes(5_000_000)])
    path = write({"v": pa.array(["a", "b"]), "w": long}, use_dictionary=False)
    monkeypatch.setattr(limits, "_DEFAULT", 1 << 20)
    assert read_column(path, "v").tolist() == ["a", "b"]
    with pytest.raises(InvalidInputError, match="takes 20 MiB"):
        read_column(path, "w")


@pytest.mark.parametrize(
    ("codec", "version", "values", "shared"),
    [
        ("none", "1.0", ["same"] * 4000, 4),
        ("snappy", "2.0", ["same"] * 4000, 4),
        ("gzip", "1.0", [None, "a", "same", "sample"] * 1000, 3),
        ("brotli", "2.0", [None, "a", "same", "sample"] * 1000, 3),
        ("zstd", "2.0", [None, "a", "b", "c"] * 1000, 0),
        ("lz4", "1.0", [None, "a", "b", "c"] * 1000, 0),
    ],
)
def test_lengths_that_are_packed_more_tightly_than_text_count_too(write, codec, version, values, shared):
    """A block of equal lengths takes a few bytes, and Arrow writes out all of a page at once."""
    options = {"use_dictionary": False, "compression": codec, "data_page_version": version}
    present = sum(value is not None for value in values)
    for encoding, times in (("DELTA_BYTE_ARRAY", 2), ("DELTA_LENGTH_BYTE_ARRAY", 1)):
        path = write({"v": pa.array(values)}, column_encoding={"v": encoding}, **options)
        found = _sizes(path, optional=[0]).unpacked(0, [0])
        assert found.size < 40_000
        assert found.beside - 3 * found.size == pytest.approx(8 * times * present, rel=0.02)
        assert found.longest == (shared if times == 2 else 0)


def test_row_groups_that_share_pages_are_refused(write):
    """A few bytes for each of many row groups, all of the same pages: the time of a square."""
    path = write({"v": pa.array(np.random.default_rng(1).random(_ROWS))}, compression="none")
    metadata, whole = pq.read_metadata(path), path.read_bytes()
    metadata.append_row_groups(pq.read_metadata(path))
    end = io.BytesIO()
    metadata.write_metadata_file(end)
    place = len(whole) - 8 - int.from_bytes(whole[-8:-4], "little")
    path.write_bytes(whole[:place] + end.getvalue()[4:])
    assert len(pq.read_table(path)) == 2 * _ROWS
    with pytest.raises(InvalidInputError, match="what it says of its pages cannot be read"):
        read_column(path)


def test_damaged_headers_are_refused_and_nothing_else_is_raised(write):
    """Any byte of the pages or of the footer, changed."""
    whole = write(_COLUMNS, data_page_size=512).read_bytes()
    rng, refused, path = random.Random(1), 0, write(_COLUMNS)
    for _ in range(1500):
        data = bytearray(whole)
        data[rng.randrange(len(data))] = rng.randrange(256)
        path.write_bytes(data)
        try:
            opened = BoundedParquet.open_path(path, "'a.parquet'")
        except (pa.ArrowException, OSError):
            continue
        try:
            list(opened._runs(range(len(opened.file.metadata.schema))))
        except InvalidInputError:
            refused += 1
    assert refused > 10


def test_what_two_readers_could_understand_in_two_ways_is_refused(write):
    """Fields that are there twice, and numbers that are cut to 16, 32 or 64 bits elsewhere."""
    path = write({"v": pa.array(range(200))}, compression="none", use_dictionary=False)
    place = pq.read_metadata(path).row_group(0).column(0).data_page_offset
    whole = path.read_bytes()
    assert whole[place : place + 2] == b"\x15\x00", "the kind of a page, as the first field"

    def read(header):
        path.write_bytes(whole[:place] + header + whole[place + len(header) :])
        return _sizes(path).unpacked(0, [0])

    assert read(b"").size > 0
    unpacks = b"\x15" + _number(1 << 20)
    form = b"\x2c\x15" + _number(200) + b"\x15\x00\x15\x06\x15\x06\x00\x00"  # values, plain
    packed = b"\x15" + _number(20)
    assert read(b"\x15\x00" + unpacks + packed + form).size > 1 << 20
    for header in (
        b"\x15\x00" + unpacks + b"\x05\x04" + _number(7) + packed + form,  # the same field again
        b"\x15\x00" + b"\x15" + _number(1 << 32) + packed + form,
        b"\x15\x00" + b"\x15" + b"\x81" * 10 + b"\x00" + packed + form,
        b"\x15\x00" + b"\x16" + _number(1 << 20) + packed + form,  # 64 bits where 32 belong
        b"\x05" + _number(65537 // 2) + b"\x00" + unpacks + packed + form,
        b"\x15\x00" + unpacks + packed + b"\x00",  # a page of data that does not say of how many values
        b"\x15\x00" + b"\x15\x01" + packed + form,  # of fewer bytes than none
        b"\x1c" * 50,
    ):
        with pytest.raises(InvalidInputError, match="what it says of its pages cannot be read"):
            read(header)
