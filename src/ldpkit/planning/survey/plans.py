"""How to spend a budget on several questions: every way beside the others, and by how much one is better."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from ldpkit.core.domains.categorical import as_domain
from ldpkit.core.errors import InvalidParameterError
from ldpkit.core.parameters import check_epsilon, check_people
from ldpkit.core.results import TOP, Result
from ldpkit.core.tables import Table
from ldpkit.planning.survey.question import PlannedQuestion
from ldpkit.planning.survey.ways import Way, all_ways
from ldpkit.protocols.survey import Survey

__all__ = ["SurveyPlan", "survey"]


@dataclass(frozen=True, repr=False)
class SurveyPlan(Result):
    """Ways to spend a budget on a survey, the best first.

    Parameters
    ----------
    epsilon : float
        What a person pays at most.
    people : int
        How many take part.
    ways : tuple of Way
        The best first.
    """

    epsilon: float
    people: int
    ways: tuple[Way, ...]

    kind: ClassVar[str] = "plan survey"

    @property
    def best(self) -> Way:
        """The way whose worst question has the smallest error, measured by what was wanted."""
        return self.ways[0]

    def __getitem__(self, name: str) -> Way:
        for way in self.ways:
            if way.name == name:
                return way
        raise InvalidParameterError(
            f"there is no way {name!r}: choose from {', '.join(repr(way.name) for way in self.ways)}"
        )

    def survey(self, name: str | None = None) -> Survey:
        """Return the survey of the best way, or of a named one."""
        return (self.best if name is None else self[name]).survey()

    def answer(self, unit: str = "") -> str:
        """Return the best way to ask, as a sentence."""
        worst = self.best.worst
        return (
            f"Of {len(self.ways)} ways to spend epsilon {self.epsilon:g} on {len(self.best.choices)} "
            f"questions, '{self.best.name}' is best: the worst question, {worst.question.name}, is within "
            f"{worst.error:.3g} (wanted {worst.question.wanted:.3g}) with {self.people:,} people."
        )

    @property
    def title(self) -> str:
        """The title above the table."""
        count = len(self.best.choices)
        return f"Survey of {count} questions, {self.people:,} people, epsilon {self.epsilon:g} each"

    @property
    def caption(self) -> str:
        """What the columns mean."""
        return (
            "worst: the question with the largest expected error; error: half of its 95% interval, which "
            "allows for who is drawn to answer it; of_wanted: the error divided by the one you allow; "
            "of_best: divided by the error of the best way; *: the best"
        )

    def rows(self, top: int | None = None) -> list[dict[str, Any]]:
        """Return one record for each way."""
        best = self.best.worst.ratio
        return [
            {
                "way": way.name,
                "ask": way.ask,
                "epsilon": way.survey().exact_epsilon(),
                "worst": way.worst.question.name,
                "error": way.worst.error,
                "of_wanted": way.worst.ratio,
                "of_best": way.worst.ratio / best,
            }
            for way in self.ways[:top]
        ]

    def question_rows(self) -> list[dict[str, Any]]:
        """Return one record for each question, as the best way asks it."""
        return [choice.row() for choice in self.best.choices]

    def about(self) -> dict[str, Any]:
        """Return what was asked for, and how the best way asks each question."""
        return {
            "epsilon": self.epsilon,
            "people": self.people,
            "best": self.best.name,
            "questions": self.question_rows(),
        }

    def notes(self) -> list[str]:
        """Return which way is best, and by how much."""
        told = [f"best: {self.best.name}; {self._against()}"]
        if self.best.worst.ratio > 1:
            worst = self.best.worst
            told.append(
                f"no option is as exact as you asked for: {worst.question.name} is within {worst.error:.3g} "
                f"at best, not {worst.question.wanted:.3g}; ask about {worst.ratio**2:.1f} times as many "
                "people, or accept a larger error"
            )
        return told

    def _against(self) -> str:
        if len(self.ways) == 1:
            return "there is one question and one way"
        split = min(
            (way for way in self.ways if way.ask == len(way.choices)), key=lambda way: way.worst.ratio
        )
        sampled = min(
            (way for way in self.ways if way.ask < len(way.choices)), key=lambda way: way.worst.ratio
        )
        other = sampled if self.best is split else split
        times = other.worst.ratio / self.best.worst.ratio
        return f"{other.name} has {times:.2f} times its worst error, or needs {times**2:.2f} times the people"

    def tables(self, top: int | None = TOP) -> list[Table]:
        """Return the ways, and below them how the best one asks each question."""
        ways = Table.of(self.rows(top), title=self.title, caption=self.caption, best={0: "of_wanted"})
        told = (
            "error: half of a 95% interval; answers: people who are drawn for the question; wanted: the "
            "question's 'within', or a hundredth of what is possible if it has none"
        )
        return [ways, Table.of(self.question_rows(), title=f"Questions, {self.best.name}", caption=told)]


def survey(
    questions: Mapping[str, Any] | Iterable[PlannedQuestion],
    epsilon: float,
    people: int,
    *,
    within: Mapping[str, float] | None = None,
) -> SurveyPlan:
    """Compare the ways to spend a budget on several questions.

    Parameters
    ----------
    questions : mapping of str to domain, or sequence of PlannedQuestion
        What is asked. A domain is a Domain, or a size or list of labels.
    epsilon : float
        What a person pays at most.
    people : int
        How many take part.
    within : mapping of str to float, optional
        How far off the answer to a question may be: a share, a mean or a direction in its own unit; by
        default a hundredth of what is possible.

    Examples
    --------
    >>> import ldpkit
    >>> plan = ldpkit.plan.survey(
    ...     {"commute": 4, "job": 16, "age": ldpkit.IntervalDomain(0, 120), "bed": ldpkit.CircleDomain(24)},
    ...     epsilon=1.0, people=50_000)
    >>> plan.best.name, plan.survey().exact_epsilon() <= 1.0
    ('1 of 4 questions', True)
    """
    check_epsilon(epsilon)
    if isinstance(questions, Mapping):
        known = within or {}
        for name in known:
            if name not in questions:
                raise InvalidParameterError(
                    f"there is no question {name!r}: within is for {', '.join(questions)}"
                )
        asked = [
            PlannedQuestion(
                name, as_domain(each) if isinstance(each, (int, list, tuple)) else each, known.get(name)
            )
            for name, each in questions.items()
        ]
    else:
        asked = list(questions)
    if not asked:
        raise InvalidParameterError("a survey has no questions: give at least one")
    for name, times in Counter(each.name for each in asked).items():
        if times > 1:
            raise InvalidParameterError(f"{times} questions are called {name!r}: give each its own id")
    ways = sorted(all_ways(asked, epsilon, check_people(people, "people")), key=lambda way: way.worst.ratio)
    return SurveyPlan(epsilon, people, tuple(ways))
