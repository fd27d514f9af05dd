"""Reports in Arrow columns and Parquet files: one decoder for all that holds them.

A report is one binary value of a column, best of fixed length (`fixed_size_binary`), or
many reports stand one behind the other in a value, a block. What made the reports stands
in the metadata of the schema (`ldpkit.files.description`).

Rows that hold no report of the mechanism are refused, or counted and set aside: they are
never dropped without a word.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from ldpkit.core.errors import (
    FileFormatError,
    InvalidInputError,
    InvalidParameterError,
    MissingDependencyError,
)
from ldpkit.core.wholefile import whole_file
from ldpkit.files.description import Description, described
from ldpkit.files.lines import check_kept_file
from ldpkit.files.parquet import BoundedParquet
from ldpkit.files.tables import first_line

if TYPE_CHECKING:
    from ldpkit.core.provenance import Provenance
    from ldpkit.core.typing import Reports
    from ldpkit.mechanisms.base import Mechanism

__all__ = [
    "REPORT",
    "Bad",
    "Decoded",
    "ParquetReports",
    "check_bad",
    "decode_column",
    "open_parquet",
    "report_column",
    "write_parquet",
]

REPORT = "report"
"""The column of reports, unless the reader says otherwise."""

Bad: TypeAlias = Literal["refuse", "count"]

_REMEDY = 'repair the row, or count such rows and set them aside with bad="count" (--bad count)'
_SHOWN = 40  # characters of a value or a name in a message


@dataclass(frozen=True)
class Decoded:
    """Reports of a column, and which of its rows they stand in.

    Parameters
    ----------
    reports : array
        The reports that the mechanism can have made.
    rows : array of int or None
        The row of each report; None where every row holds one.
    bad : array of int
        The rows that hold no report, or a damaged one; of a block that holds several, as often.
    """

    reports: Reports
    rows: np.ndarray[Any, np.dtype[np.int64]] | None
    bad: np.ndarray[Any, np.dtype[np.int64]]


def check_bad(bad: str) -> None:
    """Refuse a word that does not say what to do with bad rows."""
    if bad not in ("refuse", "count"):
        raise InvalidParameterError(f'bad must be "refuse" or "count", got {bad!r}')


def decode_column(
    column: Any,
    mechanism: Mechanism,
    *,
    bad: Bad = "refuse",
    blocks: bool = False,
    title: str = "the column of reports",
    first: int = 0,
) -> Decoded:
    """Return the reports in an Arrow column of bytes.

    Parameters
    ----------
    column : pyarrow.Array or pyarrow.ChunkedArray
        Bytes of fixed or of any length.
    mechanism : Mechanism
        What made the reports.
    bad : {"refuse", "count"}
        What to do with a row that is null, has another length or is no report of the mechanism.
    blocks : bool
        Whether a row holds any number of reports, one behind the other.
    title : str
        What the column is called in an error.
    first : int
        The row, counted from 0, in which the column begins, for errors.

    Examples
    --------
    >>> import ldpkit, pyarrow as pa
    >>> oracle = ldpkit.GRR(4, epsilon=1)
    >>> column = pa.array([oracle.encode([3]), None, oracle.encode([1]), b"too long"])
    >>> found = decode_column(column, oracle, bad="count")
    >>> found.reports.tolist(), found.rows.tolist(), found.bad.tolist()
    ([3, 1], [0, 2], [1, 3])
    >>> decode_column(column, oracle)
    Traceback (most recent call last):
    ...
    ldpkit.core.errors.FileFormatError: the column of reports, row 2: no report is there: \
