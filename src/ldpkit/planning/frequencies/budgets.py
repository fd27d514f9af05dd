"""Several questions with several searches: which can be answered, their plans, and what to warn of."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from ldpkit.assurance.adversary import attack_on, epsilon_warnings
from ldpkit.core.errors import InvalidParameterError, LdpkitError
from ldpkit.planning.frequencies.budget import make_search, plan_budget, verify
from ldpkit.planning.frequencies.nothing import nothing_warnings
from ldpkit.planning.searches import SEARCHES

if TYPE_CHECKING:
    from ldpkit.core.random import RandomSource
    from ldpkit.planning.frequencies.question import Question
    from ldpkit.planning.plan import Plan

__all__ = ["BudgetQuestions", "ask"]

Watch = Callable[[Iterable[Any], int, str], Iterable[Any]]
"""Passes items on, and may show how far they are: items, how many, what is done."""


@dataclass(frozen=True, eq=False)
class BudgetQuestions:
    """Questions paired with the searches that can answer them.

    Parameters
    ----------
    pairs : sequence of (Question, str)
        The questions, each with the name of a search.
    left_out : sequence of str
        What was left out of 'all', and why.
    parameters : dict
        The parameters of the searches.
    """

    pairs: Sequence[tuple[Question, str]]
    left_out: Sequence[str]
    parameters: dict[str, float]

    def plans(self, source: RandomSource, watch: Watch) -> list[Plan]:
        """Return a plan for each pair."""

        def found() -> Iterator[Plan]:
            for question, name in self.pairs:
                rng = source.derive(f"plan {question.protocol} {name}")
                yield plan_budget(question, name, rng=rng, **self.parameters)

        return list(watch(found(), len(self.pairs), "planning"))

    def verified(self, plans: Sequence[Plan], source: RandomSource, watch: Watch) -> list[dict[str, Any]]:
        """Return the records of new simulations at each selected epsilon and at 0.9 times it."""

        def checks() -> Iterator[dict[str, Any]]:
            for (question, name), plan in zip(self.pairs, plans, strict=True):
                rng = source.derive(f"verify {question.protocol} {name}")
                for check in verify(question, plan, rng=rng):
                    yield {"protocol": plan.protocol, "method": plan.method, **check.row()}

        return list(watch(checks(), 2 * len(plans), "verifying"))

    def warnings(self, plans: Sequence[Plan]) -> list[str]:
        """Return what a user must know of the answers before collecting."""
        first = self.pairs[0][0]
        told = nothing_warnings(first.constraint, first.counts)
        for (question, _), plan in zip(self.pairs, plans, strict=True):
            if plan.epsilon is not None:
                oracle = question.oracle(plan.epsilon)
                attack = partial(attack_on, oracle, question.counts)
                told += epsilon_warnings(plan.epsilon, subject=plan.protocol, attack=attack)
        return list(dict.fromkeys(told))


def ask(
    questions: Sequence[Question],
    searches: Sequence[str],
    parameters: dict[str, float],
    *,
    left_out: Sequence[str] = (),
    some_will_do: bool = False,
) -> BudgetQuestions:
    """Pair questions with searches; what a search cannot answer is refused, or left out if some will do.

    Examples
    --------
    >>> from ldpkit.planning.constraint import Constraint
    >>> from ldpkit.planning.frequencies.question import Question
    >>> wanted = Constraint("max_error", "at most", 0.05, probability=0.9)
    >>> asked = ask([Question([60, 30, 10], "oue", wanted)], ["all"], {}, some_will_do=True)
    >>> [name for _, name in asked.pairs], len(asked.left_out)
    (['bayes', 'bs', 'dbs', 'mpass', 'rbs', 'sequential'], 1)
    """
    names = list(SEARCHES) if list(searches) == ["all"] else searches
    pairs, refused = [], list(left_out)
    for question in questions:
        for name in names:
            search = make_search(name, **parameters)  # refuses an unknown search or parameter in any case
            try:
                search.check(question)
            except LdpkitError as refusal:
                if not some_will_do:
                    raise
                refused.append(f"{question.protocol} with {name}: {refusal}")
            else:
                pairs.append((question, name))
    if not pairs:
        raise InvalidParameterError(f"nothing is left to plan with: {'; '.join(refused)}")
    return BudgetQuestions(pairs, refused, parameters)
