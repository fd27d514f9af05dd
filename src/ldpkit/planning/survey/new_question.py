"""A new question of a collection: mechanism and epsilon chosen for the accuracy that is wanted, and why."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ldpkit.assurance.adversary.exposure import LARGE_FOR_PEOPLE, epsilon_warnings
from ldpkit.core.errors import InvalidParameterError
from ldpkit.core.numbertext import number_text
from ldpkit.core.parameters import check_epsilon
from ldpkit.planning.survey.question import Choice, PlannedQuestion, least_epsilon, ranked

__all__ = ["Chosen", "choose_question"]

_DIGITS = 3  # of an epsilon that a person reads


@dataclass(frozen=True)
class Chosen:
    """What a question is asked with.

    Parameters
    ----------
    choice : Choice
        The mechanism, and how exact the answer will be.
    reasons : tuple of str
        Why it was chosen, in sentences.
    warnings : tuple of str
        What must be known before it is used, such as an epsilon that hides little.
    """

    choice: Choice
    reasons: tuple[str, ...]
    warnings: tuple[str, ...] = ()


def choose_question(question: PlannedQuestion, people: int, *, epsilon: float | None = None) -> Chosen:
    """Return the mechanism for a question, at an epsilon or at the smallest that is exact enough.

    Parameters
    ----------
    question : PlannedQuestion
        What is asked; `within` says how exact the answer must be if no epsilon is given.
    people : int
        How many answer.
    epsilon : float, optional
        The budget of one answer.

    Examples
    --------
    >>> import ldpkit
    >>> commute = PlannedQuestion("commute", ldpkit.CategoricalDomain(4), within=0.02)
    >>> for sentence in choose_question(commute, 20_000).reasons:
    ...     print(sentence)
    grr at epsilon 0.961 is within 0.02 of the truth for 20,000 people: half of a 95% interval, if all \
values are equally frequent.
    This is the smallest epsilon that achieves it. The next best is ss, within 0.02.
    """
    if epsilon is None:
        if question.within is None:
            raise InvalidParameterError(
                f"how exact must the answer to {question.name!r} be? say within what, or give an epsilon"
            )
        epsilon = _rounded_up(least_epsilon(question, people).mechanism.epsilon)
        why = "This is the smallest epsilon that achieves it."
    else:
        check_epsilon(epsilon)
        why = "The epsilon was given."
    best, *others = ranked(question, epsilon, people)
    about = {
        "frequency": ", if all values are equally frequent",
        "numeric": " of the mean, whatever the numbers are",
        "circular": " of the mean direction, if one direction prevails (resultant length 0.5)",
    }
    first = (
        f"{best.mechanism.name} at epsilon {epsilon:g} is within {number_text(best.error, 3)} of the truth "
        "for "
        f"{people:,} people: half of a 95% interval{about[best.mechanism.kind]}."
    )
    if others:
        why += f" The next best is {others[0].mechanism.name}, within {number_text(others[0].error, 3)}."
    if best.ratio > 1 and question.within is not None:
        wanted = number_text(question.within, 3)
        why += f" You asked for {wanted}: ask about {best.ratio**2:.1f} times as many people."
    warnings = epsilon_warnings(epsilon, subject=best.mechanism.name, above=LARGE_FOR_PEOPLE)
    return Chosen(best, (first, why), tuple(warnings))


def _rounded_up(epsilon: float) -> float:
    """Return an epsilon with few digits that is not below."""
    unit = 10 ** (math.floor(math.log10(epsilon)) + 1 - _DIGITS)
    return float(f"{math.ceil(epsilon / unit - 1e-9) * unit:.12g}")
