"""A mechanism of a third party in one file: Hadamard response with one public coefficient.

Every report names a random column of the Hadamard matrix (public, drawn afresh) and the
value's sign in it, flipped with probability 1 / (e^eps + 1). It is the test of the
promise that one file is enough, and a mechanism unlike the six of the house.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

import ldpkit
from ldpkit.core.exact import RandomisedResponse
from ldpkit.core.random import RandomSource, resolve
from ldpkit.core.typing import Counts, Indices, Reports
from ldpkit.mechanisms.channel import Channel


@ldpkit.register
class HadamardResponse(ldpkit.FrequencyOracle):
    """One random Hadamard coefficient of the value, as a randomised bit."""

    name = "example_hadamard"
    title = "Hadamard response, one coefficient (example plugin)"
    citation = "Acharya, Sun, Zhang: Hadamard response. AISTATS 2019"

    @cached_property
    def response(self) -> RandomisedResponse:
        return RandomisedResponse(2, self.epsilon)

    @cached_property
    def columns(self) -> int:
        """The order of the matrix: a power of two above the size, since row 0 is constant."""
        return 1 << self.size.bit_length()

    @property
    def support_probabilities(self) -> tuple[Fraction, Fraction]:
        return self.response.p, Fraction(1, 2)

    def exact_epsilon(self) -> float:
        return self.response.epsilon()

    def signs(self, columns: np.ndarray[Any, Any], indices: Indices) -> np.ndarray[Any, Any]:
        """Return the entry of row index + 1 in each column, as 0 or 1."""
        return np.bitwise_count(columns & (indices + np.uint32(1))).astype(np.uint8) & np.uint8(1)

    def channel(self, rng: RandomSource | None = None) -> Channel:
        reports = np.repeat(self._columns(1, resolve(rng)), 2)
        reports["sign"] = [0, 1]
        signs = self.signs(reports["column"][:1], np.arange(self.size, dtype=np.uint32))
        return Channel(reports, [self.response.row(int(sign)) for sign in signs])

    @cached_property
    def report_dtype(self) -> np.dtype[Any]:
        return np.dtype([("column", "<u4"), ("sign", "<u1")])

    @property
    def random_bytes_per_report(self) -> int:
        return 12

    def _is_valid(self, reports: Reports) -> np.ndarray[Any, np.dtype[np.bool_]]:
        return np.asarray((reports["column"] < self.columns) & (reports["sign"] < 2))

    def _columns(self, count: int, source: RandomSource) -> Reports:
        reports = np.zeros(count, self.report_dtype)
        reports["column"] = source.bytes(4 * count).view("<u4") & np.uint32(self.columns - 1)
        return reports

    def _randomise(self, indices: Indices, source: RandomSource) -> Reports:
        reports = self._columns(len(indices), source)
        flipped = source.words(len(indices)) >= np.uint64(self.response.keep)
        reports["sign"] = self.signs(reports["column"], indices) ^ flipped
        return reports

    def _supports(self, reports: Reports) -> Counts:
        values = np.arange(self.size, dtype=np.uint32)
        held = self.signs(reports["column"][:, None], values) == reports["sign"][:, None]
        return held.sum(axis=0)

    def _sample_supports(self, counts: Counts, repeats: int, generator: np.random.Generator) -> Counts:
        # Supports of different values share the column: draw how people spread over columns.
        columns = np.arange(self.columns, dtype=np.uint32)
        signs = self.signs(columns, np.arange(self.size, dtype=np.uint32)[:, None])
        spread = generator.multinomial(counts, np.full(self.columns, 1 / self.columns), (repeats, self.size))
        true = generator.binomial(spread, self.p)
        ones = np.where(signs, true, spread - true).sum(axis=1)
        zeros = spread.sum(axis=1) - ones
        return ones @ signs.T.astype(np.int64) + zeros @ (1 - signs.T.astype(np.int64))
