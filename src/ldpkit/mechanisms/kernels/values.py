"""Counts of small integers."""

from __future__ import annotations

from typing import Any

import numpy as np

from ldpkit.core.compiled import compiled
from ldpkit.core.typing import Counts

__all__ = ["count_values"]


@compiled()
def _count(values, even, odd):
    pairs = values.shape[0] // 2
    for i in range(pairs):
        even[values[2 * i]] += 1
        odd[values[2 * i + 1]] += 1
    if 2 * pairs < values.shape[0]:
        even[values[2 * pairs]] += 1


def count_values(values: np.ndarray[Any, Any], size: int) -> Counts:
    """Return how often each of 0..size-1 occurs.

    Two counters take turns, so that equal neighbours do not wait for each other.
    """
    counts = np.zeros((2, size), np.int64)
    _count(values, *counts)
    total: Counts = counts[0] + counts[1]
    return total
