"""Column sums of packed bits."""

from __future__ import annotations

import numpy as np

from ldpkit.core.compiled import compiled
from ldpkit.core.typing import Bytes, Counts

__all__ = ["count_columns"]

_FLUSH = 255  # rows that a byte accumulator holds
_WIDE = 128  # bytes of a row that keep the vector units busy


@compiled()
def _add(rows, partial, totals):
    n, width = rows.shape
    for start in range(0, n, _FLUSH):
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
                partial[bit, j] = 0


def _count(rows):
    width = rows.shape[1]
    totals = np.zeros((width, 8), np.int64)
    _add(rows, np.zeros((8, width), np.uint8), totals)
    return totals.reshape(-1)


def count_columns(rows: Bytes) -> Counts:
    """Return how often each bit is set, bit v being bit v%8 of byte v//8.

    Short rows are laid side by side first: as one wide row they are counted in whole vectors.
    """
    n, width = rows.shape
    beside = max(1, _WIDE // width)
    whole = n // beside * beside
    wide = np.ascontiguousarray(rows[:whole]).reshape(whole // beside, beside * width)
    counts: Counts = _count(wide).reshape(beside, 8 * width).sum(axis=0) + _count(rows[whole:])
    return counts
