"""Longitudinal unary encoding: the four ways to follow SUE or OUE by SUE or OUE."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from ldpkit.core.cached import cached_property
from ldpkit.core.exact import WORD, log_product_up, log_up
from ldpkit.core.random import RandomSource
from ldpkit.core.typing import Floats, Indices, Reports
from ldpkit.mechanisms.base import register
from ldpkit.mechanisms.categorical.unary import OUE, SUE, UnaryEncoding
from ldpkit.mechanisms.forms import words
from ldpkit.mechanisms.longitudinal.chain import ChainedBits, bit_ratio
from ldpkit.mechanisms.longitudinal.histories import LONGEST, bits_bound, bits_epsilon
from ldpkit.mechanisms.longitudinal.lgrr import LGRR
from ldpkit.mechanisms.longitudinal.memoized import LongitudinalOracle

__all__ = ["LOSUE", "LOUE", "LSOUE", "LSUE", "LongitudinalUnary"]


class LongitudinalUnary(LongitudinalOracle, UnaryEncoding):
    """Unary encoding in two rounds; `thresholds` are those of both together, over 2**128."""

    capabilities: ClassVar[frozenset[str]] = LongitudinalOracle.capabilities | UnaryEncoding.capabilities

    _first: ClassVar[type[UnaryEncoding]]
    _second: ClassVar[type[UnaryEncoding]]

    @cached_property
    def _chain(self) -> ChainedBits:
        return ChainedBits(self._one_time.thresholds, self.epsilon, symmetric=self._second is SUE)

    @cached_property
    def _one_time(self) -> UnaryEncoding:
        """The one-time mechanism of the first round: it makes the permanent report."""
        return self._first(self.domain, self.epsilon_inf)

    @property
    def thresholds(self) -> tuple[int, int]:
        return self._chain.chained

    @property
    def support_probabilities(self) -> tuple[Fraction, Fraction]:
        own, other = self.thresholds
        return Fraction(own, WORD**2), Fraction(other, WORD**2)

    def exact_epsilon(self) -> float:
        return log_up(bit_ratio(*self.support_probabilities))

    def _form(self) -> dict[str, Any]:
        own, other = words(self._chain.first)
        one, zero = words(self._chain.second)
        return {
            "form": "chained_unary",
            "size": self.size,
            "first": {"own": own, "other": other},
            "second": {"one": one, "zero": zero},
        }

    def sampler_integers(self) -> tuple[int, ...]:
        return *self._chain.first, *self._chain.second

    def exact_permanent_epsilon(self) -> float:
        return self._one_time.exact_epsilon()

    def exact_instant_epsilon(self) -> float:
        one, zero = (Fraction(threshold, WORD) for threshold in self._chain.second)
        # Two permanent reports may differ in every bit.
        return log_product_up({max(one / zero, (1 - zero) / (1 - one)): self.size})

    def history_epsilon(self, times: Sequence[int], states: int) -> float | None:
        if sum(times) > LONGEST:
            return None
        return bits_epsilon(self._chain, tuple(sorted(times)), states)

    def history_bound(self, reports: int) -> float:
        return min(super().history_bound(reports), bits_bound(self._chain, reports, self.size))

    @property
    def random_bytes_per_report(self) -> int:
        return 2 * self.size

    def memorise(self, coins: Reports, states: Indices, source: RandomSource) -> Reports:
        return self._one_time._randomise(states, source)

    def instant(self, permanent: Reports, source: RandomSource) -> Reports:
        from ldpkit.mechanisms.kernels.bits import count_ties, randomise_again

        one, zero = (np.uint64(threshold) for threshold in self._chain.second)
        kept = permanent.copy()  # read twice, and must be the same both times
        noise = source.bytes(len(kept) * self.size).reshape(len(kept), self.size)
        spare = source.words(count_ties(noise, kept, one, zero))
        reports = np.zeros_like(kept)
        randomise_again(noise, spare, kept, one, zero, reports)
        return reports

    def _evidence(self, reports: Reports, memoized: bool) -> Floats:
        ones = np.cumsum(np.unpackbits(reports, axis=1, count=self.size, bitorder="little"), axis=0)
        zeros = np.arange(1, len(reports) + 1)[:, None] - ones
        if not memoized:
            p, q = self.p, self.q
            return np.asarray(ones * np.log(p / q) + zeros * np.log((1 - p) / (1 - q)))
        p, q = (threshold / WORD for threshold in self._chain.first)
        one, zero = (threshold / WORD for threshold in self._chain.second)
        odds = ones * np.log(one / zero) + zeros * np.log((1 - one) / (1 - zero))
        own = np.logaddexp(np.log(p) + odds, np.log(1 - p))
        return np.asarray(own - np.logaddexp(np.log(q) + odds, np.log(1 - q)))


@register
class LSUE(LongitudinalUnary):
    """Longitudinal SUE: symmetric unary encoding twice, known as basic RAPPOR.

    Utility: as SUE with epsilon_1.
    Runtime: O(k) a user, O(k) a report; memory O(k).
    Citation: Erlingsson, Pihur, Korolova (CCS 2014).

    Examples
    --------
    >>> import ldpkit
    >>> oracle = ldpkit.get("lsue", 10, epsilon_inf=2, epsilon_1=1)
    >>> round(oracle.p, 6) == round(ldpkit.SUE(10, epsilon=1).p, 6)
    True
    """

    name = "lsue"
    aliases = ("l_sue",)
    title = "Longitudinal symmetric unary encoding (basic RAPPOR)"
    citation = "Erlingsson, Pihur, Korolova: RAPPOR. CCS 2014"
    _first, _second = SUE, SUE


@register
class LOUE(LongitudinalUnary):
    """Longitudinal OUE: optimised unary encoding twice.

    Feasible only for e^epsilon_1 <= (2 e^epsilon_inf + 1) / 3.

    Utility: worse than OUE with epsilon_1, since half of all permanent ones are lost again.
    Runtime: O(k) a user, O(k) a report; memory O(k).
    Citation: Arcolezi et al. (DCN 2022).

    Examples
    --------
    >>> import ldpkit
    >>> ldpkit.get("loue", 10, epsilon_inf=1, epsilon_1=0.8)
    Traceback (most recent call last):
    ...
    ldpkit.core.errors.InvalidParameterError: epsilon_1=0.8 is too large for loue with epsilon_inf=1: \
