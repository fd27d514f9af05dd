"""Does a plan hold: collections that know nothing of how it was found."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ldpkit.core.checks import SMALLEST_EPSILON, check_whole
from ldpkit.core.random import RandomSource, resolve
from ldpkit.mechanisms.base import get
from ldpkit.planning.capri.question import CapacityQuestion
from ldpkit.planning.capri.totals import check_frequency_oracle, right_decisions

__all__ = ["RUNS", "Check", "verify"]

RUNS = 20_000


@dataclass(frozen=True)
class Check:
    """What simulated collections say of an epsilon.

    Parameters
    ----------
    epsilon : float
        The budget.
    probability, stderr : float
        How often the outcome occurred that the question bounds, and its standard error.
    runs : int
        How many collections there were.
    satisfied : bool
        Whether the constraint held, by this estimate.
    """

    epsilon: float
    probability: float
    stderr: float
    runs: int
    satisfied: bool

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
    value. An epsilon for which 0.9 times it is too small gets one check only.

    Examples
    --------
    >>> import ldpkit
    >>> question = CapacityQuestion([0, 1], [400, 600], 500, "fn", at_most=0.05)
    >>> checks = list(verify(question, "grr", 0.55, runs=5000, rng=ldpkit.random.seeded(1)))
    >>> [(round(check.epsilon, 3), check.satisfied) for check in checks]
    [(0.55, True), (0.495, False)]
    """
    check_frequency_oracle(protocol)
    count, source = check_whole(runs, "runs"), resolve(rng)
    for each in (epsilon, 0.9 * epsilon):
        if each < SMALLEST_EPSILON:
            continue
        oracle = get(protocol, len(question.amounts), epsilon=each)
        right = right_decisions(oracle, question, count, source) / count
        stderr = math.sqrt(right * (1 - right) / count)
        yield Check(each, question.of_outcome(right), stderr, count, question.satisfied(right))
