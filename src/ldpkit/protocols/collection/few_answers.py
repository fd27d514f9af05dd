"""Whether a collection will have enough answers for its results to be shown."""

from __future__ import annotations

__all__ = ["LEAST_REPORTS", "few_answers_warnings"]

LEAST_REPORTS = 100
"""Answers to a question before its result is shown, unless the file says otherwise."""

_RISK = 0.01  # the probability that a question has no result, from which on that is told


def few_answers_warnings(people: int, least_reports: int, ask: int, questions: int) -> tuple[str, ...]:
    """Return a warning if a question can be expected, or is likely enough, to have too few answers.

    Parameters
    ----------
    people : int
        How many answer.
    least_reports : int
        How many answers a question needs for its result to be shown.
    ask, questions : int
        How many questions a person answers, drawn at random, and how many there are.

    Examples
    --------
    >>> few_answers_warnings(60, 100, 1, 1)
    ('60 people are expected, but results of fewer than 100 answers are not shown: lower least_reports or \
ask more people',)
    >>> few_answers_warnings(200, 100, 1, 2)
    ('each person answers 1 of 2 questions, about 100 answers to each from 200 people; results of fewer than \
100 are not shown, and a question has no result with probability 0.47: ask each person more questions, \
lower least_reports or ask more people',)
    >>> few_answers_warnings(200, 100, 2, 2), few_answers_warnings(300, 100, 1, 2)
    ((), ())
    """
    if people < least_reports:
        told = (
            f"{people:,} people are expected, but results of fewer than {least_reports:,} answers are not "
            "shown: lower least_reports or ask more people"
        )
        return (told,)
    if ask == questions:
        return ()
    from scipy.special import bdtr

    share = ask / questions
    risk = float(bdtr(least_reports - 1, people, share))  # each person draws apart from the others
    if risk <= _RISK:
        return ()
    told = (
        f"each person answers {ask} of {questions} questions, about {people * share:,.0f} answers to each "
        f"from {people:,} people; results of fewer than {least_reports:,} are not shown, and a question has "
        f"no result with probability {risk:.2g}: ask each person more questions, lower least_reports or ask "
        "more people"
    )
    return (told,)
