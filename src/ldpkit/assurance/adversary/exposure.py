"""What a large epsilon gives away, said where an epsilon is printed.

Up to 4 nothing is said, beyond it is called large, and beyond 8 it is said plainly that
the promise is worth next to nothing. Of a collection file it is said beyond 2: a plan may try
anything, and a collection is put to people. These are the only thresholds of the package.
"""

from __future__ import annotations

from collections.abc import Callable

from ldpkit.assurance.adversary.listed import knows_ratio, listed_chances
from ldpkit.assurance.adversary.measure import risk
from ldpkit.assurance.adversary.risk_record import Risk
from ldpkit.assurance.adversary.words import guess_in_words, suspicion_in_words
from ldpkit.core.numbertext import number_text
from ldpkit.mechanisms.base import Mechanism
from ldpkit.mechanisms.kinds import is_frequency, is_paired

__all__ = ["LARGE", "LARGE_FOR_PEOPLE", "REVEALING", "attack_on", "epsilon_warnings"]

LARGE = 4.0
"""Beyond this an epsilon is called large."""

LARGE_FOR_PEOPLE = 2.0
"""Beyond this it is called large in a collection: a suspicion of 50% can grow to more than 88%."""

REVEALING = 8.0
"""Beyond this it is said plainly what it gives away."""


def epsilon_warnings(
    epsilon: float | None,
    *,
    subject: str = "",
    attack: Callable[[], Risk | None] = lambda: None,
    above: float = LARGE,
) -> list[str]:
    """Return what is to be said of an epsilon: nothing up to 4, one sentence or more beyond.

    Parameters
    ----------
    epsilon : float or None
        The budget; None if there is none.
    subject : str
        Whose it is, such as a protocol.
    attack : callable
        Returns what an adversary achieves with one report, if that is known; it is asked
        only where it is told.
    above : float
        Beyond this something is said.

    Examples
    --------
    >>> import ldpkit
    >>> epsilon_warnings(2.0)
    []
    >>> print(*epsilon_warnings(5.0, subject="oue"))
    oue: epsilon 5 is large. Whatever the report is, a suspicion of 50% grows to at most 99.4%, \
and one of 1% to at most 60%.
    >>> grr = ldpkit.GRR(100, epsilon=12.0)
    >>> print(*epsilon_warnings(12.0, attack=lambda: attack_on(grr)))
    epsilon 12 promises almost nothing. Guessing from the report succeeds in 99.9% of all cases; \
without it, in 1%: 99.9 times as often, if all values are equally likely. Whatever the report is, a \
suspicion of 50% grows to at most 99.99939%, and one of 1% to at most 99.94%.
    """
    if epsilon is None or epsilon <= above:
        return []
    named = f"{subject}: " if subject else ""
    if epsilon <= REVEALING:
        return [f"{named}epsilon {number_text(epsilon, 3)} is large. {suspicion_in_words(epsilon)}"]
    achieved = attack()
    guess = "" if achieved is None else f"{guess_in_words(achieved)} "
    promise = f"{named}epsilon {number_text(epsilon, 3)} promises almost nothing."
    return [f"{promise} {guess}{suspicion_in_words(epsilon)}"]


def attack_on(mechanism: Mechanism, people: object = None) -> Risk | None:
    """Return what an adversary who knows the people achieves with one report, where that is exact.

    Examples
    --------
    >>> import ldpkit
    >>> round(attack_on(ldpkit.OUE(4, epsilon=9.0)).success, 3), attack_on(ldpkit.SHE(4, epsilon=9.0))
    (0.625, None)
    """
    if not is_frequency(mechanism):
        return None
    is_known = knows_ratio(mechanism) or (mechanism.can("pure") and is_paired(mechanism))
    if not is_known and listed_chances(mechanism) is None:
        return None
    return risk(mechanism, people, people=people)
