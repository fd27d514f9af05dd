"""Tables in files of several formats, behind one face: names, and columns a piece at a time."""

from __future__ import annotations

import csv
import itertools
from collections.abc import Collection, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn, Protocol

import numpy as np

from ldpkit.core.errors import InvalidInputError, MissingDependencyError
from ldpkit.core.limits import allowed_memory, check_memory
from ldpkit.core.text import decimal_comma
from ldpkit.files.lines import STANDARD_INPUT, check_file, check_kept_file, file_title, line_blocks
from ldpkit.files.parquet import BoundedParquet
from ldpkit.files.pieces import (
    LONGEST_LABEL,
    Missing,
    Piece,
    as_text,
    finite_cells,
    is_number,
    refuse_missing,
    shortened,
)

__all__ = ["InputTable", "first_line", "open_table"]


_PIECE = 1 << 16  # cells at a time
_TEXT = 1 << 24  # characters of them, or few more
_COPIES = 4  # of a column that is kept: its pieces, the whole, and what is made of it
_LONGEST = 4 * LONGEST_LABEL  # bytes of a character of UTF-8, times the characters of a label
_DELIMITERS = {".csv": ",", ".tsv": "\t", "": None, ".txt": None, ".dat": None}


class InputTable(Protocol):
    """What the readers ask of a file, whatever its format. Its columns can be gone through once."""

    title: str
    names: list[str]

    def pieces(self, *names: str | None) -> Iterator[list[Piece]]:
        """Yield pieces of some columns side by side; None is the only column. Missing values are refused."""

    def column(self, name: str | None, *, missing: Missing | None = None) -> Iterator[Piece]:
        """Yield the pieces of one column; one of missing values only has no cells, and says how many."""


class _Lines:
    """One value on each line."""

    def __init__(self, blocks: Iterator[list[str]], title: str) -> None:
        self.title, self.names = title, list[str]()
        self._blocks = blocks

    def pieces(self, *names: str | None) -> Iterator[list[Piece]]:
        first = 0
        for block in self._blocks:
            for start in range(0, len(block), _PIECE):
                some = block[start : start + _PIECE]
                cells = list(map(str.strip, some)) if any(some) else some
                yield [Piece(self.title, first, cells, range(first + 1, first + len(cells) + 1))]
                first += len(cells)

    def column(self, name: str | None, *, missing: Missing | None = None) -> Iterator[Piece]:
        return _text_column(self, name, missing)


class _Delimited:
    """A table of text with a header line."""

    def __init__(self, blocks: Iterator[list[str]], title: str, delimiter: str) -> None:
        self.title, self._delimiter = title, delimiter
        # The parser sees line ends, because a quoted cell may run over several lines.
        lines = (f"{line}\n" for block in blocks for line in block)
        self._rows = csv.reader(lines, delimiter=delimiter, strict=True)
        self.names = [name.strip() for name in self._next() or []]
        if not self.names:
            raise InvalidInputError(f"{title}, line 1: a header line is expected: remove the empty line")

    def _next(self) -> list[str] | None:
        try:
            return next(self._rows, None)
        except csv.Error as error:
            raise InvalidInputError(
                f"{self.title}, line {self._rows.line_num}: {error}: "
                "close every quote, and double quotes inside"
            ) from None

    def pieces(self, *names: str | None) -> Iterator[list[Piece]]:
        places = [0 if name is None else self.names.index(name) for name in names]
        first = 0
        for columns, lines in self._some_rows(places):
            yield [Piece(self.title, first, cells, lines) for cells in columns]
            first += len(lines)
        if first == 0:
            raise InvalidInputError(f"{self.title} has a header line but no values: give at least one")

    def column(self, name: str | None, *, missing: Missing | None = None) -> Iterator[Piece]:
        return _text_column(self, name, missing)

    def _some_rows(self, places: list[int]) -> Iterator[tuple[list[list[str]], list[int]]]:
        """Yield some columns of rows of equal width, and the line that each row begins in."""
        width, row = len(self.names), self._after_header()
        while row is not None:
            columns, lines, length = [list[str]() for _ in places], list[int](), 0
            while row is not None and len(lines) < _PIECE and length < _TEXT:
                if len(row) != width and (row or width > 1):
                    hint = _split_decimal(row) if self._delimiter == "," and len(row) > width else ""
                    raise InvalidInputError(
                        f"{self.title}, line {self._line}: {len(row)} cells, the header has {width}: "
                        f"repair or remove the line{hint}"
                    )
                for place, cells in zip(places, columns, strict=True):
                    cell = row[place].strip() if row else ""
                    cells.append(cell)
                    length += len(cell)
                lines.append(self._line)
                row = self._after_header()
            yield columns, lines

    def _after_header(self) -> list[str] | None:
        self._line = self._rows.line_num + 1
        return self._next()


