"""Joint randomised response on the buckets of local hashing: it costs privacy and gains next to nothing.

Everybody has a hash function of their own, so partners with different values fall into
unrelated buckets: only pairs who both hold a value are correlated in its count. The
variance of OLH falls by cov n_x (n_x - 1) / ((n - 1) n^2 (p - q)^2), which for a rare
value is a share of about f^2 of it.
"""

from __future__ import annotations

from fractions import Fraction
from typing import ClassVar

import numpy as np

from ldpkit.core.cached import cached_property
from ldpkit.core.exact import WORD, RandomisedResponse
from ldpkit.core.random import RandomSource
from ldpkit.core.typing import Counts, Indices, Reports
from ldpkit.mechanisms.base import register
from ldpkit.mechanisms.categorical.hashing import LocalHashing, best_buckets
from ldpkit.mechanisms.joint.counts import pairs_of_equals
from ldpkit.mechanisms.joint.oracle import PairedOracle
from ldpkit.mechanisms.joint.pairing import uniform_choices
from ldpkit.mechanisms.joint.table import PairTable

__all__ = ["JointOLH"]


@register
class JointOLH(PairedOracle, LocalHashing):
    """Optimised local hashing in pairs: the buckets of partners are reported by JRR.

    It is here to show what it is worth: OLH at `epsilon_alone` has all but the same
    variance, and gives a partner nothing.

    Utility: that of OLH at `epsilon_alone`, less a share of about f^2 for a value of frequency f.
    Runtime: O(1) a user, O(k) a report; memory O(k).
    Citation: the extension in Zheng's thesis.

    Examples
    --------
    >>> import ldpkit
    >>> oracle = ldpkit.get("joint_olh", 100, epsilon_alone=1, epsilon=2)
    >>> round(oracle.variance(0.05, 10_000) / ldpkit.OLH(100, epsilon=1).variance(0.05, 10_000), 4)
    0.9984
    """

    name = "joint_olh"
    aliases: ClassVar[tuple[str, ...]] = ()
    title = "Joint randomised response on local hashing (OLH)"
    citation = "Zheng: dissertation on local differential privacy, chapter 4.5"
    capabilities = PairedOracle.capabilities | {"hashed"}

    @cached_property
    def buckets(self) -> int:
        return best_buckets(self.epsilon_alone)

    @cached_property
    def table(self) -> PairTable:
        return PairTable.of_epsilons(self.buckets, self.epsilon_alone, self.epsilon, self.correlation)

    @cached_property
    def response(self) -> RandomisedResponse:
        """The integers of one report: those of OLH at `epsilon_alone`."""
        return RandomisedResponse(self.buckets, self.epsilon_alone)

    @cached_property
    def stray_support(self) -> tuple[Fraction, Fraction]:
        p, other = self.response.p, self.response.q
        meet = (self.support_probabilities[1] - other) / (p - other)  # two values in one bucket
        return meet, (1 - meet) / (self.buckets - 1)

    @property
    def random_bytes_per_report(self) -> int:
        return 12 + 2 * self.word.itemsize

    def _respond(self, indices: Indices, source: RandomSource) -> Reports:
        from ldpkit.mechanisms.kernels.pairs import respond_in_pairs

        n = len(indices)
        reports = self._hash_functions(n, source)
        own = self.hash(reports["a"], reports["b"], indices).astype(np.uint32)
        words, last = source.words((n + 1) // 2), self.buckets - 2
        others = np.zeros(0, np.uint64) if last == 0 else uniform_choices(n, self.buckets - 1, source)
        numbers = (np.uint64(self.response.keep), np.uint64(int(WORD * self.table.both)))
        answers = np.empty(n, reports.dtype["y"])
        respond_in_pairs(np.arange(n, dtype=np.uint32), words, own, *numbers, others, last, answers)
        reports["y"] = answers
        return reports

    def _sample_supports(self, counts: Counts, repeats: int, generator: np.random.Generator) -> Counts:
        table = self.table
        same = [float(table.neither), 2 * float(table.one), float(table.both)]
        equal, _ = pairs_of_equals(counts, repeats, generator)
        supports = generator.binomial(counts - 2 * equal, self.p)
        for value in range(self.size):
            supports[:, value] += generator.multinomial(equal[:, value], same) @ np.array([2, 1, 0])
        return supports + generator.binomial(counts.sum() - counts, self.q, (repeats, self.size))
