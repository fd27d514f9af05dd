"""Bernoulli bits with exact 64-bit thresholds for about one random byte each.

The first byte of a threshold decides against one random byte, except where the two are
equal: one time in 256. These ties are listed, and then the other 56 bits decide against
a spare word each.
"""

from __future__ import annotations

import numpy as np
from numba import njit

__all__ = ["break_ties", "randomise"]

_PACK = np.uint64(0x0102040810204080)  # gathers the lowest bits of eight bytes into the highest byte
_TOP = np.uint64(56)


@njit(cache=True, nogil=True)
def _set_bit(row, position, value):
    byte, bit = position >> 3, np.uint8(1 << (position & 7))
    if value:
        row[byte] |= bit
    else:
        row[byte] &= ~bit


@njit(cache=True, nogil=True)
def randomise(noise, values, own, other, out, ties):
    """Write packed bits: bit values[i] of row i has threshold `own`, all others `other`.

    Bits that the noise leaves open are listed in `ties` as (row, bit). Returns their
    number; if it is larger than the list, call again with a longer one.
    """
    n, size = noise.shape
    own_byte, other_byte = np.uint8(own >> _TOP), np.uint8(other >> _TOP)
    groups = (size + 7) // 8
    below = np.zeros(8 * groups, np.uint8)
    equal = np.zeros(8 * groups, np.uint8)
    below_words, equal_words = below.view(np.uint64), equal.view(np.uint64)
    found = 0
    for i in range(n):
        row, target = noise[i], out[i]
        for j in range(size):
            below[j] = row[j] < other_byte
            equal[j] = row[j] == other_byte
        value = np.int64(values[i])
        below[value] = row[value] < own_byte
        equal[value] = row[value] == own_byte
        for group in range(groups):
            target[group] = np.uint8((below_words[group] * _PACK) >> _TOP)
            if equal_words[group] != 0:
                for j in range(8 * group, 8 * group + 8):
                    if equal[j]:
                        if found < ties.shape[0]:
                            ties[found, 0], ties[found, 1] = i, j
                        found += 1
    return found


@njit(cache=True, nogil=True)
def break_ties(ties, spare, values, own, other, out):
    """Decide the listed bits by the low 56 bits of their thresholds, one spare word each."""
    rest = np.uint64((1 << 56) - 1)
    for tie in range(ties.shape[0]):
        i, j = ties[tie, 0], ties[tie, 1]
        threshold = own if j == values[i] else other
        _set_bit(out[i], j, spare[tie] >> np.uint64(8) < threshold & rest)
