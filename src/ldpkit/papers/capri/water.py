"""A made-up city that drinks as much water as the thesis' one.

The thesis plans for 98,511 clients who use 0 to 40 cubic metres a month, 1,598,489 in
all. That data set is not part of ldpkit. This one is generated: weights
(v + 1/2)^(3/2) e^(-v/b), a gamma curve as consumption usually has, with b such that the
mean fits, rounded to people; then as many people as needed use one cubic metre more or
less, so that the total is exact.
"""

from __future__ import annotations

import math

import numpy as np

from ldpkit.core.errors import InvalidParameterError
from ldpkit.core.typing import Counts, Floats
from ldpkit.simulation.populations import largest_remainder

__all__ = ["CLIENTS", "LARGEST", "TOTAL", "water"]

CLIENTS, LARGEST, TOTAL = 98_511, 40, 1_598_489


def water(clients: int = CLIENTS, total: int = TOTAL) -> Counts:
    """Return how many clients use 0, 1, ... 40 cubic metres.

    Examples
    --------
    >>> counts = water()
    >>> len(counts), int(counts.sum()), int(counts @ np.arange(41))
    (41, 98511, 1598489)
    >>> counts[[0, 10, 20, 40]].tolist()
    [177, 4346, 3017, 549]
    """
    amounts = np.arange(LARGEST + 1)
    if not 0.1 * LARGEST < total / clients < 0.9 * LARGEST:
        raise InvalidParameterError(f"the mean must lie between 4 and 36, got {total / clients:g}")
    low, high = -1.0, 1.0  # of 1/b
    for _ in range(60):
        rate = (low + high) / 2
        low, high = (rate, high) if _chances(rate) @ amounts > total / clients else (low, rate)
    counts = largest_remainder(_chances(low) * clients, clients)
    missing = total - int(counts @ amounts)
    step = int(math.copysign(1, missing))
    middle = LARGEST // 2
    counts[middle] -= abs(missing)
    counts[middle + step] += abs(missing)
    return counts


def _chances(rate: float) -> Floats:
    amounts = np.arange(LARGEST + 1)
    weights = (amounts + 0.5) ** 1.5 * np.exp(-rate * amounts)
    return np.asarray(weights / weights.sum())
