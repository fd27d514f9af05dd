"""Draws from a table of laws, after randomised rounding to one of its rows."""

from __future__ import annotations

import numpy as np

from ldpkit.core.compiled import compiled

__all__ = ["draw_rows"]

_GUIDE = np.uint64(56)  # the guide goes by the first 8 bits of a word


@compiled()
def draw_rows(words, coins, places, bins, shift, bounds, guide, out):
    """Write an output for each place: of the row below or above it by a coin, then by a word.

    A place is a point of a grid of 2**shift steps, and rows are `bins` steps apart on the
    same length. `bounds` are the least words of each output; `guide` holds for the first 8
    bits of a word the output to begin with.
    """
    mask = (np.uint64(1) << shift) - np.uint64(1)
    last = bounds.shape[1] - 1
    for i in range(words.shape[0]):
        scaled = np.uint64(places[i]) * bins
        row = np.int64(scaled >> shift) + np.int64((np.uint64(coins[i]) & mask) < (scaled & mask))
        word = words[i]
        entry = np.int64(guide[row, np.int64(word >> _GUIDE)])
        while entry < last and bounds[row, entry + 1] <= word:
            entry += 1
        out[i] = entry
