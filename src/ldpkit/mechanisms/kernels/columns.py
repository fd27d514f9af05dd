"""Column sums of packed bits."""

from __future__ import annotations

import numpy as np
from numba import njit

__all__ = ["count_columns"]

_FLUSH = 255  # rows that a byte accumulator holds


@njit(cache=True, nogil=True)
def count_columns(rows):
    """Return how often each bit is set, bit v being bit v%8 of byte v//8."""
    n, width = rows.shape
    totals = np.zeros((width, 8), np.int64)
    partial = np.zeros((8, width), np.uint8)
    for start in range(0, n, _FLUSH):
        partial[:] = 0
        for i in range(start, min(start + _FLUSH, n)):
            row = rows[i]
            for bit in range(8):
                shift = np.uint8(bit)
                column = partial[bit]
                for j in range(width):
                    column[j] = np.uint8(column[j] + (np.uint8(row[j] >> shift) & np.uint8(1)))
        for bit in range(8):
            for j in range(width):
                totals[j, bit] += partial[bit, j]
    return totals.reshape(8 * width)
