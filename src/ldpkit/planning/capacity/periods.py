"""Planning over consecutive periods: what one period's collection tells plans the next.

Nobody knows the counts before the first collection: it is planned with public or
historical ones. From then on the estimate of each period, made consistent, stands for
the population of the next. Epsilons of periods add up for a person who takes part in all
of them, unless devices memoize their reports.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ldpkit.core.parameters import check_counts
from ldpkit.core.random import RandomSource, resolve
from ldpkit.core.typing import Counts, Floats
from ldpkit.mechanisms.kinds import frequency_oracle
from ldpkit.mechanisms.tally import FrequencyTally, Tally
from ldpkit.planning.capacity.exact import EPSILON_MAX, EPSILON_MIN, exact
from ldpkit.planning.capacity.question import CapacityQuestion, Outcome
from ldpkit.planning.capacity.totals import check_frequency_oracle
from ldpkit.planning.laws.totals import total_law
from ldpkit.planning.plan import Plan

__all__ = ["Period", "plan_next", "run_periods"]


@dataclass(frozen=True)
class Period:
    """One period: how it was planned, and what came of it.

    Parameters
    ----------
    number : int
        From 1 on.
    plan : Plan
        Made from what the period before told.
    epsilon : float
        What was used: the planned epsilon, or the largest allowed if there was none.
    total, estimate : float
        The true and the estimated total.
    outcome : Outcome
        Whether the decision was right, and which one it was.
    mistake : float
        The exact probability of a mistake with this epsilon and the true people.
    spent : float
        The sum of the epsilons so far.
    """

    number: int
    plan: Plan
    epsilon: float
    total: float
    estimate: float
    outcome: Outcome
    mistake: float
    spent: float

    def row(self) -> dict[str, Any]:
        """Return the record."""
        fields = ("number", "epsilon", "total", "estimate", "mistake", "spent")
        return {name: getattr(self, name) for name in fields} | {"outcome": self.outcome.value}


def plan_next(
    tally: Tally,
    amounts: Sequence[float] | Floats,
    capacity: float,
    protocol: str,
    mistake: float,
    **options: float,
) -> Plan:
    """Return the exact plan of the next period from the tally of this one.

    Parameters
    ----------
    tally : Tally
        What was collected.
    amounts, capacity, protocol
        As in `CapacityQuestion` and `exact`.
    mistake : float
        The largest probability of a wrong decision, of whichever kind it will be.
    options
        `epsilon_min` and `epsilon_max`.
    """
    people = _whole_people(tally.estimate("mi", consistency="norm_sub").values, tally.n)
    return exact(CapacityQuestion.right_decision(amounts, people, capacity, mistake), protocol, **options)


def run_periods(
    periods: Iterable[Sequence[int] | Counts],
    historical: Sequence[int] | Counts,
    amounts: Sequence[float] | Floats,
    capacity: float,
    protocol: str,
    mistake: float,
    *,
    epsilon_min: float = EPSILON_MIN,
    epsilon_max: float = EPSILON_MAX,
    rng: RandomSource | None = None,
) -> Iterator[Period]:
    """Simulate planning, collecting and deciding, period after period.

    Parameters
    ----------
    periods : iterable of counts
        The true people of each period, whom the collector never sees.
    historical : counts
        What the first period is planned with.
    amounts, capacity, protocol, mistake
        As in `plan_next`.
    epsilon_min, epsilon_max : float
        The range of allowed epsilons; the largest serves where no epsilon suffices.
    rng : RandomSource, optional
        Secure by default.

    Examples
    --------
    >>> import ldpkit
    >>> months = [[400, 600], [430, 570], [600, 400]]
    >>> history = run_periods(
    ...     months, [450, 550], [0, 1], 500, "grr", 0.05, rng=ldpkit.random.seeded(3)
    ... )
    >>> [(month.number, month.outcome.value) for month in history]
    [(1, 'tp'), (2, 'tp'), (3, 'tn')]
    """
    check_frequency_oracle(protocol)
    source = resolve(rng)
    limits = {"epsilon_min": epsilon_min, "epsilon_max": epsilon_max}
    plan = exact(CapacityQuestion.right_decision(amounts, historical, capacity, mistake), protocol, **limits)
    spent = 0.0
    for number, counts in enumerate(periods, 1):
        truth = CapacityQuestion.right_decision(
            amounts, check_counts(counts, len(amounts)), capacity, mistake
        )
        epsilon = plan.epsilon or epsilon_max
        spent += epsilon
        oracle = frequency_oracle(protocol, len(amounts), epsilon=epsilon)
        tally = FrequencyTally(oracle, truth.n, oracle.simulate(truth.counts, rng=source)[0])
        estimate = float(tally.estimate().counts @ truth.amounts)
        right = truth.right(total_law(oracle, truth).at_most(capacity))
        outcome = _outcome(truth.exceeds, estimate > capacity)
        yield Period(number, plan, epsilon, truth.total, estimate, outcome, 1 - right, spent)
        plan = plan_next(tally, amounts, capacity, protocol, mistake, **limits)


def _outcome(exceeds: bool, says_so: bool) -> Outcome:
    if exceeds:
        return Outcome.TP if says_so else Outcome.FN
    return Outcome.FP if says_so else Outcome.TN


def _whole_people(frequencies: Floats, n: int) -> Counts:
    """Return n people with about these frequencies."""
    shares = frequencies / frequencies.sum() * n
    people: Counts = np.floor(shares).astype(np.int64)
    people[np.argsort(people - shares, kind="stable")[: n - int(people.sum())]] += 1
    return people
