"""Does a plan hold: new collections at the selected epsilon, and at 0.9 times it, where it should not."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from ldpkit.core.binomial import binomial_interval
from ldpkit.core.parameters import check_whole

__all__ = ["RUNS", "Verification", "verify_around"]

RUNS = 20_000
"""Collections for each of the two epsilons."""


@dataclass(frozen=True)
class Verification:
    """What independent simulations say of a budget.

    Parameters
    ----------
    protocol : str
        The protocol.
    epsilon : float
        The budget.
    what : str
        Where it comes from: "selected", or a fraction of that.
    runs : int
        How many collections were simulated.
    probability : float
        The share that satisfies the constraint, or what else the plan bounds.
    low, high : float
        The exact 95% interval of the probability (Clopper and Pearson).
    holds : str
        "yes", "no", or "open" if the interval has room for both.
    """

    protocol: str
    epsilon: float
    what: str
    runs: int
    probability: float
    low: float
    high: float
    holds: str


def verify_around(
    protocol: str,
    epsilon: float,
    wanted: float,
    good_at: Callable[[float, str], int],
    *,
    runs: int = RUNS,
    least: float = 0.0,
) -> Iterator[Verification]:
    """Yield what simulations say at an epsilon, and at 0.9 times it.

    Parameters
    ----------
    protocol : str
        What is verified.
    epsilon, wanted : float
        The selected budget, and the least probability of a good collection.
    good_at : callable
        From an epsilon and what it is to how many of `runs` collections are good.
    runs : int
        How many collections for each of the two.
    least : float
        A smaller epsilon than this is left out.

    Examples
    --------
    >>> checks = verify_around("grr", 1.0, 0.9, lambda epsilon, _: int(950 * epsilon), runs=1000)
    >>> [check.holds for check in checks]
    ['yes', 'no']
    """
    check_whole(runs, "runs")
    for factor, what in ((1.0, "selected"), (0.9, "0.9 times it")):
        tried = factor * epsilon
        if tried < least:
            continue
        good = good_at(tried, what)
        low, high = binomial_interval(good, runs)
        holds = "yes" if low >= wanted else "no" if high < wanted else "open"
        yield Verification(protocol, tried, what, runs, good / runs, low, high, holds)
