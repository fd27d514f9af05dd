"""The best law of a pair under the question's limits, and how many known people undo its gain.

The thesis optimises under a theorem that is too weak towards a collector who does not
know the pairing, and says nothing of the partner. Here both constraints are the exact ones.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache

import numpy as np

from ldpkit.core.typing import Floats
from ldpkit.mechanisms.joint.table import PairTable
from ldpkit.planning.pairs.question import PairQuestion

__all__ = ["MOST_SEARCHED", "Constraint", "best_table", "gain_ends", "hidden_constraint"]

_GRID = 12  # epsilons of one report that are tried, before the best is refined
_HALVINGS = 36
_THIRDS = 12
MOST_SEARCHED = 50_000  # people, up to whom the end of the gain is found exactly
_NEARLY = 1e-9  # by which a search stays on the safe side of its constraint

Constraint = Callable[[float, float], float]
"""The epsilon towards the stated adversary, from p and the probability that both are untruthful."""


def best_table(
    question: PairQuestion, constraint: Constraint | None = None, *, only_whether: bool = False
) -> PairTable | None:
    """Return the law of a pair with the least worst variance under the question's limits.

    Parameters
    ----------
    question : PairQuestion
        The limits and the assumed range.
    constraint : callable, optional
        Another epsilon towards the stated adversary, such as the theorem of the thesis;
        by default the exact one.
    only_whether : bool
        Whether any law that beats randomised response will do.

    Returns
    -------
    PairTable or None
        None where no pairs beat randomised response.
    """
    towards = constraint or hidden_constraint(question.n, question.known)

    def least(p: float) -> float:
        """Return the least 'both' that the partner's limit allows."""
        return 0.0 if question.epsilon is None else (1 - p) / (1 + math.exp(question.epsilon))

    def at(alone: float) -> tuple[float, float, float]:
        """Return the variance, p and the least allowed 'both' for one report of some epsilon."""
        p = 1 / (1 + math.exp(-alone))
        u = 1 - p
        low, high = least(p), u * u
        if low >= high:
            return math.inf, p, high
        if towards(p, low) > question.epsilon_alone - _NEARLY:
            for _ in range(_HALVINGS):
                middle = (low + high) / 2
                if towards(p, middle) > question.epsilon_alone - _NEARLY:
                    low = middle
                else:
                    high = middle
            low = high
        table = PairTable(2, Fraction(p), min(Fraction(low), Fraction(u) ** 2))
        return question.variance(table), p, low

    wanted = question.response_variance(question.epsilon_alone)
    highest = question.epsilon_alone - _NEARLY
    # The strongest correlation that is allowed at all, with as much truth as it leaves, is mostly best.
    corner, past = 0.0, highest
    for _ in range(_HALVINGS):
        middle = (corner + past) / 2
        p = 1 / (1 + math.exp(-middle))
        corner, past = (middle, past) if towards(p, least(p)) <= highest else (corner, middle)
    found = at(corner) if corner > 0 else (math.inf, 0.5, 0.0)
    if not (only_whether and found[0] < wanted):
        tried = np.linspace(max(corner, highest / 4), highest, _GRID)
        values = [at(float(alone))[0] for alone in tried]
        place = int(np.argmin(values))
        left, right = float(tried[max(place - 1, 0)]), float(tried[min(place + 1, _GRID - 1)])
        for _ in range(_THIRDS):
            first, second = left + (right - left) / 3, right - (right - left) / 3
            left, right = (left, second) if at(first)[0] <= at(second)[0] else (first, right)
        found = min(found, at(float(tried[place])), at((left + right) / 2))
    variance, p, both = found
    return PairTable(2, Fraction(p), Fraction(both)) if variance < wanted else None


def gain_ends(question: PairQuestion, constraint: Callable[[int], Constraint] | None = None) -> int | None:
    """Return the least number of known people at which no pairs beat randomised response; None if none.

    Only shares matter among many people, so with more than `MOST_SEARCHED` it is found for that
    many and scaled, which is off by less than one in a thousand.
    """
    if question.n > MOST_SEARCHED:
        part = MOST_SEARCHED / question.n
        ones = (
            None
            if question.ones is None
            else (round(part * question.ones[0]), round(part * question.ones[1]))
        )
        found = gain_ends(replace(question, n=MOST_SEARCHED, known=0, ones=ones), constraint)
        return None if found is None else math.ceil(found / part)

    def gains(known: int) -> bool:
        asked = replace(question, known=known)
        return best_table(asked, constraint(known) if constraint else None, only_whether=True) is not None

    low, high = 0, question.n - 1
    if not gains(low):
        return 0
    if gains(high):
        return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if gains(middle) else (low, middle)
    return high


def hidden_constraint(n: int, known: int) -> Constraint:
    """Return the epsilon with a hidden pairing in floating point, for searches; `hidden_epsilon` is exact.

    Examples
    --------
    >>> round(hidden_constraint(6, 2)(0.75, 0.025), 6)
    1.504077
    """
    paired, group = n + n % 2, known + 1

    def ratio(u: float, one: float, both: float) -> float:
        inner, weights = _inner_weights(paired, group)
        if both > 0:
            near = _likely(paired, group, both / u**2, int(inner[0]))
            inner, weights = inner[near], weights[near]
        p = 1 - u
        if both <= 0:  # only without inner pairs, or with one that is mixed
            one_inner = 0.0 if len(inner) < 2 else 2 * math.exp(weights[1]) * one / u**2 / group
            return p / u + one_inner if inner[0] == 0 else math.inf
        inside = math.log(both / u**2)
        powers, before = inner * inside + weights, (inner - 1) * inside + weights
        top = max(powers.max(), before.max())
        every = np.exp(powers - top)
        mixed = 2 * inner * np.exp(before - top) * one / u**2
        total = float(every.sum())
        rest = float((mixed + (group - 2 * inner) * every * p / u).sum()) / group
        return rest / total if total > 0 else math.inf

    def towards(p: float, both: float) -> float:
        u = 1 - p
        if known == 0:
            return math.log(p / u)
        one, neither = u - both, 1 - 2 * u + both
        truthful, untruthful = ratio(u, one, both), ratio(p, one, neither)
        return max(
            abs(math.log(each)) if 0 < each < math.inf else math.inf for each in (truthful, untruthful)
        )

    return towards


def _likely(paired: int, group: int, odds: float, first: int) -> slice:
    """Return which numbers of pairs inside a group matter, where each pair inside counts `odds` times.

    The number has at most one mode, where one more or less is as likely, and a standard deviation
    of less than a third of the square root: what lies outside is less than e^-60 of the rest.
    """
    outside = paired - group
    alone = 2 * group * outside / (paired + math.sqrt(paired**2 - 4 * (1 - odds) * group * outside))
    middle, width = (group - alone) / 2 - first, 4 * math.sqrt(min(group, outside)) + 40
    return slice(max(0, int(middle - width)), int(middle + width) + 1)


@lru_cache(maxsize=8)
def _inner_weights(paired: int, group: int) -> tuple[Floats, Floats]:
    """Return the possible numbers of pairs inside a group and the logarithms of their chances."""
    outside = paired - group
    first = max(0, (group - outside + 1) // 2)
    inner = np.arange(first, group // 2 + 1, dtype=float)
    alone = group - 2 * inner[:-1]
    steps = np.log(alone * (alone - 1)) - np.log(2 * inner[1:] * (outside - alone + 2))
    return inner, np.concatenate([[0.0], np.cumsum(steps)])
