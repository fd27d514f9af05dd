"""A survey carried out again and again on the same people: how far off it is, and whether intervals cover."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ldpkit.core.parameters import check_whole
from ldpkit.core.random import RandomSource, seeded
from ldpkit.core.results import Result
from ldpkit.core.typing import Floats
from ldpkit.core.watching import Watch, unwatched, watching
from ldpkit.mechanisms.kinds import is_circular, is_frequency, is_numeric
from ldpkit.protocols.collection.few_answers import few_answers_warnings
from ldpkit.protocols.survey import Survey
from ldpkit.protocols.survey_estimate import SurveyEstimate

__all__ = ["QuestionTrials", "SurveyTrials", "try_survey"]


@dataclass(frozen=True)
class QuestionTrials:
    """How one question came out.

    Parameters
    ----------
    question, mechanism : str
        Which, and what made the reports.
    epsilon : float
        What an answer cost, exactly.
    answers : float
        How many there were, on average.
    rmse : float
        The root of the mean square error: over the values of categories or cells of a map, of a mean, of a
        direction.
    half_width : float
        The mean half width of the 95% intervals.
    coverage : float
        The share of intervals that contain the truth.
    intervals : int
        How many intervals that is.
    """

    question: str
    mechanism: str
    epsilon: float
    answers: float
    rmse: float
    half_width: float
    coverage: float
    intervals: int


@dataclass(frozen=True, repr=False)
class SurveyTrials(Result):
    """How a survey came out on invented or given people.

    Parameters
    ----------
    questions : tuple of QuestionTrials
        One for each question.
    people, repeats : int
        How many people, and how often they were asked.
    ask : int
        How many questions a person answered.
    epsilon : float
        What a person paid at most in one of the surveys.
    example : SurveyEstimate
        The first of them.
    least_reports : int, optional
        How many answers a question needs for its result to be shown.
    in_all : float, optional
        What a person pays at most in all rounds of the collection, if it has several.
    """

    questions: tuple[QuestionTrials, ...]
    people: int
    repeats: int
    ask: int
    epsilon: float
    example: SurveyEstimate
    least_reports: int = 1
    in_all: float | None = None

    kind: ClassVar[str] = "survey trials"

    @property
    def title(self) -> str:
        """The title above the table."""
        asked = f"{self.ask} of {len(self.questions)} questions each"
        return f"{self.repeats} rehearsals with {self.people:,} people, {asked}"

    @property
    def caption(self) -> str:
        """What the columns mean."""
        rounds = "" if self.in_all is None else f" for a round, {self.in_all:.6g} in all"
        return (
            "rmse: root mean square error; half_width: of 95% intervals, on average; coverage: the share of "
            f"them that contain the truth; a person spends at most epsilon {self.epsilon:.6g}{rounds}"
        )

    def rows(self, top: int | None = None) -> list[dict[str, Any]]:
        """Return one record for each question."""
        return [dict(vars(each)) for each in self.questions[:top]]

    def about(self) -> dict[str, Any]:
        """Return who was asked, and how often."""
        told = {"people": self.people, "repeats": self.repeats, "ask": self.ask, "epsilon": self.epsilon}
        return told if self.in_all is None else {**told, "in_all": self.in_all}

    @property
    def warnings(self) -> tuple[str, ...]:
        """Whether a question is likely to have too few answers to be shown."""
        return few_answers_warnings(self.people, self.least_reports, self.ask, len(self.questions))


def try_survey(
    survey: Survey,
    answers: Mapping[str, Any],
    *,
    repeats: int = 20,
    rng: RandomSource | None = None,
    watch: Watch = unwatched,
) -> SurveyTrials:
    """Carry out a survey several times, with real reports, and compare what it says with the truth.

    Parameters
    ----------
    survey : Survey
        What is asked.
    answers : mapping of str to values
        The true value of every person, a column for each question.
    repeats : int
        How often.
    rng : RandomSource, optional
        By default `seeded(0)`: nobody's value is protected by a rehearsal.
    watch : Watch
        Shows progress.

    Examples
    --------
    >>> import ldpkit
    >>> survey = Survey({"a": ldpkit.GRR(2, epsilon=1), "b": ldpkit.HM((0, 1), epsilon=1)}, ask=1)
    >>> people = {"a": np.arange(4000) % 2, "b": np.linspace(0, 1, 4000)}
    >>> trials = try_survey(survey, people, repeats=10)
    >>> [row["question"] for row in trials.rows()], trials.questions[0].coverage > 0.7
    (['a', 'b'], True)
    """
    source = seeded(0) if rng is None else rng
    count = check_whole(repeats, "repeats")
    judges = {name: _Judge(survey, name, answers[name]) for name in survey.questions}
    example: SurveyEstimate | None = None
    with watching(range(count), count, "rehearsing", watch) as watched:
        for _ in watched:
            tallies = survey.tally(survey.privatize(answers, rng=source))
            found = survey.estimate(tallies, people=len(next(iter(answers.values()))))
            example = example or found
            for name, judge in judges.items():
                judge.see(found[name])
    assert example is not None
    made = tuple(judge.outcome() for judge in judges.values())
    return SurveyTrials(made, example.people, count, survey.ask, survey.exact_epsilon(), example)


class _Judge:
    """Compares the estimates of one question with the truth."""

    def __init__(self, survey: Survey, name: str, values: Any) -> None:
        self.name, self.mechanism = name, survey.questions[name]
        self.truth = _truth(self.mechanism, values)
        self.values = values
        self.squares, self.widths, self.hits, self.intervals, self.answers, self.seen = 0.0, 0.0, 0, 0, 0, 0

    def see(self, estimate: Any) -> None:
        self.seen += 1
        self.answers += estimate.n
        if is_circular(self.mechanism):
            arc = estimate.interval()
            away = self.mechanism.domain.difference(estimate.direction, self.truth)
            self._add(np.array([away]), np.array([self.truth in arc]), np.array([arc.length]))
            return
        if is_numeric(self.mechanism):
            value, (low, high) = np.array([estimate.mean]), estimate.interval()
        elif is_frequency(self.mechanism):
            value, (low, high) = estimate.values, estimate.interval()
        else:
            value, low, high = estimate.masses, estimate.low, estimate.high
            cells = estimate.grid.cells_of(self.values)
            self.truth = np.bincount(cells, minlength=len(value)) / len(self.values)
        truth = np.atleast_1d(self.truth)
        self._add(value - truth, (low <= truth) & (truth <= high), np.atleast_1d(high) - np.atleast_1d(low))

    def _add(self, errors: Floats, hits: Any, widths: Floats) -> None:
        self.squares += float((errors**2).mean())
        self.widths += float(widths.mean())
        self.hits += int(np.sum(hits))
        self.intervals += int(np.size(hits))

    def outcome(self) -> QuestionTrials:
        return QuestionTrials(
            question=self.name,
            mechanism=self.mechanism.name,
            epsilon=self.mechanism.exact_epsilon(),
            answers=self.answers / self.seen,
            rmse=math.sqrt(self.squares / self.seen),
            half_width=self.widths / self.seen / 2,
            coverage=self.hits / self.intervals,
            intervals=self.intervals,
        )


def _truth(mechanism: Any, values: Any) -> Any:
    """Return what a question would find out without privacy."""
    if is_frequency(mechanism):
        return np.bincount(mechanism.domain.encode(values), minlength=mechanism.size) / len(values)
    if is_circular(mechanism):
        return mechanism.domain.from_radians(
            float(np.angle(np.exp(1j * mechanism.domain.radians(values)).mean()))
        )
    return float(np.mean(values)) if is_numeric(mechanism) else None
