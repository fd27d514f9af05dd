"""The guarantee of a joint mechanism as an object: how much, against whom, and whether it is exact.

With pairs, 'epsilon' alone says nothing: it depends on what the reader knows of others and
of the pairing. A guarantee states its adversary, the number of people, and whether the
number is exact or a bound. Infinite is said as infinite.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from ldpkit.core.parameters import check_people
from ldpkit.mechanisms.base import Mechanism
from ldpkit.mechanisms.joint.adversary import Adversary
from ldpkit.mechanisms.kinds import is_paired

__all__ = ["Adversary", "Guarantee", "guarantee"]


@dataclass(frozen=True)
class Guarantee:
    """How much somebody can learn of a person at most, as a log-likelihood ratio.

    Parameters
    ----------
    epsilon : float
        Rounded up; infinite where a value can be learned for certain.
    exact : bool
        Whether some reports reach it; else it is an upper bound.
    adversary : Adversary
        Who it holds against.
    n : int
        Among how many people.
    mechanism : str
        What made the reports.
    """

    epsilon: float
    exact: bool
    adversary: Adversary
    n: int
    mechanism: str

    @property
    def statement(self) -> str:
        """The guarantee as a sentence."""
        number = "infinite" if math.isinf(self.epsilon) else f"{self.epsilon:.6f}"
        kind = "exactly" if self.exact else "at most"
        ending = ": a value can be learned for certain" if math.isinf(self.epsilon) and self.exact else ""
        return (
            f"{self.mechanism}: epsilon {kind} {number} against {self.adversary.words}, "
            f"among {self.n:,} people{ending}"
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the fields and the sentence; an infinite epsilon is the word "infinite"."""
        return {
            "mechanism": self.mechanism,
            "epsilon": "infinite" if math.isinf(self.epsilon) else self.epsilon,
            "exact": self.exact,
            **self.adversary.to_dict(),
            "n": self.n,
            "statement": self.statement,
        }

    def __str__(self) -> str:
        return self.statement


def guarantee(mechanism: Mechanism, adversary: Adversary, n: int) -> Guarantee:
    """Return what a mechanism guarantees against a stated adversary.

    Parameters
    ----------
    mechanism : Mechanism
        A joint mechanism, or any other: then nobody's knowledge of others matters.
    adversary : Adversary
        What is known. With the pairing hidden, people are paired uniformly.
    n : int
        How many people report, two or more.

    Examples
    --------
    >>> import ldpkit
    >>> oracle = ldpkit.JRR(2, epsilon_alone=1, epsilon=2)
    >>> print(guarantee(oracle, Adversary(), 10_000))
    JRR(2, epsilon_alone=1, epsilon=2): epsilon exactly 1.000000 against a collector who knows nobody's \
value, and not who is paired with whom, among 10,000 people
    >>> round(guarantee(oracle, Adversary(known=500), 10_000).epsilon, 6)
    1.039508
    >>> round(guarantee(oracle, Adversary(known=1, knows_grouping=True), 10_000).epsilon, 6)
    2.0
    """
    people = check_people(n, least=2)
    if is_paired(mechanism):
        epsilon, exact = mechanism.towards(adversary, people)
    else:
        epsilon, exact = mechanism.exact_epsilon(), True
    return Guarantee(epsilon, exact, adversary, people, repr(mechanism))
