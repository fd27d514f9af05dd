"""Randomised response from one random word a user."""

from __future__ import annotations

import numpy as np

from ldpkit.core.compiled import compiled

__all__ = ["piece_or_value", "respond"]


@compiled(inline="always")
def piece_or_value(word, value, keep, width, inverse, last):
    """Return the response to one value; `inverse` is one over the width, in floating point."""
    rest = word - keep
    piece = min(np.uint64(np.float64(rest) * inverse), last)
    if piece * width > rest:
        piece -= np.uint64(1)
    elif rest - piece * width >= width:
        piece += np.uint64(1)
    return value if word < keep else piece + np.uint64(piece >= value)


@compiled()
def respond(words, values, keep, width, last, out):
    """Write the response to each value: itself below `keep`, else the piece that the word falls in.

    `last` is the number of the last piece. The piece is an integer quotient. A division
    of 64-bit integers is slow, so it is guessed in floating point, which is off by one
    at most, and set right in integers.
    """
    inverse = 1.0 / np.float64(width)
    for i in range(words.shape[0]):
        out[i] = piece_or_value(words[i], np.uint64(values[i]), keep, width, inverse, last)
