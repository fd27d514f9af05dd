"""Budgets for frequencies: the plan that answers a question, and those of several protocols and searches."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import partial
from typing import Any, ClassVar

from ldpkit.assurance.adversary import attack_on, epsilon_warnings
from ldpkit.core.binomial import binomial_interval
from ldpkit.core.errors import InvalidParameterError, LdpkitError
from ldpkit.core.random import RandomSource, seeded
from ldpkit.core.watching import Watch, collect, unwatched
from ldpkit.mechanisms.kinds import ALL, FREQUENCY, listed, select
from ldpkit.planning.constraint import Constraint
from ldpkit.planning.frequencies.nothing import nothing_warnings
from ldpkit.planning.frequencies.question import FrequencyQuestion
from ldpkit.planning.plan import EPSILON_MAX, EPSILON_MIN, Plan, Plans
from ldpkit.planning.searches import SEARCHES, ChosenEpsilon, Search, TrialRunner
from ldpkit.planning.verification import RUNS, Verification, verify_around
from ldpkit.simulation.datasets import DEFAULT_DATA, as_dataset
from ldpkit.simulation.metrics import metric_for

__all__ = ["BudgetPlans", "answer", "budget", "make_search", "plan_budget", "verify"]

CONFIRMATION = 1000
"""Runs that judge the answer of a method that does not judge it itself."""

Asked = tuple[FrequencyQuestion, str, Search]


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class BudgetPlans(Plans):
    """The smallest epsilons for a wanted accuracy of frequencies.

    Parameters
    ----------
    questions : tuple of FrequencyQuestion
        What was asked, one for each plan.
    data : str
        Who stood in for the people.
    """

    questions: tuple[FrequencyQuestion, ...]
    data: str

    kind: ClassVar[str] = "plan budget"

    @property
    def caption(self) -> str:
        """Who stood in for the people, and what the columns mean."""
        first = self.questions[0]
        people = f"{self.data}: {first.n:,} people, {len(first.counts):,} values"
        return f"{people}. {self.plans[0].caption}"

    def about(self) -> dict[str, Any]:
        """Return what was asked, on whom, and every epsilon that was tried."""
        first = self.questions[0]
        return {
            "data": self.data,
            "people": first.n,
            "values": len(first.counts),
            "goal": str(first.constraint),
            "consistency": first.consistency,
            **self.facts(),
        }


def budget(
    data: Any = DEFAULT_DATA,
    protocols: str | Sequence[str] = "oue",
    *,
    metric: str = "mae",
    at_most: float | None = None,
    at_least: float | None = None,
    probability: float = 0.9,
    search: str | Sequence[str] = "sequential",
    parameters: Mapping[str, float] | None = None,
    consistency: str | None = None,
    epsilon_min: float = EPSILON_MIN,
    epsilon_max: float = EPSILON_MAX,
    column: str | None = None,
    verified: bool = False,
    rng: RandomSource | None = None,
    watch: Watch = unwatched,
) -> BudgetPlans:
    """Find the smallest epsilon that gives a wanted accuracy of frequencies.

    Parameters
    ----------
    data : str, path, Dataset, mapping or sequence of int
        A stand-in for the people, as in `ldpkit.simulation.datasets.as_dataset`.
    protocols : str or sequence of str
        Frequency oracles, or "all".
    metric : str
        What must be accurate.
    at_most, at_least : float, optional
        The bound: an error is bounded from above, an agreement from below.
    probability : float
        How often the bound must hold.
    search : str or sequence of str
        Search methods, or "all"; see `ldpkit.planning.searches`.
    parameters : mapping, optional
        The parameters of the search.
    consistency : str, optional
        The post-processing method that the collector will use.
    epsilon_min, epsilon_max : float
        The budgets that are allowed.
    column : str, optional
        The column of a table to read.
    verified : bool
        Simulate 20,000 new collections at epsilon and at 0.9 times epsilon.
    rng : RandomSource, optional
        By default `seeded(0)`, so that the answer is the same every time: nobody's value
        is protected by a simulation.
    watch : Watch
        Shows progress.

    Examples
    --------
    >>> import ldpkit
    >>> found = ldpkit.plan.budget([6000, 3000, 1000], ["oue", "grr"], at_most=0.02, search="analytic")
    >>> [(row["protocol"], round(row["epsilon"], 2)) for row in found.rows()]
    [('oue', 1.27), ('grr', 0.84)]
    >>> found.best.protocol
    'grr'
    """
    constraint = Constraint.bounded(metric, at_most, at_least, probability)
    if constraint is None:
        side = "at_least" if metric_for(metric).larger_is_better else "at_most"
        raise InvalidParameterError(f"how good must {metric} be? give {side}")
    names, searches = listed(protocols), listed(search)
    some_will_do = names == [ALL] or searches == [ALL]
    able = select(FREQUENCY, single_epsilon=True)
    people = as_dataset(data, column=column)
    questions = [
        FrequencyQuestion(people.counts, name, constraint, consistency, epsilon_min, epsilon_max)
        for name in (able.names if names == [ALL] else names)
    ]
    methods = [
        (name, make_search(name, **(parameters or {})))
        for name in (list(SEARCHES) if searches == [ALL] else searches)
    ]
    asked, left_out = _answerable(
        [(question, *method) for question in questions for method in methods], some_will_do=some_will_do
    )
    source = seeded(0) if rng is None else rng
    found = (
        answer(question, method, rng=source.derive(f"plan {question.protocol} {name}"))
        for question, name, method in asked
    )
    plans = collect(found, len(asked), "planning", watch)
    checks = None
    if verified:
        checks = tuple(collect(_verified(asked, plans, source), 2 * len(plans), "verifying", watch))
    return BudgetPlans(
        plans=tuple(plans),
        checks=checks,
        warnings=tuple(_warnings(asked, plans)),
        questions=tuple(question for question, _, _ in asked),
        data=people.name,
        left_out=(*(able.reasons(FREQUENCY) if names == [ALL] else ()), *left_out),
    )


def _answerable(asked: list[Asked], *, some_will_do: bool) -> tuple[list[Asked], list[str]]:
    """Return what can be answered and why the rest cannot; what was asked for by name is refused."""
    answerable, left_out = [], []
    for question, name, method in asked:
        try:
            method.check(question)
        except LdpkitError as refusal:
            if not some_will_do:
                raise
            left_out.append(f"{question.protocol} with {name}: {refusal}")
        else:
            answerable.append((question, name, method))
    if not answerable:
        raise InvalidParameterError(f"nothing is left to plan with: {'; '.join(left_out)}")
    return answerable, left_out


def _verified(asked: list[Asked], plans: list[Plan], source: RandomSource) -> Iterator[Verification]:
    for (question, name, _), plan in zip(asked, plans, strict=True):
        yield from verify(question, plan, rng=source.derive(f"verify {question.protocol} {name}"))


def _warnings(asked: list[Asked], plans: list[Plan]) -> list[str]:
    """Return what a user must know of the answers before collecting, each once."""
    told = nothing_warnings(asked[0][0].constraint, asked[0][0].counts)
    for (question, _, _), plan in zip(asked, plans, strict=True):
        if plan.epsilon is not None:
            attack = partial(attack_on, question.oracle(plan.epsilon), question.counts)
            told += epsilon_warnings(plan.epsilon, subject=plan.protocol, attack=attack)
    return list(dict.fromkeys(told))


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
