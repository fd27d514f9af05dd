"""Ties: results that no simulation, or no floating point number, tells apart.

A winner by less than the noise is no winner. Two results tie if their difference is below
a billionth of them, or if a t-test at the 5% level does not tell them apart: Student's where
both saw the same simulated collections (of the differences run by run), else Welch's, whose
degrees of freedom take into account that the noise itself is estimated from few runs. The
best of several is chosen by the same runs that it is compared by, so each test is at 5%
divided by the number of all pairs among them (Bonferroni): chance separates any of equally
good ones in at most about 5 of 100 benchmarks.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from ldpkit.core.typing import Floats

__all__ = [
    "EQUAL",
    "LEVEL",
    "DifferenceNoise",
    "difference_noise",
    "independent_noise",
    "is_equal",
    "is_tie",
    "mean_stderr",
]

EQUAL = 1e-9
"""The relative difference below which two numbers are equal for every purpose."""

LEVEL = 0.05
"""How often chance alone separates the best from any of those that are as good."""


def is_equal(first: float, second: float) -> bool:
    """Return whether two numbers differ by rounding only.

    Examples
    --------
    >>> is_equal(0.1 + 0.2, 0.3), is_equal(0.1, 0.1001)
    (True, False)
    """
    return math.isclose(first, second, rel_tol=EQUAL, abs_tol=1e-300)


def is_tie(first: float, second: float, stderr: float, freedom: float, *, among: int = 2) -> bool:
    """Return whether two means over some runs cannot be told apart.

    Parameters
    ----------
    first, second : float
        The means; exact values have a standard error of 0.
    stderr : float
        The standard error of their difference; nan if it is not known.
    freedom : float
        The degrees of freedom of that standard error, on which Student's factor depends.
    among : int
        How many results there are, of which the first may have been chosen as the best: the level of 5% is
        shared by all their pairs.

    Examples
    --------
    >>> is_tie(1.0, 1.1, 0.05, 199), is_tie(1.0, 1.1, 0.05, 1), is_tie(1.0, 1.2, 0.05, 199)
    (False, True, False)
    >>> is_tie(1.0, 1.11, 0.05, 199), is_tie(1.0, 1.11, 0.05, 199, among=20)
    (False, True)
    """
    if is_equal(first, second):
        return True
    return freedom > 0 and abs(first - second) <= _student(freedom, among * (among - 1) // 2) * stderr


class DifferenceNoise(NamedTuple):
    """The noise of the difference of two means: its standard error and the degrees of freedom of that."""

    stderr: float
    freedom: float


def difference_noise(first: Floats, second: Floats, *, paired: bool) -> DifferenceNoise:
    """Return the noise of the difference of two means over runs; nan of a single run.

    Examples
    --------
    >>> one, other = np.array([1.0, 2.0, 3.0]), np.array([1.5, 2.5, 3.5])
    >>> difference_noise(one, other, paired=True)
    DifferenceNoise(stderr=0.0, freedom=2)
    >>> noise = difference_noise(one, 10 * other, paired=False)   # nearly all of it from one of them
    >>> round(noise.stderr, 2), round(noise.freedom, 2)
    (5.8, 2.04)
    """
    if paired and min(len(first), len(second)) > 1:
        return DifferenceNoise(float(np.std(first - second, ddof=1)) / math.sqrt(len(first)), len(first) - 1)
    return independent_noise(mean_stderr(first), len(first), mean_stderr(second), len(second))


def independent_noise(first: float, runs: int, second: float, others: int) -> DifferenceNoise:
    """Return the noise of the difference of two means with known standard errors (Welch, Satterthwaite).

    Examples
    --------
    >>> independent_noise(3.0, 10, 4.0, 10).stderr
    5.0
    """
    if min(runs, others) < 2:
        return DifferenceNoise(math.nan, 0)
    parts = first**2, second**2
    below = parts[0] ** 2 / (runs - 1) + parts[1] ** 2 / (others - 1)
    return DifferenceNoise(math.sqrt(sum(parts)), sum(parts) ** 2 / below if below > 0 else runs + others - 2)


def mean_stderr(values: Floats) -> float:
    """Return the standard error of a mean; nan of a single run."""
    return float(np.std(values, ddof=1)) / math.sqrt(len(values)) if len(values) > 1 else math.nan


@lru_cache
def _student(freedom: float, tests: int) -> float:
    from scipy.special import stdtrit

    return float(stdtrit(freedom, 1 - LEVEL / 2 / max(tests, 1)))
