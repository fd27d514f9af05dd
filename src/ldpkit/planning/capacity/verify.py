"""Does a plan hold: collections that know nothing of how it was found."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from ldpkit.core.parameters import SMALLEST_EPSILON
from ldpkit.core.random import RandomSource, resolve
from ldpkit.planning.capacity.question import CapacityQuestion
from ldpkit.planning.capacity.totals import right_decisions
from ldpkit.planning.laws.totals import mechanism_at
from ldpkit.planning.verification import RUNS, Verification, verify_around

__all__ = ["verify"]


def verify(
    question: CapacityQuestion,
    protocol: str,
    epsilon: float,
    *,
    runs: int = RUNS,
    rng: RandomSource | None = None,
) -> Iterator[Verification]:
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
    make, source = mechanism_at(protocol, question), resolve(rng)

    def right_at(tried: float, _: str) -> int:
        return right_decisions(make(tried), question, runs, source)

    for check in verify_around(
        protocol, epsilon, question.wanted, right_at, runs=runs, least=SMALLEST_EPSILON
    ):
        low, high = sorted(map(question.of_outcome, (check.low, check.high)))
        yield replace(check, probability=question.of_outcome(check.probability), low=low, high=high)
