"""Cells of the plane from random words: one of a window's, or any, by comparing integers."""

from __future__ import annotations

import numpy as np

from ldpkit.core.compiled import compiled
from ldpkit.mechanisms.kernels.pieces import _SURE, _divide

__all__ = ["planar", "planar_rows", "rows_of_sites"]


@compiled()
def planar(words, places, widths, lasts, more, base, shift, out):
    """Write a cell for each place: of its window, widths[0] by widths[1] cells, or of all 2**shift squared.

    Words below more * (cells of the window) choose a cell of the window, the others any cell, so
    that one inside has more + base words and one outside has base.
    """
    width, height = np.uint64(widths[0]), np.uint64(widths[1])
    edge = more * width * height
    by_more, by_base, by_height = (
        _SURE / np.float64(more),
        _SURE / np.float64(base),
        _SURE / np.float64(height),
    )
    mask = (np.uint64(1) << shift) - np.uint64(1)
    for i in range(words.shape[0]):
        word = words[i]
        is_in = word < edge
        index = _divide(
            word if is_in else word - edge, more if is_in else base, by_more if is_in else by_base
        )
        column = _divide(index, height, by_height)
        x = min(max(2 * np.int64(places[i, 0]) - (widths[0] >> 1), 0), lasts[0])
        y = min(max(2 * np.int64(places[i, 1]) - (widths[1] >> 1), 0), lasts[1])
        out[i, 0] = np.uint64(x) + column if is_in else index >> shift
        out[i, 1] = np.uint64(y) + index - column * height if is_in else index & mask


@compiled()
def planar_rows(words, places, halves, lasts, sums, reaches, more, base, shift, out):
    """Write a cell for each place, as `planar` does, of a window that is so many cells high in each column.

    Column c of the window has 2 * reaches[c] cells, half of them below the middle; sums[c] are those of
    all columns before.
    """
    columns = reaches.shape[0]
    edge = more * np.uint64(sums[columns])
    by_more, by_base = _SURE / np.float64(more), _SURE / np.float64(base)
    mask = (np.uint64(1) << shift) - np.uint64(1)
    for i in range(words.shape[0]):
        word = words[i]
        if word < edge:
            index = np.int64(_divide(word, more, by_more))
            low, high = 0, columns
            while high - low > 1:
                middle = (low + high) >> 1
                if sums[middle] <= index:
                    low = middle
                else:
                    high = middle
            x = min(max(2 * np.int64(places[i, 0]) - halves[0], 0), lasts[0])
            y = min(max(2 * np.int64(places[i, 1]) - halves[1], 0), lasts[1])
            out[i, 0] = x + low
            out[i, 1] = y + halves[1] - reaches[low] + index - sums[low]
        else:
            index = np.int64(_divide(word - edge, base, by_base))
            out[i, 0] = index >> np.int64(shift)
            out[i, 1] = index & np.int64(mask)


@compiled()
def rows_of_sites(words, own, bounds, out):
    """Write a site for each own one: the last of its row whose least word is at most the random word."""
    count = bounds.shape[1]
    for i in range(words.shape[0]):
        row, word = bounds[own[i]], words[i]
        low, high = 0, count
        while high - low > 1:
            middle = (low + high) >> 1
            if row[middle] <= word:
                low = middle
            else:
                high = middle
        out[i] = low
