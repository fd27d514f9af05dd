"""Longitudinal randomised response: what L-GRR does with values and L-LH with buckets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ldpkit.core.cached import cached_property
from ldpkit.core.exact import RandomisedResponse
from ldpkit.core.random import RandomSource
from ldpkit.core.typing import Floats, Indices, Reports
from ldpkit.mechanisms.forms import response_words
from ldpkit.mechanisms.longitudinal.chain import ChainedResponse
from ldpkit.mechanisms.longitudinal.histories import LONGEST, response_bound, response_epsilon
from ldpkit.mechanisms.longitudinal.memoized import LongitudinalOracle

__all__ = ["LongitudinalResponse"]


class LongitudinalResponse(LongitudinalOracle):
    """Randomised response to the state of a device, and to that response again each time."""

    @cached_property
    def response(self) -> ChainedResponse:
        """The integers of both rounds."""
        return ChainedResponse(self.state_count, self.epsilon, self.epsilon_inf)

    @property
    def _chain(self) -> ChainedResponse:
        return self.response

    def _answers(self, reports: Reports) -> Reports:
        """Return a view of the answers in some reports; by default a report is nothing else."""
        return reports

    @property
    def random_bytes_per_report(self) -> int:
        return 16  # a word for each round

    def memorise(self, coins: Reports, states: Indices, source: RandomSource) -> Reports:
        return self._respond(self.response.first, coins, states, source)

    def instant(self, permanent: Reports, source: RandomSource) -> Reports:
        return self._respond(self.response.second, permanent, self._answers(permanent), source)

    def _respond(
        self, response: RandomisedResponse, reports: Reports, values: Indices, source: RandomSource
    ) -> Reports:
        """Return the reports with randomised responses to the values as their answers."""
        from ldpkit.mechanisms.kernels.response import respond

        made = reports.copy()
        keep, width, last = np.uint64(response.keep), np.uint64(response.width), np.uint64(response.size - 2)
        answers = np.empty(len(values), self._answers(made).dtype)
        respond(source.words(len(values)), values.astype(np.uint32), keep, width, last, answers)
        self._answers(made)[:] = answers
        return made

    def _form(self) -> dict[str, Any]:
        return {"form": "chained_response", "size": self.size, **self._rounds}

    @property
    def _rounds(self) -> dict[str, Any]:
        """Both rounds, as a form has them."""
        return {
            "first": response_words(self.response.first),
            "second": response_words(self.response.second),
        }

    def sampler_integers(self) -> tuple[int, ...]:
        first, second = self.response.first, self.response.second
        return self.state_count, first.keep, first.width, second.keep, second.width

    def exact_permanent_epsilon(self) -> float:
        return self.response.first.epsilon()

    def exact_instant_epsilon(self) -> float:
        return self.response.second.epsilon()

    def history_epsilon(self, times: Sequence[int], states: int) -> float | None:
        if sum(times) > LONGEST:
            return None
        return response_epsilon(self.response, tuple(sorted(times)), states)

    def history_bound(self, reports: int) -> float:
        return min(super().history_bound(reports), response_bound(self.response, reports, self.state_count))

    def _state_evidence(self, reports: Reports) -> Floats:
        """Return log P(first t reports | state) for reports that share a permanent one.

        The permanent answer x is any state, so P = sum over x of P1(x | state) P2(answers | x),
        and P2 is r**(how often x was sent) with r = p2 / q2, up to a common factor.
        """
        first, second = self.response.first, self.response.second
        sent = np.cumsum(self._answers(reports)[:, None] == np.arange(self.state_count), axis=0)
        odds = np.log(second.keep) - np.log(second.width)
        weight = np.exp((sent - sent.max(axis=1, keepdims=True)) * odds)
        p, q = float(first.p), float(first.q)
        return np.asarray(np.log(q * weight.sum(axis=1, keepdims=True) + (p - q) * weight))
