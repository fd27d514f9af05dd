"""Randomised response from one random word a user."""

from __future__ import annotations

import numpy as np
from numba import njit

__all__ = ["respond"]


@njit(cache=True, nogil=True)
def respond(words, values, keep, width, last, out):
    """Write the response to each value: itself below `keep`, else the piece that the word falls in.

    `last` is the number of the last piece. The piece is an integer quotient. A division
    of 64-bit integers is slow, so it is guessed in floating point, which is off by one
    at most, and set right in integers.
    """
    inverse = 1.0 / np.float64(width)
    for i in range(words.shape[0]):
        value = np.uint64(values[i])
        rest = words[i] - keep
        piece = min(np.uint64(np.float64(rest) * inverse), last)
        if piece * width > rest:
            piece -= np.uint64(1)
        elif rest - piece * width >= width:
            piece += np.uint64(1)
        out[i] = value if words[i] < keep else piece + np.uint64(piece >= value)
