"""A column whose values are looked at twice: first which there are, then each in its turn.

Only the distinct values are kept. A file on a disk is read again; what can be read once, such as standard
input, is kept in one byte for each value, or in as few as tell the values apart.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from ldpkit.core.errors import InvalidInputError
from ldpkit.core.limits import check_memory
from ldpkit.files.lines import STANDARD_INPUT, file_title, kept_limit
from ldpkit.files.pieces import Missing, Piece, refuse_missing
from ldpkit.files.readers import ColumnStream

__all__ = ["DistinctColumn"]

_NUMBER = 24  # bytes that a distinct number takes, in an array and while two are merged
_TEXT, _CHARACTER = 200, 4  # bytes that a distinct text takes, and each character of it
_FEW = 1 << 16  # numbers that are gathered before they are merged


class DistinctColumn:
    r"""A column of which the distinct values are known.

    Parameters
    ----------
    path, column, missing
        As for `ColumnStream`.

    Attributes
    ----------
    values : array
        The distinct values, in no order and perhaps twice, of the type that the whole column has.
    column : ColumnStream
        How many values were read, and how many missing ones left out.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "pets.txt"
    ...     _ = file.write_text("cat\ndog\ncat\n")
    ...     pets = DistinctColumn(file)
    ...     pets.values.tolist(), [some.tolist() for some in pets.again()]
    (['cat', 'dog'], [['cat', 'dog', 'cat']])
    """

    def __init__(
        self, path: str | Path, column: str | None = None, *, missing: Missing | None = None
    ) -> None:
        self.column = ColumnStream(path, column, missing=missing)
        self._path, self._name, self._missing = path, column, missing
        self._numbers = np.empty(0, np.int64)
        self._gathered, self._few = list[np.ndarray[Any, Any]](), 0
        self._text, self._places, self._characters = dict[str, int](), list[int](), 0
        self._has_limit = str(path) != STANDARD_INPUT and kept_limit(path) is not None
        self._is_read_twice = str(path) != STANDARD_INPUT and Path(path).is_file()
        self._kept = list[tuple[bool, np.ndarray[Any, Any]]]()
        self.values = self._read()

    def again(self) -> Iterator[np.ndarray[Any, Any]]:
        """Yield the column from its beginning, some values at a time, all of the same type."""
        kind, read = self.values.dtype.kind, 0
        if self._is_read_twice:
            for piece in ColumnStream(self._path, self._name, missing=self._missing):
                read += len(piece.cells)
                yield self._once_more(piece)
            if read != self.column.read:
                raise _changed(file_title(self._path))
        for is_text, cells in self._kept:
            yield (
                self.values[cells] if is_text else cells.astype(np.str_ if kind == "U" else self.values.dtype)
            )

    def _once_more(self, piece: Piece) -> np.ndarray[Any, Any]:
        """Return cells that were seen before, as values; a piece alone may look as if it had another type."""
        kind = self.values.dtype.kind
        if isinstance(piece.cells, np.ndarray):
            cells = piece.text() if kind == "U" else _as_numbers(piece)
            if cells is None or cells.dtype.kind not in ("i", kind):
                raise _changed(piece.title)
            return cells.astype(np.str_ if kind == "U" else self.values.dtype)
        numbers = _as_numbers(piece)
        if numbers is not None:
            if not np.isin(numbers, self._numbers).all():
                raise _changed(piece.title)
            return numbers.astype(np.str_ if kind == "U" else self.values.dtype)
        try:
            return self.values[[self._text[cell] for cell in piece.cells]]
        except KeyError:
            raise _changed(piece.title) from None

    def check_kept(self, each: int) -> None:
        """Refuse a packed file if so many bytes for each value are more than it may take."""
        if self._has_limit:
            length = Path(self._path).stat().st_size
            check_memory(each * self.column.read, length, f"the whole of {file_title(self._path)}")

    def _read(self) -> np.ndarray[Any, Any]:
        """Go through the column, and return its distinct values."""
        first: Piece | None = None
        for piece in self.column:
            first = first or piece
            numbers = _as_numbers(piece)
            if numbers is None:
                self._add_text(piece)
            else:
                self._add_numbers(numbers)
            self._check(piece.title)
        self._merge()
        if first is None or not self._text:
            return self._numbers
        numbers_as_text = list(map(str, self._numbers.tolist()))
        if isinstance(first.cells, np.ndarray):
            return np.array([*self._text, *numbers_as_text])
        cells, places = [*self._text, *numbers_as_text], [*self._places, *[0] * len(numbers_as_text)]
        return replace(first, cells=cells, lines=places).typed()  # whole numbers are never refused

    def _add_numbers(self, numbers: np.ndarray[Any, Any]) -> None:
        some = np.unique(numbers)
        self._gathered.append(some)
        self._few += len(some)
        if self._few > max(_FEW, len(self._numbers)):
            self._merge()
        if not self._is_read_twice:
            self._kept.append((False, numbers.astype(_smallest(int(some[0]), int(some[-1])))))

    def _merge(self) -> None:
        if self._gathered:
            before = [self._numbers] if len(self._numbers) else []  # empty, it has no type to add
            self._numbers = np.unique(np.concatenate([*before, *self._gathered]))
            self._gathered, self._few = [], 0

    def _add_text(self, piece: Piece) -> None:
        cells = piece.cells.tolist() if isinstance(piece.cells, np.ndarray) else piece.cells
        refuse_missing(piece, cells)
        new = set(cells).difference(self._text)
        if new:
            places = piece.lines if piece.lines is not None else piece.all_rows()
            for cell, place in zip(cells, places, strict=True):
                if cell in new:
                    new.remove(cell)
                    self._text[cell] = len(self._text)
                    self._places.append(int(place))
                    self._characters += len(cell)
        if not self._is_read_twice:
            codes = np.array([self._text[cell] for cell in cells])
            self._kept.append((True, codes.astype(_smallest(0, len(self._text)))))

    def _check(self, title: str) -> None:
        """Refuse more distinct values than a packed file may hold."""
        if self._has_limit:
            numbers = len(self._numbers) + self._few
            needed = _NUMBER * numbers + _TEXT * len(self._text) + _CHARACTER * self._characters
            check_memory(needed, Path(self._path).stat().st_size, f"a list of the values of {title}")


def _changed(title: str) -> InvalidInputError:
    return InvalidInputError(f"{title} was changed while it was read: try again")


def _as_numbers(piece: Piece) -> np.ndarray[Any, Any] | None:
    """Return cells as numbers that are written as the cells are, or None where there are others."""
    if isinstance(piece.cells, np.ndarray):
        if piece.cells.dtype.kind == "f":
            return piece.cells + 0.0  # a negative zero is no value of its own
        return None if piece.cells.dtype.kind == "U" else piece.cells
    try:
        known = {cell: int(cell) for cell in set(piece.cells)}
        if all(str(number) == cell for cell, number in known.items()):
            return np.array([known[cell] for cell in piece.cells], np.int64)
    except (ValueError, OverflowError):
        pass
    return None


def _smallest(low: int, high: int) -> np.dtype[Any]:
    """Return the smallest type of whole numbers that holds all from low to high."""
    for name in ("u1", "i1", "u2", "i2", "u4", "i4"):
        limits = np.iinfo(name)
        if limits.min <= low and high <= limits.max:
            return np.dtype(name)
    return np.dtype(np.int64)
