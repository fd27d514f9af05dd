"""Supports of hashed reports: for every value, the reports whose bucket holds it.

A value is supported when its hash word lies within the bucket's range. Shifted to the
bucket's start that is one comparison, a c + b < width, without a division, so the loop
runs on whole vectors. Reports go four at a time to save on loads, and values in tiles
that stay in the cache.
"""

from __future__ import annotations

import numpy as np
from numba import njit

__all__ = ["count_supports", "pack_supports"]

_TILE = 4096
_PACK = np.uint64(0x0102040810204080)  # gathers the lowest bits of eight bytes into the highest byte
_FLUSH = 1 << 30  # reports that a 32-bit accumulator surely holds


@njit(cache=True, nogil=True)
def _add_tile(a, b, width, constants, partial):
    word = constants.dtype.type  # integer arithmetic widens; the hash is modulo one word
    whole = a.shape[0] // 4 * 4
    for i in range(0, whole, 4):
        a0, a1, a2, a3 = a[i], a[i + 1], a[i + 2], a[i + 3]
        b0, b1, b2, b3 = b[i], b[i + 1], b[i + 2], b[i + 3]
        w0, w1, w2, w3 = width[i], width[i + 1], width[i + 2], width[i + 3]
        for v in range(constants.shape[0]):
            c = constants[v]
            partial[v] += (
                np.uint32(word(a0 * c + b0) < w0)
                + np.uint32(word(a1 * c + b1) < w1)
                + np.uint32(word(a2 * c + b2) < w2)
                + np.uint32(word(a3 * c + b3) < w3)
            )
    for i in range(whole, a.shape[0]):
        for v in range(constants.shape[0]):
            partial[v] += np.uint32(word(a[i] * constants[v] + b[i]) < width[i])


@njit(cache=True, nogil=True)
def count_supports(a, b, width, constants):
    """Return for each constant c how many reports have (a c + b mod a word) < width."""
    size = constants.shape[0]
    counts = np.zeros(size, np.int64)
    for start in range(0, size, _TILE):
        tile = constants[start : min(start + _TILE, size)]
        for first in range(0, a.shape[0], _FLUSH):
            last = min(first + _FLUSH, a.shape[0])
            partial = np.zeros(tile.shape[0], np.uint32)
            _add_tile(a[first:last], b[first:last], width[first:last], tile, partial)
            counts[start : start + tile.shape[0]] += partial
    return counts


@njit(cache=True, nogil=True)
def pack_supports(a, b, width, constants):
    """Return for each report a bit for each constant: whether (a c + b mod a word) < width."""
    word = constants.dtype.type
    size = constants.shape[0]
    groups = (size + 7) // 8
    packed = np.empty((a.shape[0], groups), np.uint8)
    inside = np.zeros(8 * groups, np.uint8)
    inside_words = inside.view(np.uint64)
    for i in range(a.shape[0]):
        ai, bi, wi = a[i], b[i], width[i]
        for v in range(size):
            inside[v] = word(ai * constants[v] + bi) < wi
        for group in range(groups):
            packed[i, group] = np.uint8((inside_words[group] * _PACK) >> np.uint64(56))
    return packed
