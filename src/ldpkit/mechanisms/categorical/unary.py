"""Unary encoding: one bit for each value, each flipped on its own.

SUE flips ones and zeros with the same probability, OUE tells a one truthfully with
probability 1/2 and spends the budget on the zeros, of which there are more.
"""

from __future__ import annotations

import abc
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from ldpkit.core.cached import cached_property
from ldpkit.core.exact import WORD, exp_bounds, log_up
from ldpkit.core.random import RandomSource
from ldpkit.core.typing import Bytes, Counts, Indices, Reports
from ldpkit.mechanisms.base import register
from ldpkit.mechanisms.categorical.oracle import FrequencyOracle
from ldpkit.mechanisms.channel import Channel, check_enumerable

__all__ = ["OUE", "SUE", "UnaryEncoding"]


class UnaryEncoding(FrequencyOracle):
    """The bits of a value, randomised one by one; bit v of a report is bit v%8 of byte v//8."""

    capabilities: ClassVar[frozenset[str]] = FrequencyOracle.capabilities | {"likelihood", "client"}

    @property
    @abc.abstractmethod
    def thresholds(self) -> tuple[int, int]:
        """The integers over 2**64 for 'the own bit is one' and 'another bit is one'."""

    @property
    def support_probabilities(self) -> tuple[Fraction, Fraction]:
        own, other = self.thresholds
        return Fraction(own, WORD), Fraction(other, WORD)

    @property
    def support_ratio(self) -> Fraction:
        p, q = self.support_probabilities
        return p * (1 - q) / (q * (1 - p))

    def exact_epsilon(self) -> float:
        own, other = self.thresholds  # two values differ in two bits
        return log_up(Fraction(own * (WORD - other), other * (WORD - own)))

    def _form(self) -> dict[str, Any]:
        own, other = self.thresholds
        return {"form": "unary", "size": self.size, "own": str(own), "other": str(other)}

    def channel(self, rng: RandomSource | None = None) -> Channel:
        check_enumerable(1 << min(self.size, 60), repr(self))
        bits = (np.arange(1 << self.size)[:, None] >> np.arange(self.size)) & 1
        p, q = self.support_probabilities
        others = [q**ones * (1 - q) ** (self.size - 1 - ones) for ones in range(self.size)]
        chances = [[own * chance for chance in others] for own in (1 - p, p)]  # by the own bit and the others
        ones = bits.sum(axis=1)
        rows = [
            [chances[own][other] for own, other in zip(bit.tolist(), (ones - bit).tolist(), strict=True)]
            for bit in bits.T
        ]
        return Channel(np.packbits(bits.astype(np.uint8), axis=1, bitorder="little"), rows)

    @property
    def report_dtype(self) -> np.dtype[Any]:
        return np.dtype(("<u1", ((self.size + 7) // 8,)))

    @property
    def random_bytes_per_report(self) -> int:
        return self.size

    def _is_valid(self, reports: Reports) -> np.ndarray[Any, np.dtype[np.bool_]]:
        unused = -self.size % 8
        return np.asarray(reports[:, -1] >> (8 - unused) == 0) if unused else np.ones(len(reports), np.bool_)

    def _randomise(self, indices: Indices, source: RandomSource) -> Reports:
        from ldpkit.mechanisms.kernels.unary import randomise

        own, other = (np.uint64(threshold) for threshold in self.thresholds)
        noise = source.bytes(len(indices) * self.size).reshape(len(indices), self.size)
        spare = source.words(64 + noise.size // 200)  # one byte in 256 takes one
        reports = np.empty((len(indices), (self.size + 7) // 8), np.uint8)
        while (wanted := randomise(noise, spare, indices, own, other, reports)) > len(spare):
            spare = np.concatenate([spare, source.words(wanted - len(spare))])
        return reports

    def _supports(self, reports: Reports) -> Counts:
        from ldpkit.mechanisms.kernels.columns import count_columns

        counts: Counts = count_columns(reports)[: self.size]
        return counts

    def _pack(self, reports: Reports) -> Bytes:
        return reports


@register
class SUE(UnaryEncoding):
    """Symmetric unary encoding, the one-time randomiser of basic RAPPOR.

    Every bit is kept with probability e^(eps/2) / (e^(eps/2) + 1).

    Utility: variance about e^(eps/2) / (n (e^(eps/2) - 1)^2), for every value alike.
    Runtime: O(k) a user, O(k) a report; memory O(k).
    Citation: Erlingsson, Pihur, Korolova (CCS 2014).

    Examples
    --------
    >>> import ldpkit
    >>> oracle = ldpkit.SUE(10, epsilon=1.0)
    >>> oracle.privatize([3, 7]).shape                   # ten bits are two bytes
    (2, 2)
    """

    name = "sue"
    aliases: ClassVar[tuple[str, ...]] = ("rappor",)
    title = "Symmetric unary encoding (RAPPOR)"
    citation = "Erlingsson, Pihur, Korolova: RAPPOR. CCS 2014"

    @cached_property
    def thresholds(self) -> tuple[int, int]:
        low, _ = exp_bounds(Fraction(self.epsilon) / 2)
        ideal = WORD * low / (low + 1)
        own = ideal.numerator // ideal.denominator
        return own, WORD - own


@register
class OUE(UnaryEncoding):
    """Optimised unary encoding.

    The own bit is one with probability 1/2, any other with probability 1 / (e^eps + 1).

    Utility: variance about 4 e^eps / (n (e^eps - 1)^2), the best of its kind for rare values.
    Runtime: O(k) a user, O(k) a report; memory O(k).
    Citation: Wang, Blocki, Li, Jha (USENIX Security 2017).

    Examples
    --------
    >>> import ldpkit
    >>> oracle = ldpkit.OUE(10, epsilon=1.0)
    >>> oracle.p, round(oracle.q, 6)
    (0.5, 0.268941)
    """

    name = "oue"
    title = "Optimised unary encoding"
    citation = "Wang, Blocki, Li, Jha: Locally differentially private protocols. USENIX Security 2017"

    @cached_property
    def thresholds(self) -> tuple[int, int]:
        low, _ = exp_bounds(self.epsilon)
        ideal = WORD / (low + 1)
        return WORD // 2, -((-ideal.numerator) // ideal.denominator)
