"""Numbers on their way into a domain, and intervals: two public ends, and the integer grid between them.

A number is moved to the nearest of `steps` + 1 evenly spaced points before any
randomness is drawn; all that follows is done in integers. Everything that does not
belong is refused here. Nothing is clipped unless the user asks for it, and then it is
counted and reported.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeAlias

import numpy as np

from ldpkit.core.domains.base import Domain
from ldpkit.core.errors import InvalidInputError, InvalidParameterError, OutOfDomainError
from ldpkit.core.parameters import as_array

if TYPE_CHECKING:
    from ldpkit.core.random import RandomSource
    from ldpkit.core.typing import Counts, Floats, Indices, Values

__all__ = [
    "GRID",
    "NARROWEST",
    "WIDEST",
    "ClippedWarning",
    "IntervalDomain",
    "IntervalLike",
    "RealDomain",
    "as_interval",
    "as_numbers",
    "check_end",
    "refuse_infinite",
]

GRID = 1 << 20
"""The steps between low and high on which values stand: a value moves by less than a millionth."""


# So that squares of the width, and with them variances, neither overflow nor vanish.
NARROWEST, WIDEST = 1e-60, 1e60
_CHUNK = 1 << 16  # values placed at a time, so that the arrays in between stay in the cache


def check_end(end: float, name: str) -> float:
    """Return an end of an interval, or another number that describes a domain, or refuse it."""
    if isinstance(end, (bool, np.bool_)) or not isinstance(end, (int, float, np.number)):
        raise InvalidParameterError(f"{name} must be a number, got {end!r}")
    try:
        number = float(end)
    except (OverflowError, TypeError):
        number = math.inf
    if not math.isfinite(number):
        raise InvalidParameterError(f"{name} must be finite, got {end!r}")
    return number + 0.0  # a negative zero becomes zero


def as_numbers(values: Values) -> Floats:
    """Return values as floating-point numbers, some of which may not be finite, or refuse them."""
    array = as_array(values)
    if array.size == 0:
        raise InvalidInputError("there are no values: give at least one")
    if array.dtype.kind in "US":
        raise OutOfDomainError(
            f"value {array[0].item()!r} at position 0 is text: an interval has numbers only"
        )
    try:
        return array.astype(np.float64, copy=False)
    except (OverflowError, TypeError, ValueError):
        raise OutOfDomainError("a value is too large for a floating-point number: remove it") from None


def refuse_infinite(numbers: Floats, position: int) -> None:
    """Refuse the number at a position, which is not finite."""
    value = numbers[position].item()
    remedy = "drop missing values" if math.isnan(value) else "remove it"
    raise OutOfDomainError(f"value {value!r} at position {position} is not a finite number: {remedy}")


class RealDomain(Domain):
    """Numbers from a low end to a high one: an interval, or a turn of a circle.

    A number is moved to the nearest of evenly spaced points before any randomness is drawn.
    """

    __slots__ = ("high", "low", "width")
    low: float
    """The lower end, or where the turn begins."""
    high: float
    """The upper end, or where the turn ends."""
    width: float
    """The distance between the ends, or what one turn measures."""
    described: ClassVar[str] = ""
    """What stands before the domain in a refusal."""
    remedy: ClassVar[str]
    """What to do with a number outside."""

    def _settle(self, low: float, high: float, width: float) -> None:
        """Store the ends and how far they are apart."""
        for name, number in (("low", low), ("high", high), ("width", width)):
            object.__setattr__(self, name, number)

    @property
    def size(self) -> None:
        """None: numbers are not counted."""
        return None

    def values(self, places: Any) -> Any:
        """Return the numbers themselves."""
        return places

    def check(self, values: Values) -> Floats:
        """Return numbers of the domain as an array, or refuse them."""
        numbers = as_numbers(values)
        if not (numbers.min() >= self.low and numbers.max() <= self.high):  # not a number is neither
            position = int(np.argmin((numbers >= self.low) & (numbers <= self.high)))
            if not math.isfinite(numbers[position]):
                refuse_infinite(numbers, position)
            raise OutOfDomainError(
                f"value {numbers[position].item()!r} at position {position} is not in "
                f"{self.described}{self}: {self.remedy}"
            )
        return numbers

    def _nearest(self, numbers: Floats, steps: int) -> Indices:
        """Return the nearest of evenly spaced points, in new memory; not yet checked to lie within them."""
        places = np.empty(len(numbers), np.int32)  # signed: vectors convert faster
        with np.errstate(invalid="ignore"):
            for start in range(0, len(numbers), _CHUNK):
                scaled = numbers[start : start + _CHUNK] - self.low
                scaled *= steps / self.width
                places[start : start + _CHUNK] = np.rint(scaled, out=scaled)
        return places.view(np.uint32)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, type(self)):
            return NotImplemented
        return bool(self.to_json() == other.to_json())

    def __hash__(self) -> int:
        return hash((type(self).__name__, self.low, self.high))


class ClippedWarning(UserWarning):
    """Values outside an interval were moved to its ends, as the user asked.

    Examples
    --------
    >>> import warnings, ldpkit
    >>> with warnings.catch_warnings(record=True) as told:
    ...     warnings.simplefilter("always")
    ...     _ = ldpkit.PM((0, 10), epsilon=1).privatize([3.0, 12.0], clip=True)
    >>> told[0].category is ldpkit.ClippedWarning
    True
    """


class IntervalDomain(RealDomain):
    """The numbers from low to high, both ends included.

    Parameters
    ----------
    low, high : float
        The ends, between 1e-60 and 1e60 apart. They are public: take them from what is possible,
        not from the data.

    Examples
    --------
    >>> ages = IntervalDomain(0, 120)
    >>> ages.encode([0, 30, 120], steps=4).tolist()
    [0, 1, 4]
    >>> ages.decode([0, 1, 4], steps=4).tolist()
    [0.0, 30.0, 120.0]
    >>> ages.encode([30, 121])
    Traceback (most recent call last):
    ...
    ldpkit.core.errors.OutOfDomainError: value 121.0 at position 1 is not in the interval [0, 120]: \
