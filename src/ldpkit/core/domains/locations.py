"""Locations on their way into a plane: rows, two columns, or points of shapely."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from ldpkit.core.errors import InvalidInputError

if TYPE_CHECKING:
    from ldpkit.core.typing import Floats

__all__ = ["Locations", "as_points"]

Locations: TypeAlias = Any
"""Rows of two numbers, a tuple of two columns, or shapely points."""


def as_points(values: Locations) -> Floats:
    """Return locations as rows of two floating-point numbers, or refuse them.

    Examples
    --------
    >>> as_points([(1, 2), (3, 4)]).tolist() == as_points((np.array([1, 3]), np.array([2, 4]))).tolist()
    True
    """
    array = _rows(values)
    if type(array) is not np.ndarray and isinstance(array, np.ma.MaskedArray) and np.ma.is_masked(array):
        raise InvalidInputError("locations are masked in places: drop missing values")
    if array.size == 0:
        raise InvalidInputError("there are no locations: give at least one")
    if array.ndim != 2 or array.shape[1] != 2:
        raise InvalidInputError(f"locations have shape (n, 2), a row of two numbers each, got {array.shape}")
    if array.dtype.kind not in "iuf":
        raise InvalidInputError(f"locations are numbers, got {array.dtype}: convert them first")
    return array.astype(np.float64, copy=False)


def _rows(values: Locations) -> np.ndarray[Any, Any]:
    if isinstance(values, np.ndarray) and values.dtype.kind != "O":
        return values
    if hasattr(values, "x") and hasattr(values, "y"):  # a column of geopandas
        values = (values.x, values.y)
    if isinstance(values, tuple) and len(values) == 2 and all(_is_column(each) for each in values):
        columns = [np.asarray(each) for each in values]
        if columns[0].shape != columns[1].shape or columns[0].ndim != 1:
            raise InvalidInputError(
                f"two columns of locations have one length, got shapes {columns[0].shape} and "
                f"{columns[1].shape}"
            )
        return np.stack(columns, axis=1)
    if hasattr(values, "to_numpy"):
        return np.asarray(values.to_numpy())
    if isinstance(values, (str, bytes, dict)) or not isinstance(values, Iterable):
        raise InvalidInputError(f"locations are rows of two numbers, got {type(values).__name__}")
    items = list(values)
    for position, item in enumerate(items):
        if hasattr(item, "x") and hasattr(item, "y"):  # a point of shapely
            items[position] = (item.x, item.y)
        elif isinstance(item, (str, bytes)) or not hasattr(item, "__len__") or len(item) != 2:
            raise InvalidInputError(
                f"location {str(item)[:50]!r} at position {position} is not a pair of numbers"
            )
        elif any(isinstance(each, (str, bytes, bool)) or each is None for each in items[position]):
            raise InvalidInputError(
                f"location {str(item)[:50]} at position {position} is not a pair of numbers: drop missing "
                "values"
            )
    try:
        return np.array(items, np.float64)
    except (OverflowError, TypeError, ValueError):
        raise InvalidInputError("locations are rows of two numbers: some are none") from None


def _is_column(values: object) -> bool:
    return isinstance(values, np.ndarray) or hasattr(values, "to_numpy")
