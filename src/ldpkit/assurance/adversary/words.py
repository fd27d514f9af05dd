"""Plain words for an epsilon."""

from __future__ import annotations

import math

from ldpkit.assurance.adversary.measure import Risk

__all__ = ["in_words", "suspicion", "suspicion_in_words"]


def suspicion(prior: float, epsilon: float) -> float:
    """Return how sure of a value anybody can become who was sure of it to `prior` before.

    It holds for every mechanism and whatever the report is.

    Examples
    --------
    >>> round(suspicion(0.5, 1.0), 3), round(suspicion(0.01, 1.0), 3)
    (0.731, 0.027)
    """
    return prior / (prior + (1 - prior) * math.exp(-epsilon))


def suspicion_in_words(epsilon: float, whatever: str = "the report is") -> str:
    """Return what an epsilon means to a suspicion, which holds for every mechanism.

    Examples
    --------
    >>> suspicion_in_words(1.0)
    'Whatever the report is, a suspicion of 50% grows to at most 73.1%, and one of 1% to at most 2.67%.'
    """
    half, rare = (_percent(suspicion(prior, epsilon)) for prior in (0.5, 0.01))
    return (
        f"Whatever {whatever}, a suspicion of 50% grows to at most {half}, and one of 1% to at most {rare}."
    )


def in_words(risk: Risk) -> list[str]:
    """Return what the numbers mean, sentence by sentence.

    Examples
    --------
    >>> import ldpkit
    >>> from ldpkit.assurance.adversary import risk
    >>> for sentence in in_words(risk(ldpkit.GRR(4, epsilon=1.0))):
    ...     print(sentence)
    A report shows the person's own value in 47.5% of all cases, and each other value in 17.5%.
    Who guesses from the report is right in 47.5% of all cases; without it, in 25%: 1.9 times as often.
    Whatever the report is, a suspicion of 50% grows to at most 73.1%, and one of 1% to at most 2.67%.
    """
    alone = risk.reports == 1
    what, them = ("the report", "it") if alone else (f"the {risk.reports} reports", "them")
    sentences = []
    if risk.truthful is not None and risk.otherwise is not None:
        sentences.append(
            f"A report shows the person's own value in {_percent(risk.truthful)} of all cases, "
            f"and each other value in {_percent(risk.otherwise)}."
        )
    gain = "no more often" if risk.gain < 1.0005 else f"{risk.gain:.3g} times as often"
    sentences.append(
        f"Who guesses from {what} is right in {_percent(risk.success)} of all cases; "
        f"without {them}, in {_percent(risk.blind)}: {gain}."
    )
    sentences.append(suspicion_in_words(risk.epsilon, f"{what} {'is' if alone else 'are'}"))
    if risk.f_score is not None:
        found, sure = _percent(risk.recall or 0.0), _percent(risk.precision or 0.0)
        sentences.append(
            f"Whether the value is at most {risk.eta:g}: of all who are, the adversary finds {found}, "
            f"and is right in {sure} of all alarms."
        )
    return sentences


def _percent(share: float) -> str:
    return f"{100 * share:.3g}%"
