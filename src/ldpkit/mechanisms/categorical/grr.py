"""Generalised randomised response: tell the truth, or any other value with equal chance."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from ldpkit.core.cached import cached_property
from ldpkit.core.exact import RandomisedResponse
from ldpkit.core.random import RandomSource
from ldpkit.core.typing import Bytes, Counts, Flags, Indices, Reports
from ldpkit.mechanisms.base import register
from ldpkit.mechanisms.categorical.oracle import FrequencyOracle, index_dtype, pack_indices
from ldpkit.mechanisms.channel import Channel, check_enumerable
from ldpkit.mechanisms.forms import response_words

__all__ = ["GRR"]

_MANY = 1 << 16


@register
class GRR(FrequencyOracle):
    """Generalised randomised response (k-RR, direct encoding).

    A report is a value of the domain: the true one with probability
    e^eps / (e^eps + k - 1), otherwise a uniform other one.

    Utility: variance about (k - 2 + e^eps) / (n (e^eps - 1)^2); best for k < 3 e^eps + 2.
    Runtime: O(1) a user, O(1) a report; memory O(k).
    Citation: Kairouz, Bonawitz, Ramage (ICML 2016); Warner (1965) for k = 2.

    Examples
    --------
    >>> import ldpkit
    >>> oracle = ldpkit.GRR(["no", "yes"], epsilon=1.0)
    >>> reports = oracle.privatize(["yes", "no", "yes"], rng=ldpkit.random.seeded(1))
    >>> oracle.tally(reports).n
    3
    """

    name = "grr"
    aliases: ClassVar[tuple[str, ...]] = ("krr",)
    title = "Generalised randomised response"
    capabilities = FrequencyOracle.capabilities | {"likelihood", "valued", "client"}
    citation = "Kairouz, Bonawitz, Ramage: Discrete distribution estimation under local privacy. ICML 2016"

    @cached_property
    def response(self) -> RandomisedResponse:
        """The sampler's integers."""
        return RandomisedResponse(self.size, self.epsilon)

    @property
    def support_probabilities(self) -> tuple[Fraction, Fraction]:
        return self.response.p, self.response.q

    @property
    def support_size(self) -> int:
        return 1

    @property
    def support_ratio(self) -> Fraction:
        p, q = self.support_probabilities
        return p / q

    def exact_epsilon(self) -> float:
        return self.response.epsilon()

    def why_first(self) -> str:
        limit = 3 * math.exp(self.epsilon) + 2  # where the variances of GRR and OUE are equal
        return (
            f"With {self.size} values, fewer than 3e^epsilon + 2 = {limit:.1f}, grr has a smaller variance "
            "than oue and olh."
            if self.size < limit
            else ""
        )

    def _form(self) -> dict[str, Any]:
        return {"form": "response", "size": self.size, **response_words(self.response)}

    def channel(self, rng: RandomSource | None = None) -> Channel:
        check_enumerable(self.size, repr(self))
        rows = [self.response.row(value) for value in range(self.size)]
        return Channel(np.arange(self.size, dtype=self.report_dtype), rows)

    @property
    def report_dtype(self) -> np.dtype[Any]:
        return index_dtype(self.size)

    @property
    def random_bytes_per_report(self) -> int:
        return 8

    def _is_valid(self, reports: Reports) -> np.ndarray[Any, np.dtype[np.bool_]]:
        return np.asarray(reports < self.size)

    def _randomise(self, indices: Indices, source: RandomSource) -> Reports:
        from ldpkit.mechanisms.kernels.response import respond

        reports = np.empty(len(indices), self.report_dtype)
        keep, width = np.uint64(self.response.keep), np.uint64(self.response.width)
        respond(source.words(len(indices)), indices, keep, width, np.uint64(self.size - 2), reports)
        return reports

    def _supports(self, reports: Reports) -> Counts:
        from ldpkit.mechanisms.kernels.values import count_values

        counts: Counts = count_values(reports, self.size)
        return counts

    def _add_supports(self, reports: Reports, supports: Counts) -> None:
        if self.size <= _MANY:
            supports += self._supports(reports)
        else:  # counters of their own would cost more than the reports
            np.add.at(supports, reports, 1)

    def _pack(self, reports: Reports) -> Bytes:
        return pack_indices(reports[:, None], self.size)

    def _supported(self, reports: Reports, values: Counts) -> Flags:
        return np.asarray(reports[:, None] == values)

    def _sample_supports(self, counts: Counts, repeats: int, generator: np.random.Generator) -> Counts:
        # A report is the value itself with probability p - q, and else uniform over all
        # k values: the uniform ones of everybody are one multinomial draw.
        p, q = self.support_probabilities
        kept = generator.binomial(counts, float(p - q), (repeats, self.size))
        uniform = np.full(self.size, 1 / self.size)
        return kept + generator.multinomial(counts.sum() - kept.sum(axis=1), uniform)
