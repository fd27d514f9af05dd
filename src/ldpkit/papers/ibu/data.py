"""The six distributions of the IBU paper, and how it makes histograms of them.

Five are generated as the paper says. The sixth, yearly income in the American Community
Survey (PINCP of 2018, five years), cannot be shipped. Its substitute has the same shape
and nothing of the data: 65 % of people earn a lognormal income with median 43,000 and
log-deviation 0.6 (whole-year work), 35 % one with median 11,000 and log-deviation 1.0
(part-year work); incomes are rounded to hundreds, not below 200 (the authors drop 100
and less, so nobody has none) and cut at 750,000, where the survey hides the largest.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ldpkit.core.typing import Counts, Floats
from ldpkit.papers.ibu.paper import REAL

__all__ = ["bucketise", "sample"]


def _income(generator: np.random.Generator, n: int) -> Floats:
    whole_year = generator.random(n) < 0.65
    median, deviation = np.where(whole_year, 43_000, 11_000), np.where(whole_year, 0.6, 1.0)
    income = median * np.exp(deviation * generator.standard_normal(n))
    return np.clip(np.round(income, -2), 200, 750_000)


_SAMPLERS: dict[str, Callable[[np.random.Generator, int], Floats]] = {
    "gaussian": lambda generator, n: generator.normal(1000, 10, n),
    "exponential": lambda generator, n: generator.exponential(1, n),
    "uniform": lambda generator, n: generator.uniform(100, 10_000, n),
    "poisson": lambda generator, n: generator.poisson(5, n).astype(float),
    "triangular": lambda generator, n: generator.triangular(100, 4500, 10_000, n),
    REAL: _income,
}


def sample(distribution: str, n: int, generator: np.random.Generator) -> Floats:
    """Return the numbers that n people hold.

    Examples
    --------
    >>> incomes = sample("real", 1000, np.random.default_rng(1))
    >>> bool(np.median(incomes) < np.mean(incomes) < 60_000)
    True
    """
    return _SAMPLERS[distribution](generator, n)


def bucketise(numbers: Floats, k: int) -> Counts:
    """Return how many numbers fall into each of k buckets, as the authors' notebook cuts them.

    It cuts the range from the least to the greatest into k + 1 equal parts and takes the
    last two together. The published tables show it: with k equal parts the gains of unary
    mechanisms on the Gaussian do not come out.

    Examples
    --------
    >>> bucketise(np.array([0.0, 1.0, 4.0, 8.0, 9.0]), 2).tolist()
    [2, 3]
    """
    counts, _ = np.histogram(numbers, k + 1)
    counts[-2] += counts[-1]
    return np.asarray(counts[:-1])
