"""Uniform random sets with exact integer draws."""

from __future__ import annotations

import numpy as np

from ldpkit.core.compiled import compiled

__all__ = ["list_values", "randomise"]

_LOW = np.uint64(0xFFFFFFFF)


@compiled()
def randomise(coins, draws, spare, values, threshold, size, out):
    """Write a bitmap of `omega` values for each row; return False if `spare` runs out.

    The coin says whether the own value is in the set. The others are drawn by Floyd's
    algorithm from the remaining size - 1; a set with the own value needs one draw less
    and ignores the first. A draw below r takes the high half of r times a 32-bit word
    and rejects the few low halves that would make it uneven (Lemire 2019).
    """
    n, omega = draws.shape
    used = 0
    for i in range(n):
        row, value = out[i], np.int64(values[i])
        held = coins[i] < threshold
        for step in range(omega):
            last = size - 1 - omega + step  # the largest of `bound` candidates
            bound = np.uint64(last + 1)
            product = np.uint64(draws[i, step]) * bound
            if product & _LOW < bound:
                uneven = (np.uint64(1) << np.uint64(32)) % bound
                while product & _LOW < uneven:
                    if used == spare.shape[0]:
                        return False
                    product = np.uint64(spare[used]) * bound
                    used += 1
            if step == 0 and held:
                continue
            chosen = np.int64(product >> np.uint64(32))
            place = chosen + (chosen >= value)
            if row[place >> 3] >> (place & 7) & 1:
                place = last + (last >= value)
            row[place >> 3] |= np.uint8(1 << (place & 7))
        if held:
            row[value >> 3] |= np.uint8(1 << (value & 7))
    return True


@compiled()
def list_values(bitmaps, out):
    """Write the values of each bitmap in ascending order."""
    for i in range(bitmaps.shape[0]):
        found = 0
        for byte in range(bitmaps.shape[1]):
            bits = bitmaps[i, byte]
            if bits:
                for bit in range(8):
                    if bits >> bit & 1:
                        out[i, found] = 8 * byte + bit
                        found += 1
