"""Larger groups, and the shuffle model: what the thesis leaves open, as a study."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from ldpkit.papers import Claim, Settings, Verdict

__all__ = ["group_claims", "least_correlation", "shuffled_delta", "third_order"]


def least_correlation(size: int, p: float) -> float:
    """Return the least correlation that all pairs of an exchangeable group can have.

    The number of untruthful members then is as constant as it can be: the two whole
    numbers around its mean.

    Examples
    --------
    >>> [round(least_correlation(size, 0.75), 4) for size in (2, 3, 4, 5)]
    [-0.3333, -0.3333, -0.3333, -0.2]
    """
    mean = size * (1 - p)
    part = mean - math.floor(mean)
    return (part * (1 - part) - size * p * (1 - p)) / (size * (size - 1) * p * (1 - p))


def third_order(p: float) -> float:
    """Return the third-order correlation of a group of whom at most one is untruthful.

    Examples
    --------
    >>> round(third_order(0.75), 4)
    -0.3849
    """
    q = 1 - p
    return -2 * q**3 / math.pow(p * q, 1.5)


def shuffled_delta(n: int, alone: float, epsilon: float) -> float:
    """Return the exact delta of n shuffled reports of RR, where all others hold a zero and that is known.

    Shuffled bits are their sum, so this is the distance between two laws of a sum.

    Examples
    --------
    >>> shuffled_delta(1000, 1.0, 1.0) < 1e-12, 0 < shuffled_delta(1000, 1.0, 0.1) < 0.1
    (True, True)
    """
    from scipy.stats import binom

    p = 1 / (1 + math.exp(-alone))
    counts = np.arange(n + 1)
    others = binom.pmf(counts, n - 1, 1 - p)
    before = np.concatenate([[0.0], others[:-1]])
    one, zero = p * before + (1 - p) * others, (1 - p) * before + p * others
    excess = max(np.clip(x - math.exp(epsilon) * y, 0, None).sum() for x, y in ((one, zero), (zero, one)))
    return float(excess) if excess > 1e-300 else 0.0


def group_claims(settings: Settings) -> Iterator[Claim]:
    """Yield what larger groups reach at epsilon 1, and shuffled RR beside it."""
    p = math.e / (1 + math.e)
    for size in (2, 3, 4, 6):
        rho = least_correlation(size, p)
        factor = 1 + (size - 1) * rho
        at_most_one = size * (1 - p) <= 1
        note = (
            "no two are ever untruthful: a member who is knows everybody's value"
            if at_most_one
            else "members who know how many lie learn as much of the last as they know of the rest"
        )
        yield Claim(
            f"4.5, groups of {size}, epsilon 1 alone: variance over RR if all hold the same",
            "further improves",
            round(factor, 6),
            0.0,
            Verdict.REPRODUCED if factor <= 1 + least_correlation(2, p) else Verdict.NOT_REPRODUCED,
            f"least correlation {rho:.6f}, third order {third_order(p):.6f}; epsilon infinite within: {note}"
            if at_most_one
            else f"least correlation {rho:.6f}; {note}",
        )
    n = 10_000
    low, high = 0.0, 1.0
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (middle, high) if shuffled_delta(n, 1.0, middle) > 1e-6 else (low, middle)
    yield Claim(
        f"4.5, shuffled RR, n={n:,}, epsilon 1 before the shuffler: epsilon at delta 1e-6",
        "not compared",
        round(high, 4),
        0.0,
        Verdict.NO_DATA,
        "the same reports and error as RR, with a trusted shuffler and delta > 0, all others known; JRR "
        "needs no shuffler, has no delta, and towards a partner is infinite",
    )
