"""Tables in files of several formats, behind one face: names, and columns a piece at a time.

A piece is some tens of thousands of cells with the places where they stand, so that a
column of any length passes through little memory, and what is wrong is refused by line.
"""

from __future__ import annotations

import csv
import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, NoReturn, Protocol

import numpy as np

from ldpkit.core.errors import InvalidInputError, MissingDependencyError
from ldpkit.files.lines import STANDARD_INPUT, check_file, file_title, line_blocks

__all__ = [
    "LONGEST_LABEL",
    "STANDARD_INPUT",
    "Missing",
    "Piece",
    "InputTable",
    "is_number",
    "joined",
    "open_table",
    "shortened",
]

LONGEST_LABEL = 256
"""Longer text is no label: an array of labels is as wide as the longest of them."""

Missing = Literal["refuse", "drop"]
"""What to do with values that are missing: empty cells, nulls, and numbers that are not a number."""

_PIECE = 1 << 16  # cells at a time
_DELIMITERS = {".csv": ",", ".tsv": "\t", "": None, ".txt": None, ".dat": None}
_INTEGER = frozenset("0123456789+-")
_DECIMAL = _INTEGER | frozenset(".eE")
_MISSING = ("", "nan")
_NOT_FINITE = frozenset("nNaAiIfFtTyY")  # the letters of nan, inf and infinity


class InputTable(Protocol):
    """What the readers ask of a file, whatever its format. Its columns can be gone through once."""

    title: str
    names: list[str]

    def pieces(self, *names: str | None) -> Iterator[list[Piece]]:
        """Yield pieces of some columns side by side; None is the only column. Missing values are refused."""

    def column(self, name: str | None, *, missing: Missing | None = None) -> Iterator[Piece]:
        """Yield the pieces of one column; a piece of missing values only is left out."""


@dataclass(frozen=True)
class Piece:
    """Some cells of a column, one after the other, and where they stand in the file.

    Parameters
    ----------
    title : str
        The file.
    first : int
        The row of the first cell, counted from 0.
    cells : list of str or array
        Text, or what a format with types of its own holds.
    lines : sequence of int, optional
        The line that each cell begins in, counted from 1; None where there are only rows.
    rows : sequence of int, optional
        The row of each cell, counted from 0, where missing ones were dropped.
    dropped : int
        How many were.
    missing : {"refuse", "drop"}, optional
        What the caller offers to do with missing values; None where there is no choice.
    """

    title: str
    first: int
    cells: list[str] | np.ndarray[Any, Any]
    lines: Sequence[int] | None
    rows: Sequence[int] | None = None
    dropped: int = 0
    missing: Missing | None = None

    def typed(self) -> np.ndarray[Any, Any]:
        """Return integers, decimals or text, whatever fits all cells."""
        return self.cells if isinstance(self.cells, np.ndarray) else _typed(self, self.cells)

    def text(self) -> np.ndarray[Any, Any]:
        """Return the cells as they are written."""
        if isinstance(self.cells, np.ndarray):
            return self.cells if self.cells.dtype.kind == "U" else self.cells.astype(np.str_)
        _refuse_missing(self, self.cells)
        return _as_text(self, self.cells)

    def refuse(self, row: int, what: str, remedy: str) -> NoReturn:
        """Refuse the file because of one row of the piece."""
        raise InvalidInputError(f"{self.place(row)}: {what}: {remedy}")

    def place(self, row: int) -> str:
        """Return where a row of the piece stands, in words: a line of text, or a row where there are none.

        Both are counted from 1; the header is line 1 of its file, and no row.
        """
        if self.lines is not None:
            return f"{self.title}, line {self.lines[row]}"
        number = self.first + row if self.rows is None else self.rows[row]
        return f"{self.title}, row {number + 1}"

    def all_rows(self) -> Sequence[int]:
        """Return the row of each cell, counted from 0."""
        return range(self.first, self.first + len(self.cells)) if self.rows is None else self.rows

    def without_missing(self) -> Piece:
        """Return the cells of text that are not missing."""
        kept = [place for place, cell in enumerate(self.cells) if cell.lower() not in _MISSING]
        if len(kept) == len(self.cells) or self.lines is None:
            return self
        cells, lines = [self.cells[place] for place in kept], [self.lines[place] for place in kept]
        return replace(self, cells=cells, lines=lines, dropped=len(self.cells) - len(kept))


def joined(pieces: Sequence[Piece]) -> Piece:
    """Return pieces of one column as one; those of different types become text or decimals."""
    first = pieces[0]
    if len(pieces) == 1:
        return first
    lines = None if first.lines is None else list(itertools.chain(*(piece.lines or () for piece in pieces)))
    dropped = sum(piece.dropped for piece in pieces)
    if isinstance(first.cells, np.ndarray):
        rows = list(itertools.chain(*(piece.all_rows() for piece in pieces))) if dropped else None
        cells = np.concatenate([piece.cells for piece in pieces])
        return Piece(first.title, 0, cells, lines, rows, dropped, first.missing)
    texts = [cell for piece in pieces for cell in piece.cells]
    return Piece(first.title, 0, texts, lines, None, dropped, first.missing)


