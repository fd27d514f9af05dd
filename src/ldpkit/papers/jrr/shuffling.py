"""Shuffled randomised response, with which the thesis compares JRR in words: exact epsilon and delta.

Shuffled bits are their sum, so what a collector learns of one person is the distance
between two laws of a sum. Everybody else's value is taken as known.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ldpkit.core.typing import Floats

__all__ = ["largest_alone", "shuffled_delta", "shuffled_epsilon"]

DELTA = 1e-6
_HALVINGS = 40


def _laws(n: int, alone: float, ones: int) -> tuple[Floats, Floats]:
    """Return the laws of the sum of n reports if the person in question holds a one, and a zero."""
    from scipy.signal import fftconvolve
    from scipy.stats import binom

    p = 1 / (1 + math.exp(-alone))
    zeros = n - 1 - ones
    others = binom.pmf(np.arange(zeros + 1), zeros, 1 - p)
    if ones:
        held = binom.pmf(np.arange(ones + 1), ones, p)
        others = np.clip(fftconvolve(others, held), 0, None)
    without, with_one = np.append(others, 0.0), np.concatenate([[0.0], others])
    return p * with_one + (1 - p) * without, (1 - p) * with_one + p * without


def _delta(one: Floats, zero: Floats, epsilon: float) -> float:
    factor = math.exp(epsilon)
    return float(max(np.clip(x - factor * y, 0, None).sum() for x, y in ((one, zero), (zero, one))))


def shuffled_delta(n: int, alone: float, epsilon: float, *, ones: int = 0) -> float:
    """Return the delta of n shuffled reports of RR, where the values of all others are known.

    Parameters
    ----------
    n : int
        How many people.
    alone : float
        The epsilon of one report before it is shuffled.
    epsilon : float
        The epsilon after that.
    ones : int
        How many of the others hold a one. At equal numbers of ones and zeros delta is least;
        all alike is the worst, to within a few per cent. Other than 0 it is good to 1e-15.

    Examples
    --------
    >>> shuffled_delta(1000, 1.0, 1.0) < 1e-12, 0 < shuffled_delta(1000, 1.0, 0.1) < 0.1
    (True, True)
    """
    return _delta(*_laws(n, alone, ones), epsilon)


def shuffled_epsilon(n: int, alone: float, delta: float = DELTA) -> float:
    """Return the least epsilon of n shuffled reports at a delta, all others holding a zero.

    Examples
    --------
    >>> round(shuffled_epsilon(10_000, 1.0), 4)
    0.0357
    """
    one, zero = _laws(n, alone, 0)
    return _least(lambda epsilon: _delta(one, zero, epsilon) <= delta, 0.0, alone)


def largest_alone(n: int, epsilon: float, delta: float = DELTA) -> float:
    """Return the largest epsilon that reports may have before shuffling brings them down to `epsilon`."""
    return -_least(lambda alone: shuffled_delta(n, -alone, epsilon) <= delta, -4 * math.log(n), -epsilon)


def _least(holds: Callable[[float], bool], low: float, high: float) -> float:
    """Return the least number of a range from which on something holds; it does at the end."""
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high


def rows(epsilon: float = 1.0) -> Iterator[dict[str, Any]]:
    """Yield what shuffling is worth for some numbers of people."""

    def noise(each: float) -> float:
        return math.exp(each) / (math.exp(each) - 1) ** 2

    for n in (1000, 10_000, 100_000):
        most = largest_alone(n, epsilon)
        yield {
            "n": n,
            "delta": DELTA,
            "epsilon_before": epsilon,
            "epsilon_after": shuffled_epsilon(n, epsilon),
            f"epsilon_before_for_{epsilon:g}": most,
            "variance": noise(most) / noise(epsilon),
        }
