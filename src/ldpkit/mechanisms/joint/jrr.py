"""Joint randomised response: partners share a word, so that their lies avoid each other.

At the least correlation, one partner uses a random word and the other its complement:
both are randomised response, and never do both lie. Any mechanism that makes a report
from one word can be coupled so.
"""

from __future__ import annotations

from fractions import Fraction
from typing import ClassVar

import numpy as np

from ldpkit.core.cached import cached_property
from ldpkit.core.errors import InvalidInputError, InvalidParameterError
from ldpkit.core.exact import WORD, RandomisedResponse
from ldpkit.core.random import RandomSource
from ldpkit.core.typing import Counts, Indices, Reports
from ldpkit.mechanisms.base import register
from ldpkit.mechanisms.categorical.grr import GRR
from ldpkit.mechanisms.joint.oracle import PairedOracle
from ldpkit.mechanisms.joint.pairing import random_order, uniform_choices
from ldpkit.mechanisms.joint.table import PairTable

__all__ = ["JRR"]

_MOST_SIMULATED = 10**9  # NumPy draws hypergeometric numbers of fewer people


@register
class JRR(PairedOracle, GRR):
    """Joint randomised response (JRR), with the privacy that it really gives.

    Everybody's report is that of GRR. Two partners share a random word, and one integer,
    the weight of 'both untruthful', sets how they are correlated. A partner who knows
    that its own report is false learns that the other one is more likely true: that is
    what `epsilon` bounds, and `epsilon_alone` does not.

    Utility: with negative correlation the variance is less than that of GRR at
    `epsilon_alone`, the more the farther shares are from one half; it is never less than
    that of GRR at `epsilon`.
    Runtime: O(1) a user, O(1) a report; memory O(n) on privatizing, for the pairing.
    Citation: the joint mechanism of Zheng's thesis, its privacy theorem corrected.

    Examples
    --------
    >>> import ldpkit
    >>> oracle = ldpkit.JRR(["no", "yes"], epsilon_alone=1, epsilon=2)
    >>> round(oracle.rho, 6), round(oracle.exact_epsilon(), 6), round(oracle.exact_epsilon_alone(), 6)
    (-0.204824, 2.0, 1.0)
    >>> rr = ldpkit.GRR(["no", "yes"], epsilon=1)
    >>> round(oracle.variance(0.03, 20_000) / rr.variance(0.03, 20_000), 3)
    0.819
    >>> ldpkit.JRR(2, epsilon_alone=1)
    Traceback (most recent call last):
    ...
    ldpkit.core.errors.InvalidParameterError: jrr without an epsilon towards anyone promises nothing against \
whoever knows a partner: give epsilon=, or say with adversary=Adversary(...) whom it should \
protect against
    """

    name = "jrr"
    aliases: ClassVar[tuple[str, ...]] = ()
    title = "Joint randomised response"
    citation = "Zheng: dissertation on local differential privacy, chapter 4 (privacy theorem corrected here)"

    @cached_property
    def table(self) -> PairTable:
        return PairTable.of_epsilons(self.size, self.epsilon_alone, self.epsilon, self.correlation)

    @cached_property
    def response(self) -> RandomisedResponse:
        """The integers of one report: those of GRR at `epsilon_alone`."""
        return RandomisedResponse(self.size, self.epsilon_alone)

    @property
    def rho(self) -> float:
        """The correlation of the partners' truthfulness, times k - 1."""
        return float(self.table.rho)

    @property
    def both(self) -> int:
        """The weight over 2**64 of 'both untruthful'."""
        return int(WORD * self.table.both)

    @property
    def stray_support(self) -> tuple[Fraction, Fraction]:
        return Fraction(0), Fraction(1, self.size - 1)

    def _known_share(self, share: float) -> tuple[float, bool]:
        if self.size > 2:
            raise InvalidParameterError(
                f"a share of ones is about two values, and {self!r} has {self.size}: leave share out"
            )
        ones, p, q = Fraction(share), self.table.truthful, self.table.q
        chances = [part * p / (part * p + (1 - part) * q) for part in (ones, 1 - ones)]
        return self.table.epsilon_given(*chances), True

    @property
    def random_bytes_per_report(self) -> int:
        return 4

    def _randomise(self, indices: Indices, source: RandomSource) -> Reports:
        self._check_people(len(indices))
        return self._written(random_order(len(indices), source), indices, source)

    def _respond(self, indices: Indices, source: RandomSource) -> Reports:
        return self._written(np.arange(len(indices), dtype=np.uint32), indices, source)

    def _written(self, order: Indices, indices: Indices, source: RandomSource) -> Reports:
        from ldpkit.mechanisms.kernels.pairs import respond_in_pairs

        n = len(order)
        words = source.words((n + 1) // 2)
        others = np.zeros(0, np.uint64) if self.size == 2 else uniform_choices(n, self.size - 1, source)
        reports = np.empty(len(indices), self.report_dtype)
        numbers = (np.uint64(self.response.keep), np.uint64(self.both))
        respond_in_pairs(order, words, indices, *numbers, others, self.size - 2, reports)
        return reports

    def _sample_supports(self, counts: Counts, repeats: int, generator: np.random.Generator) -> Counts:
        # All pairings are alike, so whoever is untruthful is a uniform choice of so many people.
        n = int(counts.sum())
        if n >= _MOST_SIMULATED:
            raise InvalidInputError(
                f"fewer than {_MOST_SIMULATED:,} people are simulated in pairs, got {n:,}"
            )
        left, others = self._untruthful(n, repeats, generator), n
        supports = np.tile(counts, (repeats, 1))
        for value, count in enumerate(counts.tolist()):
            others -= count
            here = generator.hypergeometric(count, others, left) if count else np.zeros(repeats, np.int64)
            left = left - here
            spread = np.full(self.size, 1 / (self.size - 1))
            spread[value] = 0.0
            supports[:, value] -= here
            supports += generator.multinomial(here, spread)
        return supports
