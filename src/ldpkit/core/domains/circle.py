"""Circles: angles, times of day and other values that come back to where they began.

Both ends of a turn are one point: 0 and 360 degrees have the same place. A value is moved
to the nearest of `steps` evenly spaced points before any randomness is drawn. Values that
lie outside the turn are refused unless the user asks to wrap them, and then they are
counted.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self, TypeAlias

import numpy as np

from ldpkit.core.domains.interval import (
    GRID,
    NARROWEST,
    WIDEST,
    RealDomain,
    as_numbers,
    check_end,
    refuse_infinite,
)
from ldpkit.core.errors import InvalidParameterError, OutOfDomainError

if TYPE_CHECKING:
    from ldpkit.core.random import RandomSource
    from ldpkit.core.typing import Counts, Floats, Indices, Values

__all__ = ["CircleDomain", "CircleLike", "WrappedWarning", "as_circle"]

_TURNS = 1 << 20  # so far from the circle, a floating-point number still knows its place to a millionth


class WrappedWarning(UserWarning):
    """Values outside a turn of a circle were wrapped around it, as the user asked.

    Examples
    --------
    >>> import warnings, ldpkit
    >>> with warnings.catch_warnings(record=True) as told:
    ...     warnings.simplefilter("always")
    ...     _ = ldpkit.CircularOGPM(360, epsilon=1).privatize([350.0, 370.0], wrap=True)
    >>> told[0].category is ldpkit.WrappedWarning
    True
    """


class CircleDomain(RealDomain):
    """The numbers from low to low + period, the two ends being one point.

    Parameters
    ----------
    period : float
        What one turn measures: 360, 24, or 2 pi. Positive.
    low : float
        Where the turn begins, such as -180.

    Examples
    --------
    >>> compass = CircleDomain(360)
    >>> compass.encode([0, 90, 359.9, 360], steps=4).tolist()
    [0, 1, 0, 0]
    >>> compass.distance(350, 10), compass.difference(10, 350)
    (20.0, 20.0)
    >>> compass.encode([10, 370])
    Traceback (most recent call last):
    ...
    ldpkit.core.errors.OutOfDomainError: value 370.0 at position 1 is not in the circle from 0 to 360: \
