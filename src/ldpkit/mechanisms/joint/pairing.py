"""Who meets whom: a uniform secure shuffle of all people, cut into pairs or groups.

Neither the order in which people come nor the chunks in which a file is read may decide
who is paired with whom: sorted values would pair equals, and a collector who sorts could
choose partners. So a whole population is shuffled at once, with words of the same secure
source as the reports.
"""

from __future__ import annotations

import numpy as np

from ldpkit.core.errors import InvalidInputError
from ldpkit.core.random import RandomSource
from ldpkit.core.typing import Indices, Values, Words

__all__ = ["check_pairs", "random_order", "uniform_choices"]

_SPARE = 8  # words: a word is refused once in 2**32 people at most
MOST_PEOPLE = 1 << 32


def random_order(n: int, source: RandomSource) -> Indices:
    """Return 0 to n - 1 in uniformly random order: neighbours at 0 and 1, 2 and 3, ... are partners.

    Examples
    --------
    >>> from ldpkit.core import random
    >>> sorted(random_order(5, random.seeded(1)).tolist())
    [0, 1, 2, 3, 4]
    """
    from ldpkit.mechanisms.kernels.pairs import shuffle

    if n > MOST_PEOPLE:
        raise InvalidInputError(f"at most {MOST_PEOPLE:,} people are paired at a time, got {n:,}")
    order = np.empty(n, np.uint32)
    words, spare = source.words(n), source.words(_SPARE)
    while shuffle(words, spare, order) > len(spare):
        spare = source.words(2 * len(spare))
    return order


def uniform_choices(count: int, bound: int, source: RandomSource) -> Words:
    """Return exactly uniform integers from 0 to bound - 1; words that would favour some are drawn again.

    Examples
    --------
    >>> from ldpkit.core import random
    >>> set(uniform_choices(100, 3, random.seeded(1)).tolist())
    {0, 1, 2}
    """
    limit = (1 << 64) - (1 << 64) % bound
    words = source.words(count)
    while limit < 1 << 64 and (unfair := np.flatnonzero(words >= np.uint64(limit))).size:
        words[unfair] = source.words(len(unfair))
    return words % np.uint64(bound)


def check_pairs(pairs: Values, n: int) -> Indices:
    """Return the order of people that keeps fixed pairs together, those without a partner last, each alone.

    Raises
    ------
    InvalidInputError
        If somebody is in two pairs, or a position is none.
    """
    try:
        array = np.asarray(pairs)
    except ValueError:
        raise InvalidInputError("pairs are rows of two positions, got rows of different lengths") from None
    if array.ndim != 2 or array.shape[1] != 2 or array.dtype.kind not in "iu":
        raise InvalidInputError(f"pairs are rows of two positions, got shape {array.shape} of {array.dtype}")
    if array.size and (array.min() < 0 or array.max() >= n):
        raise InvalidInputError(
            f"a pair has a position from 0 to {n - 1}, got {array.min()} to {array.max()}"
        )
    flat = array.ravel().astype(np.uint32)
    people, times = np.unique(flat, return_counts=True)
    if (times > 1).any():
        raise InvalidInputError(f"person {people[np.argmax(times > 1)]} is in two pairs")
    return flat
