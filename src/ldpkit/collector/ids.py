"""The ids of the answers that were counted, in memory: some nine bytes each, in sorted runs.

A database index over random ids writes a page for every report. Sorted runs of integers answer
the same question from memory: an id is looked up in each run by bisection, and two runs of
similar length are merged into one, so there are few of them. Most ids are new, and most of these
are known to be so from one bit each: ids are random, so their first bits are a hash of them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["IdSet"]

_Ids = np.ndarray[Any, np.dtype[np.uint64]]
_Mask = np.ndarray[Any, np.dtype[np.bool_]]

_THREE, _SEVEN = np.uint64(3), np.uint64(7)


class IdSet:
    """A set of 64-bit ids that only grows.

    Examples
    --------
    >>> ids = IdSet()
    >>> new, ordered = ids.new(np.array([7, 5, 7], np.uint64))
    >>> new.tolist(), ordered.tolist()
    ([True, True, False], [5, 7])
    >>> ids.add(ordered)
    >>> ids.new(np.array([7, 8], np.uint64))[0].tolist(), len(ids)
    ([False, True], 2)
    """

    def __init__(self) -> None:
        self._runs: list[_Ids] = []
        self._size = 0
        self._seen, self._shift = _no_bits(0)

    def __len__(self) -> int:
        return self._size

    def new(self, ids: _Ids) -> tuple[_Mask, _Ids]:
        """Return which ids are not in the set and stand there for the first time, and these in order."""
        order = np.argsort(ids, kind="stable")  # so that of equal ones the first comes first
        ordered = ids[order]
        unknown = np.ones(len(ids), np.bool_)
        unknown[1:] = ordered[1:] != ordered[:-1]
        bits = ordered >> self._shift
        perhaps = np.flatnonzero((self._seen[bits >> _THREE] >> (bits & _SEVEN).astype(np.uint8)) & 1)
        if len(perhaps):
            some = ordered[perhaps]
            for run in self._runs:
                places = np.searchsorted(run, some)
                places[places == len(run)] = 0
                unknown[perhaps] &= run[places] != some
        mask = np.empty(len(ids), np.bool_)
        mask[order] = unknown
        return mask, ordered if unknown.all() else ordered[unknown]

    def add(self, ordered: _Ids) -> None:
        """Add ids that `new` called new, in order."""
        if len(ordered) == 0:
            return
        self._size += len(ordered)
        self._runs.append(ordered)
        while len(self._runs) > 1 and len(self._runs[-2]) <= 2 * len(self._runs[-1]):
            last = self._runs.pop()
            merged = np.concatenate([self._runs.pop(), last])
            merged.sort(kind="stable")  # which finds the two runs, and merges them
            self._runs.append(merged)
        if self._size > len(self._seen):  # fewer than eight bits for an id
            self._seen, self._shift = _no_bits(self._size)
            for run in self._runs:
                self._note(run)
        else:
            self._note(ordered)

    def _note(self, ids: _Ids) -> None:
        bits = ids >> self._shift
        np.bitwise_or.at(self._seen, bits >> _THREE, np.uint8(1) << (bits & _SEVEN).astype(np.uint8))


def _no_bits(size: int) -> tuple[np.ndarray[Any, np.dtype[np.uint8]], np.uint64]:
    """Return eight to sixteen bits for each of some ids, and how far to shift an id to find its bit."""
    power = max(size - 1, 1).bit_length() + 4
    return np.zeros(1 << (power - 3), np.uint8), np.uint64(64 - power)
