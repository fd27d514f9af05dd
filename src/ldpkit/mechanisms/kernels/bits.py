"""Packed bits randomised once more, with exact 64-bit thresholds for about one byte each.

As in `unary`, the first byte of a threshold decides, and a spare word where it ties.
"""

from __future__ import annotations

import numpy as np

from ldpkit.core.compiled import compiled

__all__ = ["count_ties", "randomise_again"]


@compiled()
def count_ties(noise, bits, one, zero):
    """Return how many bytes equal the first byte of their threshold."""
    one_byte, zero_byte = np.uint8(one >> np.uint64(56)), np.uint8(zero >> np.uint64(56))
    total = 0
    for i in range(noise.shape[0]):
        row, source = noise[i], bits[i]
        for j in range(row.shape[0]):
            limit = one_byte if source[j >> 3] >> (j & 7) & 1 else zero_byte
            total += row[j] == limit
    return total


@compiled()
def randomise_again(noise, spare, bits, one, zero, out):
    """Set bits of the empty `out`: a set bit of `bits` has threshold `one`, another `zero`."""
    one_byte, zero_byte = np.uint8(one >> np.uint64(56)), np.uint8(zero >> np.uint64(56))
    rest = np.uint64((1 << 56) - 1)
    one_rest, zero_rest = one & rest, zero & rest
    used = 0
    for i in range(noise.shape[0]):
        row, source, target = noise[i], bits[i], out[i]
        for j in range(row.shape[0]):
            is_set = source[j >> 3] >> (j & 7) & 1
            limit = one_byte if is_set else zero_byte
            value = row[j] < limit
            if row[j] == limit:
                value = spare[used] >> np.uint64(8) < (one_rest if is_set else zero_rest)
                used += 1
            target[j >> 3] |= np.uint8(value) << np.uint8(j & 7)
