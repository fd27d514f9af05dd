"""Real numbers on their way into a domain: what is no finite number is refused with its place."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from ldpkit.core.domains.categorical import as_array
from ldpkit.core.errors import InvalidInputError, InvalidParameterError, OutOfDomainError

if TYPE_CHECKING:
    from ldpkit.core.typing import Floats, Values

__all__ = ["NARROWEST", "WIDEST", "as_numbers", "check_end", "refuse_infinite"]

# So that squares of the width, and with them variances, neither overflow nor vanish.
NARROWEST, WIDEST = 1e-60, 1e60


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
