"""Longitudinal GRR: randomised response on a kept randomised response."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from ldpkit.core.random import RandomSource
from ldpkit.core.typing import Floats, Indices, Reports
from ldpkit.mechanisms.base import register
from ldpkit.mechanisms.categorical.grr import GRR
from ldpkit.mechanisms.categorical.longitudinal.chain import ChainedResponse
from ldpkit.mechanisms.categorical.longitudinal.memoized import LongitudinalOracle
from ldpkit.mechanisms.categorical.response import RandomisedResponse

__all__ = ["LGRR", "respond_again", "response_evidence"]


def respond_again(response: RandomisedResponse, values: Indices, source: RandomSource, out: Reports) -> None:
    """Write the randomised response to each value."""
    from ldpkit.mechanisms.kernels.response import respond

    keep, width, last = np.uint64(response.keep), np.uint64(response.width), np.uint64(response.size - 2)
    respond(source.words(len(values)), values, keep, width, last, out)


def response_evidence(chain: ChainedResponse, answers: Reports) -> Floats:
    """Return log P(first t answers | value) for answers that share a permanent report.

    The permanent answer x is any value, so P = sum over x of P1(x | v) P2(answers | x),
    and P2 is r**(how often x was sent) with r = p2 / q2, up to a common factor.
    """
    sent = np.cumsum(answers[:, None] == np.arange(chain.size), axis=0)
    second = np.log(chain.second.keep) - np.log(chain.second.width)
    weight = np.exp((sent - sent.max(axis=1, keepdims=True)) * second)
    p, q = float(chain.first.p), float(chain.first.q)
    return np.asarray(np.log(q * weight.sum(axis=1, keepdims=True) + (p - q) * weight))


@register
class LGRR(LongitudinalOracle, GRR):
    """Longitudinal generalised randomised response.

    The two rounds together are exactly GRR with epsilon_1, whatever epsilon_inf is.

    Utility: as GRR with epsilon_1.
    Runtime: O(1) a user, O(1) a report; memory O(k).
    Citation: Arcolezi, Couchot, Al Bouna, Xiao (Digital Communications and Networks 2022),
    with the second round solved for every k (the published one holds for k = 2 only).

    Examples
    --------
    >>> import ldpkit
    >>> oracle = ldpkit.get("lgrr", 16, epsilon_inf=2, epsilon_1=1)
    >>> 1 - 1e-6 < oracle.exact_epsilon() <= 1, 2 - 1e-6 < oracle.exact_permanent_epsilon() <= 2
    (True, True)
    >>> [round(oracle.repeated_epsilon(times), 3) for times in (1, 2, 1000)]
    [1.0, 1.8, 2.0]
    """

    name = "lgrr"
    aliases = ("l_grr",)
    title = "Longitudinal generalised randomised response"
    citation = (
        "Arcolezi, Couchot, Al Bouna, Xiao: Improving the utility of locally differentially private "
        "protocols for longitudinal and multidimensional frequency estimates. DCN 2022"
    )

    @cached_property
    def response(self) -> ChainedResponse:
        """The integers of both rounds."""
        return ChainedResponse(self.size, self.epsilon, self.epsilon_inf)

    @property
    def _chain(self) -> ChainedResponse:
        return self.response

    @property
    def state_count(self) -> int:
        return self.size

    @property
    def random_bytes_per_report(self) -> int:
        return 16

    def memorise(self, coins: Reports, states: Indices, source: RandomSource) -> Reports:
        reports = coins.copy()
        respond_again(self.response.first, states, source, reports)
        return reports

    def instant(self, permanent: Reports, source: RandomSource) -> Reports:
        reports = np.empty(len(permanent), self.report_dtype)
        respond_again(self.response.second, permanent.astype(np.uint32), source, reports)
        return reports

    def exact_permanent_epsilon(self) -> float:
        return self.response.first.epsilon()

    def exact_instant_epsilon(self) -> float:
        return self.response.second.epsilon()

    def _evidence(self, reports: Reports, memoized: bool) -> Floats:
        if memoized:
            return response_evidence(self.response, reports)
        sent = np.cumsum(reports[:, None] == np.arange(self.size), axis=0)
        return np.asarray(sent * np.log(self.p / self.q))
