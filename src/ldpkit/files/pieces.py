"""Pieces of a column: some tens of thousands of cells, with the places where they stand.

A column of any length passes through little memory, and what is wrong is refused by line.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NoReturn

import numpy as np

from ldpkit.core.errors import InvalidInputError

__all__ = [
    "LONGEST_LABEL",
    "Missing",
    "Piece",
    "as_text",
    "finite_cells",
    "is_number",
    "joined",
    "refuse_missing",
    "shortened",
]

LONGEST_LABEL = 256
"""Longer text is no label: an array of labels is as wide as the longest of them."""

Missing = Literal["refuse", "drop"]
"""What to do with values that are missing: empty cells, nulls, and numbers that are not a number."""
_SHOWN = 40  # characters of a value in a message
_INTEGER = frozenset("0123456789+-")
_DECIMAL = _INTEGER | frozenset(".eE")
_MISSING = ("", "nan")
_NOT_FINITE = frozenset("nNaAiIfFtTyY")  # the letters of nan, inf and infinity


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
    rows : array of int, optional
        The row of each cell, counted from 0, where missing ones were dropped.
    dropped : int
        How many were; a piece of missing values only has no cells.
    missing : {"refuse", "drop"}, optional
        What the caller offers to do with missing values; None where there is no choice.
    """

    title: str
    first: int
    cells: list[str] | np.ndarray[Any, Any]
    lines: Sequence[int] | None
    rows: np.ndarray[Any, Any] | None = None
    dropped: int = 0
    missing: Missing | None = None

    def typed(self) -> np.ndarray[Any, Any]:
        """Return integers, decimals or text, whatever fits all cells."""
        return self.cells if isinstance(self.cells, np.ndarray) else _typed(self, self.cells)

    def text(self) -> np.ndarray[Any, Any]:
        """Return the cells as they are written."""
        if isinstance(self.cells, np.ndarray):
            return self.cells if self.cells.dtype.kind == "U" else self.cells.astype(np.str_)
        refuse_missing(self, self.cells)
        return as_text(self, self.cells)

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

    def all_rows(self) -> np.ndarray[Any, Any]:
        """Return the row of each cell, counted from 0."""
        return np.arange(self.first, self.first + len(self.cells)) if self.rows is None else self.rows

    def without_missing(self) -> Piece:
        """Return the cells of text that are not missing."""
        if not any(self.cells):
            return replace(
                self, cells=[], lines=self.lines and [], rows=None, dropped=self.dropped + len(self.cells)
            )
        kept = [place for place, cell in enumerate(self.cells) if cell.lower() not in _MISSING]
        if len(kept) == len(self.cells):
            return self
        return replace(
            self,
            cells=[self.cells[place] for place in kept],
            lines=None if self.lines is None else [self.lines[place] for place in kept],
            rows=None if self.rows is None else self.rows[kept],
            dropped=self.dropped + len(self.cells) - len(kept),
        )


def joined(pieces: Sequence[Piece]) -> Piece:
    """Return pieces of one column as one; those of different types become text or decimals."""
    dropped = sum(piece.dropped for piece in pieces)
    pieces = [piece for piece in pieces if len(piece.cells)] or pieces[:1]
    first = pieces[0]
    if len(pieces) == 1:
        return replace(first, dropped=dropped)
    lines = None if first.lines is None else list(itertools.chain(*(piece.lines or () for piece in pieces)))
    if isinstance(first.cells, np.ndarray):
        rows = np.concatenate([piece.all_rows() for piece in pieces]) if dropped else None
        cells = np.concatenate([piece.cells for piece in pieces])
        return Piece(first.title, 0, cells, lines, rows, dropped, first.missing)
    texts = [cell for piece in pieces for cell in piece.cells]
    return Piece(first.title, 0, texts, lines, None, dropped, first.missing)


def _typed(place: Piece, cells: list[str]) -> np.ndarray[Any, Any]:
    """Return text cells as the narrowest of integers, decimals and text."""
    refuse_missing(place, cells)
    # Python would read 1_000 as a number; the characters decide before it is asked.
    characters = set("".join(cells))
    if characters <= _INTEGER:
        try:
            return np.array(list(map(int, cells)), np.int64)
        except (ValueError, OverflowError):
            return as_text(place, cells)
    if characters <= _DECIMAL | _NOT_FINITE:
        try:
            return finite_cells(place, np.array(list(map(float, cells))))
        except ValueError as error:
            if isinstance(error, InvalidInputError):
                raise
    return as_text(place, cells)


def refuse_missing(place: Piece, cells: list[Any], mark: Any = "") -> None:
    """Refuse the first cell that is missing."""
    if mark in cells:
        place.refuse(
            cells.index(mark),
            "the value is missing",
            "drop missing values or give them a label"
            if place.missing is None
            else "give it a label, or leave it out with --missing drop",
        )


def as_text(place: Piece, cells: list[str]) -> np.ndarray[Any, Any]:
    """Return cells as an array of text; refuse one that is too long for a label, or that no array keeps."""
    array = np.array(cells, object)
    lengths = np.fromiter(map(len, cells), np.int64, len(cells))
    if lengths.max() > LONGEST_LABEL:
        row = int(lengths.argmax())
        place.refuse(
            row,
            f"the value {shortened(cells[row])} has {lengths[row]} characters",
            f"a label has at most {LONGEST_LABEL}",
        )
    if "\0" in "".join(cells):
        for row, cell in enumerate(cells):
            if cell.endswith(
                "\0"
            ):  # arrays of text are filled up with it, and would take another value for this
                place.refuse(row, f"the value {shortened(cell)} ends in a NUL character", "remove it")
    return array.astype(np.str_)


def finite_cells(place: Piece, array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return numbers, or refuse the first that is not finite."""
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
    """Return a value as it is shown in an error message.

    Examples
    --------
    >>> shortened("a" * 1000), shortened(np.float64(0.5))
    ("'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa...", '0.5')
    """
    value = value.item() if isinstance(value, np.generic) else value
    text = repr(
        value[:_SHOWN] if isinstance(value, (str, bytes)) else value
    )  # a copy of little, if it is long
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 3]}..."
