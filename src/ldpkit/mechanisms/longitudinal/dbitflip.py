"""dBitFlipPM: a device answers for a few buckets of its own, and always the same."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, Self

import numpy as np

from ldpkit.core.cached import cached_property
from ldpkit.core.domains.categorical import as_domain
from ldpkit.core.errors import InvalidInputError, InvalidParameterError
from ldpkit.core.exact import log_up
from ldpkit.core.parameters import EPSILON, Parameter, check_whole, exact_sum
from ldpkit.core.random import RandomSource, resolve
from ldpkit.core.typing import Bytes, Counts, DomainLike, Floats, Indices, Reports
from ldpkit.mechanisms.base import register
from ldpkit.mechanisms.categorical.oracle import index_dtype
from ldpkit.mechanisms.categorical.report_law import JointLaw, ReportLaw
from ldpkit.mechanisms.categorical.subset_law import sample_supports
from ldpkit.mechanisms.categorical.unary import SUE
from ldpkit.mechanisms.channel import Channel, check_enumerable
from ldpkit.mechanisms.forms import words
from ldpkit.mechanisms.longitudinal.memoized import MemoizedOracle

__all__ = ["DBitFlip"]

_SCORE = 1024
_MOST_BITS = (1 << 26) - 1  # with one more they are the values of the largest domain


class _Bits(SUE):
    """Symmetric bits of any epsilon: the limits are those of the mechanism that uses them."""

    def __init__(self, domain: DomainLike, epsilon: float) -> None:
        self._freeze(domain=as_domain(domain), epsilon=epsilon)


@register
class DBitFlip(MemoizedOracle):
    """dBitFlipPM: randomised bits for d buckets chosen at random, once for all.

    A device draws d of the k buckets (values of the domain) without replacement and
    reports, for each of them, whether its value is there, each bit kept with probability
    p = e^(eps/2) / (e^(eps/2) + 1). It keeps one answer for each of its d buckets and one
    for all values outside them, and repeats it whenever its value comes back. With d = 1
    only one bit tells two values apart, so that bit gets the whole epsilon.

    A one scores 1 - q for its bucket and a zero -q, up to 1/1024, and a bucket that was
    not asked for scores nothing. Sums of scores give the estimate: it is unbiased, and its
    variance is lower than that of counting ones (Ding et al.), by a factor 1 - q for d
    much smaller than k. For d = k the two are the same.

    Utility: variance about k/d times that of SUE.
    Runtime: O(d) a user, O(d) a report; memory O(k).
    Citation: Ding, Kulkarni, Yekhanin (NeurIPS 2017).

    Parameters
    ----------
    domain : int or sequence of labels
        The k buckets.
    epsilon : float
        What all reports about one value together may cost.
    d : int, optional
        How many buckets a device answers for; all of them by default.

    Examples
    --------
    >>> import ldpkit
    >>> oracle = ldpkit.get("dbitflip", 32, epsilon=1, d=4)
    >>> oracle.state_count, oracle.report_bytes             # four indices and a byte of bits
    (5, 5)
    """

    name = "dbitflip"
    aliases = ("dbitflippm",)
    title = "dBitFlipPM"
    citation = "Ding, Kulkarni, Yekhanin: Collecting telemetry data privately. NeurIPS 2017"
    capabilities = MemoizedOracle.capabilities - {"pure"} | {"client"}
    declared = (
        EPSILON,
        Parameter(
            "d", int, "how many buckets a device answers for; all of them by default", default=None, least=1
        ),
    )

    d: int

    def __init__(self, domain: DomainLike, epsilon: float, d: int | None = None) -> None:
        super().__init__(domain, epsilon)
        chosen = self.size if d is None else check_whole(d, "d")
        if chosen > self.size:
            raise InvalidParameterError(f"d must be at most the {self.size} values of the domain, got {d}")
        if chosen > _MOST_BITS:
            raise InvalidParameterError(
                f"d must be at most 2**26 - 1, got {chosen}: one more bit means 'none of these'; give a "
                "smaller d"
            )
        self._freeze(d=chosen)

    def sibling(self, size: int) -> Self:
        return type(self)(size, self.epsilon, min(self.d, size))

    @property
    def state_count(self) -> int:
        return min(self.d + 1, self.size)

    @property
    def states_are_values(self) -> bool:
        return self.d >= self.size - 1

    def is_worst(self, state: int) -> bool:
        # Two bits tell two of its buckets apart, but one bit a bucket from 'none of these'.
        return self.d == 1 or state < self.d

    @property
    def has_public_coins(self) -> bool:
        return self.d < self.size

    def _form(self) -> dict[str, Any]:
        own, other = words(self._bits.thresholds)
        return {"form": "bitflip", "size": self.size, "d": self.d, "own": own, "other": other}

    def sampler_integers(self) -> tuple[int, ...]:
        return self.d, *self._bits.thresholds

    @cached_property
    def _bits(self) -> _Bits:
        """The randomiser of the bits, with one more for 'none of these', which is not sent."""
        return _Bits(self.d + 1, self.epsilon if self.d > 1 else 2 * self.epsilon)

    @cached_property
    def bit_probabilities(self) -> tuple[Fraction, Fraction]:
        """The exact probabilities of a one for the own bucket and for another, if asked for."""
        return self._bits.support_probabilities

    def exact_epsilon(self) -> float:
        p, q = self.bit_probabilities
        return log_up((p / q) ** min(self.d, 2))  # so many bits tell two values apart, at most

    def exact_permanent_epsilon(self) -> float:
        return self.exact_epsilon()

    def exact_instant_epsilon(self) -> float:
        return float("inf")  # what is sent is the permanent report itself

    def repeated_epsilon(self, times: int) -> float:
        return self.exact_epsilon()

    def history_epsilon(self, times: Sequence[int], states: int) -> float | None:
        # Two reports that differ are possible if the value changed, and impossible if it did not.
        return self.exact_instant_epsilon()

    def channel(self, rng: RandomSource | None = None) -> Channel:
        check_enumerable(max(1 << min(self.d, 60), self.size), repr(self))  # a row for each value, too
        coins = self.public_coins(1, resolve(rng))
        values = np.arange(self.size, dtype=np.uint32)
        bits = (np.arange(1 << self.d)[:, None] >> np.arange(self.d)) & 1
        reports = np.repeat(coins, len(bits))
        reports["bits"] = np.packbits(bits.astype(np.uint8), axis=1, bitorder="little")
        states = self.states(np.repeat(coins, self.size), values).tolist()
        rows = {state: self._row(state, bits.tolist()) for state in set(states)}
        return Channel(reports, [rows[state] for state in states])

    def _row(self, state: int, bits: list[list[int]]) -> list[Fraction]:
        p, q = self.bit_probabilities
        row = []
        for report in bits:
            own = [p if bit else 1 - p for place, bit in enumerate(report) if place == state]
            other = [q if bit else 1 - q for place, bit in enumerate(report) if place != state]
            row.append(math.prod([*own, *other], start=Fraction(1)))
        return row

    @cached_property
    def report_dtype(self) -> np.dtype[Any]:
        bits = ("bits", "<u1", ((self.d + 7) // 8,))
        if self.d == self.size:  # it goes without saying which buckets they are
            return np.dtype([bits])
        return np.dtype([("buckets", index_dtype(self.size), (self.d,)), bits])

    @property
    def random_bytes_per_report(self) -> int:
        return 8 + 5 * self.d

    def _is_valid(self, reports: Reports) -> np.ndarray[Any, np.dtype[np.bool_]]:
        unused = -self.d % 8
        padded = reports["bits"][:, -1] >> (8 - unused) == 0 if unused else np.ones(len(reports), np.bool_)
        buckets = self._buckets(reports)
        ascending = (buckets[:, 1:] > buckets[:, :-1]).all(axis=1)
        return np.asarray(padded & ascending & (buckets[:, -1] < self.size))

    def _buckets(self, reports: Reports) -> Indices:
        """Return the ascending buckets that each report answers for."""
        if self.d < self.size:
            return np.asarray(reports["buckets"])
        return np.broadcast_to(np.arange(self.size, dtype=np.uint32), (len(reports), self.size))

    def _ones(self, reports: Reports) -> Bytes:
        """Return the bits of each report, a byte of 0 or 1 for each of its buckets."""
        return np.unpackbits(reports["bits"], axis=1, count=self.d, bitorder="little")

    def public_coins(self, count: int, source: RandomSource) -> Reports:
        coins = np.zeros(count, self.report_dtype)
        if self.d < self.size:
            coins["buckets"] = self._choose(count, source)
        return coins

    def _choose(self, count: int, source: RandomSource) -> Indices:
        """Return ascending random sets of d buckets."""
        from ldpkit.mechanisms.kernels.subset import list_values, randomise

        # A set without the own value, when the own value is one that is not in the domain.
        outside = np.full(count, self.size, np.uint32)
        bitmaps = np.zeros((count, self.size // 8 + 1), np.uint8)
        while not randomise(
            source.words(count),
            source.bytes(4 * count * self.d).view("<u4").reshape(count, self.d),
            source.bytes(4 * (1024 + count)).view("<u4"),
            outside,
            np.uint64(0),
            self.size + 1,
            bitmaps,
        ):
            bitmaps[:] = 0
        chosen = np.empty((count, self.d), index_dtype(self.size))
        list_values(bitmaps, chosen)
        return chosen

    def states(self, coins: Reports, indices: Indices) -> Indices:
        if self.d == self.size:
            return indices
        here = self._buckets(coins) == indices[:, None]
        return np.where(here.any(axis=1), here.argmax(axis=1), self.d).astype(np.uint32)

    def memorise(self, coins: Reports, states: Indices, source: RandomSource) -> Reports:
        reports = coins.copy()
        bits = self._bits._randomise(states, source)[:, : (self.d + 7) // 8]
        if self.d % 8:
            bits[:, -1] &= np.uint8((1 << self.d % 8) - 1)
        reports["bits"] = bits
        return reports

    def instant(self, permanent: Reports, source: RandomSource) -> Reports:
        return permanent.copy()

    @cached_property
    def _zero_score(self) -> int:
        """What a zero costs its bucket: 1024 q, rounded. A one earns 1024 less that."""
        return round(_SCORE * self.bit_probabilities[1])

    def count_range(self, n: int) -> tuple[int, int]:
        return -n * self._zero_score, n * (_SCORE - self._zero_score)

    def check_counts(self, n: int, counts: Counts) -> None:
        super().check_counts(n, counts)
        # Over all buckets it is known how often was asked; where d = k, for each of them too.
        ones = exact_sum(counts) + n * self.d * self._zero_score
        if ones % _SCORE or not 0 <= ones <= n * self.d * _SCORE or self._is_uneven(n, counts):
            raise InvalidInputError(
                f"these cannot be sums of scores of {n} reports of {self!r}: "
                "the tally is damaged or of another mechanism"
            )

    def _is_uneven(self, n: int, counts: Counts) -> bool:
        """Whether some bucket has a sum that no number of ones gives."""
        if self.d < self.size:
            return bool((counts % math.gcd(_SCORE, self._zero_score)).any())
        return bool(((counts + n * self._zero_score) % _SCORE).any())

    def _supports(self, reports: Reports) -> Counts:
        buckets, ones = self._buckets(reports), self._ones(reports).astype(np.bool_)
        asked = np.bincount(buckets.ravel(), minlength=self.size)
        return _SCORE * np.bincount(buckets[ones], minlength=self.size) - self._zero_score * asked

    def unbiased(self, supports: Counts, n: int) -> Floats:
        p, q = self.bit_probabilities
        offset = float(Fraction(self._zero_score, _SCORE) - q)
        mean = supports / (n * _SCORE) * (self.size / self.d)
        return (mean + offset) / float(p - q)

    def _report_variance(self, f: Floats) -> Floats:
        p, q = self.bit_probabilities
        own, other = (float(self._score_variance(one) / (p - q) ** 2) for one in (p, q))
        return f * own + (1 - f) * other

    @cached_property
    def report_law(self) -> ReportLaw:
        asked, zero = self.d / self.size, self._zero_score
        own, other = (
            np.array([asked * float(1 - one), 1 - asked, asked * float(one)])
            for one in self.bit_probabilities
        )
        return ReportLaw(np.array([-zero, 0, _SCORE - zero]), own, other)

    @property
    def joint_law(self) -> JointLaw:
        # With all buckets asked for, scores are the ones of independent bits, in other units.
        return JointLaw(*self.bit_probabilities) if self.d == self.size else super().joint_law

    def _score_variance(self, one: Fraction) -> Fraction:
        """Return the variance of one report's score in units of an asked-for one, given P(one)."""
        asked, zero = Fraction(self.d, self.size), Fraction(self._zero_score, _SCORE)
        square = one * (1 - zero) ** 2 + (1 - one) * zero**2
        return square / asked - (one - zero) ** 2

    def _sample_supports(self, counts: Counts, repeats: int, generator: np.random.Generator) -> Counts:
        return np.array([self._sample_scores(counts, generator) for _ in range(repeats)])

    def _sample_scores(self, counts: Counts, generator: np.random.Generator) -> Counts:
        # An own bit is as another's, except that with probability `sure` it is a one. Those
        # people ask for their own bucket (`held`) or not; given that, all sets are as likely.
        p, q = (float(probability) for probability in self.bit_probabilities)
        people, share = int(counts.sum()), self.d / self.size
        sure = generator.binomial(counts, (p - q) / (1 - q))
        held = generator.binomial(sure, share)
        asked = np.full(self.size, people)
        if self.d < self.size:
            anybody = np.zeros_like(counts)
            anybody[0] = people - sure.sum()
            asked = sample_supports(anybody, self.d, share, 1, generator)[0]
            asked += sample_supports(held, self.d, 1.0, 1, generator)[0]
            # A set without the own bucket is the complement of one with it.
            missed = sure - held
            asked += missed.sum() - sample_supports(missed, self.size - self.d, 1.0, 1, generator)[0]
        ones = held + generator.binomial(asked - held, q)
        return np.asarray(_SCORE * ones - self._zero_score * asked)

    def _evidence(self, reports: Reports, memoized: bool) -> Floats:
        p, q = (float(probability) for probability in self.bit_probabilities)
        says = np.where(self._ones(reports), np.log(p / q), np.log((1 - p) / (1 - q)))
        evidence = np.zeros((len(reports), self.size))
        np.put_along_axis(evidence, self._buckets(reports).astype(np.int64), says, axis=1)
        if not memoized:
            return np.asarray(np.cumsum(evidence, axis=0), float)
        if (reports != reports[0]).any():
            raise InvalidInputError("the reports differ: a device that keeps its answer repeats it")
        return evidence