def _split_decimal(row: list[str]) -> str:
    """Return a hint if a decimal comma may have cut a number of a row in two, else nothing."""
    for first, second in itertools.pairwise(map(str.strip, row)):
        whole = f"{first},{second}"
        hint = decimal_comma(whole)
        if hint:
            return f"; if {whole} is one number{hint}"
    return ""


def _text_column(table: InputTable, name: str | None, missing: Missing | None) -> Iterator[Piece]:
    """Yield a column of text, with or without its missing cells."""
    for (piece,) in table.pieces(name):
        yield piece.without_missing() if missing == "drop" else replace(piece, missing=missing)


class _Parquet:
    """A Parquet file; `kept` says that the reader keeps whole columns, which are compared with a limit."""

    def __init__(self, title: str, path: Path, *, kept: bool) -> None:
        try:
            import pyarrow
        except ImportError:
            raise MissingDependencyError("pyarrow", "reading Parquet files", "frames") from None
        self.title, self._arrow, self._kept = title, pyarrow, kept
        check_kept_file(path, title)
        try:
            self._file = BoundedParquet.open_path(path, title)
            self.names = self._file.names
        except UnicodeDecodeError:
            raise InvalidInputError(f"{title} has a column name that is not UTF-8: rename it") from None
        except (pyarrow.ArrowException, OSError) as error:
            raise InvalidInputError(f"{title} is not a Parquet file: {first_line(error)}") from None
        if not self.names:
            raise InvalidInputError(f"{title} has no columns: give at least one")

    def pieces(self, *names: str | None) -> Iterator[list[Piece]]:
        chosen, width = [name or self.names[0] for name in names], 0
        for batch, first in self._batches(chosen):
            place = Piece(self.title, first, [], None)
            pieces = [self._piece(self._column(batch, name), name, place) for name in chosen]
            width = self._checked_width(pieces, width, first + len(batch))
            yield pieces

    def _column(self, batch: Any, name: str) -> Any:
        """Return a column of a batch; a damaged file may hold other columns than its header says."""
        if name not in batch.schema.names:
            raise InvalidInputError(f"{self.title} is damaged: a part of it has no column {shortened(name)}")
        return batch.column(name)

    def column(self, name: str | None, *, missing: Missing | None = None) -> Iterator[Piece]:
        chosen, width, rows = name or self.names[0], 0, 0
        for batch, first in self._batches([chosen]):
            piece = self._with_or_without_missing(self._column(batch, chosen), chosen, first, missing)
            if len(piece.cells):
                rows += len(piece.cells)
                width = self._checked_width([piece], width, rows)
            yield piece

    def _with_or_without_missing(self, column: Any, name: str, first: int, missing: Missing | None) -> Piece:
        if missing != "drop":
            return self._piece(column, name, Piece(self.title, first, [], None, missing=missing))
        missed = np.asarray(column.is_null(nan_is_null=True).to_numpy(zero_copy_only=False), bool)
        rows = first + np.flatnonzero(~missed)
        place = Piece(self.title, first, [], None, rows, int(missed.sum()), missing)
        try:
            kept = column.filter(self._arrow.array(~missed))
        except self._arrow.ArrowNotImplementedError:  # a view of text cannot be filtered
            kept = column.cast(self._arrow.string()).filter(self._arrow.array(~missed))
        return self._piece(kept, name, place) if len(kept) else place

    def _checked_width(self, pieces: list[Piece], width: int, rows: int) -> int:
        """Return the bytes of the widest row so far; refuse more rows than a reader may keep."""
        width = max(width, sum(np.asarray(piece.cells).itemsize for piece in pieces))
        if self._kept and _COPIES * width * rows > allowed_memory(self._file.length):
            needed = _COPIES * width * max(rows, self._file.rows)  # the end of a file may say anything
            check_memory(needed, self._file.length, f"the whole of {self.title}")
        return width

    def _batches(self, names: list[str]) -> Iterator[tuple[Any, int]]:
        first = 0
        try:
            for batch in self._file.batches(list(dict.fromkeys(names)), _PIECE):
                if len(batch):
                    yield batch, first
                first += len(batch)
        except (self._arrow.ArrowException, OSError, KeyError) as error:  # KeyError: its two schemas differ
            raise InvalidInputError(f"{self.title} is damaged: {first_line(error)}") from None
        if first == 0:
            raise InvalidInputError(f"{self.title} has columns but no values: give at least one")

    def _piece(self, column: Any, name: str, place: Piece) -> Piece:
        """Return the cells of an Arrow column that stands in a place."""
        arrow, kinds = self._arrow, self._arrow.types
        if column.null_count:
            refuse_missing(place, column.is_null().to_pylist(), True)
        if isinstance(column.type, arrow.BaseExtensionType):
            is_uuid = column.type.extension_name == "arrow.uuid"
            column = arrow.array(map(str, column.to_pylist())) if is_uuid else column.storage
        if kinds.is_dictionary(column.type):
            column = column.cast(column.type.value_type)
        if kinds.is_integer(column.type):
            target = arrow.int64()
        elif kinds.is_floating(column.type) or kinds.is_decimal(column.type):
            target = arrow.float64()
        else:
            target = arrow.string()
        try:
            if kinds.is_decimal(column.type):  # its digits are rounded once, as those of a text file are
                column = column.cast(arrow.string())
            values = column.cast(target)
        except arrow.ArrowException:
            if not kinds.is_integer(column.type):
                raise InvalidInputError(
                    f"{self.title}: the column {name!r} holds {column.type}, not values: choose another"
                ) from None
            values, target = column.cast(arrow.string()), arrow.string()
        if target == arrow.string():
            _refuse_long(place, values)
            try:
                cells = values.to_pylist()
            except UnicodeDecodeError:
                _refuse_bytes(place, values.cast(arrow.binary()).to_pylist())
            if place.missing == "drop":  # text may be empty without being null
                place = replace(place, cells=cells).without_missing()
                cells = place.cells
            refuse_missing(place, cells)
            return replace(place, cells=as_text(place, cells)) if cells else place
        array: np.ndarray[Any, Any] = values.to_numpy(zero_copy_only=False)
        return replace(place, cells=finite_cells(place, array) if array.dtype.kind == "f" else array)


