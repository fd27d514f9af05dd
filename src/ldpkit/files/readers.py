"""Files of values: one column, a table of counts, transactions or points.

The ending of a file's name says what it holds: `.txt`, `.dat` or none is one value on
each line; `.csv` and `.tsv` are tables with a header line; each of them may be packed
(`.gz`); `.parquet` needs pyarrow; `-` is standard input. Everything that cannot be used
is refused in one line that names the file, the line, the value and the remedy.
"""

from __future__ import annotations

import difflib
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from ldpkit.core.errors import InvalidInputError, OutOfDomainError
from ldpkit.core.text import listed
from ldpkit.files.lines import STANDARD_INPUT, kept_limit, line_blocks
from ldpkit.files.pieces import Missing, Piece, is_number, joined, shortened
from ldpkit.files.spreadsheet import original_cell
from ldpkit.files.tables import InputTable, open_table

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from ldpkit.core.typing import Counts, Floats, Label

__all__ = [
    "STANDARD_INPUT",
    "column_names",
    "read_cells",
    "read_column",
    "read_counts",
    "read_points",
    "read_transactions",
    "row_count",
]

Item = TypeVar("Item")

_LARGEST = int(np.iinfo(np.int64).max)


def read_column(
    path: str | Path, column: str | None = None, *, missing: Missing | None = None
) -> np.ndarray[Any, Any]:
    r"""Return one column of values.

    Parameters
    ----------
    path : path
        A text file with one value on each line, a CSV, TSV or Parquet table, or `-` for
        standard input.
    column : str, optional
        The name of the column; a table with a single column needs none. Standard input
        is read as CSV if a column is named, else as one value on each line.
    missing : {"refuse", "drop"}, optional
        Whether a missing value (an empty cell, a null, or NaN) is refused, as by default, or
        left out.

    Returns
    -------
    array
        int64 where every entry is an integer, float64 where every entry is a number,
        else text. An integer beyond 64 bits makes the column text.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "people.csv"
    ...     _ = file.write_text("city,age\nOslo,41\nRome,7\n")
    ...     read_column(file, "age").tolist()
    [41, 7]
    """
    return read_cells(path, column, missing=missing).typed()


def read_cells(
    path: str | Path,
    column: str | None = None,
    *,
    missing: Missing | None = None,
    values: Collection[str] = (),
) -> Piece:
    """Return one column with the places of its values; the parameters are those of `ColumnStream`."""
    known = values if column is None else ()
    table = open_table(path, as_csv=column is not None, limit=kept_limit(path), values=known)
    whole = joined(list(table.column(_pick(table, column), missing=missing)))
    if not len(whole.cells):
        raise _nothing_left(table)
    return whole


def _nothing_left(table: InputTable) -> InvalidInputError:
    return InvalidInputError(f"{table.title}: all values are missing: give at least one")


class ColumnStream:
    r"""A column that is gone through once, a piece at a time, however long it is.

    Parameters
    ----------
    path, column, missing
        As for `read_column`.
    values : collection of str
        What the column may hold, where that is known: if no column is named, a first line that is one of
        them is a value and no header.

    Attributes
    ----------
    read, dropped : int
        How many values there were so far, and how many missing ones were left out.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "ages.txt"
    ...     _ = file.write_text("41\n7\n")
    ...     [piece.typed().tolist() for piece in ColumnStream(file)]
    [[41, 7]]
    """

    def __init__(
        self,
        path: str | Path,
        column: str | None = None,
        *,
        missing: Missing | None = None,
        values: Collection[str] = (),
    ) -> None:
        self._table = open_table(path, as_csv=column is not None, values=values if column is None else ())
        self._name = _pick(self._table, column)
        self._missing = missing
        self._piece: Piece | None = None
        self.read = self.dropped = 0

    def __iter__(self) -> Iterator[Piece]:
        for piece in self._table.column(self._name, missing=self._missing):
            self.dropped += piece.dropped
            if len(piece.cells):
                self._piece = piece
                self.read += len(piece.cells)
                yield piece
        if self._piece is None:
            raise _nothing_left(self._table)

    def located(self, results: Iterable[Item]) -> Iterator[Item]:
        """Yield what is made of the pieces; a value that is refused is named by its line or row."""
        try:
            yield from results
        except OutOfDomainError as error:
            if self._piece is None or error.position is None:
                raise
            place = self._piece.place(error.position)
            raise OutOfDomainError(f"{place}: {error.without_position}") from None


def _whole(table: InputTable, *names: str | None) -> list[Piece]:
    """Return whole columns, one after the other."""
    return [joined(pieces) for pieces in zip(*table.pieces(*names), strict=True)]


def column_names(path: str | Path, *, values: Collection[str] = ()) -> list[str]:
    """Return the names of a table's columns; none for a plain list of values, standard input or a pipe.

    `values` are those that a single column may hold, as in `ColumnStream`.
    """
    if str(path) == STANDARD_INPUT or _is_pipe(path):  # it can be read only once
        return []
    return open_table(path, values=values).names


def _is_pipe(path: str | Path) -> bool:
    try:
        return Path(path).is_fifo()
    except OSError:  # a name that no file can have
        return False