class _Lines:
    """One value on each line."""

    def __init__(self, blocks: Iterator[list[str]], title: str) -> None:
        self.title, self.names = title, list[str]()
        self._blocks = blocks

    def pieces(self, *names: str | None) -> Iterator[list[Piece]]:
        first = 0
        for block in self._blocks:
            lines = range(first + 1, first + len(block) + 1)
            yield [Piece(self.title, first, [line.strip() for line in block], lines)]
            first += len(block)

    def column(self, name: str | None, *, missing: Missing | None = None) -> Iterator[Piece]:
        return _text_column(self, name, missing)


class _Delimited:
    """A table of text with a header line."""

    def __init__(self, blocks: Iterator[list[str]], title: str, delimiter: str) -> None:
        self.title = title
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
        for rows, lines in self._some_rows():
            columns = ([row[place].strip() for row in rows] for place in places)
            yield [Piece(self.title, first, cells, lines) for cells in columns]
            first += len(rows)
        if first == 0:
            raise InvalidInputError(f"{self.title} has a header line but no values: give at least one")

    def column(self, name: str | None, *, missing: Missing | None = None) -> Iterator[Piece]:
        return _text_column(self, name, missing)

    def _some_rows(self) -> Iterator[tuple[list[list[str]], list[int]]]:
        """Yield rows of equal width, and the line that each begins in."""
        width, row = len(self.names), self._after_header()
        while row is not None:
            rows, lines = list[list[str]](), list[int]()
            while row is not None and len(rows) < _PIECE:
                if len(row) != width and (row or width > 1):
                    raise InvalidInputError(
                        f"{self.title}, line {self._line}: {len(row)} cells, the header has {width}: "
                        "repair or remove the line"
                    )
                rows.append(row or [""])
                lines.append(self._line)
                row = self._after_header()
            yield rows, lines

    def _after_header(self) -> list[str] | None:
        self._line = self._rows.line_num + 1
        return self._next()


def _text_column(table: InputTable, name: str | None, missing: Missing | None) -> Iterator[Piece]:
    """Yield a column of text, with or without its missing cells."""
    for (piece,) in table.pieces(name):
        kept = piece.without_missing() if missing == "drop" else replace(piece, missing=missing)
        if len(kept.cells):
            yield kept


class _Parquet:
    """A Parquet file."""

    def __init__(self, title: str, path: Path) -> None:
        try:
            import pyarrow
            import pyarrow.parquet
        except ImportError:
            raise MissingDependencyError("pyarrow", "reading Parquet files", "frames") from None
        self.title, self._arrow = title, pyarrow
        try:
            self._file = pyarrow.parquet.ParquetFile(path)
            self.names = list(self._file.schema_arrow.names)
        except UnicodeDecodeError:
            raise InvalidInputError(f"{title} has a column name that is not UTF-8: rename it") from None
        except (pyarrow.ArrowException, OSError) as error:
            raise InvalidInputError(f"{title} is no Parquet file: {_first_line(error)}") from None
        if not self.names:
            raise InvalidInputError(f"{title} has no columns: give at least one")

    def pieces(self, *names: str | None) -> Iterator[list[Piece]]:
        chosen = [name or self.names[0] for name in names]
        for batch, first in self._batches(chosen):
            yield [self._piece(self._column(batch, name), name, first) for name in chosen]

    def _column(self, batch: Any, name: str) -> Any:
        """Return a column of a batch; a damaged file may hold other columns than its header says."""
        if name not in batch.schema.names:
            raise InvalidInputError(f"{self.title} is damaged: a part of it has no column {shortened(name)}")
        return batch.column(name)

    def column(self, name: str | None, *, missing: Missing | None = None) -> Iterator[Piece]:
        chosen = name or self.names[0]
        for batch, first in self._batches([chosen]):
            column = self._column(batch, chosen)
            if missing != "drop":
                yield self._piece(column, chosen, first, missing)
                continue
            missed = np.asarray(column.is_null(nan_is_null=True).to_numpy(zero_copy_only=False), bool)
            if not missed.all():
                piece = self._piece(column.filter(self._arrow.array(~missed)), chosen, first)
                rows = (first + np.flatnonzero(~missed)).tolist()
                yield replace(piece, rows=rows, dropped=int(missed.sum()))

    def _batches(self, names: list[str]) -> Iterator[tuple[Any, int]]:
        first = 0
        try:
            for batch in self._file.iter_batches(_PIECE, columns=list(dict.fromkeys(names))):
                if len(batch):
                    yield batch, first
                first += len(batch)
        except (self._arrow.ArrowException, OSError, KeyError) as error:  # KeyError: its two schemas differ
            raise InvalidInputError(f"{self.title} is damaged: {_first_line(error)}") from None
        if first == 0:
            raise InvalidInputError(f"{self.title} has columns but no values: give at least one")

    def _piece(self, column: Any, name: str, first: int, missing: Missing | None = None) -> Piece:
        arrow, kinds = self._arrow, self._arrow.types
        place = Piece(self.title, first, [], None, missing=missing)
        if column.null_count:
            _refuse_missing(place, column.is_null().to_pylist(), True)
        if kinds.is_dictionary(column.type):
            column = column.cast(column.type.value_type)
        if kinds.is_integer(column.type):
            target = arrow.int64()
        elif kinds.is_floating(column.type) or kinds.is_decimal(column.type):
            target = arrow.float64()
        else:
            target = arrow.string()
        try:
            values = column.cast(target)
        except arrow.ArrowException:
            if not kinds.is_integer(column.type):
                raise InvalidInputError(
                    f"{self.title}: the column {name!r} holds {column.type}, not values: choose another"
                ) from None
            values, target = column.cast(arrow.string()), arrow.string()
        if target == arrow.string():
            try:
                cells = values.to_pylist()
            except UnicodeDecodeError:
                _refuse_bytes(place, values.cast(arrow.binary()).to_pylist())
            _refuse_missing(place, cells)
            return Piece(self.title, first, _as_text(place, cells), None)
        array: np.ndarray[Any, Any] = values.to_numpy(zero_copy_only=False)
        return Piece(self.title, first, _finite(place, array) if array.dtype.kind == "f" else array, None)


