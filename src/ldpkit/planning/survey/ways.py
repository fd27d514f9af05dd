"""Ways to spend one budget on several questions: split it over all, or ask each person a few.

A way is as good as its worst question: the largest error over the one that was wanted.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ldpkit.core.parameters import SMALLEST_EPSILON
from ldpkit.planning.survey.question import Choice, PlannedQuestion, choose, shortlisted
from ldpkit.protocols.survey import Survey, split_budget

__all__ = ["Way", "all_ways"]

_KNOTS = (
    9  # budgets of a question at which its error is computed; between them its logarithm is a straight line
)
_HALVINGS = 40


@dataclass(frozen=True)
class Way:
    """One way to spend the budget, and what each question gets from it.

    Parameters
    ----------
    name : str
        What it is called.
    ask : int
        How many questions a person answers.
    choices : tuple of Choice
        What each question is asked with.
    """

    name: str
    ask: int
    choices: tuple[Choice, ...]

    @property
    def worst(self) -> Choice:
        """The question whose error is largest, measured by what was wanted."""
        return max(self.choices, key=lambda each: each.ratio)

    def survey(self) -> Survey:
        """Return the survey, ready to be carried out."""
        return Survey({each.question.name: each.mechanism for each in self.choices}, self.ask)


def all_ways(questions: Sequence[PlannedQuestion], epsilon: float, people: int) -> Iterator[Way]:
    """Yield every way: a split into equal parts, one for the errors, and every number of questions."""
    count = len(questions)
    parts = np.geomspace(epsilon / count, epsilon, 3).tolist()
    tries = list(zip(parts, (1.0, 1.0, 1 / count), strict=True))
    alike = [replace(question, name="") for question in questions]  # many surveys ask the same of many things
    first = dict(zip(reversed(alike), reversed(questions), strict=True))
    short = {key: shortlisted(question, people, tries).mechanisms for key, question in first.items()}
    questions = [
        replace(question, mechanisms=short[key]) for question, key in zip(questions, alike, strict=True)
    ]
    equal = split_budget(epsilon, [1] * count)
    yield _way("split equally", questions, equal, people)
    if count == 1:
        return
    yield _way("split by error", questions, _best_split(questions, epsilon, people), people)
    for ask in range(1, count):
        part = split_budget(epsilon, [1] * ask)[:1] * count
        yield _way(f"{ask} of {count} questions", questions, part, people, ask)


def _way(
    name: str,
    questions: Sequence[PlannedQuestion],
    parts: Sequence[float],
    people: int,
    ask: int | None = None,
) -> Way:
    asked = ask or len(questions)
    chosen = [
        choose(question, part, people, share=asked / len(questions))
        for question, part in zip(questions, parts, strict=True)
    ]
    return Way(name, asked, tuple(chosen))


def _best_split(questions: Sequence[PlannedQuestion], epsilon: float, people: int) -> list[float]:
    """Return the split for which the largest error, measured by what was wanted, is smallest.

    Every question gets the budget at which its error is a common multiple of the wanted one, and the multiple
    is the smallest whose budgets fit.
    """
    needs = [_budget(question, epsilon, people) for question in questions]
    low, high = -30.0, 30.0  # logarithms of the multiple
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (low, middle) if sum(need(middle) for need in needs) <= epsilon else (middle, high)
    parts = [need(high) for need in needs]
    return split_budget(epsilon, parts)


def _budget(question: PlannedQuestion, epsilon: float, people: int) -> Callable[[float], float]:
    """Return the budget that a question needs for an error, given as the logarithm of its ratio."""
    least = max(SMALLEST_EPSILON, epsilon / 1000)
    knots = np.geomspace(least, epsilon, _KNOTS)
    ratios = [math.log(choose(question, float(knot), people).ratio) for knot in knots]
    falling = np.minimum.accumulate(ratios)[::-1]

    def need(ratio: float) -> float:
        return float(np.exp(np.interp(ratio, falling, np.log(knots[::-1]))))

    return need
