"""Plans for means of numbers: the smallest epsilon, and simulations that check it."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from ldpkit.core.cached import cached_property
from ldpkit.core.domains.interval import IntervalDomain
from ldpkit.core.errors import InvalidParameterError
from ldpkit.core.parameters import (
    LARGEST_EPSILON,
    SMALLEST_EPSILON,
    check_epsilon,
    check_fraction,
    check_people,
)
from ldpkit.core.random import RandomSource
from ldpkit.core.typing import Counts, Floats
from ldpkit.estimation.margins import normal_deviations
from ldpkit.mechanisms.kinds import numeric_class
from ldpkit.mechanisms.numeric.mechanism import NumericMechanism
from ldpkit.planning.mean.mechanisms import smallest_epsilon
from ldpkit.planning.mean.variance import Spread, mean_error, worst_value
from ldpkit.planning.plan import Plan, Trial
from ldpkit.planning.verification import RUNS, Verification, verify_around
from ldpkit.simulation.sums import sample_means

__all__ = ["MeanQuestion", "plan_mean", "verify_mean"]

_FEW = 100
"""Below this number of people the normal law is rough."""


@dataclass(frozen=True, eq=False)
class MeanQuestion:
    """The question how small epsilon may be, if a mean must be that exact.

    Parameters
    ----------
    mechanism : str
        A numeric mechanism whose mean report is a linear function of the value.
    domain : IntervalDomain
        Where the values lie.
    within : float
        How far off the mean may be, in the unit of the values.
    n : int
        The number of people.
    values : array, optional
        A stand-in for the people's values; without it the answer is for any values.
    probability : float
        With which probability it must not be further off.
    epsilon_min, epsilon_max : float
        The budgets that are allowed.

    Examples
    --------
    >>> question = MeanQuestion("pm", IntervalDomain(0, 100), 0.5, 100_000)
    >>> print(question.goal)
    mean within 0.5 with probability at least 0.95
    >>> round(question.error(1.0), 3)
    0.708
    """

    mechanism: str
    domain: IntervalDomain
    within: float
    n: int
    values: Floats | None = None
    probability: float = 0.95
    epsilon_min: float = SMALLEST_EPSILON
    epsilon_max: float = LARGEST_EPSILON

    def __post_init__(self) -> None:
        if not (math.isfinite(self.within) and self.within > 0):
            raise InvalidParameterError(
                f"how far off the mean may be must be positive and finite, got {self.within:g}"
            )
        check_people(self.n, "the number of people")
        check_fraction(self.probability, "probability (pi)")
        low = check_epsilon(self.epsilon_min, "the smallest epsilon")
        if not low < check_epsilon(self.epsilon_max, "the largest epsilon"):
            raise InvalidParameterError(
                f"the smallest epsilon, {low:g}, must be below the largest, {self.epsilon_max:g}"
            )

    @property
    def goal(self) -> str:
        """What is wanted, in words."""
        return f"mean within {self.within:g} with probability at least {self.probability:g}"

    def with_unit(self, text: str, unit: str) -> str:
        """Return a text that has the goal in it with a unit after the number."""
        named = self.goal.replace(f"within {self.within:g}", f"within {self.within:g} {unit}", 1)
        return text.replace(self.goal, named) if unit else text

    @property
    def scope(self) -> str:
        """For whom the answer holds."""
        return "for any numbers" if self.values is None else "for numbers like these"

    @cached_property
    def spread(self) -> Spread | None:
        """How the values are spread, if they are known."""
        return None if self.values is None else Spread(self.domain, self.values)

    def at(self, epsilon: float) -> NumericMechanism:
        """Return the mechanism with a budget."""
        return numeric_class(self.mechanism).make(self.domain, epsilon=epsilon)

    def error(self, epsilon: float) -> float:
        """Return how far off the mean is at most, with the wanted probability."""
        return mean_error(self.at(epsilon), self.n, self.probability, self.spread)

    def people(self, mechanism: NumericMechanism) -> tuple[Counts, Counts]:
        """Return how many people hold which place of the grid: the worst one, or those of the values."""
        if self.spread is None:
            value = np.array([worst_value(mechanism)])
            return self.domain.encode(value, steps=mechanism.grid).astype(np.int64), np.array([self.n])
        places, counts = self.spread.groups(mechanism.grid)
        return places, _scaled(counts, self.n)


def plan_mean(question: MeanQuestion) -> Plan:
    """Return the smallest epsilon that makes a mean exact enough, as a plan.

    Examples
    --------
    >>> plan = plan_mean(MeanQuestion("hm", IntervalDomain(0, 100), 0.5, 100_000))
    >>> round(plan.epsilon, 3), round(plan.probability, 3), plan.holds
    (1.282, 0.95, 'yes')
    """
    trace: list[Trial] = []
    start = time.perf_counter()

    reach = normal_deviations(question.probability)

    def watch(epsilon: float, error: float) -> None:
        probability = 2 * NormalDist().cdf(reach * question.within / error) - 1
        trace.append(Trial(epsilon, probability, 0, probability >= question.probability))

    epsilon = smallest_epsilon(
        question.mechanism,
        question.domain,
        question.n,
        question.within,
        question.probability,
        spread=question.spread,
        least=question.epsilon_min,
        most=question.epsilon_max,
        watch=watch,
    )
    at = question.epsilon_max if epsilon is None else epsilon
    judged = min(trace, key=lambda trial: abs(trial.epsilon - at))
    return Plan(
        method="analytic",
        protocol=question.mechanism,
        goal=question.goal,
        wanted=question.probability,
        epsilon=epsilon,
        probability=judged.probability,
        interval=None,
        confidence=None,
        trace=tuple(trace),
        simulations=0,
        seconds=time.perf_counter() - start,
        note=("rough: so few reports; " if question.n < _FEW else "") + question.scope,
        rough=question.n < _FEW,
    )


def verify_mean(
    question: MeanQuestion, plan: Plan, *, rng: RandomSource, runs: int = RUNS
) -> Iterator[Verification]:
    """Simulate at the selected epsilon and at 0.9 times it, where the mean should be off too often.

    The sum of all reports is drawn from its exact law; neither the variance nor a normal
    law is used. Without values, everybody holds the value that is worst.

    Parameters
    ----------
    question, plan
        What was asked and answered; nothing is verified of an infeasible plan.
    rng : RandomSource
        What the simulations are drawn with.
    runs : int
        How many collections for each of the two.
    """
    if plan.epsilon is None:
        return

    def good_at(epsilon: float, what: str) -> int:
        mechanism = question.at(epsilon)
        places, counts = question.people(mechanism)
        means = sample_means(mechanism, places, counts, repeats=runs, rng=rng.derive(what))
        truth = float(places / mechanism.grid @ counts) / question.n
        off = np.abs(means - truth) * question.domain.width
        return int((off <= question.within).sum())

    yield from verify_around(
        plan.protocol, plan.epsilon, plan.wanted, good_at, runs=runs, least=question.epsilon_min
    )


def _scaled(counts: Counts, n: int) -> Counts:
    """Return counts that sum to n in the same proportions, as nearly as whole numbers can."""
    ends = np.rint(np.cumsum(counts) * (n / counts.sum())).astype(np.int64)
    return np.asarray(np.diff(ends, prepend=0))
