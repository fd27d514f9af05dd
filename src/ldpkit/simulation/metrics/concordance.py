"""Kendall's tau-b of many estimates against one truth, exactly and in O(k log k) each.

The truth is sorted once. The pairs that an estimate turns round are the inversions of a
permutation, and these are counted bit by bit for a whole batch: the elements with the
highest bit set must come behind those without; then the same within each half.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from ldpkit.core.typing import Counts, Floats

__all__ = ["TrueOrder", "count_inversions"]

_ENTRIES_AT_ONCE = 1 << 22  # so that the arrays on the way need some 100 MB, however many estimates


class TrueOrder:
    """The order of true frequencies, ready to be compared with that of estimates.

    Parameters
    ----------
    truth : array, shape (k,)
        The true frequencies.

    Examples
    --------
    >>> order = TrueOrder(np.array([0.0, 0.0, 0.0, 0.0, 9.0]))
    >>> order.tau_b(np.array([[1.0, 2, 3, 4, 5], [5, 4, 3, 2, 1], [1, 1, 1, 1, 1]])).round(6).tolist()
    [0.632456, -0.632456, 0.0]
    """

    def __init__(self, truth: Floats) -> None:
        self.order = np.argsort(truth, kind="stable")
        ascending = truth[self.order]
        repeated = ascending[1:] == ascending[:-1]
        self.pairs = len(truth) * (len(truth) - 1) // 2
        self.tied = int(_tied_pairs(repeated[None, :])[0])
        groups = np.concatenate([[0], np.cumsum(~repeated)])
        self.groups = groups.astype(np.min_scalar_type(len(truth)))  # 16 bits sort faster than 64

    def tau_b(self, estimates: Floats) -> Floats:
        """Return tau-b of each estimate, shape (batch,); 0 where one side has no order at all."""
        tau: Floats = np.empty(len(estimates))
        rows = max(1, _ENTRIES_AT_ONCE // estimates.shape[1])
        for start in range(0, len(estimates), rows):
            tau[start : start + rows] = self._tau_b(estimates[start : start + rows])
        return tau

    def _tau_b(self, estimates: Floats) -> Floats:
        arranged = estimates[:, self.order]
        # Stable, so that tied estimates stay in the true order and count as no inversion.
        placing = np.argsort(arranged, axis=1, kind="stable")
        ascending = np.take_along_axis(arranged, placing, axis=1)
        repeated = ascending[:, 1:] == ascending[:, :-1]
        tied_estimates = _tied_pairs(repeated)
        tied_both: Any = 0
        if self.tied:
            sequence = self.groups[placing]
            tied_both = _tied_pairs(repeated & (sequence[:, 1:] == sequence[:, :-1]))
            placing = np.argsort(sequence, axis=1, kind="stable")
        discordant = count_inversions(placing)
        untied = self.pairs - self.tied - tied_estimates + tied_both
        scale = np.sqrt(float(self.pairs - self.tied) * (self.pairs - tied_estimates))
        tau: Floats = np.zeros(len(estimates))
        np.divide(untied - 2 * discordant, scale, out=tau, where=scale > 0)
        return tau


def count_inversions(permutations: Counts) -> Counts:
    """Return how many pairs stand in falling order in each row; a row is a permutation of 0..k-1.

    Examples
    --------
    >>> count_inversions(np.array([[0, 1, 2], [2, 1, 0], [1, 2, 0]])).tolist()
    [0, 3, 2]
    """
    batch, size = permutations.shape
    bits = max(1, (size - 1).bit_length())
    rows = np.empty((batch, 1 << bits), np.min_scalar_type((1 << bits) - 1))
    rows[:, :size] = permutations
    rows[:, size:] = np.arange(size, 1 << bits)  # behind all others and in order: no inversions
    found = np.zeros(batch, np.int64)
    for bit in reversed(range(bits)):
        # Blocks of 2^(bit + 1) places hold as many consecutive numbers, half with the bit
        # set. The sum of the places of those without it says how far they must move.
        half = 1 << bit
        blocks = rows.shape[1] // (2 * half)
        flat = rows.ravel()
        is_set = (flat & flat.dtype.type(half)) != 0
        unset = np.flatnonzero(~is_set)
        moves = (unset & (2 * half - 1)).reshape(batch, -1).sum(axis=1)
        found += moves - blocks * (half * (half - 1) // 2)
        split = np.empty((batch, blocks, 2, half), rows.dtype)
        split[:, :, 0] = flat[unset].reshape(batch, blocks, half)
        split[:, :, 1] = flat[is_set].reshape(batch, blocks, half)
        rows = split.reshape(batch, -1)
    return found


def _tied_pairs(repeated: np.ndarray[Any, np.dtype[np.bool_]]) -> Counts:
    """Return how many pairs are equal in each row of sorted items; True is 'equal to the one before'."""
    places = np.arange(1, repeated.shape[1] + 1)
    run_start = np.maximum.accumulate(np.where(repeated, 0, places), axis=1)
    equal_before: Counts = (places - run_start).sum(axis=1)
    return equal_before
