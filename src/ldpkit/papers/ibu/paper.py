"""What the IBU paper prints: its grid, and tables 2 and 3."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import mean

__all__ = [
    "AVERAGE",
    "DISTRIBUTIONS",
    "EPSILONS",
    "GENERATED",
    "LONGITUDINAL",
    "METRICS",
    "ONE_TIME",
    "PEOPLE",
    "REAL",
    "SIZES",
    "TABLE_2",
    "TABLE_3",
    "IbuTable",
]

REAL = "real"
DISTRIBUTIONS = ("gaussian", "exponential", "uniform", "poisson", "triangular", REAL)
METRICS = ("mse", "mae")
SIZES = (2, 50, 100, 200)
PEOPLE = (20_000, 100_000)
EPSILONS = (1.0, 2.0, 4.0)
"""Of the one report; a longitudinal mechanism has twice as much for the permanent one."""

ONE_TIME = ("grr", "sue", "oue", "ss", "the", "blh", "olh")
LONGITUDINAL = ("lgrr", "lsue", "loue", "lsoue", "losue", "lblh", "lolh")
AVERAGE = "avg"
"""Stands for all distributions, or all mechanisms of a table."""
GENERATED = "all but real"
"""Stands for the five distributions that can be generated as the paper says."""


@dataclass(frozen=True)
class IbuTable:
    """A published table of gains in percent.

    Parameters
    ----------
    number : int
        Its number in the paper.
    mechanisms : sequence of str
        Its columns, the average left out.
    rows : mapping
        For each distribution and the average: MSE and MAE by turns, for each mechanism
        and the average.

    Examples
    --------
    >>> TABLE_2.gain("uniform", "blh", "mse"), TABLE_2.gain("uniform", "blh", "mae")
    (57, 43)
    >>> TABLE_3.gain("avg", "avg", "mse"), TABLE_3.gain("all but real", "lgrr", "mse")
    (23, 17.4)
    """

    number: int
    mechanisms: Sequence[str]
    rows: Mapping[str, Sequence[int]]

    def gain(self, distribution: str, mechanism: str, metric: str) -> float:
        """Return one published number, or the mean of five where it takes all but the real data."""
        if distribution == GENERATED:
            return mean(self.gain(each, mechanism, metric) for each in DISTRIBUTIONS if each != REAL)
        column = (*self.mechanisms, AVERAGE).index(mechanism)
        return self.rows[distribution][len(METRICS) * column + METRICS.index(metric)]


TABLE_2 = IbuTable(2, ONE_TIME, {
    "gaussian": (1, 1, 13, 7, 10, 6, 3, 1, 13, 7, 16, 9, 11, 7, 9, 5),
    "exponential": (16, 11, 26, 15, 27, 16, 19, 11, 26, 15, 16, 10, 27, 16, 22, 13),
    "uniform": (0, 0, 29, 21, 20, 14, 14, 10, 31, 22, 57, 43, 18, 12, 24, 17),
    "poisson": (39, 28, 41, 26, 44, 28, 41, 27, 41, 27, 14, 6, 46, 30, 38, 24),
    "triangular": (0, 0, 21, 13, 15, 9, 10, 6, 23, 14, 36, 21, 15, 9, 17, 10),
    REAL: (31, 21, 40, 23, 42, 25, 34, 19, 42, 25, 21, 11, 44, 27, 36, 21),
    AVERAGE: (14, 10, 28, 17, 26, 16, 20, 12, 29, 18, 26, 16, 26, 16, 24, 15),
})  # fmt: skip

TABLE_3 = IbuTable(3, LONGITUDINAL, {
    "gaussian": (14, 5, 13, 8, 9, 5, 10, 7, 12, 7, 2, 0, 7, 4, 9, 5),
    "exponential": (4, 1, 27, 16, 26, 15, 27, 16, 27, 16, 4, 2, 20, 12, 19, 11),
    "uniform": (36, 25, 31, 22, 12, 8, 16, 11, 18, 13, 54, 43, 21, 16, 26, 19),
    "poisson": (5, 2, 43, 28, 48, 32, 49, 32, 44, 29, 11, 6, 42, 30, 34, 22),
    "triangular": (28, 17, 24, 15, 11, 7, 13, 9, 16, 10, 26, 14, 14, 9, 18, 11),
    REAL: (4, 1, 43, 25, 43, 27, 44, 27, 43, 25, 9, 4, 34, 22, 31, 18),
    AVERAGE: (15, 8, 30, 19, 24, 15, 26, 17, 26, 16, 17, 11, 23, 15, 23, 14),
})  # fmt: skip
