"""Budgets for frequencies: one accuracy, several protocols and searches, the smallest epsilon of each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

from ldpkit.assurance.adversary import attack_on, epsilon_warnings
from ldpkit.core.errors import InvalidParameterError, LdpkitError
from ldpkit.core.random import RandomSource, seeded
from ldpkit.core.watching import Watch, collect, unwatched
from ldpkit.mechanisms.kinds import ALL, FREQUENCY, listed, select
from ldpkit.planning.constraint import Constraint
from ldpkit.planning.frequencies.nothing import nothing_warnings
from ldpkit.planning.frequencies.question import FrequencyQuestion, answer, make_search, verify
from ldpkit.planning.plan import EPSILON_MAX, EPSILON_MIN, Plan, Plans
from ldpkit.planning.searches import SEARCHES, Search
from ldpkit.planning.verification import Verification
from ldpkit.simulation.datasets import DEFAULT_DATA, as_dataset
from ldpkit.simulation.metrics import metric_for

__all__ = ["BudgetPlans", "budget"]

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
        Simulate 20,000 new collections at epsilon and at 0.9 times it.
    rng : RandomSource, optional
        By default `seeded(0)`, so that the answer is the same every time: nobody's value
        is protected by a simulation.
    watch : Watch
        Sees how far it is.

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
