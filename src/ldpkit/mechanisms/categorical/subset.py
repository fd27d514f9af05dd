"""Subset selection: report a random set of values that is likely to hold the true one."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations
from math import comb
from typing import Any

import numpy as np

from ldpkit.core.cached import cached_property
from ldpkit.core.errors import InvalidInputError
from ldpkit.core.exact import WORD, exp_bounds, log_up
from ldpkit.core.random import RandomSource
from ldpkit.core.typing import Bytes, Counts, Indices, Reports
from ldpkit.mechanisms.base import register
from ldpkit.mechanisms.categorical.oracle import FrequencyOracle, index_dtype, pack_indices
from ldpkit.mechanisms.channel import Channel, check_enumerable

__all__ = ["SS"]

_MOST_PEOPLE = 10**9  # NumPy draws no larger hypergeometric


@register
class SS(FrequencyOracle):
    """Subset selection (omega-subset mechanism).

    A report is a set of omega values. It holds the true one with probability
    omega e^eps / (omega e^eps + k - omega) and is uniform otherwise. omega is the better
    of the two integers next to k / (e^eps + 1), and at least 1 (then SS is GRR).

    Utility: the least variance of the six at every epsilon, about that of OUE for large k.
    Runtime: O(omega) a user, O(k) a report; memory O(k).
    Citation: Wang et al. (2016); Ye, Barg (IEEE Trans. Inf. Theory 2018).

    Examples
    --------
    >>> import ldpkit
    >>> ldpkit.SS(16, epsilon=2.0).omega, ldpkit.SS(16, epsilon=4.0).omega
    (2, 1)
    """

    name = "ss"
    title = "Subset selection"
    capabilities = FrequencyOracle.capabilities | {"likelihood", "client"}
    citation = "Ye, Barg: Optimal schemes for discrete distribution estimation. IEEE Trans. Inf. Theory 2018"

    @cached_property
    def omega(self) -> int:
        """The number of values in a report."""
        low, _ = exp_bounds(self.epsilon)
        floor = max(1, int(self.size / (low + 1)))
        return min((floor, floor + 1), key=self._noise) if floor + 1 < self.size else floor

    def _noise(self, omega: int) -> Fraction:
        """Return the variance at frequency zero, times n, for a set size."""
        low, _ = exp_bounds(self.epsilon)
        p = omega * low / (omega * low + self.size - omega)
        q = (omega - p) / (self.size - 1)
        return q * (1 - q) / (p - q) ** 2

    def details(self) -> dict[str, float]:
        return {"omega": self.omega}

    def why_first(self) -> str:
        return "ss with omega = 1, as here, is grr under another name." if self.omega == 1 else ""

    @cached_property
    def threshold(self) -> int:
        """The integer over 2**64 for 'the set holds the true value', rounded down."""
        low, _ = exp_bounds(self.epsilon)
        ideal = WORD * self.omega * low / (self.omega * low + self.size - self.omega)
        return ideal.numerator // ideal.denominator

    @property
    def support_probabilities(self) -> tuple[Fraction, Fraction]:
        p = Fraction(self.threshold, WORD)
        return p, (self.omega - p) / (self.size - 1)

    @property
    def support_size(self) -> int:
        return self.omega

    @property
    def support_ratio(self) -> Fraction:
        p, _ = self.support_probabilities
        return p * (self.size - self.omega) / ((1 - p) * self.omega)

    def exact_epsilon(self) -> float:
        # Sets with the value are uniform among C(k-1, omega-1), sets without among C(k-1, omega).
        held, missed = self.threshold, WORD - self.threshold
        return log_up(Fraction(held * (self.size - self.omega), missed * self.omega))

    def _form(self) -> dict[str, Any]:
        return {
            "form": "subset",
            "size": self.size,
            "omega": self.omega,
            "threshold": str(self.threshold),
        }

    def channel(self, rng: RandomSource | None = None) -> Channel:
        check_enumerable(comb(self.size, self.omega), repr(self))
        sets = list(combinations(range(self.size), self.omega))
        held = Fraction(self.threshold, WORD)
        with_value = held / comb(self.size - 1, self.omega - 1)
        without = (1 - held) / comb(self.size - 1, self.omega)
        rows = [[with_value if value in chosen else without for chosen in sets] for value in range(self.size)]
        return Channel(self._as_reports(sets), rows)

    def _as_reports(self, sets: list[tuple[int, ...]]) -> Reports:
        if not self.is_bitmap:
            return np.array(sets, index_dtype(self.size))
        bits = np.zeros((len(sets), self.size), np.uint8)
        np.put_along_axis(bits, np.array(sets), 1, axis=1)
        return np.packbits(bits, axis=1, bitorder="little")

    @cached_property
    def is_bitmap(self) -> bool:
        """Whether a report is a bit for each value; else it lists its values, which is shorter."""
        return self.omega * index_dtype(self.size).itemsize >= self._bitmap_bytes

    @property
    def _bitmap_bytes(self) -> int:
        return (self.size + 7) // 8

    @property
    def report_dtype(self) -> np.dtype[Any]:
        if self.is_bitmap:
            return np.dtype(("<u1", (self._bitmap_bytes,)))
        return np.dtype((index_dtype(self.size), (self.omega,)))

    @property
    def random_bytes_per_report(self) -> int:
        return 8 + 4 * self.omega + self._bitmap_bytes  # the bitmap is worked on, whatever is sent

    def _is_valid(self, reports: Reports) -> np.ndarray[Any, np.dtype[np.bool_]]:
        if self.is_bitmap:
            unused = -self.size % 8
            padded = reports[:, -1] >> (8 - unused) == 0 if unused else True
            return np.asarray((np.bitwise_count(reports).sum(axis=1) == self.omega) & padded)
        ascending = (reports[:, 1:] > reports[:, :-1]).all(axis=1)
        return np.asarray(ascending & (reports[:, -1] < self.size))

    def _randomise(self, indices: Indices, source: RandomSource) -> Reports:
        from ldpkit.mechanisms.kernels.subset import list_values, randomise

        bitmaps: Bytes = np.zeros((len(indices), self._bitmap_bytes), np.uint8)
        # Every row takes the same draws whatever its value and outcome, so running out of
        # spare words says nothing about them, and starting anew is exact.
        spare = 1024 + (len(indices) * self.omega * self.size >> 31)  # twice what is expected
        while not randomise(
            source.words(len(indices)),
            source.bytes(4 * len(indices) * self.omega).view("<u4").reshape(len(indices), self.omega),
            source.bytes(4 * spare).view("<u4"),
            indices,
            np.uint64(self.threshold),
            self.size,
            bitmaps,
        ):
            bitmaps[:] = 0
        if self.is_bitmap:
            return bitmaps
        reports = np.empty((len(indices), self.omega), index_dtype(self.size))
        list_values(bitmaps, reports)
        return reports

    def _supports(self, reports: Reports) -> Counts:
        if not self.is_bitmap:
            return np.bincount(reports.ravel(), minlength=self.size)
        from ldpkit.mechanisms.kernels.columns import count_columns

        counts: Counts = count_columns(reports)[: self.size]
        return counts

    def _pack(self, reports: Reports) -> Bytes:
        return reports if self.is_bitmap else pack_indices(reports, self.size)

    def _sample_supports(self, counts: Counts, repeats: int, generator: np.random.Generator) -> Counts:
        from ldpkit.mechanisms.categorical.subset_law import sample_supports

        if counts.sum() >= _MOST_PEOPLE:
            raise InvalidInputError(
                f"subset selection is simulated for fewer than 1e9 people, got {counts.sum()}: scale down"
            )
        return sample_supports(counts, self.omega, self.p, repeats, generator)
