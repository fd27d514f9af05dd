"""Budgets for a capacity: one question about a total, several protocols, the smallest epsilon of each."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any, ClassVar, Literal

import numpy as np

from ldpkit.assurance.adversary import attack_on, epsilon_warnings
from ldpkit.core.cached import cached_property
from ldpkit.core.errors import InvalidInputError, InvalidParameterError, LdpkitError
from ldpkit.core.numbertext import number_text
from ldpkit.core.random import RandomSource, seeded
from ldpkit.core.results import TOP
from ldpkit.core.tables import Table
from ldpkit.core.typing import Floats
from ldpkit.core.watching import Watch, unwatched
from ldpkit.mechanisms.kinds import ALL, listed, select
from ldpkit.planning.capacity.exact import EPSILON_MAX, EPSILON_MIN, exact
from ldpkit.planning.capacity.outliers import Capped, cap_at_quantile
from ldpkit.planning.capacity.question import CapacityQuestion, Outcome
from ldpkit.planning.capacity.search import RUNS, bayesian, capri, capri_r
from ldpkit.planning.capacity.verify import verify
from ldpkit.planning.laws.totals import cantelli, chebyshev, law_at, mechanism_at
from ldpkit.planning.plan import Plan, Plans
from ldpkit.planning.verification import Verification
from ldpkit.simulation.datasets import Dataset, load_amounts

__all__ = ["SEARCHES", "CapacityPlans", "CapacitySearch", "capacity"]

CapacitySearch = Literal["exact", "capri", "capri_r", "bayes"]

SEARCHES: dict[CapacitySearch, Callable[..., Plan]] = {
    "exact": exact,
    "capri": capri,
    "capri_r": capri_r,
    "bayes": bayesian,
}
"""How epsilon is looked for."""


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class CapacityPlans(Plans):
    """The smallest epsilons with which a total still tells whether a capacity suffices.

    Parameters
    ----------
    question : CapacityQuestion
        What was asked.
    capped : Capped or None
        What became of large amounts.
    """

    question: CapacityQuestion
    capped: Capped | None = None

    kind: ClassVar[str] = "plan capacity"

    @property
    def asked(self) -> CapacityQuestion:
        """The question that was answered: what was asked, or what capping left of it."""
        return self.question if self.capped is None else self.capped.question

    @property
    def title(self) -> str:
        """The title above the table."""
        return str(self.asked)

    @property
    def caption(self) -> str:
        """Who is asked, what the bounds are, and what capping did."""
        text = f"{self.asked.n:,} people, {len(self.question.amounts):,} values"
        text = (
            f"{text}; chebyshev, cantelli: upper bounds on the probability of a mistake, "
            "from two inequalities"
        )
        if self.capped is None:
            return text
        limit, lost = number_text(self.capped.limit), number_text(self.capped.lost, 6)
        return (
            f"{text}; {self.capped.people:,} people above {limit} count as {limit}, "
            f"which loses {lost} of the total"
        )

    def about(self) -> dict[str, Any]:
        """Return the people, the total, the capacity and every epsilon that was tried."""
        question = self.question
        capped = None
        if self.capped is not None:
            capped = {"limit": self.capped.limit, "people": self.capped.people, "lost": self.capped.lost}
        return {
            "people": question.n,
            "values": len(question.amounts),
            "total": question.total,
            "capacity": question.capacity,
            "outcome": question.outcome.value,
            "bound": question.bound,
            "outliers": capped,
            **self.facts(),
        }

    def rows(self, top: int | None = None) -> list[dict[str, Any]]:
        """Return one record for each plan, with the probability of the outcome and bounds on it."""
        return [dict(record) for record in self._records[:top]]

    @cached_property
    def _records(self) -> tuple[dict[str, Any], ...]:
        """The records, computed once: the exact law of many values takes a while."""
        return tuple(map(self._row, self.plans))

    def _row(self, plan: Plan) -> dict[str, Any]:
        question = self.asked
        ends = [question.of_outcome(end) for end in plan.interval or ()]
        row: dict[str, Any] = {
            "protocol": plan.protocol,
            "method": plan.method,
            "epsilon": plan.epsilon,
            f"P({question.outcome.value})": question.of_outcome(plan.probability),
            "low": min(ends, default=None),
            "high": max(ends, default=None),
            "holds": plan.holds,
        }
        known: dict[str, float | None] = dict.fromkeys(("exact", "stderr_of_total", "chebyshev", "cantelli"))
        at = plan.epsilon or max(trial.epsilon for trial in plan.trace)
        try:
            law = law_at(plan.protocol, question)(at)
        except InvalidParameterError:  # a mechanism whose law is not known
            pass
        else:
            known = {
                "exact": question.of_outcome(question.right(law.at_most(question.capacity))),
                "stderr_of_total": law.variance**0.5,
                "chebyshev": chebyshev(law, question),
                "cantelli": cantelli(law, question),
            }
        return row | known | {"simulations": plan.simulations, "seconds": plan.seconds, "note": plan.note}

    def check_rows(self) -> list[dict[str, Any]]:
        """Return one record for each check, with the outcome that it is about."""
        return [{"outcome": self.asked.outcome.value, **asdict(check)} for check in self.checks or ()]

    def tables(self, top: int | None = TOP) -> list[Table]:
        """Return the plans without what they say twice, and what verified them."""
        first, *rest = super().tables(top)
        if "exact" in first.header and all(plan.method == "exact" for plan in self.plans):
            place = first.header.index("exact")

            def without(items: tuple[Any, ...]) -> tuple[Any, ...]:
                return (*items[:place], *items[place + 1 :])

            rows = tuple(map(without, first.rows))
            first = Table(first.title, without(first.header), rows, without(first.right), first.caption)
        return [first, *rest]


def capacity(
    data: Any,
    limit: float,
    outcome: str,
    protocols: str | Sequence[str] = "grr",
    *,
    at_most: float | None = None,
    at_least: float | None = None,
    search: CapacitySearch = "exact",
    runs: int = RUNS,
    epsilon_min: float = EPSILON_MIN,
    epsilon_max: float = EPSILON_MAX,
    precision: float = 0.01,
    delta: float = 0.05,
    outliers: float | None = None,
    compensate: bool = True,
    column: str | None = None,
    verified: bool = False,
    rng: RandomSource | None = None,
    watch: Watch = unwatched,
) -> CapacityPlans:
    """Find the smallest epsilon with which a noisy total decides rightly about a capacity.

    Parameters
    ----------
    data : str, path, Dataset or mapping
        Amounts with counts: a file, a population, or how many people use each amount.
    limit : float
        The capacity: what there is for all people together.
    outcome : {"tp", "fp", "tn", "fn"}
        What is bounded: a true or false positive (capacity exceeded), a true or false negative.
    protocols : str or sequence of str
        Frequency oracles, numeric mechanisms for n times the mean, or "all".
    at_most, at_least : float, optional
        The bound of its probability: mistakes from above, right decisions from below.
    search : {"exact", "capri", "capri_r", "bayes"}
        How to look.
    runs, precision : int and float
        Collections at every epsilon, and when to stop; not for "exact".
    delta : float
        How far "capri_r" goes back each time.
    epsilon_min, epsilon_max : float
        The budgets that are allowed.
    outliers : float, optional
        Count amounts above this quantile of the people as it.
    compensate : bool
        Add what that loses back to the estimated total.
    column : str, optional
        The column of amounts in a file.
    verified : bool
        Simulate 20,000 collections at epsilon and at 0.9 times epsilon.
    rng : RandomSource, optional
        By default `seeded(0)`, so that the answer is the same every time.
    watch : Watch
        Shows progress.

    Examples
    --------
    >>> import ldpkit
    >>> found = ldpkit.plan.capacity({0: 400, 1: 600}, 500, "fn", ["grr", "oue"], at_most=0.05)
    >>> [(row["protocol"], round(row["epsilon"], 2), round(row["P(fn)"], 3)) for row in found.rows()]
    [('grr', 0.52, 0.05), ('oue', 1.07, 0.049)]
    """
    if search not in SEARCHES:
        raise InvalidParameterError(f"unknown search {search!r}: choose from {', '.join(SEARCHES)}")
    people = load_amounts(data, column=column)
    bounds = {"at_most": at_most, "at_least": at_least}
    question = CapacityQuestion(_amounts(people), people.counts, limit, Outcome(outcome), **bounds)
    capped = None if outliers is None else cap_at_quantile(question, outliers, compensate=compensate)
    asked = question if capped is None else capped.question
    options: dict[str, Any] = {"epsilon_min": epsilon_min, "epsilon_max": epsilon_max}
    if search != "exact":
        options |= {"runs": runs, "precision": precision}
    if search == "capri_r":
        options["delta"] = delta
    source = seeded(0) if rng is None else rng
    names, reasons = select(single_epsilon=True, without=("fitted",)).among(protocols)
    every, plans, left_out = listed(protocols) == [ALL], [], list(reasons)
    for name in names:
        if search != "exact":
            options |= {"rng": source.derive(f"plan {name}"), "watch": watch}
        try:
            plans.append(SEARCHES[search](asked, name, **options))
        except LdpkitError as refusal:
            if not every:  # what was asked for by name is refused
                raise
            left_out.append(f"{name}: {refusal}")
    if not plans:
        raise InvalidParameterError(f"nothing is left to plan with: {'; '.join(left_out)}")
    checks = tuple(_verified(asked, plans, source)) if verified else None
    return CapacityPlans(
        plans=tuple(plans),
        checks=checks,
        warnings=tuple(_warnings(asked, plans)),
        left_out=tuple(left_out),
        question=question,
        capped=capped,
    )


def _amounts(people: Dataset) -> Floats:
    labels = list(people.domain.labels)
    for label in labels:
        if isinstance(label, (str, bool)):
            raise InvalidInputError(
                f"{people.name!r}: the value {label!r} is not an amount: name the column of numbers"
            )
    return np.array(labels, float)


def _verified(
    question: CapacityQuestion, plans: Sequence[Plan], source: RandomSource
) -> Iterator[Verification]:
    for plan in plans:
        if plan.epsilon is not None:
            rng = source.derive(f"verify {plan.protocol}")
            yield from verify(question, plan.protocol, plan.epsilon, rng=rng)


def _warnings(question: CapacityQuestion, plans: Sequence[Plan]) -> list[str]:
    """Return what the epsilons give away, where that is much."""
    told = []
    for plan in plans:
        if plan.epsilon is not None:
            attack = partial(attack_on, mechanism_at(plan.protocol, question)(plan.epsilon), question.counts)
            told += epsilon_warnings(plan.epsilon, subject=plan.protocol, attack=attack)
    return told
