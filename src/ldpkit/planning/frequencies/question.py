"""The question: whose values, which protocol, what accuracy, which budgets; and the plan that answers it."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np

from ldpkit.core.cached import cached_property
from ldpkit.core.errors import InvalidParameterError
from ldpkit.core.parameters import check_counts, check_epsilon
from ldpkit.estimation.consistency import CONSISTENCY, batch_estimates
from ldpkit.mechanisms.kinds import frequency_class
from ldpkit.planning.constraint import Constraint
from ldpkit.planning.plan import EPSILON_MAX, EPSILON_MIN, Plan, binomial_interval
from ldpkit.planning.searches import SEARCHES, ChosenEpsilon, Search, TrialRunner
from ldpkit.planning.verification import RUNS, Verification, verify_around
from ldpkit.simulation.datasets import Dataset
from ldpkit.simulation.metrics.concordance import TrueOrder
from ldpkit.simulation.metrics.ranking import kendall_tau

if TYPE_CHECKING:
    from collections.abc import Callable

    from ldpkit.core.random import RandomSource
    from ldpkit.core.typing import Counts, Floats
    from ldpkit.mechanisms.categorical.oracle import FrequencyOracle

__all__ = ["FrequencyQuestion", "answer", "make_search", "plan_budget", "verify"]

CONFIRMATION = 1000
"""Runs that judge the answer of a method that does not judge it itself."""


@dataclass(frozen=True, eq=False)
class FrequencyQuestion:
    """What is asked: the smallest epsilon that satisfies a constraint.

    Parameters
    ----------
    counts : array of int or Dataset
        How many people hold each value: a stand-in for the people who will be asked.
    protocol : str
        A frequency oracle that needs no more than a domain and an epsilon.
    constraint : Constraint
        The accuracy that is wanted.
    consistency : str or None
        The post-processing method that is part of the collection.
    epsilon_min, epsilon_max : float
        The budgets that are allowed. The defaults are those of the thesis.

    Examples
    --------
    >>> wanted = Constraint("mae", "at most", 0.01, probability=0.9)
    >>> FrequencyQuestion([600, 300, 100], "rappor", wanted).protocol
    'sue'
    """

    counts: Counts
    protocol: str
    constraint: Constraint
    consistency: str | None = None
    epsilon_min: float = EPSILON_MIN
    epsilon_max: float = EPSILON_MAX

    def __post_init__(self) -> None:
        given = self.counts.counts if isinstance(self.counts, Dataset) else self.counts
        low = check_epsilon(self.epsilon_min, "the smallest epsilon")
        high = check_epsilon(self.epsilon_max, "the largest epsilon")
        if low >= high:
            raise InvalidParameterError(
                f"the smallest epsilon must be below the largest, got {low:g} and {high:g}"
            )
        if self.consistency is not None:
            CONSISTENCY.get(self.consistency)
        settings = {
            "counts": check_counts(given, np.size(given)),
            "protocol": frequency_class(self.protocol, single_epsilon=True).name,
            "epsilon_min": low,
            "epsilon_max": high,
        }
        for name, value in settings.items():
            object.__setattr__(self, name, value)
        self.oracle(high)  # refuses a domain that is too small before anything is simulated
        self.measure(self.truth[None, :])  # and a metric that does not fit the domain

    @property
    def n(self) -> int:
        """The number of people."""
        return int(self.counts.sum())

    @cached_property
    def truth(self) -> Floats:
        """The true frequencies."""
        return np.asarray(self.counts / self.n)

    def oracle(self, epsilon: float) -> FrequencyOracle:
        """Return the protocol with a budget."""
        return frequency_class(self.protocol, single_epsilon=True).make(len(self.counts), epsilon=epsilon)

    def estimates(self, oracle: FrequencyOracle, runs: int, source: RandomSource) -> Floats:
        """Return the estimates of simulated collections, shape (runs, k)."""
        supports = oracle.simulate(self.counts, rng=source, repeats=runs)
        return batch_estimates(oracle, supports, self.n, self.consistency)

    def measure(self, estimates: Floats) -> Floats:
        """Return the metric of each estimate."""
        return self._meter(estimates)

    @cached_property
    def _meter(self) -> Callable[[Floats], Floats]:
        metric = self.constraint.measure
        if metric == kendall_tau:  # thousands of estimates against one truth: sort it once
            return TrueOrder(self.truth).tau_b
        return lambda estimates: metric(self.truth, estimates)


def make_search(method: str, **parameters: float) -> Search:
    """Return the search method of that name with its parameters.

    Examples
    --------
    >>> make_search("rbs", g=6)
    RelaxedBinarySearch(runs=200, average=False, tolerance=0.01, g=6)
    >>> make_search("analytic", g=6)
    Traceback (most recent call last):
    ...
    ldpkit.core.errors.InvalidParameterError: the search method analytic has no parameter 'g': \
