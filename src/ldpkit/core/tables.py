"""Tables in files of several formats, behind one face: names, columns, and where a value stands."""

from __future__ import annotations

import csv
import gzip
import io
import math
import sys
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn, Protocol

import numpy as np

from ldpkit.core.errors import InvalidInputError, MissingDependencyError

__all__ = ["LONGEST_LABEL", "STANDARD_INPUT", "Table", "is_number", "open_table", "read_text", "shortened"]

STANDARD_INPUT = "-"
LONGEST_LABEL = 256
"""Longer text is no label: an array of labels is as wide as the longest of them."""

_DELIMITERS = {".csv": ",", ".tsv": "\t", "": None, ".txt": None, ".dat": None}
_INTEGER = frozenset("0123456789+-")
_DECIMAL = _INTEGER | frozenset(".eE")
_NOT_FINITE = frozenset("nNaAiIfFtTyY")  # the letters of nan, inf and infinity


class Table(Protocol):
    """What the readers ask of a file, whatever its format."""

    title: str
    names: list[str]

    def column(self, name: str | None) -> np.ndarray[Any, Any]:
        """Return a column as integers, decimals or text; None is the only one."""

    def refuse(self, row: int, what: str, remedy: str) -> NoReturn:
        """Refuse the table because of one row."""


class _Lines:
    """One value on each line."""

    def __init__(self, title: str, text: str) -> None:
        self.title, self.names = title, list[str]()
        self._text = text

    def column(self, name: str | None) -> np.ndarray[Any, Any]:
        return _typed(self, [line.strip() for line in self._text.split("\n")])

    def refuse(self, row: int, what: str, remedy: str) -> NoReturn:
        raise InvalidInputError(f"{self.title}, line {row + 1}: {what}: {remedy}")


class _Delimited:
    """A table of text with a header line."""

    def __init__(self, title: str, text: str, delimiter: str) -> None:
        self.title = title
        self._text, self._delimiter = text, delimiter
        self.names = [name.strip() for name in next(self._rows())]
        if not self.names:
            raise InvalidInputError(f"{title}, line 1: a header line is expected: remove the empty line")

    def _rows(self) -> Iterator[list[str]]:
        rows = csv.reader(io.StringIO(self._text), delimiter=self._delimiter, strict=True)
        try:
            yield from rows
        except csv.Error as error:
            raise InvalidInputError(
                f"{self.title}, line {rows.line_num}: {error}: close every quote, and double quotes inside"
            ) from None

    def column(self, name: str | None) -> np.ndarray[Any, Any]:
        width = len(self.names)
        position = self.names.index(name) if name is not None else 0
        rows = self._rows()
        next(rows)
        if width == 1:
            cells = [row[0] if len(row) == 1 else "" if not row else self._ragged(row) for row in rows]
        else:
            cells = [row[position] if len(row) == width else self._ragged(row) for row in rows]
        if not cells:
            raise InvalidInputError(f"{self.title} has a header line but no values: give at least one")
        return _typed(self, [cell.strip() for cell in cells])

    def _ragged(self, bad: list[str]) -> NoReturn:
        row = next(row for row, cells in enumerate(self._rows(), -1) if cells == bad)
        self.refuse(row, f"{len(bad)} cells, the header has {len(self.names)}", "repair or remove the line")

    def refuse(self, row: int, what: str, remedy: str) -> NoReturn:
        # A quoted cell may run over several lines, so that only the parser knows the line.
        rows = csv.reader(io.StringIO(self._text), delimiter=self._delimiter)
        for _ in range(row + 2):
            line = rows.line_num + 1
            next(rows)
        raise InvalidInputError(f"{self.title}, line {line}: {what}: {remedy}")


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

    def column(self, name: str | None) -> np.ndarray[Any, Any]:
        arrow, name = self._arrow, name or self.names[0]
        try:
            column = self._file.read(columns=[name]).column(name)
        except (arrow.ArrowException, OSError) as error:
            raise InvalidInputError(f"{self.title} is damaged: {_first_line(error)}") from None
        if len(column) == 0:
            raise InvalidInputError(f"{self.title} has columns but no values: give at least one")
        if column.null_count:
            _refuse_missing(self, column.is_null().to_pylist(), True)
        kinds = arrow.types
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
                self._refuse_bytes(values.cast(arrow.binary()).to_pylist())
            _refuse_missing(self, cells)
            return _as_text(self, cells)
        array: np.ndarray[Any, Any] = values.to_numpy()
        return _finite(self, array) if array.dtype.kind == "f" else array

    def _refuse_bytes(self, cells: list[bytes]) -> NoReturn:
        row = next(row for row, cell in enumerate(cells) if cell.decode(errors="ignore").encode() != cell)
        self.refuse(row, f"the value {shortened(cells[row])} is not UTF-8 text", "write the file as UTF-8")

    def refuse(self, row: int, what: str, remedy: str) -> NoReturn:
        raise InvalidInputError(f"{self.title}, row {row + 1}: {what}: {remedy}")