def _refuse_long(place: Piece, values: Any) -> None:
    """Refuse text that is far too long for a label, before all of it is copied."""
    import pyarrow
    import pyarrow.compute

    lengths = pyarrow.compute.binary_length(values)
    longest = pyarrow.compute.max(lengths).as_py() or 0
    if longest > _LONGEST:
        row = pyarrow.compute.index(lengths, longest).as_py()
        begins = pyarrow.compute.binary_slice(values.slice(row, 1).cast(pyarrow.binary()), 0, _LONGEST)
        place.refuse(
            row,
            f"the value {shortened(begins[0].as_py().decode(errors='replace'))} has {longest:,} bytes",
            f"a label has at most {LONGEST_LABEL} characters",
        )


def _refuse_bytes(place: Piece, cells: list[bytes]) -> NoReturn:
    row = next(row for row, cell in enumerate(cells) if cell.decode(errors="ignore").encode() != cell)
    place.refuse(row, f"the value {shortened(cells[row])} is not UTF-8 text", "write the file as UTF-8")


def open_table(
    path: str | Path, *, as_csv: bool = False, limit: int | None = None, values: Collection[str] = ()
) -> InputTable:
    """Return the table in a file; `as_csv` says how to take standard input.

    `limit` is what `kept_limit` says for who keeps all of the file; None is for who keeps little of it.
    `values` are those that the only column may hold: a first line that is one of them is no header.
    """
    title = file_title(path)
    file = Path(path)
    if str(path) == STANDARD_INPUT:
        delimiter = "," if as_csv else None
    else:
        check_file(file, title)
        ending = file.suffix.lower()
        if ending == ".parquet":
            return _Parquet(title, file, kept=limit is not None)
        if ending == ".gz":
            ending = file.with_suffix("").suffix.lower()
        if ending not in _DELIMITERS:
            raise InvalidInputError(
                f"{title} has the unknown ending {ending!r}: give .csv, .tsv or .parquet for tables, "
                ".txt for one value on each line"
            )
        delimiter = _DELIMITERS[ending]
    blocks = line_blocks(path, limit=limit)
    if delimiter is None:
        return _Lines(blocks, title)
    start = next(blocks)
    again = itertools.chain([start], blocks)
    if delimiter == ",":  # where a comma is the decimal point, spreadsheets write semicolons
        delimiter = max(",;\t", key=start[0].count)
    # A single column that starts with a number or a known value has no header: it is a list of values.
    if is_number(start[0].strip()) or start[0].strip() in values:
        return _Lines(again, title)
    return _Delimited(again, title, delimiter)


def first_line(error: Exception) -> str:
    """Return what a library says of an error, without the lines of detail behind it."""
    return str(error).strip().split("\n", 1)[0]