remove it, widen the interval, or give clip=True to move such values to the nearest end
    """

    __slots__ = ()
    described = "the interval "
    remedy = "remove it, widen the interval, or give clip=True to move such values to the nearest end"

    def __init__(self, low: float, high: float) -> None:
        ends = [check_end(low, "low"), check_end(high, "high")]
        if not ends[0] < ends[1]:
            raise InvalidParameterError(f"low must be below high, got low={low!r} and high={high!r}")
        width = ends[1] - ends[0]
        if not NARROWEST <= width <= WIDEST:
            raise InvalidParameterError(
                f"the interval from {low!r} to {high!r} is too {'wide' if width > 1 else 'narrow'}: rescale "
                f"the values, so that it is between {NARROWEST:g} and {WIDEST:g} wide"
            )
        if width < 4 * GRID * math.ulp(max(map(abs, ends))):
            raise InvalidParameterError(
                f"the interval from {low!r} to {high!r} is too narrow for its distance from zero: "
                "subtract a constant from the values"
            )
        self._settle(ends[0], ends[1], width)

    def clip(self, values: Values) -> tuple[Floats, int]:
        """Return finite numbers moved into the interval, and how many had to be moved.

        Examples
        --------
        >>> IntervalDomain(0, 1).clip([-3, 0.5, 7])
        (array([0. , 0.5, 1. ]), 2)
        """
        numbers = as_numbers(values)
        finite = np.isfinite(numbers)
        if not finite.all():
            refuse_infinite(numbers, int(np.argmin(finite)))
        outside = int(((numbers < self.low) | (numbers > self.high)).sum())
        return (np.clip(numbers, self.low, self.high) if outside else numbers), outside

    def take(self, values: Values, *, clip: bool = False) -> Floats:
        """Return numbers of the interval, clipped with a warning if asked for, else checked."""
        if not clip:
            return self.check(values)
        numbers, moved = self.clip(values)
        if moved:
            warnings.warn(
                f"{moved} of {len(numbers)} values were outside {self} and were moved to its nearest end",
                ClippedWarning,
                stacklevel=3,
            )
        return numbers

    def encode(self, values: Values, *, steps: int = GRID, clip: bool = False) -> Indices:
        """Return the place of every value on the grid, 0 for low and `steps` for high.

        Parameters
        ----------
        values : array, sequence or column
            Numbers.
        steps : int
            How many steps the grid has.
        clip : bool
            True moves values outside to the nearest end and warns with their number.
        """
        return self.place(self.take(values, clip=clip), steps)

    def place(self, numbers: Floats, steps: int = GRID) -> Indices:
        """Return the nearest grid point of numbers that `take` or `check` let through, in new memory.

        The numbers may be the caller's, which another thread can change after the check;
        the places are tested once more, because kernels find their way by them.
        """
        found = self._nearest(numbers, steps)
        if len(found) and found.max() > steps:
            raise OutOfDomainError(
                f"values changed while they were read, to some outside the interval {self}: "
                "do not write to an array that is being privatized"
            )
        return found

    def decode(self, places: Indices | Counts | Sequence[int], *, steps: int = GRID) -> Floats:
        """Return the numbers that places on the grid stand for; exact at both ends."""
        share = np.asarray(places, np.float64) / steps
        return self.low * (1 - share) + self.high * share

    def to_json(self) -> list[float]:
        """Return the JSON form: the two ends."""
        return [self.low, self.high]

    @classmethod
    def from_json(cls, form: Any) -> Self:
        """Return the interval of a JSON form, or refuse it."""
        if not isinstance(form, list) or len(form) != 2:
            raise InvalidParameterError(
                f"an interval is an array of its two ends, such as [0, 1], got {str(form)[:50]!r}"
            )
        return cls(*form)

    @property
    def short(self) -> str:
        """The domain in the `repr` of a mechanism."""
        return f"({self.low:g}, {self.high:g})"

    def examples(self, most: int, source: RandomSource) -> list[float]:
        """Return numbers to try: both ends, the quarters between them and some at random."""
        inner = np.sort(source.generator().random(most // 4))
        shares = np.unique([0.0, 0.25, 0.5, 0.75, 1.0, *inner])
        return [float(self.low + share * self.width) for share in shares]

    def __str__(self) -> str:
        return f"[{self.low:.15g}, {self.high:.15g}]"

    def __repr__(self) -> str:
        return f"IntervalDomain({self.low:.15g}, {self.high:.15g})"

    def __reduce__(self) -> Any:
        return IntervalDomain, (self.low, self.high)


IntervalLike: TypeAlias = "IntervalDomain | Sequence[float]"
"""An interval, or its two ends."""


def as_interval(domain: IntervalLike) -> IntervalDomain:
    """Return the interval for an interval or its two ends.

    Examples
    --------
    >>> as_interval((-1, 1))
    IntervalDomain(-1, 1)
    """
    if isinstance(domain, IntervalDomain):
        return domain
    if not isinstance(domain, (tuple, list, np.ndarray)) or len(domain) != 2:
        raise InvalidParameterError(f"an interval is given by its two ends, such as (0, 1), got {domain!r}")
    return IntervalDomain(domain[0], domain[1])