the largest feasible epsilon_1 is 0.763382
    """

    name = "loue"
    aliases = ("l_oue",)
    title = "Longitudinal optimised unary encoding"
    citation = LGRR.citation
    _first, _second = OUE, OUE


@register
class LSOUE(LongitudinalUnary):
    """Longitudinal SUE then OUE.

    Feasible only for e^epsilon_1 <= a (2 a + 1) / (a + 2) with a = e^(epsilon_inf / 2).

    Utility: near L-OSUE for large epsilon_inf; below L-SUE for small.
    Runtime: O(k) a user, O(k) a report; memory O(k).
    Citation: Arcolezi et al. (DCN 2022).

    Examples
    --------
    >>> import ldpkit
    >>> ldpkit.get("lsoue", 10, epsilon_inf=2, epsilon_1=1)
    LSOUE(10, epsilon_inf=2, epsilon_1=1)
    """

    name = "lsoue"
    aliases = ("l_soue",)
    title = "Longitudinal symmetric, then optimised unary encoding"
    citation = LGRR.citation
    _first, _second = SUE, OUE


@register
class LOSUE(LongitudinalUnary):
    """Longitudinal OUE then SUE, the best of the four for rare values.

    Utility: as OUE with epsilon_1, exactly: the own bit stays at 1/2 in the second round.
    Runtime: O(k) a user, O(k) a report; memory O(k).
    Citation: Arcolezi et al. (DCN 2022).

    Examples
    --------
    >>> import ldpkit
    >>> oracle = ldpkit.get("losue", 10, epsilon_inf=2, epsilon_1=1)
    >>> oracle.p, round(oracle.q, 6)
    (0.5, 0.268941)
    """

    name = "losue"
    aliases = ("l_osue",)
    title = "Longitudinal optimised, then symmetric unary encoding"
    citation = LGRR.citation
    _first, _second = OUE, SUE
