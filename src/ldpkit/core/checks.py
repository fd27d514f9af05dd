"""Checks of parameters that more than one room needs."""

from __future__ import annotations

import operator
from typing import SupportsFloat, SupportsIndex

import numpy as np

from ldpkit.core.errors import InvalidInputError, InvalidParameterError
from ldpkit.core.parameters import EPSILON, LARGEST_EPSILON, SMALLEST_EPSILON
from ldpkit.core.typing import Counts

__all__ = [
    "LARGEST_EPSILON",
    "SMALLEST_EPSILON",
    "check_counts",
    "check_epsilon",
    "check_fraction",
    "check_whole",
    "exact_sum",
]

MOST_PEOPLE = 2.0**62  # what integers of 64 bits hold with room to spare


def check_epsilon(epsilon: SupportsFloat, name: str = "epsilon") -> float:
    """Return a usable epsilon as a float, or refuse it.

    Examples
    --------
    >>> check_epsilon(1)
    1.0
    >>> check_epsilon(-1)
    Traceback (most recent call last):
    ...
    ldpkit.core.errors.InvalidParameterError: epsilon must be positive and finite, got -1
    """
    number: float = EPSILON.check(epsilon, None if name == EPSILON.name else name)
    return number


def check_fraction(value: float, name: str) -> float:
    """Return a number strictly between 0 and 1, or refuse it."""
    if isinstance(value, bool) or not isinstance(value, (int, float, np.number)) or not 0 < value < 1:
        raise InvalidParameterError(f"{name} must lie strictly between 0 and 1, got {value!r}")
    return float(value)


def check_whole(value: SupportsIndex, name: str, *, least: int = 1) -> int:
    """Return a whole number that is at least `least`, or refuse it."""
    try:
        number = operator.index(value)
    except TypeError:
        raise InvalidParameterError(f"{name} must be a whole number, got {value!r}") from None
    if isinstance(value, bool) or number < least:
        raise InvalidParameterError(f"{name} must be at least {least}, got {value!r}")
    return number


def check_counts(counts: object, size: int) -> Counts:
    """Return counts of people per value as integers, or refuse them."""
    try:
        array = np.asarray(counts)
    except ValueError:
        raise InvalidInputError("counts must be one list of whole numbers") from None
    if array.shape != (size,):
        raise InvalidInputError(
            f"counts must have one entry for each of {size} values, got shape {array.shape}"
        )
    if array.dtype.kind not in "iuf" or not (np.isfinite(array).all() and (array == np.floor(array)).all()):
        raise InvalidInputError("counts must be whole numbers: they count people")
    if (array < 0).any():
        position = int(np.argmax(array < 0))
        raise InvalidInputError(f"counts must not be negative, got {array[position]} at position {position}")
    people = float(array.sum(dtype=np.float64))
    if people == 0:
        raise InvalidInputError("counts are all zero: there is nobody to ask")
    if people >= MOST_PEOPLE:
        raise InvalidInputError(f"counts sum to {people:.3g}, more than integers hold: scale them down")
    return array.astype(np.int64)


def exact_sum(counts: Counts) -> int:
    """Return the sum of integers of 64 bits, which may be more than such an integer holds.

    Examples
    --------
    >>> exact_sum(np.array([2**62, 2**62, 5])) == 2**63 + 5
    True
    """
    if counts.size == 0:
        return 0
    if max(int(counts.max()), -int(counts.min())) * counts.size < 1 << 63:
        return int(counts.sum())
    return (int((counts >> 32).sum()) << 32) + int((counts & 0xFFFFFFFF).sum())
