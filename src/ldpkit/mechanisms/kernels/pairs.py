"""People in random order, and the reports of pairs from one shared word each."""

from __future__ import annotations

import numpy as np

from ldpkit.core.compiled import compiled

__all__ = ["pair_up", "respond_in_pairs", "shuffle"]

_HALF = np.uint64(32)
_LOW = np.uint64(0xFFFFFFFF)
_ONE = np.uint64(1)


@compiled(inline="always")
def _place(word, bound):
    """Return the place below a bound, of less than 33 bits, that a word falls in, and what is left of it."""
    high = ((word >> _HALF) * bound + (((word & _LOW) * bound) >> _HALF)) >> _HALF
    return high, word * bound


@compiled()
def shuffle(words, spare, out):
    """Write the numbers below len(out) in uniformly random order; return how many spare words it took.

    Fisher and Yates, with Lemire's exactly uniform integers: the few words that would favour
    some places are replaced by spare ones. If more are wanted than there are, the order is
    not finished and must be drawn again with more.
    """
    used = 0
    n = out.shape[0]
    for i in range(n):
        out[i] = i
    for i in range(n - 1, 0, -1):
        bound = np.uint64(i + 1)
        place, rest = _place(words[i], bound)
        if rest < bound:
            unfair = (~bound + _ONE) % bound
            while rest < unfair:
                if used == spare.shape[0]:
                    return used + 1
                place, rest = _place(spare[used], bound)
                used += 1
        j = np.int64(place)
        out[i], out[j] = out[j], out[i]
    return used


@compiled()
def pair_up(words, both, out):
    """Write the words of both partners: one that is shared, and the complement of it moved on by `both`.

    At both = 0 the second is exactly the complement of the first. A pair has a row of words.
    """
    for i in range(words.shape[0]):
        for j in range(words.shape[1]):
            out[i, 0, j] = words[i, j]
            out[i, 1, j] = ~(words[i, j] + both)


@compiled()
def respond_in_pairs(order, words, values, keep, both, choices, last, out):
    """Write the report of everybody: neighbours in `order` share a word, whoever is left has one alone.

    Below `keep` a report is the truth. Else it is one of the other values, of which `choices`
    names one for each person, or the only one if `last` is 0.
    """
    n = order.shape[0]
    for i in range(n):
        word = words[i >> 1]
        if i & 1:
            word = ~(word + both)
        person = order[i]
        value = np.uint64(values[person])
        if word >= keep:
            other = np.uint64(0) if last == 0 else choices[i]
            value = other + np.uint64(other >= value)
        out[person] = value