it has tolerance
    """
    kind: Any = SEARCHES.get(method)
    names = [field.name for field in fields(kind)]
    for unknown in parameters.keys() - set(names):
        raise InvalidParameterError(
            f"the search method {method} has no parameter {unknown!r}: it has {', '.join(names)}"
        )
    made: Search = kind(**parameters)
    return made


def plan_budget(
    question: FrequencyQuestion,
    method: str = "sequential",
    *,
    rng: RandomSource | None = None,
    **parameters: float,
) -> Plan:
    """Return the smallest epsilon that satisfies a question's constraint, as a plan.

    Parameters
    ----------
    question : FrequencyQuestion
        Whose values, which protocol, what accuracy.
    method : str
        A search method; see `ldpkit.planning.searches`.
    rng : RandomSource, optional
        Seeded for a repeatable answer.
    **parameters
        The parameters of the method.

    Examples
    --------
    >>> import ldpkit
    >>> from ldpkit.planning.constraint import Constraint
    >>> wanted = Constraint("mae", "at most", 0.02, probability=0.9)
    >>> plan = plan_budget(FrequencyQuestion([6000, 3000, 1000], "oue", wanted), "analytic")
    >>> round(plan.epsilon, 2), plan.holds, plan.simulations
    (1.27, 'yes', 0)
    """
    chosen = make_search(method, **parameters)
    chosen.check(question)
    return answer(question, chosen, rng=rng)


def answer(question: FrequencyQuestion, chosen: Search, *, rng: RandomSource | None = None) -> Plan:
    """Return the plan that a search finds, which has checked the question."""
    runner = TrialRunner(question, rng)
    start = time.perf_counter()
    selection = chosen.select(runner)
    judged = selection if selection.probability is not None else _judge(runner, selection)
    return Plan(
        method=_name(chosen),
        protocol=question.protocol,
        goal=str(question.constraint),
        wanted=question.constraint.probability,
        epsilon=judged.epsilon,
        probability=judged.probability or 0.0,
        interval=judged.interval,
        confidence=judged.confidence,
        trace=tuple(runner.trace),
        simulations=runner.simulations,
        seconds=time.perf_counter() - start,
        consistency=question.consistency,
        note=judged.note,
        rough=judged.rough,
    )


def _name(chosen: Search) -> str:
    return next(name for name, kind in SEARCHES.items() if kind is type(chosen))


def _judge(runner: TrialRunner, selection: ChosenEpsilon) -> ChosenEpsilon:
    """Judge an answer by new simulations: those that chose it are biased in its favour."""
    from scipy.stats import binom

    constraint = runner.question.constraint
    epsilon = runner.question.epsilon_max if selection.epsilon is None else selection.epsilon
    good = int(constraint.holds(runner.draw(epsilon, CONFIRMATION)).sum())
    return ChosenEpsilon(
        selection.epsilon,
        good / CONFIRMATION,
        binomial_interval(good, CONFIRMATION),
        float(binom.cdf(good - 1, CONFIRMATION, constraint.probability)),
        selection.note,
    )


def verify(
    question: FrequencyQuestion, plan: Plan, *, rng: RandomSource | None = None, runs: int = RUNS
) -> Iterator[Verification]:
    """Simulate anew at the selected epsilon and at 0.9 times it, where the constraint should fail.

    Parameters
    ----------
    question, plan
        What was asked and answered; nothing is verified of an infeasible plan.
    rng : RandomSource, optional
        Must not be the one that found the plan.
    runs : int
        How many collections for each of the two.
    """
    if plan.epsilon is None:
        return
    runner = TrialRunner(question, rng)

    def good_at(epsilon: float, _: str) -> int:
        return int(question.constraint.holds(runner.draw(epsilon, runs)).sum())

    yield from verify_around(
        plan.protocol, plan.epsilon, plan.wanted, good_at, runs=runs, least=question.epsilon_min
    )
