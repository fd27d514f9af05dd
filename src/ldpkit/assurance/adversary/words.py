"""Plain words for an epsilon."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from ldpkit.core.numbertext import number_text, percent_text

if TYPE_CHECKING:
    from ldpkit.assurance.adversary.risk_record import Risk

__all__ = ["guess_in_words", "in_words", "suspicion", "suspicion_in_words"]


def suspicion(prior: float, epsilon: float) -> float:
    """Return how sure of a value anybody can become who was sure of it to `prior` before.

    It holds for every mechanism and whatever the report is.

    Examples
    --------
    >>> round(suspicion(0.5, 1.0), 3), round(suspicion(0.01, 1.0), 3)
    (0.731, 0.027)
    """
    return prior / (prior + (1 - prior) * math.exp(-epsilon))


def in_words(risk: Risk) -> list[str]:
    """Return what the numbers mean, sentence by sentence.

    Examples
    --------
    >>> import ldpkit
    >>> from ldpkit.assurance.adversary import risk
    >>> for sentence in in_words(risk(ldpkit.GRR(4, epsilon=1.0))):
    ...     print(sentence)
    A report shows the person's own value in 47.5% of all cases, and each other value in 17.5%.
    Guessing from the report succeeds in 47.5% of all cases; without it, in 25%: 1.9 times as often, if
    all values are equally likely.
    Whatever the report is, a suspicion of 50% grows to at most 73.2%, and one of 1% to at most 2.68%.
    """
    sentences = []
    if risk.truthful is not None and risk.otherwise is not None:
        shows, by = ("is compatible with", "with ") if risk.hashed else ("shows", "")
        sentences.append(
            f"A report {shows} the person's own value in {percent_text(risk.truthful)} of all cases, "
            f"and {by}each other value in {percent_text(risk.otherwise)}."
        )
    sentences += [guess_in_words(risk), suspicion_in_words(risk.epsilon, risk.reports)]
    if risk.f_score is not None:
        found, sure = percent_text(risk.recall or 0.0), percent_text(risk.precision or 0.0)
        sentences.append(
            f"Whether the value is at most {risk.eta:g}: of all who are, the adversary finds {found}, "
            f"and is right in {sure} of all alarms."
        )
    return sentences


def guess_in_words(risk: Risk) -> str:
    """Return how often a guess is right, with and without reports, as a sentence.

    Examples
    --------
    >>> import ldpkit
    >>> from ldpkit.assurance.adversary import risk
    >>> print(guess_in_words(risk(ldpkit.GRR(4, epsilon=1.0))))
    Guessing from the report succeeds in 47.5% of all cases; without it, in 25%: 1.9 times as often, if
    all values are equally likely.
    """
    what, them = ("the report", "it") if risk.reports == 1 else (f"the {risk.reports} reports", "them")
    if risk.knows_partner:
        what += ", knowing the partner's value and report,"
    gain = "no more often" if risk.gain < 1.0005 else f"{number_text(risk.gain, 3)} times as often"
    prior = ", if all values are equally likely" if risk.uniform else ""
    return (
        f"Guessing from {what} succeeds in {percent_text(risk.success)} of all cases; "
        f"without {them}, in {percent_text(risk.blind)}: {gain}{prior}."
    )


def suspicion_in_words(epsilon: float, reports: int = 1) -> str:
    """Return what an epsilon promises whatever the mechanism is, as a sentence; its bounds are rounded up.

    Examples
    --------
    >>> print(suspicion_in_words(1.0))
    Whatever the report is, a suspicion of 50% grows to at most 73.2%, and one of 1% to at most 2.68%.
    """
    what = "the report is" if reports == 1 else f"the {reports} reports are"
    half, hundredth = (percent_text(suspicion(prior, epsilon), up=True) for prior in (0.5, 0.01))
    return (
        f"Whatever {what}, a suspicion of 50% grows to at most {half}, and one of 1% to at most {hundredth}."
    )
