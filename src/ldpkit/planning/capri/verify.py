"""Does a plan hold: collections that know nothing of how it was found."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ldpkit.core.checks import SMALLEST_EPSILON, check_whole
from ldpkit.core.random import RandomSource, resolve
from ldpkit.planning.capri.law import mechanism_at
from ldpkit.planning.capri.question import CapacityQuestion
from ldpkit.planning.capri.totals import right_decisions
from ldpkit.planning.plan import binomial_interval

__all__ = ["RUNS", "Check", "verify"]

RUNS = 20_000


@dataclass(frozen=True)
class Check:
    """What simulated collections say of an epsilon.

    Parameters
    ----------
    epsilon : float
        The budget.
    runs : int
        How many collections there were.
    probability : float
        How often the outcome occurred that the question bounds.
    low, high : float
        The exact 95% interval of its probability (Clopper and Pearson).
    holds : str
        Whether the constraint holds: "yes", "no", or "open" if the interval has room for both.
    """

    epsilon: float
    runs: int
    probability: float
    low: float
    high: float
    holds: str

    def row(self) -> dict[str, Any]:
        """Return the record."""
        return dict(self.__dict__)


def verify(
    question: CapacityQuestion,
    protocol: str,
    epsilon: float,
    *,
    runs: int = RUNS,
    rng: RandomSource | None = None,
) -> Iterator[Check]:
    """Yield a check at an epsilon, where the constraint should hold, and at 0.9 times it.

    The collections come from the oracle's own `simulate`, with support counts for every
    value, or from the law of the sum of numeric reports. An epsilon for which 0.9 times it
    is too small gets one check only.

    Examples
    --------
    >>> import ldpkit
    >>> question = CapacityQuestion([0, 1], [400, 600], 500, "fn", at_most=0.05)
    >>> checks = list(verify(question, "grr", 0.57, runs=5000, rng=ldpkit.random.seeded(1)))
    >>> [(round(check.epsilon, 3), check.holds) for check in checks]
    [(0.57, 'yes'), (0.513, 'no')]
    """
    make = mechanism_at(protocol, question)
    count, source = check_whole(runs, "runs"), resolve(rng)
    for each in (epsilon, 0.9 * epsilon):
        if each < SMALLEST_EPSILON:
            continue
        right = right_decisions(make(each), question, count, source)
        least, most = binomial_interval(right, count)
        low, high = sorted(map(question.of_outcome, (least, most)))
        holds = "yes" if question.satisfied(least) else "open" if question.satisfied(most) else "no"
        yield Check(each, count, question.of_outcome(right / count), low, high, holds)