remove it, or give wrap=True to wrap it around the circle
    """

    __slots__ = ()
    remedy = "remove it, or give wrap=True to wrap it around the circle"

    def __init__(self, period: float, low: float = 0.0) -> None:
        turn, start = check_end(period, "period"), check_end(low, "low")
        if not turn > 0:
            raise InvalidParameterError(f"period must be positive, got {period!r}")
        if not NARROWEST <= turn <= WIDEST:
            raise InvalidParameterError(
                f"a period of {period!r} is too {'long' if turn > 1 else 'short'}: rescale the values, so "
                f"that it is between {NARROWEST:g} and {WIDEST:g}"
            )
        if turn < 4 * GRID * math.ulp(max(abs(start), abs(start + turn))):
            raise InvalidParameterError(
                f"a period of {period!r} is too short for a turn that begins at {low!r}: "
                "subtract a constant from the values"
            )
        self._settle(start, start + turn, turn)

    @property
    def period(self) -> float:
        """What one turn measures."""
        return self.width

    def wrap(self, values: Values) -> tuple[Floats, int]:
        """Return finite numbers, wrapped around the circle into the turn, and how many lay outside.

        Examples
        --------
        >>> CircleDomain(360, low=-180).wrap([-190, 30, 540])
        (array([ 170.,   30., -180.]), 2)
        """
        numbers = as_numbers(values)
        near = np.abs(numbers - self.low) <= _TURNS * self.period
        if not near.all():
            position = int(np.argmin(near))
            if not math.isfinite(numbers[position]):
                refuse_infinite(numbers, position)
            value = numbers[position].item()
            why = f"is more than {_TURNS} turns from {self.low:g}, too far to know its place: remove it"
            raise OutOfDomainError(
                f"value {value!r} at position {position} {why}", position, f"value {value!r} {why}"
            )
        outside = (numbers < self.low) | (numbers > self.high)
        moved = int(outside.sum())
        if moved:
            inside = self.low + np.mod(numbers - self.low, self.period)
            numbers = np.where(outside, np.minimum(inside, self.high), numbers)
        return numbers, moved

    def take(self, values: Values, *, wrap: bool = False) -> Floats:
        """Return numbers of the turn, wrapped with a warning if asked for, else checked."""
        if not wrap:
            return self.check(values)
        numbers, moved = self.wrap(values)
        if moved:
            warnings.warn(
                f"{moved} of {len(numbers)} values were outside {self} and were wrapped around the circle",
                WrappedWarning,
                stacklevel=3,
            )
        return numbers

    def encode(self, values: Values, *, steps: int = GRID, wrap: bool = False) -> Indices:
        """Return the place of every value among `steps` points around the circle, 0 for both ends.

        Parameters
        ----------
        values : array, sequence or column
            Numbers.
        steps : int
            How many points there are.
        wrap : bool
            True wraps values outside around the circle; a warning says how many.
        """
        return self.place(self.take(values, wrap=wrap), steps)

    def place(self, numbers: Floats, steps: int = GRID) -> Indices:
        """Return the nearest point of numbers that `take` or `check` let through, in new memory.

        The numbers may be the caller's, which another thread can change after the check.
        Places are taken modulo `steps`, so no place can lie beyond.
        """
        found = self._nearest(numbers, steps)
        if steps & (steps - 1):
            found %= np.uint32(steps)
        else:
            found &= np.uint32(steps - 1)  # many times as fast
        return found

    def decode(self, places: Indices | Counts | Sequence[int], *, steps: int = GRID) -> Floats:
        """Return the numbers that places stand for."""
        return self.low + self.period * (np.asarray(places, np.float64) / steps)

    def difference(self, end: Any, start: Any) -> Any:
        """Return how far it is from `start` to `end` the shorter way, negative if that is backwards."""
        away = np.mod(np.asarray(end, float) - start + self.period / 2, self.period) - self.period / 2
        return away if away.ndim else float(away)

    def distance(self, one: Any, other: Any) -> Any:
        """Return the length of the shorter arc between two values."""
        return abs(self.difference(one, other))

    def radians(self, values: Any) -> Any:
        """Return the angle of values in radians, 0 where the turn begins."""
        return (np.asarray(values, float) - self.low) * (2 * math.pi / self.period)

    def from_radians(self, angle: float) -> float:
        """Return the value at an angle in radians, within the turn."""
        turn = (angle / (2 * math.pi)) % 1.0
        return self.low + self.period * (turn if turn < 1 else 0.0)  # a tiny negative angle rounds to 1

    def to_json(self) -> dict[str, float]:
        """Return the JSON form: the period and where the turn begins."""
        return {"period": self.period, "low": self.low}

    @classmethod
    def from_json(cls, form: Any) -> Self:
        """Return the circle of a JSON form, or refuse it."""
        if not isinstance(form, dict) or set(form) != {"period", "low"}:
            raise InvalidParameterError(
                f'a circle is an object such as {{"period": 360, "low": 0}}, got {str(form)[:50]!r}'
            )
        return cls(form["period"], form["low"])

    @property
    def short(self) -> str:
        """The domain in the `repr` of a mechanism: the period, if the turn begins at 0."""
        return f"{self.period:g}" if self.low == 0 else repr(self)

    def examples(self, most: int, source: RandomSource) -> list[float]:
        """Return numbers to try: the quarters of the turn and some at random."""
        inner = np.sort(source.generator().random(most // 4))
        return [float(self.low + share * self.period) for share in np.unique([0.0, 0.25, 0.5, 0.75, *inner])]

    def __str__(self) -> str:
        return f"the circle from {self.low:.15g} to {self.high:.15g}"

    def __repr__(self) -> str:
        start = f", low={self.low:.15g}" if self.low else ""
        return f"CircleDomain({self.period:.15g}{start})"

    def __reduce__(self) -> Any:
        return CircleDomain, (self.period, self.low)


CircleLike: TypeAlias = "CircleDomain | float"
"""A circle, or the period of one that begins at 0."""


def as_circle(domain: CircleLike) -> CircleDomain:
    """Return the circle for a circle or its period.

    Examples
    --------
    >>> as_circle(24)
    CircleDomain(24)
    """
    if isinstance(domain, CircleDomain):
        return domain
    if isinstance(domain, (bool, np.bool_)) or not isinstance(domain, (int, float, np.number)):
        raise InvalidParameterError(
            f"a circle is given by its period, such as 360, or a CircleDomain, got {domain!r}"
        )
    return CircleDomain(domain)
