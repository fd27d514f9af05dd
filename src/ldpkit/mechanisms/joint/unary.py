"""Joint randomised response on the bits of unary encoding, partner by partner and bit by bit.

Only symmetric encoding (SUE) can be paired so. A pair has one table of who is truthful,
and that needs every bit to be truthful with the same probability. OUE tells a one
truthfully with probability 1/2 and a zero with another, so no such table exists.
"""

from __future__ import annotations

from fractions import Fraction
from typing import ClassVar

import numpy as np

from ldpkit.core.cached import cached_property
from ldpkit.core.errors import InvalidParameterError
from ldpkit.core.exact import WORD, log_product_up
from ldpkit.core.random import RandomSource
from ldpkit.core.typing import Counts, Indices, Reports
from ldpkit.mechanisms.base import register
from ldpkit.mechanisms.categorical.unary import SUE, UnaryEncoding
from ldpkit.mechanisms.joint.adversary import Adversary
from ldpkit.mechanisms.joint.counts import pairs_of_equals
from ldpkit.mechanisms.joint.oracle import PairedOracle
from ldpkit.mechanisms.joint.table import PairTable

__all__ = ["JointSUE", "truth_table"]

_BITS = 1 << 20  # made at a time


@register
class JointSUE(PairedOracle, SUE):
    """Symmetric unary encoding in pairs: each bit of a person is coupled with the partner's.

    Two values differ in two bits, so what a partner learns is paid twice: `epsilon` is
    the sum over both.

    Utility: as SUE at `epsilon_alone`, with the variance of JRR for every bit; almost
    everybody's bit is zero, so nearly the whole correlation shows.
    Runtime: O(k) a user, O(k) a report; memory O(k).
    Citation: the extension in Zheng's thesis, for SUE; for OUE it does not exist.

    Examples
    --------
    >>> import ldpkit
    >>> oracle = ldpkit.get("joint_sue", 10, epsilon_alone=1, epsilon=2)
    >>> round(oracle.variance(0.01, 10_000) / ldpkit.SUE(10, epsilon=1).variance(0.01, 10_000), 3)
    0.832
    """

    name = "joint_sue"
    aliases: ClassVar[tuple[str, ...]] = ()
    title = "Joint randomised response on unary encoding (SUE)"
    citation = "Zheng: dissertation on local differential privacy, chapter 4.5 (for SUE instead of OUE)"

    @cached_property
    def table(self) -> PairTable:
        return PairTable.of_epsilons(2, self.epsilon_alone / 2, self.epsilon / 2, self.correlation)

    @cached_property
    def thresholds(self) -> tuple[int, int]:
        own = int(WORD * self.table.truthful)
        return own, WORD - own

    @property
    def stray_support(self) -> tuple[Fraction, Fraction]:
        return Fraction(0), Fraction(1)

    def exact_epsilon(self) -> float:
        worst = self.table.worst_ratio()
        return float("inf") if worst is None else log_product_up({worst: 2})

    def exact_epsilon_alone(self) -> float:
        return UnaryEncoding.exact_epsilon(self)

    def _towards(self, adversary: Adversary, n: int) -> tuple[float, bool]:
        # The bits of a known person tell together who the partner may be: no sum over one bit is exact.
        if adversary.known == 0 and not adversary.knows_grouping and adversary.share is None:
            return self.exact_epsilon_alone(), True
        return self.exact_epsilon(), adversary.knows_grouping and adversary.known > 0

    @property
    def random_bytes_per_report(self) -> int:
        return 4 * self.size

    def _respond(self, indices: Indices, source: RandomSource) -> Reports:
        from ldpkit.mechanisms.kernels.pairs import pair_up

        reports = np.empty((len(indices), (self.size + 7) // 8), np.uint8)
        step = max(2, _BITS // self.size // 2 * 2)
        for start in range(0, len(indices), step):
            some = indices[start : start + step]
            shared = source.words((len(some) + 1) // 2 * self.size)
            words = np.empty((len(shared) // self.size, 2, self.size), np.uint64)
            pair_up(shared.reshape(-1, self.size), np.uint64(int(WORD * self.table.both)), words)
            each = words.reshape(-1, self.size)[: len(some)]
            bits = each >= np.uint64(self.thresholds[0])  # untruthful zeros
            bits[np.arange(len(some)), some] ^= True
            reports[start : start + step] = np.packbits(bits, axis=1, bitorder="little")
        return reports

    def _sample_supports(self, counts: Counts, repeats: int, generator: np.random.Generator) -> Counts:
        # Given the pairing, bits are independent: what they share is who is paired with whom.
        table = self.table
        p, u = float(table.truthful), float(table.untruthful)
        same = [float(table.neither), 2 * float(table.one), float(table.both)]
        equal, alone = pairs_of_equals(counts, repeats, generator)
        pairs = int(counts.sum()) // 2
        supports = np.empty((repeats, self.size), np.int64)
        for value, count in enumerate(counts.tolist()):
            single = alone == value
            two = equal[:, value]
            mixed = count - single - 2 * two
            none = pairs - two - mixed
            held = generator.multinomial(two, same) @ np.array([2, 1, 0])
            other = generator.multinomial(none, same) @ np.array([0, 1, 2])
            across = generator.multinomial(
                mixed, [float(table.one), p - u + 2 * float(table.both), float(table.one)]
            )
            rest = generator.binomial((alone >= 0).astype(np.int64), np.where(single, p, u))
            supports[:, value] = held + other + across @ np.array([2, 1, 0]) + rest
        return supports


def truth_table(oracle: UnaryEncoding, epsilon: float) -> PairTable:
    """Return the table of a pair of bits of a unary encoding, if there is one.

    Parameters
    ----------
    oracle : UnaryEncoding
        Whose bits partners would couple.
    epsilon : float
        What a bit may cost towards the partner.

    Examples
    --------
    >>> import ldpkit
    >>> float(truth_table(ldpkit.SUE(4, epsilon=2), 2).rho) < 0
    True
    >>> truth_table(ldpkit.OUE(4, epsilon=2), 2)
    Traceback (most recent call last):
    ...
    ldpkit.core.errors.InvalidParameterError: OUE(4, epsilon=2) has no table of who is truthful: a one is \
truthful with probability 0.5, a zero with 0.880797, and a pair needs one number; use SUE
    """
    own, other = oracle.support_probabilities
    if own != 1 - other:
        raise InvalidParameterError(
            f"{oracle!r} has no table of who is truthful: a one is truthful with probability "
            f"{float(own):g}, a zero with {float(1 - other):g}, and a pair needs one number; use SUE"
        )
    return PairTable.of_epsilons(2, oracle.epsilon / 2, epsilon)
