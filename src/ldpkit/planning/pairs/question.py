"""What pairs are asked to do, and what their reports may tell whom.

The question has two epsilons. `epsilon_alone` is what a report may tell a collector who
knows some people's values, but not who is paired with whom. `epsilon` is what it may tell
anyone, the partner included.
"""

from __future__ import annotations

from dataclasses import dataclass

from ldpkit.core.errors import InvalidParameterError
from ldpkit.core.parameters import check_epsilon, check_people, check_whole
from ldpkit.mechanisms.categorical.grr import GRR
from ldpkit.mechanisms.joint.adversary import Adversary
from ldpkit.mechanisms.joint.table import PairTable

__all__ = ["MOST_KNOWN", "PairQuestion"]

MOST_KNOWN = 200_000


@dataclass(frozen=True)
class PairQuestion:
    """What pairs are asked to do.

    Parameters
    ----------
    n : int
        How many people, two or more.
    epsilon_alone : float
        What a report may tell a collector who knows the values of `known` people and not the pairing.
    epsilon : float or None
        What it may tell anyone, including the partner; None sets no limit.
    known : int
        How many people's values are known.
    ones : pair of int or None
        The least and the largest number of ones that is assumed; None assumes nothing.
    """

    n: int
    epsilon_alone: float
    epsilon: float | None = None
    known: int = 0
    ones: tuple[int, int] | None = None

    def __post_init__(self) -> None:
        check_people(self.n, least=2)
        check_epsilon(self.epsilon_alone, "epsilon_alone")
        if self.epsilon is not None and check_epsilon(self.epsilon) < self.epsilon_alone:
            raise InvalidParameterError(
                f"epsilon={self.epsilon:g} towards anyone cannot be less than epsilon_alone="
                f"{self.epsilon_alone:g} towards somebody"
            )
        if check_whole(self.known, "known", least=0) >= self.n:
            raise InvalidParameterError(f"of {self.n} people at most {self.n - 1} others are known")
        if min(self.known, self.n - self.known) > MOST_KNOWN:
            raise InvalidParameterError(
                f"with {self.known:,} of {self.n:,} people known, sums over all pairings take too long: "
                f"at most {MOST_KNOWN:,} may be known, or all but that many"
            )
        if self.ones is not None:
            low, high = self.ones
            if not 0 <= low <= high <= self.n:
                raise InvalidParameterError(
                    f"the number of ones lies between 0 and n={self.n}, the least first, got {low} and {high}"
                )

    @property
    def range(self) -> tuple[int, int]:
        """The assumed range of the number of ones."""
        return self.ones or (0, self.n)

    @property
    def hardest(self) -> int:
        """The number of ones in the range at which negative correlation helps least."""
        low, high = self.range
        return min(max(self.n // 2, low), high)

    @property
    def adversary(self) -> Adversary:
        """Whom `epsilon_alone` is stated against."""
        return Adversary(known=self.known)

    def variance(self, table: PairTable) -> float:
        """Return the largest variance of the estimated share within the assumed range."""
        p, q, covariance = (float(each) for each in (table.truthful, table.untruthful, table.covariance))
        low, high = self.range
        shares = {low, high, self.hardest, min(self.hardest + 1, high)}
        meet = 1 / (self.n - 1 + self.n % 2)
        together = [(2 * ones - self.n) ** 2 - self.n for ones in shares]
        count = max(self.n * p * q + covariance * meet * each for each in together)
        return count / (self.n * (p - q)) ** 2

    def response_variance(self, epsilon: float) -> float:
        """Return the variance of the share by plain randomised response, the same for any number of ones."""
        return GRR(2, epsilon=epsilon).variance(0.5, self.n)