def open_table(path: str | Path, *, as_csv: bool = False) -> Table:
    """Return the table in a file; `as_csv` says how to take standard input."""
    title = _title(path)
    file = Path(path)
    if str(path) == STANDARD_INPUT:
        delimiter = "," if as_csv else None
    else:
        _check_file(file, title)
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
    text = read_text(path)
    if delimiter is None:
        return _Lines(title, text)
    if delimiter == ",":  # where a comma is the decimal point, spreadsheets write semicolons
        header = text.split("\n", 1)[0]
        delimiter = max(",;\t", key=header.count)
    table = _Delimited(title, text, delimiter)
    # A single column that starts with a number has no header: it is a list of values.
    return _Lines(title, text) if len(table.names) == 1 and is_number(table.names[0]) else table


def _title(path: str | Path) -> str:
    return "standard input" if str(path) == STANDARD_INPUT else repr(str(path))


def _check_file(file: Path, title: str) -> None:
    try:
        if file.is_dir():
            raise InvalidInputError(f"{title} is a directory: give a file")
        if "\0" in str(file) or not file.exists():
            raise InvalidInputError(f"{title} does not exist: check the path")
    except OSError as error:  # too long for a name, or in a folder that may not be entered
        raise InvalidInputError(f"{title} cannot be read: {error.strerror or error}") from None


def read_text(path: str | Path) -> str:
    """Return the text of a file with plain line ends and nothing behind the last line."""
    title = _title(path)
    try:
        if str(path) == STANDARD_INPUT:
            data = sys.stdin.buffer.read()
        else:
            file = Path(path)
            _check_file(file, title)
            data = file.read_bytes()
            if file.suffix.lower() == ".gz":
                data = gzip.decompress(data)
    except (gzip.BadGzipFile, EOFError, zlib.error):
        raise InvalidInputError(f"{title} is no whole gzip file: copy it again") from None
    except OSError as error:
        raise InvalidInputError(f"{title} cannot be read: {error.strerror or error}") from None
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise InvalidInputError(
            f"{title}, line {line}: byte 0x{data[error.start]:02x} is not UTF-8 text: save the file as UTF-8"
        ) from None
    if "\0" in text:
        raise InvalidInputError(f"{title} is binary, not text: give a text file of values")
    text = text.replace("\r\n", "\n").replace("\r", "\n").rstrip("\n")
    if not text.strip():
        raise InvalidInputError(f"{title} is empty: give at least one value")
    return text


def _typed(table: Table, cells: list[str]) -> np.ndarray[Any, Any]:
    """Return text cells as the narrowest of integers, decimals and text."""
    _refuse_missing(table, cells)
    # Python would read 1_000 as a number; the characters decide before it is asked.
    characters = set("".join(cells))
    if characters <= _INTEGER:
        try:
            return np.array(list(map(int, cells)), np.int64)
        except (ValueError, OverflowError):
            return _as_text(table, cells)
    if characters <= _DECIMAL | _NOT_FINITE:
        try:
            return _finite(table, np.array(list(map(float, cells))))
        except ValueError as error:
            if isinstance(error, InvalidInputError):
                raise
    return _as_text(table, cells)


def _refuse_missing(table: Table, cells: list[Any], mark: Any = "") -> None:
    if mark in cells:
        table.refuse(cells.index(mark), "the value is missing", "drop missing values or give them a label")


def _as_text(table: Table, cells: list[str]) -> np.ndarray[Any, Any]:
    array = np.array(cells, object)
    lengths = np.fromiter(map(len, cells), np.int64, len(cells))
    if lengths.max() > LONGEST_LABEL:
        row = int(lengths.argmax())
        table.refuse(
            row,
            f"the value {shortened(cells[row])} has {lengths[row]} characters",
            f"a label has at most {LONGEST_LABEL}",
        )
    return array.astype(np.str_)


def _finite(table: Table, array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    finite = np.isfinite(array)
    if not finite.all():
        row = int(finite.argmin())
        table.refuse(row, f"the value {array[row]} is not a finite number", "drop it or give it a label")
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
