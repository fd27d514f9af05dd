"""Real numbers on their way into a domain: what is no finite number is refused with its place."""

from __future__ import annotations

import abc
import math
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ldpkit.core.domains.base import Domain
from ldpkit.core.domains.categorical import as_array
from ldpkit.core.errors import InvalidInputError, InvalidParameterError, OutOfDomainError

if TYPE_CHECKING:
    from ldpkit.core.typing import Floats, Indices, Values

__all__ = ["NARROWEST", "WIDEST", "RealDomain", "as_numbers", "check_end", "refuse_infinite"]

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

    __slots__ = ()
    described: ClassVar[str] = ""
    """What stands before the domain in a refusal."""
    remedy: ClassVar[str]
    """What to do with a number outside."""

    @property
    @abc.abstractmethod
    def low(self) -> float:
        """The lower end, or where the turn begins."""

    @property
    @abc.abstractmethod
    def high(self) -> float:
        """The upper end, or where the turn ends."""

    @property
    @abc.abstractmethod
    def width(self) -> float:
        """The distance between the ends."""

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
