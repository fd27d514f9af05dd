"""Budgets for means: one error that is allowed, several mechanisms, the smallest epsilon of each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from ldpkit.assurance.adversary import epsilon_warnings
from ldpkit.core.domains.interval import IntervalLike, as_interval
from ldpkit.core.errors import InvalidParameterError
from ldpkit.core.random import RandomSource, seeded
from ldpkit.core.text import and_text
from ldpkit.core.typing import Values
from ldpkit.core.watching import Watch, collect, unwatched
from ldpkit.mechanisms.kinds import ALL, NUMERIC, Selection, listed, numeric_class, select
from ldpkit.planning.mean.mechanisms import TOLERANCE, mean_warnings
from ldpkit.planning.mean.question import MeanQuestion, plan_mean, verify_mean
from ldpkit.planning.mean.variance import surpassed
from ldpkit.planning.plan import EPSILON_MAX, EPSILON_MIN, Plan, Plans
from ldpkit.planning.verification import Verification

__all__ = ["MeanPlans", "mean"]


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class MeanPlans(Plans):
    """The smallest epsilons for a mean that is exact enough.

    Parameters
    ----------
    questions : tuple of MeanQuestion
        What was asked, one for each plan.
    """

    questions: tuple[MeanQuestion, ...]

    kind: ClassVar[str] = "plan mean"

    @property
    def caption(self) -> str:
        """For whom it holds, and how it was computed."""
        first = self.questions[0]
        people = f"{first.n:,} people, numbers in {first.domain}"
        return f"{people}; computed from exact variances, treating the mean as normally distributed"

    def answer(self, unit: str = "") -> str:
        """Return the smallest epsilon as a sentence, with the unit of the numbers."""
        return self.questions[0].with_unit(super().answer(), unit)

    def about(self) -> dict[str, Any]:
        """Return what was asked, for whom, and every epsilon that was tried."""
        first = self.questions[0]
        return {
            "people": first.n,
            "interval": first.domain.to_json(),
            "goal": first.goal,
            "scope": first.scope,
            **self.facts(),
        }

    def notes(self) -> list[str]:
        """Return which plans have no answer, and which mechanism needs the smallest epsilon."""
        told = super().notes()
        found = {plan.protocol: plan.epsilon for plan in self.plans if plan.epsilon is not None}
        if len(self.plans) > 1 and found:
            least = min(found.values())
            best = [name for name, epsilon in found.items() if epsilon <= least * (1 + 2 * TOLERANCE)]
            who = f"{best[0]} needs"
            if len(best) > 1:
                who = f"{and_text(best)} tie for"
            told.append(f"{who} the smallest epsilon: {least:.4g}")
        for name, epsilon in found.items():
            if (worse := surpassed(name, epsilon)) is not None:
                told.append(worse)
        return told


def mean(
    domain: IntervalLike,
    within: float,
    mechanisms: str | Sequence[str] = "hm",
    *,
    n: int | None = None,
    values: Values | None = None,
    clip: bool = False,
    probability: float = 0.95,
    epsilon_min: float = EPSILON_MIN,
    epsilon_max: float = EPSILON_MAX,
    verified: bool = False,
    rng: RandomSource | None = None,
    watch: Watch = unwatched,
) -> MeanPlans:
    """Find the smallest epsilon that makes the mean of numbers exact enough.

    Parameters
    ----------
    domain : IntervalDomain or pair of float
        The public interval of the numbers.
    within : float
        How far off the mean may be, in the unit of the numbers.
    mechanisms : str or sequence of str
        Numeric mechanisms whose error is known beforehand, or "all".
    n : int, optional
        How many people are asked; by default as many as there are values.
    values : array, optional
        A stand-in for the people's numbers; without it the answer is for any numbers.
    clip : bool
        Move values outside the interval to the nearest end.
    probability : float
        How often the mean must not be further off.
    epsilon_min, epsilon_max : float
        The budgets that are allowed.
    verified : bool
        Simulate 20,000 new collections at epsilon and at 0.9 times epsilon.
    rng : RandomSource, optional
        Of these simulations, by default `seeded(0)`.
    watch : Watch
        Shows progress.

    Examples
    --------
    >>> import ldpkit
    >>> found = ldpkit.plan.mean((0, 100), 0.5, ["hm", "pm"], n=100_000)
    >>> [(row["protocol"], round(row["epsilon"], 2)) for row in found.rows()]
    [('hm', 1.28), ('pm', 1.4)]
    >>> found.notes()
    ['hm needs the smallest epsilon: 1.282']
    """
    interval = as_interval(domain)
    given = None
    if values is not None:
        given = interval.clip(values)[0] if clip else interval.check(values)
    people = n if given is None or n is not None else len(given)
    if people is None:
        raise InvalidParameterError("say how many will be asked: give n, or values")
    questions = [
        MeanQuestion(name, interval, within, people, given, probability, epsilon_min, epsilon_max)
        for name in _names(mechanisms)
    ]
    plans = collect(map(plan_mean, questions), len(questions), "planning", watch)
    checks = None
    if verified:
        source = seeded(0) if rng is None else rng
        checks = tuple(collect(_verified(questions, plans, source), 2 * len(plans), "verifying", watch))
    told = mean_warnings(interval, within)
    for plan in plans:
        told += epsilon_warnings(plan.epsilon, subject=plan.protocol)
    left_out = _able().reasons(NUMERIC) if listed(mechanisms) == [ALL] else ()
    return MeanPlans(
        plans=tuple(plans),
        checks=checks,
        warnings=tuple(told),
        left_out=left_out,
        questions=tuple(questions),
    )


def _names(mechanisms: str | Sequence[str]) -> list[str]:
    """Return the mechanisms by their names, each once; those whose error is not known are refused."""
    able = _able()
    if listed(mechanisms) == [ALL]:
        return able.names
    names = list(dict.fromkeys(numeric_class(name).name for name in listed(mechanisms)))
    for name in names:
        if name not in able.names:
            raise InvalidParameterError(
                f"the error of a mean by {name} is not known beforehand, as it {able.left_out[name]}: "
                f"take some of {', '.join(able.names)}"
            )
    return names


def _able() -> Selection:
    return select(NUMERIC, "unbiased", single_epsilon=True, without=("fitted",))


def _verified(
    questions: list[MeanQuestion], plans: list[Plan], source: RandomSource
) -> Iterator[Verification]:
    for question, plan in zip(questions, plans, strict=True):
        yield from verify_mean(question, plan, rng=source.derive(f"verify {question.mechanism}"))
