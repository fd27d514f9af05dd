"""Numeric reports from random words, by comparing integers.

A cell within a level of equal weights is found by dividing a word by the weight. The
quotient is first taken from a floating-point reciprocal that never falls short, then
corrected by an integer comparison, so it is exact and the loop still runs on vectors.
"""

from __future__ import annotations

import numpy as np

from ldpkit.core.compiled import compiled

__all__ = ["binned", "blocks", "coin", "hybrid", "rows", "truncate", "turned", "window", "wrapped"]

_ONE = np.uint64(1)
_SURE = 1 + 2.0**-50  # above all rounding of a conversion, a reciprocal and a product
_GUIDE = np.uint64(52)  # the guide of a table goes by the first 12 bits of a word


@compiled(inline="always")
def _divide(word, weight, reciprocal):
    rough = np.float64(np.int64((word >> _ONE) + _ONE)) * 2.0 * reciprocal  # at least word / weight
    quotient = np.uint64(np.int64(rough))
    return quotient - np.uint64(np.int64(word - quotient * weight) < 0)


@compiled(inline="always")
def _cell(word, place, width, inside, outside, edge, by_inside, by_outside):
    """Return the cell of a word below the total of a window: the window's words come first."""
    is_in = word < edge
    rest = word if is_in else word - edge
    index = _divide(rest, inside if is_in else outside, by_inside if is_in else by_outside)
    beyond = width if index >= place else np.uint64(0)
    return index + (place if is_in else beyond)


@compiled()
def window(words, places, scale, offset, last, width, inside, outside, out):
    """Write a cell for each place: one of the `width` cells of its window, or any other cell.

    The window begins at scale * place + offset, but not before 0 and not after `last`.
    """
    edge, by_inside, by_outside = width * inside, _SURE / np.float64(inside), _SURE / np.float64(outside)
    for i in range(words.shape[0]):
        start = np.uint64(min(max(scale * np.int64(places[i]) + offset, 0), last))
        out[i] = _cell(words[i], start, width, inside, outside, edge, by_inside, by_outside)


@compiled()
def wrapped(words, places, half, mask, width, inside, outside, out):
    """Write a cell of a circle for each place: cells are counted from the start of its window."""
    edge, by_inside, by_outside = width * inside, _SURE / np.float64(inside), _SURE / np.float64(outside)
    for i in range(words.shape[0]):
        start = 2 * np.int64(places[i]) - half
        cell = np.int64(_cell(words[i], np.uint64(0), width, inside, outside, edge, by_inside, by_outside))
        out[i] = (start + cell) & mask


@compiled()
def coin(words, places, base, slope, out):
    """Write 1 with a probability that grows evenly with the place, else 0."""
    for i in range(words.shape[0]):
        out[i] = words[i] < base + slope * np.uint64(places[i])


@compiled()
def hybrid(words, places, coins, base, slope, width, inside, outside, cells, out):
    """Write a coin's side (as cells, cells + 1) for words below `coins`, a window's cell for others."""
    edge, by_inside, by_outside = width * inside, _SURE / np.float64(inside), _SURE / np.float64(outside)
    for i in range(words.shape[0]):
        word, place = words[i], np.uint64(places[i])
        is_coin = word < coins
        side = cells + np.uint64(word < base + slope * place)
        rest = np.uint64(0) if is_coin else word - coins
        cell = _cell(rest, place, width, inside, outside, edge, by_inside, by_outside)
        out[i] = side if is_coin else cell


@compiled()
def truncate(reports, first, cells):
    """Count cells from `first` on; write `cells` for those below, cells + 1 for those beyond the last."""
    for i in range(reports.shape[0]):
        cell = np.int64(reports[i]) - first
        reports[i] = cells if cell < 0 else (cells + 1 if cell >= cells else cell)


@compiled(inline="always")
def _locate(word, bounds, guide):
    """Return the last entry whose lower bound is at most the word."""
    entry = np.int64(guide[np.int64(word >> _GUIDE)])
    while entry + 1 < bounds.shape[0] and bounds[entry + 1] <= word:
        entry += 1
    return entry


@compiled()
def blocks(words, places, steps, far, far_guide, near, near_guide, starts, weights, reach, cells, out):
    """Write place plus noise: a block and a side from one word, a cell of the block from the next."""
    for i in range(places.shape[0]):
        first, second = words[2 * i], words[2 * i + 1]
        block = _locate(first, far, far_guide)
        run = _locate(second, near, near_guide)
        within = np.int64((second - near[run]) // weights[run])
        distance = block * steps + starts[run] + within
        zero = np.int64(places[i]) + reach
        cell = zero + distance if first & _ONE else zero - 1 - distance
        out[i] = cells if cell < 0 else (cells + 1 if cell >= cells else cell)


@compiled()
def turned(words, places, bounds, guide, mask, out):
    """Write a cell of a circle for each place: a distance by the word, a side by its last bit."""
    for i in range(words.shape[0]):
        distance = _locate(words[i], bounds, guide)
        zero = 2 * np.int64(places[i])
        out[i] = (zero + distance if words[i] & _ONE else zero - 1 - distance) & mask


@compiled()
def rows(words, places, table, out):
    """Write a half-cell for each place: a point by its row of lower bounds, a half by the last bit."""
    points = table.shape[1]
    for i in range(words.shape[0]):
        row, word = table[places[i]], words[i]
        low, high = 0, points
        while high - low > 1:
            middle = (low + high) >> 1
            if row[middle] <= word:
                low = middle
            else:
                high = middle
        half = 2 * low - np.int64(word & _ONE)
        out[i] = 0 if low == 0 else (2 * points - 3 if low == points - 1 else half)


@compiled()
def binned(reports, cells, shift, counts):
    """Count reports by bins of 2**shift cells, then atoms, then sum the places of cells in their bins."""
    bins = (cells + (1 << shift) - 1) >> shift
    mask = (1 << shift) - 1
    offsets = 0
    for i in range(reports.shape[0]):
        report = np.int64(reports[i])
        if report < cells:
            counts[report >> shift] += 1
            offsets += report & mask
        else:
            counts[bins + report - cells] += 1
    counts[-1] += offsets
