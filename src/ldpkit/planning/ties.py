"""Ties: results that no simulation, or no floating point number, tells apart.

A winner by less than the noise is no winner. Two results tie if their difference is below
a billionth of them, or within the 95% interval of the noise of that difference. Where both
saw the same simulated collections, the noise is that of the differences run by run.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from ldpkit.core.typing import Floats

__all__ = ["EQUAL", "difference_stderr", "is_equal", "is_tie"]

EQUAL = 1e-9
"""The relative difference below which two numbers are equal for every purpose."""


def is_equal(first: float, second: float) -> bool:
    """Return whether two numbers differ by rounding only.

    Examples
    --------
    >>> is_equal(0.1 + 0.2, 0.3), is_equal(0.1, 0.1001)
    (True, False)
    """
    return math.isclose(first, second, rel_tol=EQUAL, abs_tol=1e-300)


def is_tie(first: float, second: float, stderr: float, runs: int) -> bool:
    """Return whether two means over some runs cannot be told apart.

    Parameters
    ----------
    first, second : float
        The means; exact values have a standard error of 0.
    stderr : float
        The standard error of their difference; nan if it is not known.
    runs : int
        How many runs it comes from, on which Student's factor depends.

    Examples
    --------
    >>> is_tie(1.0, 1.1, 0.05, 200), is_tie(1.0, 1.1, 0.05, 2), is_tie(1.0, 1.2, 0.05, 200)
    (False, True, False)
    """
    if is_equal(first, second):
        return True
    return runs > 1 and abs(first - second) <= _student(runs - 1) * stderr


def difference_stderr(first: Floats, second: Floats, *, paired: bool) -> float:
    """Return the standard error of the difference of two means over runs; nan of a single run.

    Examples
    --------
    >>> one, other = np.array([1.0, 2.0, 3.0]), np.array([1.5, 2.5, 3.5])
    >>> difference_stderr(one, other, paired=True), round(difference_stderr(one, other, paired=False), 3)
    (0.0, 0.816)
    """
    if min(len(first), len(second)) < 2:
        return math.nan
    if paired:
        return float(np.std(first - second, ddof=1)) / math.sqrt(len(first))
    return math.sqrt(np.var(first, ddof=1) / len(first) + np.var(second, ddof=1) / len(second))


@lru_cache
def _student(freedom: int) -> float:
    from scipy.special import stdtrit

    return float(stdtrit(freedom, 0.975))
