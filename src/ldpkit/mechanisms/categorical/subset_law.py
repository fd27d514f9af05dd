"""The exact joint law of subset selection's support counts, without drawing users.

With probability `noise` a report is a uniform set of omega values of the whole domain,
and else it holds its own value and is uniform otherwise. Values are visited in turn.
People are grouped by how many picks they have left; of those with r picks among R
remaining values, each takes the next value with probability r/R, so one binomial serves
the group. People who surely hold a value that is still to come are alike until it comes:
who of them holds it is a hypergeometric draw over the groups.
"""

from __future__ import annotations

import numpy as np

from ldpkit.core.typing import Counts

__all__ = ["sample_supports"]


def sample_supports(
    counts: Counts, omega: int, p: float, repeats: int, generator: np.random.Generator
) -> Counts:
    """Draw support counts for `repeats` collections; `p` is the chance to hold the own value."""
    size = len(counts)
    certain = generator.binomial(counts, (p - omega / size) / (1 - omega / size), (repeats, size))
    free = np.zeros((repeats, omega + 1), np.int64)  # people by picks left, own value not ahead
    free[:, omega] = counts.sum() - certain.sum(axis=1)
    waiting = np.zeros((repeats, omega), np.int64)  # own value ahead: one pick is set aside for it
    waiting[:, omega - 1] = certain.sum(axis=1)
    supports = np.empty((repeats, size), np.int64)
    for value in range(size):
        arriving = _leave(waiting, certain[:, value], generator)
        waiting -= arriving
        left = size - value
        supports[:, value] = certain[:, value] + _pick(free, left, generator)
        if left > 1:
            supports[:, value] += _pick(waiting, left - 1, generator)
        free[:, :omega] += arriving
    return supports


def _pick(people: Counts, left: int, generator: np.random.Generator) -> Counts:
    """Let each group decide on the next of `left` values; return how many took it."""
    groups = np.flatnonzero(people[:, 1:].any(axis=0)) + 1
    if len(groups) == 0:
        return np.zeros(len(people), np.int64)
    first, last = groups[0], groups[-1] + 1  # groups lie close together: most of the others are empty
    taken = generator.binomial(people[:, first:last], np.minimum(np.arange(first, last) / left, 1.0))
    people[:, first:last] -= taken
    people[:, first - 1 : last - 1] += taken
    return np.asarray(taken.sum(axis=1))


def _leave(waiting: Counts, leavers: Counts, generator: np.random.Generator) -> Counts:
    """Draw which of the waiting groups the leavers come from, group by group for all runs at once."""
    leaving = np.zeros_like(waiting)
    to_go, others = leavers.copy(), waiting.sum(axis=1)
    for group in np.flatnonzero(waiting.any(axis=0)):
        others -= waiting[:, group]
        leaving[:, group] = generator.hypergeometric(waiting[:, group], others, to_go)
        to_go -= leaving[:, group]
    return leaving
