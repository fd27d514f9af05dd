"""The ids of the answers that were counted, in memory: eight bytes each, in sorted runs.

A database index over random ids writes a page for every report. Sorted runs of integers answer
the same question from memory: an id is looked up in each run by bisection, and two runs of
similar length are merged into one, so there are few of them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["IdSet"]

_Ids = np.ndarray[Any, np.dtype[np.uint64]]
_Mask = np.ndarray[Any, np.dtype[np.bool_]]


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

    def __len__(self) -> int:
        return sum(len(run) for run in self._runs)

    def new(self, ids: _Ids) -> tuple[_Mask, _Ids]:
        """Return which ids are not in the set and stand there for the first time, and these in order."""
        order = np.argsort(ids, kind="stable")  # so that of equal ones the first comes first
        ordered = ids[order]
        unknown = np.ones(len(ids), np.bool_)
        unknown[1:] = ordered[1:] != ordered[:-1]
        for run in self._runs:
            places = np.searchsorted(run, ordered)
            places[places == len(run)] = 0
            unknown &= run[places] != ordered
        mask = np.empty(len(ids), np.bool_)
        mask[order] = unknown
        return mask, ordered if unknown.all() else ordered[unknown]

    def add(self, ordered: _Ids) -> None:
        """Add ids that `new` called new, in order."""
        if len(ordered):
            self._runs.append(ordered)
        while len(self._runs) > 1 and len(self._runs[-2]) <= 2 * len(self._runs[-1]):
            last = self._runs.pop()
            merged = np.concatenate([self._runs.pop(), last])
            merged.sort(kind="stable")  # which finds the two runs, and merges them
            self._runs.append(merged)
