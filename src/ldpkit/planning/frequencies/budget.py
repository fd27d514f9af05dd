"""Ask a question of a search method, and get a plan."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import fields
from typing import TYPE_CHECKING, Any

from ldpkit.core.errors import InvalidParameterError
from ldpkit.planning.plan import Plan, binomial_interval
from ldpkit.planning.searches import SEARCHES, ChosenEpsilon, Search
from ldpkit.planning.searches.trials import TrialRunner
from ldpkit.planning.verification import RUNS, Verification, verify_around

if TYPE_CHECKING:
    from ldpkit.core.random import RandomSource
    from ldpkit.planning.frequencies.question import FrequencyQuestion

__all__ = ["make_search", "plan_budget", "verify"]

CONFIRMATION = 1000
"""Runs that judge the answer of a method that does not judge it itself."""


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
    >>> from ldpkit.planning.frequencies.question import FrequencyQuestion
    >>> wanted = Constraint("mae", "at most", 0.02, probability=0.9)
    >>> plan = plan_budget(FrequencyQuestion([6000, 3000, 1000], "oue", wanted), "analytic")
    >>> round(plan.epsilon, 2), plan.holds, plan.simulations
    (1.27, 'yes', 0)
    """
    chosen = make_search(method, **parameters)
    chosen.check(question)
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