def _refuse_bytes(place: Piece, cells: list[bytes]) -> NoReturn:
    row = next(row for row, cell in enumerate(cells) if cell.decode(errors="ignore").encode() != cell)
    place.refuse(row, f"the value {shortened(cells[row])} is not UTF-8 text", "write the file as UTF-8")


def open_table(path: str | Path, *, as_csv: bool = False, limit: int | None = None) -> InputTable:
    """Return the table in a file; `as_csv` says how to take standard input.

    `limit` is the most text that a packed file may hold; None is any, for who keeps little of it.
    """
    title = file_title(path)
    file = Path(path)
    if str(path) == STANDARD_INPUT:
        delimiter = "," if as_csv else None
    else:
        check_file(file, title)
        ending = file.suffix.lower()
        if ending == ".parquet":
            return _Parquet(title, file)
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
    # A single column that starts with a number has no header: it is a list of values.
    if is_number(start[0].strip()):
        return _Lines(again, title)
    return _Delimited(again, title, delimiter)


def _typed(place: Piece, cells: list[str]) -> np.ndarray[Any, Any]:
    """Return text cells as the narrowest of integers, decimals and text."""
    _refuse_missing(place, cells)
    # Python would read 1_000 as a number; the characters decide before it is asked.
    characters = set("".join(cells))
    if characters <= _INTEGER:
        try:
            return np.array(list(map(int, cells)), np.int64)
        except (ValueError, OverflowError):
            return _as_text(place, cells)
    if characters <= _DECIMAL | _NOT_FINITE:
        try:
            return _finite(place, np.array(list(map(float, cells))))
        except ValueError as error:
            if isinstance(error, InvalidInputError):
                raise
    return _as_text(place, cells)


def _refuse_missing(place: Piece, cells: list[Any], mark: Any = "") -> None:
    if mark in cells:
        place.refuse(
            cells.index(mark),
            "the value is missing",
            "drop missing values or give them a label"
            if place.missing is None
            else "give it a label, or leave it out with --missing drop",
        )


def _as_text(place: Piece, cells: list[str]) -> np.ndarray[Any, Any]:
    array = np.array(cells, object)
    lengths = np.fromiter(map(len, cells), np.int64, len(cells))
    if lengths.max() > LONGEST_LABEL:
        row = int(lengths.argmax())
        place.refuse(
            row,
            f"the value {shortened(cells[row])} has {lengths[row]} characters",
            f"a label has at most {LONGEST_LABEL}",
        )
    return array.astype(np.str_)


def _finite(place: Piece, array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    finite = np.isfinite(array)
    if not finite.all():
        row = int(finite.argmin())
        place.refuse(row, f"the value {array[row]} is not a finite number", "remove it or give it a label")
    return array


def is_number(cell: Any) -> bool:
    """Whether a cell holds a finite number."""
    try:
        return "_" not in str(cell) and math.isfinite(float(cell))
    except ValueError:
        return False


def shortened(value: Any) -> str:
    """Return a value as it is shown in an error message."""
    text = repr(value.item() if isinstance(value, np.generic) else value)
    return text if len(text) <= 40 else f"{text[:37]}..."


def _first_line(error: Exception) -> str:
    return str(error).strip().split("\n", 1)[0]
