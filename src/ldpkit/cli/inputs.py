"""Columns that a command reads: people's values, counts or numbers, and what is said of them."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from ldpkit.cli.parsing import parse_interval
from ldpkit.cli.printing import note
from ldpkit.cli.tallies import is_collected
from ldpkit.core.errors import InvalidInputError, InvalidParameterError, OutOfDomainError
from ldpkit.core.text import clock_time, decimal_comma

if TYPE_CHECKING:
    import numpy as np

    from ldpkit.cli.options import Missing
    from ldpkit.core.domains.interval import IntervalDomain, RealDomain
    from ldpkit.core.typing import Floats
    from ldpkit.files.pieces import Piece
    from ldpkit.simulation.datasets import Dataset

__all__ = [
    "NumericInput",
    "as_numbers",
    "dropped_in_words",
    "load_people",
    "moved_in_words",
    "note_dropped",
    "read_numbers",
    "refuse_outside",
    "refuse_row",
    "refuse_text",
]


def load_people(data: str, column: str | None, missing: Missing) -> Dataset:
    """Return the people of a table with `amount` or `value` and `count`, or of what else can be loaded."""
    from ldpkit.files.readers import column_names
    from ldpkit.simulation.datasets import load

    # os.path: a text that is too long for a name is the name of no file, but an error to a Path
    names = column_names(data) if os.path.isfile(data) else []  # noqa: PTH113
    chosen = column or ("amount" if "amount" in names else None)
    count = "count" if {"count", chosen or "value"} <= set(names) else None
    found = load(data, column=chosen, count=count, missing=missing.value)
    if found.dropped:
        note(dropped_in_words(found.dropped, found.n))
    return found


def note_dropped(dropped: int, left: int) -> None:
    """Say how many missing values were left out, if any."""
    if dropped:
        note(dropped_in_words(dropped, left))


def dropped_in_words(dropped: int, left: int) -> str:
    """Return how many missing values were left out."""
    what = "missing value was" if dropped == 1 else "missing values were"
    return f"note: {dropped:,} {what} left out, {left:,} are left"


def moved_in_words(moved: int, total: int) -> str:
    """Return how many numbers were moved into the interval."""
    return f"{moved:,} of {total:,} values were outside and were moved to the nearest end"


@dataclass(frozen=True)
class NumericInput:
    """A column of numbers in an interval.

    Parameters
    ----------
    values : array
        The numbers, all within the interval.
    interval : IntervalDomain
        The interval.
    moved : int
        How many were outside and moved to the nearest end, as the user asked.
    before : float
        The mean before any was moved.
    """

    values: Floats
    interval: IntervalDomain
    moved: int
    before: float

    def near(self, mean: float, stderr: float) -> str:
        """Return how far an estimate came from the truth, which only a simulation knows."""
        truth = float(self.values.mean())
        distance = abs(mean - truth) / stderr if stderr else 0.0
        return (
            f"note: simulated here; the mean of the file's {len(self.values)} numbers is {truth:.6g}, "
            f"{distance:.1f} standard errors from the estimate{self.what_moved()}"
        )

    def note_moved(self) -> None:
        """Say how many numbers were moved to the ends, if any."""
        if self.moved:
            note(f"note: {moved_in_words(self.moved, len(self.values))}")

    def what_moved(self) -> str:
        """Return what moving numbers to the ends did to the mean, as the rest of a sentence."""
        if not self.moved:
            return ""
        return (
            f"; {moved_in_words(self.moved, len(self.values))}, before that their mean was {self.before:.6g}"
        )


def read_numbers(
    files: list[Path],
    column: str | None,
    low: float | None,
    high: float | None,
    *,
    clip: bool,
    missing: Missing,
) -> NumericInput | None:
    """Return the numbers of a file of values, or None where the files are reports or tallies."""
    interval = parse_interval(low, high)
    if any(is_collected(path) for path in files):
        if interval is not None or clip or column is not None:
            raise InvalidParameterError(
                "report files know their interval: leave out --low, --high, --clip and --column"
            )
        return None
    if len(files) > 1:
        raise InvalidInputError(f"give one file of values, or report files only, got {len(files)} files")
    if interval is None:
        raise InvalidParameterError("numbers need their interval: give it with --low and --high")
    from ldpkit.files.readers import read_cells

    cells = read_cells(files[0], column, missing=missing.value)
    found = cells.typed()
    values, moved = as_numbers(found, interval, clip=clip, place=cells)
    note_dropped(cells.dropped, len(values))
    return NumericInput(values, interval, moved, float(found.mean()) if moved else float(values.mean()))


def as_numbers(
    data: np.ndarray[Any, Any], domain: IntervalDomain, *, clip: bool, place: Piece | None = None
) -> tuple[Floats, int]:
    """Return a column as numbers of the interval, and how many were moved to its ends.

    `place` knows where in a file the data stand; without it they begin in row 1.

    Examples
    --------
    >>> import numpy as np
    >>> from ldpkit.core.domains.interval import IntervalDomain
    >>> as_numbers(np.array([1, 7]), IntervalDomain(0, 5), clip=True)
    (array([1., 5.]), 1)
    >>> as_numbers(np.array(["1", "3,5"]), IntervalDomain(0, 5), clip=False)
    Traceback (most recent call last):
    ...
    ldpkit.core.errors.OutOfDomainError: row 2: value '3,5' is not a number: a decimal has a point: write 3.5
    """
    refuse_text(data, place)
    numbers, outside = domain.clip(data)
    if outside and not clip:
        remedy = "widen --low and --high, or move it to the nearest end with --clip"
        refuse_outside(data, domain, f"the interval {domain}", remedy, place)
    return numbers, outside


def refuse_outside(
    data: np.ndarray[Any, Any], domain: RealDomain, where: str, remedy: str, place: Piece | None
) -> NoReturn:
    """Refuse the first number that is not in its domain."""
    import numpy as np

    row = int(np.argmax((data < domain.low) | (data > domain.high)))
    refuse_row(place, row, f"value {float(data[row])!r} is not in {where}: remove it, {remedy}")


def refuse_row(place: Piece | None, row: int, why: str) -> NoReturn:
    """Refuse a value with the place where it stands; without a file it is a row, the first being 1."""
    where = f"row {row + 1}" if place is None else place.place(row)
    raise OutOfDomainError(f"{where}: {why}")


def refuse_text(data: np.ndarray[Any, Any], place: Piece | None) -> None:
    """Refuse a column with anything but numbers in it."""
    if data.dtype.kind == "U":
        from ldpkit.files.pieces import is_number, shortened

        row = next((row for row, cell in enumerate(data.tolist()) if not is_number(cell)), 0)
        remedy = decimal_comma(data[row]) or clock_time(data[row]) or ": remove it"
        refuse_row(place, row, f"value {shortened(data[row])} is not a number{remedy}")
