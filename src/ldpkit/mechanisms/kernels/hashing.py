"""Hashed reports: made, and counted: for every value, the reports whose bucket holds it.

A value is supported when its hash word lies within the bucket's range. Shifted to the
bucket's start that is one comparison, a c + b < width, without a division, so the loop
runs on whole vectors. Reports go four at a time to save on loads, and values in tiles
that stay in the cache.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ldpkit.core.compiled import compiled
from ldpkit.core.typing import Bytes, Counts
from ldpkit.mechanisms.kernels.response import piece_or_value

__all__ = ["count_supports", "hash_and_respond", "pack_supports"]

_Array = np.ndarray[Any, Any]
_TILE = 4096
_PACK = np.uint64(0x0102040810204080)  # gathers the lowest bits of eight bytes into the highest byte
_FLUSH = 1 << 30  # reports that a 32-bit accumulator surely holds


@compiled()
def hash_and_respond(words, a, b, constants, slots, half, buckets, keep, width, last, out):
    """Write the response to the bucket of each value; the constant of value i is constants[slots[i]]."""
    word = constants.dtype.type
    inverse = 1.0 / np.float64(width)
    for i in range(words.shape[0]):
        cell = np.uint64(word(a[i] * constants[slots[i]] + b[i])) >> half
        out[i] = piece_or_value(words[i], (cell * buckets) >> half, keep, width, inverse, last)


def _ranges(a, b, edges, slots):
    """Return a, b and width such that a report supports v if (a c(v) + b mod a word) < width.

    The bucket of report i begins at edges[slots[i]] and ends before the edge behind it. This is not
    compiled: it costs little beside the counting, and reports come in too many forms.
    """
    ranges = np.empty((3, len(a)), edges.dtype)
    ranges[0] = a
    np.subtract(b, edges[slots], out=ranges[1])
    ranges[2] = np.diff(edges)[slots]
    return ranges


@compiled()
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


def count_supports(a: _Array, b: _Array, edges: _Array, slots: _Array, constants: _Array) -> Counts:
    """Return for each constant how many reports have it in their bucket."""
    a, b, width = _ranges(a, b, edges, slots)
    counts: Counts = np.zeros(len(constants), np.int64)
    for start in range(0, len(constants), _TILE):
        tile = slice(start, start + _TILE)
        for first in range(0, len(a), _FLUSH):
            some = slice(first, first + _FLUSH)
            partial = np.zeros_like(counts[tile], np.uint32)
            _add_tile(a[some], b[some], width[some], constants[tile], partial)
            counts[tile] += partial
    return counts


@compiled()
def _pack(a, b, width, constants, inside, inside_words, packed):
    word = constants.dtype.type
    for i in range(a.shape[0]):
        ai, bi, wi = a[i], b[i], width[i]
        for v in range(constants.shape[0]):
            inside[v] = word(ai * constants[v] + bi) < wi
        for group in range(packed.shape[1]):
            packed[i, group] = np.uint8((inside_words[group] * _PACK) >> np.uint64(56))


def pack_supports(a: _Array, b: _Array, edges: _Array, slots: _Array, constants: _Array) -> Bytes:
    """Return for each report a bit for each constant: whether it lies in the report's bucket."""
    groups = (len(constants) + 7) // 8
    packed: Bytes = np.empty((len(a), groups), np.uint8)
    inside = np.zeros(8 * groups, np.uint8)
    _pack(*_ranges(a, b, edges, slots), constants, inside, inside.view(np.uint64), packed)
    return packed
