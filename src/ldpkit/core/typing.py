"""Names for the arrays that walk through the house."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from ldpkit.core.domains.categorical import CategoricalDomain

__all__ = [
    "Bytes",
    "Counts",
    "DomainLike",
    "Flags",
    "Floats",
    "Indices",
    "Label",
    "Reports",
    "Values",
    "Words",
]

Bytes: TypeAlias = NDArray[np.uint8]
Words: TypeAlias = NDArray[np.uint64]
Indices: TypeAlias = NDArray[np.uint32]
Counts: TypeAlias = NDArray[np.int64]
Flags: TypeAlias = NDArray[np.bool_]
Floats: TypeAlias = NDArray[np.float64]
Reports: TypeAlias = NDArray[Any]
Label: TypeAlias = str | int | float | bool
Values: TypeAlias = NDArray[Any] | Sequence[Any] | Iterable[Any]
"""Values of people: an array, a sequence, or a pandas, polars or arrow column."""
DomainLike: TypeAlias = "int | Sequence[Label] | CategoricalDomain"
