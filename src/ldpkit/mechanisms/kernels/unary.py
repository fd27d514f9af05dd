"""Bernoulli bits with exact 64-bit thresholds for about one random byte each.

The first byte of a threshold decides against one random byte, except where the two are
equal, one time in 256: there the other 56 bits decide against a spare word.
"""

from __future__ import annotations

import numpy as np

from ldpkit.core.compiled import compiled
from ldpkit.core.typing import Bytes, Indices, Words

__all__ = ["randomise"]

_PACK = np.uint64(0x0102040810204080)  # gathers the lowest bits of eight bytes into the highest byte
_TOP = np.uint64(56)


@compiled()
def _randomise(noise, spare, values, own, other, below, equal, below_words, equal_words, out):
    n, size = noise.shape
    own_byte, other_byte = np.uint8(own >> _TOP), np.uint8(other >> _TOP)
    rest = np.uint64((1 << 56) - 1)
    used = 0
    for i in range(n):
        row, target = noise[i], out[i]
        for j in range(size):
            below[j] = row[j] < other_byte
            equal[j] = row[j] == other_byte
        value = np.int64(values[i])
        below[value] = row[value] < own_byte
        equal[value] = row[value] == own_byte
        for group in range(out.shape[1]):
            if equal_words[group] != 0:
                for j in range(8 * group, 8 * group + 8):
                    if equal[j]:
                        if used < spare.shape[0]:
                            threshold = own if j == value else other
                            below[j] = spare[used] >> np.uint64(8) < threshold & rest
                        used += 1
            target[group] = np.uint8((below_words[group] * _PACK) >> _TOP)
    return used


def randomise(
    noise: Bytes, spare: Words, values: Indices, own: np.uint64, other: np.uint64, out: Bytes
) -> int:
    """Write packed bits: bit values[i] of row i has threshold `own`, all others `other`.

    Returns how many spare words that takes; if there are fewer, call again with so many.
    """
    scratch = np.zeros((2, 8 * out.shape[1]), np.uint8)
    halves = (*scratch, *scratch.view(np.uint64))
    return int(_randomise(noise, spare, values, own, other, *halves, out))