repair the row, or count such rows and set them aside with bad="count" (--bad count)
    """
    check_bad(bad)
    pa = _arrow("reading reports from Arrow columns")
    array = _plain(column, pa, title)
    width, n = mechanism.report_bytes, len(array)
    fixed = pa.types.is_fixed_size_binary(array.type)
    if fixed and not blocks and array.type.byte_width != width:
        raise FileFormatError(
            f"{title} has values of {array.type.byte_width} bytes, reports of {mechanism!r} have {width}: "
            "it is from another mechanism"
        )
    if fixed and not blocks and not array.null_count:  # the usual lake: no row needs a look of its own
        return _checked(_bytes_of(array, fixed)[0], mechanism, None, np.empty(0, np.int64), bad, title, first)
    present = np.asarray(array.is_valid().to_numpy(zero_copy_only=False), bool) if array.null_count else None
    data, lengths = _bytes_of(array, fixed)
    fits = lengths % width == 0 if blocks else lengths == width
    sound = fits if present is None else fits & present
    if not sound.all():
        if bad == "refuse":
            _refuse_row(int(np.argmin(sound)), present, lengths, mechanism, title, first, blocks)
        kept = array.filter(pa.array(sound))
        data, _ = _bytes_of(kept, fixed)
    rows = np.flatnonzero(sound)
    if blocks:
        rows = np.repeat(rows, lengths[sound] // width)
    every = not blocks and len(rows) == n
    return _checked(data, mechanism, None if every else rows, np.flatnonzero(~sound), bad, title, first)


def _checked(
    data: Any,
    mechanism: Mechanism,
    rows: np.ndarray[Any, Any] | None,
    lost: np.ndarray[Any, Any],
    bad: Bad,
    title: str,
    first: int,
) -> Decoded:
    """Return bytes as reports; `rows` has the row of each unless each has its own, `lost` the bad ones."""
    try:
        return Decoded(mechanism.decode(data), rows, lost)
    except FileFormatError as error:
        at = (error.offset or 0) // mechanism.report_bytes
        if bad == "refuse":
            row = at if rows is None else int(rows[at])
            raise FileFormatError(
                f"{title}, row {first + row + 1}: no report of {mechanism!r}: it is from another mechanism "
                f"or damaged: {_REMEDY}"
            ) from None
    valid = mechanism.valid_mask(data)
    records = np.frombuffer(data, np.uint8).reshape(-1, mechanism.report_bytes)
    reports = mechanism.decode(records[valid].tobytes())
    places = np.arange(len(records)) if rows is None else rows
    return Decoded(reports, places[valid], np.sort(np.concatenate([lost, places[~valid]])))


def _refuse_row(
    row: int, present: Any, lengths: Any, mechanism: Mechanism, title: str, first: int, blocks: bool
) -> None:
    if present is not None and not present[row]:
        what = "no report is there"
    else:
        times = "a multiple of " if blocks else ""
        what = (
            f"{int(lengths[row])} bytes, reports of {mechanism!r} have {times}{mechanism.report_bytes}: "
            "it is from another mechanism or damaged"
        )
    raise FileFormatError(f"{title}, row {first + row + 1}: {what}: {_REMEDY}")


def _plain(column: Any, pa: Any, title: str) -> Any:
    """Return a column as one array of bytes whose buffers can be read."""
    array = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    if isinstance(array, pa.ChunkedArray):  # of more bytes than one array holds
        array = pa.concat_arrays([chunk.cast(pa.large_binary()) for chunk in array.chunks])
    kinds = pa.types
    if kinds.is_dictionary(array.type):
        array = array.cast(array.type.value_type)
    if kinds.is_binary_view(array.type):
        array = array.cast(pa.large_binary())
    if kinds.is_fixed_size_binary(array.type) or kinds.is_binary(array.type):
        return array
    if kinds.is_large_binary(array.type):
        return array
    raise FileFormatError(f"{title} holds {array.type}, not bytes: name the column of reports")


def _bytes_of(array: Any, fixed: bool) -> tuple[Any, np.ndarray[Any, np.dtype[np.int64]]]:
    """Return the bytes of all values without anything between them, and the length of each."""
    n, start = len(array), array.offset
    if fixed:
        width = array.type.byte_width
        buffer = array.buffers()[1]
        data = memoryview(b"" if buffer is None else buffer)[start * width : (start + n) * width]
        return data, np.broadcast_to(np.int64(width), n)
    _, places, values = array.buffers()
    if n == 0:
        return memoryview(b""), np.empty(0, np.int64)
    kind = np.dtype("<i8" if str(array.type).startswith("large") else "<i4")
    ends = np.frombuffer(places, kind)[start : start + n + 1].astype(np.int64)
    data = memoryview(b"" if values is None else values)[int(ends[0]) : int(ends[-1])]
    return data, np.diff(ends)


def report_column(mechanism: Mechanism, reports: Reports) -> Any:
    """Return reports as an Arrow column of fixed length."""
    pa = _arrow("a column of reports")
    data = pa.py_buffer(mechanism.encode(reports))
    length = mechanism.report_bytes
    return pa.FixedSizeBinaryArray.from_buffers(pa.binary(length), data.size // length, [None, data])


def write_parquet(path: Path, mechanism: Mechanism, parts: Iterable[Reports], provenance: Provenance) -> None:
    """Write reports to a Parquet file whose metadata says what made them.

    Examples
    --------
    >>> import ldpkit, pathlib, tempfile
    >>> oracle = ldpkit.GRR(["no", "yes"], epsilon=2)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "part-0.parquet")
    ...     write_parquet(path, oracle, [oracle.privatize(["yes", "no"])], ldpkit.Provenance())
    ...     path.exists()
    True
    """
    pa = _arrow("a Parquet file")
    import pyarrow.parquet as pq

    field = pa.field(REPORT, pa.binary(mechanism.report_bytes), nullable=False)
    schema = described(pa.schema([field]), mechanism, provenance)
    with whole_file(path) as stream, pq.ParquetWriter(stream, schema) as writer:
        for reports in parts:
            writer.write_table(pa.Table.from_arrays([report_column(mechanism, reports)], schema=schema))


@dataclass(frozen=True)
class ParquetReports:
    """An open Parquet file: what it says of its reports, and its rows a batch at a time."""

    title: str
    rows: int
    names: tuple[str, ...]
    description: Description | None
    _file: BoundedParquet

    def batches(self, columns: Iterable[str], size: int) -> Iterator[Any]:
        """Yield some columns in record batches of at most so many rows; refuse a damaged file."""
        pa = _arrow("reading Parquet files")
        chosen = list(dict.fromkeys(columns))
        for name in chosen:
            if name not in self.names:
                raise InvalidInputError(
                    f"{self.title} has no column {name[:_SHOWN]!r}: it has {', '.join(self.names)[:200]}"
                )
        rows = 0
        try:
            for batch in self._file.batches(chosen, size):
                rows += batch.num_rows
                yield batch
        except (pa.ArrowException, OSError, KeyError) as error:
            raise FileFormatError(f"{self.title} is damaged: {first_line(error)}") from None
        if rows != self.rows:  # its footer counts them twice, and nothing else compares the counts
            raise FileFormatError(f"{self.title} is damaged: it says {self.rows:,} rows, and has {rows:,}")


def open_parquet(path: str | Path) -> ParquetReports:
    """Open a Parquet file here or, by its address such as s3://bucket/file, elsewhere."""
    pa = _arrow("reading Parquet files")

    title = repr(str(path))
    try:
        if "://" in str(path):
            from pyarrow.fs import FileSystem, LocalFileSystem

            system, place = FileSystem.from_uri(str(path))
            source = system.open_input_file(place)
            file = BoundedParquet.open(source, title, is_near=isinstance(system, LocalFileSystem))
        else:
            check_kept_file(Path(path), title)
            file = BoundedParquet.open_path(path, title)
    except FileNotFoundError:  # elsewhere
        raise InvalidInputError(f"{title} does not exist: check the path") from None
    except UnicodeDecodeError:
        raise InvalidInputError(f"{title} has a column name that is not UTF-8: rename it") from None
    except (pa.ArrowException, OSError) as error:
        raise FileFormatError(f"{title} is not a Parquet file: {first_line(error)}") from None
    told = Description.read(file.schema.metadata, title)
    return ParquetReports(title, file.rows, tuple(file.names), told, file)


def _arrow(purpose: str) -> Any:
    try:
        import pyarrow
    except ImportError:
        raise MissingDependencyError("pyarrow", purpose, "frames") from None
    return pyarrow