def row_count(path: str | Path) -> int | None:
    """Return about how many rows a file has, or None where only reading it would tell.

    A header or an empty last line may count as one.
    """
    file = Path(path)
    if str(path) == STANDARD_INPUT or not file.is_file() or file.suffix.lower() == ".gz":
        return None
    if file.suffix.lower() == ".parquet":
        from ldpkit.files.parquet import BoundedParquet

        rows = BoundedParquet.open_path(file, repr(str(path))).rows
        return rows if rows >= 0 else None  # a footer may say anything
    with file.open("rb") as stream:
        return sum(block.count(b"\n") for block in iter(lambda: stream.read(1 << 20), b""))


def read_counts(
    path: str | Path, value: str | Sequence[str] | None = None, count: str | None = None
) -> tuple[list[Label], Counts]:
    """Return the labels and counts of a table with one row for each value.

    Parameters
    ----------
    path : path
        A CSV, TSV or Parquet table, or `-` for CSV on standard input.
    value : str or sequence of str, optional
        The column of labels, by default `value` or the other one of two. Several columns
        make joint labels, such as `2/7`. An apostrophe before =, +, - or @ is a spreadsheet's
        mark of text, not part of the label.
    count : str, optional
        The column of counts, by default `count` or the second of two.
    """
    table = open_table(path, as_csv=True, limit=kept_limit(path))
    if not table.names:
        raise InvalidInputError(f"{table.title} has no columns: counts need a table with value and count")
    if count is None:
        count = "count" if "count" in table.names or len(table.names) != 2 else table.names[1]
    if value is None:
        others = [name for name in table.names if name != count]
        value = others[0] if len(others) == 1 else "value"
    columns = [value] if isinstance(value, str) else list(value)
    *places, numbers = _whole(table, *(_pick(table, name) for name in (*columns, count)))
    parts = [place.typed().tolist() for place in places]
    if not str(path).endswith(".parquet"):
        parts = [[original_cell(label) for label in part] for part in parts]
    labels = parts[0] if len(parts) == 1 else ["/".join(map(str, row)) for row in zip(*parts, strict=True)]
    _refuse_twins(places[0], labels)
    return labels, _whole_counts(numbers)


def read_points(path: str | Path, x: str, y: str) -> Floats:
    """Return two numeric columns of a table as points, shape (n, 2)."""
    table = open_table(path, as_csv=True, limit=kept_limit(path))
    places = _whole(table, _pick(table, x), _pick(table, y))
    return np.column_stack([_coordinates(name, place) for name, place in zip((x, y), places, strict=True)])


def _coordinates(name: str, place: Piece) -> Floats:
    """Return the numbers of a column, or refuse the first cell that holds none."""
    column = place.typed()
    if column.dtype.kind in "if":
        return column.astype(np.float64)
    for row, cell in enumerate(column.tolist()):
        if not is_number(cell):
            place.refuse(row, f"the {name} {shortened(cell)} is not a number", "remove the row")
    return np.array([float(cell) for cell in column.tolist()])  # whole numbers that are too long for 64 bits


def read_transactions(path: str | Path, delimiter: str | None = None) -> Iterator[list[str]]:
    """Return the items of each line, one line at a time; a line without items is an empty transaction.

    Parameters
    ----------
    path : path
        A text file without a header, of any ending; it may be packed. `-` is standard input.
    delimiter : str, optional
        What stands between items, by default a comma if the file has any, else white space.
    """
    text = "\n".join(line for block in line_blocks(path, limit=kept_limit(path)) for line in block)
    if delimiter is None and "," in text:
        delimiter = ","
    if delimiter is None or delimiter.isspace():
        return (line.split() for line in text.split("\n"))
    return ([item for item in map(str.strip, line.split(delimiter)) if item] for line in text.split("\n"))


def _pick(table: InputTable, column: str | None) -> str | None:
    """Return the column that is meant, or refuse with the columns there are."""
    names = table.names
    if not names:
        if column is not None:
            raise InvalidInputError(f"{table.title} is a list without columns: leave out {column!r}")
        return None
    if column is None:
        if len(names) == 1:
            return names[0]
        raise InvalidInputError(f"{table.title} has several columns: choose one of {listed(names)}")
    if names.count(column) > 1:
        raise InvalidInputError(f"{table.title} has {names.count(column)} columns {column!r}: rename one")
    if column not in names:
        near = difflib.get_close_matches(column, names, n=3, cutoff=0.5)
        hint = f"did you mean {' or '.join(map(repr, near))}? It has" if near else "it has"
        raise InvalidInputError(f"{table.title} has no column {column!r}: {hint} {listed(names)}")
    return column


def _whole_counts(place: Piece) -> Counts:
    numbers = place.typed()
    for row, number in enumerate(numbers.tolist()):
        if isinstance(number, str) or number != math.floor(number) or not 0 <= number <= _LARGEST:
            place.refuse(
                row,
                f"the count {shortened(number)} is not a whole number of people",
                "counts are 0, 1, 2, ...",
            )
    if sum(map(int, numbers.tolist())) > _LARGEST:
        raise InvalidInputError(
            f"{place.title}: the sum of the counts does not fit into 64 bits: scale them down"
        )
    return numbers.astype(np.int64)


def _refuse_twins(place: Piece, labels: list[Label]) -> None:
    seen: dict[Label, int] = {}
    for row, label in enumerate(labels):
        if label in seen:
            place.refuse(row, f"the value {shortened(label)} has a count already", "add the two rows up")
        seen[label] = row
