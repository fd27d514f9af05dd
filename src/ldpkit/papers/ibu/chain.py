"""The fourteen mechanisms, right, and as the authors ran them.

One-time mechanisms and longitudinal unary encoding are the same in both. For L-GRR and
L-LH the second round is solved for two values whatever the number of values, so the first
report is more private than epsilon_1 says; and the update assumes q = p1 q2 + q1 p2 for
a support that is not the own one (with q1 = 1/g for hashing), which is not what the two
rounds give. Matrix inversion in the authors' code has the right q.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache

from ldpkit.core.typing import DomainLike
from ldpkit.mechanisms.categorical.hashing import LocalHashing
from ldpkit.mechanisms.categorical.oracle import FrequencyOracle
from ldpkit.mechanisms.kinds import frequency_oracle
from ldpkit.mechanisms.lookup import get
from ldpkit.papers.ibu.paper import LONGITUDINAL

__all__ = ["Subject", "is_as_published", "published", "right"]


@dataclass(frozen=True)
class Subject:
    """A mechanism, and the support probabilities that the update takes it to have."""

    oracle: FrequencyOracle
    p: float
    q: float


class _AnyBuckets(LocalHashing):
    """Local hashing with a given number of buckets."""

    name = "any_buckets"

    def __init__(self, domain: DomainLike, epsilon: float, buckets: int) -> None:
        super().__init__(domain, epsilon)
        self._freeze(given_buckets=buckets)

    given_buckets: int

    @property
    def buckets(self) -> int:
        return self.given_buckets


@dataclass(frozen=True)
class _Rounds:
    """Two rounds of randomised response among g values, the second as published."""

    p1: float
    q1: float
    p2: float
    q2: float

    @classmethod
    def of(cls, g: int, a: float, b: float) -> _Rounds:
        p1 = a / (a + g - 1)
        p2 = (a * b - 1) / (a * b - (g - 1) * b + (g - 1) * a - 1)
        return cls(p1, (1 - p1) / (g - 1), p2, (1 - p2) / (g - 1))

    @property
    def p(self) -> float:
        return self.p1 * self.p2 + (1 - self.p1) * self.q2

    @property
    def epsilon(self) -> float:
        """What the first report costs with these rounds."""
        return math.log(self.p / (self.q1 * self.p2 + (1 - self.q1) * self.q2))

    def claimed_q(self, q1: float) -> float:
        return self.p1 * self.q2 + q1 * self.p2


@cache
def right(name: str, k: int, epsilon: float) -> Subject:
    """Return a mechanism of the paper with epsilon for the first report and the right update.

    Examples
    --------
    >>> right("lgrr", 16, 1.0).oracle
    LGRR(16, epsilon_inf=2, epsilon_1=1)
    """
    if name in LONGITUDINAL:
        oracle = frequency_oracle(name, k, epsilon_inf=2 * epsilon, epsilon_1=epsilon)
    else:
        oracle = frequency_oracle(name, k, epsilon=epsilon)
    return Subject(oracle, oracle.p, oracle.q)


@cache
def published(name: str, k: int, epsilon: float) -> Subject:
    """Return a mechanism as the authors ran it, whose two rounds are one of another epsilon.

    Examples
    --------
    >>> subject = published("lgrr", 16, 1.0)
    >>> subject.oracle
    GRR(16, epsilon=0.573233...)
    >>> round(subject.oracle.q, 6), round(subject.q, 6)             # what it is, what the update assumes
    (0.059616, 0.026854)
    """
    return _PUBLISHED[name](k, epsilon) if name in _PUBLISHED else right(name, k, epsilon)


def is_as_published(name: str) -> bool:
    """Whether the authors' chain and update of a mechanism are right."""
    return name not in _PUBLISHED


def _lgrr(k: int, epsilon: float) -> Subject:
    rounds = _Rounds.of(k, math.exp(2 * epsilon), math.exp(epsilon))
    return Subject(get("grr", k, epsilon=rounds.epsilon), rounds.p, rounds.claimed_q(rounds.q1))


def _lblh(k: int, epsilon: float) -> Subject:
    """Return L-BLH, whose published second round is right: with two buckets it is."""
    rounds = _Rounds.of(2, math.exp(2 * epsilon), math.exp(epsilon))
    return Subject(right("lblh", k, epsilon).oracle, rounds.p, rounds.claimed_q(1 / 2))


def _lolh(k: int, epsilon: float) -> Subject:
    a, b = math.exp(2 * epsilon), math.exp(epsilon)
    g = _published_buckets(a, b)
    rounds = _Rounds.of(g, a, b)
    return Subject(_AnyBuckets(k, rounds.epsilon, g), rounds.p, rounds.claimed_q(1 / g))


_PUBLISHED = {"lgrr": _lgrr, "lblh": _lblh, "lolh": _lolh}
"""The mechanisms whose printed chain or update is wrong, as the authors ran them."""


def _published_buckets(a: float, b: float) -> int:
    """Return g of L-OLH; the paper rounds it down, the authors' code to the nearest."""
    root = math.sqrt(a**4 - 14 * a**2 + 12 * a * b * (1 - a * b) + 12 * a**3 * b + 1)
    return max(2, round(1 + (1 - a**2 + root) / (6 * (a - b))))
