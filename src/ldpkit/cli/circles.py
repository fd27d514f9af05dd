"""Columns of values on a circle, such as angles and times of day, and what is said of them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ldpkit.cli.inputs import note_dropped, refuse_outside, refuse_row, refuse_text
from ldpkit.cli.making import make_circular
from ldpkit.cli.printing import note
from ldpkit.cli.tallies import is_collected
from ldpkit.core.errors import InvalidInputError, InvalidParameterError, OutOfDomainError

if TYPE_CHECKING:
    import numpy as np

    from ldpkit.cli.options import Missing
    from ldpkit.core.domains.circle import CircleDomain
    from ldpkit.core.typing import Floats
    from ldpkit.estimation.direction import DirectionEstimate
    from ldpkit.files.pieces import Piece
    from ldpkit.mechanisms.tally import CircularTally

__all__ = ["CircularInput", "as_angles", "read_angles", "wrapped_in_words"]


def wrapped_in_words(wrapped: int, total: int) -> str:
    """Return how many values were wrapped around the circle."""
    return f"{wrapped:,} of {total:,} values were outside the turn and were wrapped around the circle"


@dataclass(frozen=True)
class CircularInput:
    """A column of values on a circle.

    Parameters
    ----------
    values : array
        The values, all within the turn.
    circle : CircleDomain
        The circle.
    """

    values: Floats
    circle: CircleDomain

    def simulate(self, name: str, epsilon: float | None, seed: int | None) -> CircularTally:
        """Return the tally of a collection in which everybody reports once."""
        from ldpkit.core import random

        mechanism = make_circular(name, self.circle, epsilon, {})
        rng = random.secure() if seed is None else random.seeded(seed)
        return mechanism.tally(mechanism.privatize(self.values, rng=rng))

    def near(self, found: DirectionEstimate) -> str:
        """Return how far an estimate came from the truth, which only a simulation knows."""
        import numpy as np

        vector = np.exp(1j * self.circle.radians(self.values)).mean()
        truth = self.circle.from_radians(float(np.angle(vector)))
        away = self.circle.distance(found.direction, truth) / found.stderr if found.stderr else 0.0
        return (
            f"note: simulated here; the mean direction of the file's {len(self.values)} values is "
            f"{truth:.6g}, {away:.1f} standard errors from the estimate, and their resultant length "
            f"{abs(vector):.4g}"
        )


def read_angles(
    files: list[Path], column: str | None, circle: CircleDomain, *, wrap: bool, missing: Missing
) -> CircularInput:
    """Return the values of a file; report files know their circle, and are refused here."""
    if any(is_collected(path) for path in files):
        raise InvalidParameterError("report files know their circle: leave out --period, --low and --wrap")
    if len(files) > 1:
        raise InvalidInputError(f"give one file of values, or report files only, got {len(files)} files")
    from ldpkit.files.readers import read_cells

    cells = read_cells(files[0], column, missing=missing.value)
    values, wrapped = as_angles(cells.typed(), circle, wrap=wrap, place=cells)
    note_dropped(cells.dropped, len(values))
    if wrapped:
        note(f"note: {wrapped_in_words(wrapped, len(values))}")
    return CircularInput(values, circle)


def as_angles(
    data: np.ndarray[Any, Any], circle: CircleDomain, *, wrap: bool, place: Piece | None = None
) -> tuple[Floats, int]:
    """Return a column as values of a turn, and how many were wrapped around the circle.

    `place` knows where in a file the data stand; without it they begin in row 1.

    Examples
    --------
    >>> import numpy as np
    >>> from ldpkit.core.domains.circle import CircleDomain
    >>> as_angles(np.array([10, 370]), CircleDomain(360), wrap=True)
    (array([10., 10.]), 1)
    >>> as_angles(np.array([10, 370]), CircleDomain(360), wrap=False)
    Traceback (most recent call last):
    ...
    ldpkit.core.errors.OutOfDomainError: row 2: value 370.0 is not in the circle from 0 to 360: remove it, \
correct --period and --low, or wrap it around the circle with --wrap
    """
    refuse_text(data, place)
    try:
        values, outside = circle.wrap(data)
    except OutOfDomainError as error:
        if error.position is None:
            raise
        refuse_row(place, error.position, error.without_position)
    if outside and not wrap:
        remedy = "correct --period and --low, or wrap it around the circle with --wrap"
        refuse_outside(data, circle, str(circle), remedy, place)
    return values, outside
