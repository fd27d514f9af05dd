"""One setting of the thesis' experiments: 1,000 collections by pairs and by randomised response."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from ldpkit.core.random import RandomSource
from ldpkit.core.typing import Floats
from ldpkit.mechanisms.categorical.grr import GRR
from ldpkit.mechanisms.categorical.oracle import FrequencyOracle
from ldpkit.papers.jrr.thesis import choice, hidden

__all__ = ["PERCENTILES", "RUNS", "Run", "are", "measure"]

RUNS = 1000
PERCENTILES = (50, 80, 95)


def are(estimates: Floats, n: int, ones: int) -> Floats:
    """Return the average relative error of each run; there is none if nobody or everybody is a one."""
    if not 0 < ones < n:
        raise ZeroDivisionError(f"the relative error of a count of zero is undefined: {ones} ones of {n}")
    return np.asarray(np.abs(estimates - ones) * (1 / ones + 1 / (n - ones)) / 2)


def counts(oracle: FrequencyOracle, n: int, ones: int, source: RandomSource) -> Floats:
    """Return the estimated number of ones of 1,000 collections, drawn from their exact law."""
    return oracle.unbiased(oracle.simulate([n - ones, ones], rng=source, repeats=RUNS), n)[:, 1] * n


@dataclass(frozen=True, eq=False)
class Run:
    """The estimated numbers of ones, by both mechanisms, and what both should be off by."""

    name: str
    n: int
    ones: int
    epsilon: float
    jrr: Floats
    rr: Floats
    theorem_4: float
    """The mean squared error of JRR by Theorem 4."""
    rr_variance: float

    @property
    def mse(self) -> tuple[float, float]:
        """The mean squared errors of JRR and of RR; both values of the thesis' average have the same."""
        first, second = (float(((each - self.ones) ** 2).mean()) for each in (self.jrr, self.rr))
        return first, second

    @property
    def are(self) -> tuple[Floats, Floats]:
        """The average relative errors of JRR and of RR, sorted."""
        first, second = (np.sort(are(each, self.n, self.ones)) for each in (self.jrr, self.rr))
        return first, second

    def row(self) -> dict[str, Any]:
        """Return everything as a record, with what JRR tells whom."""
        told = hidden(self.epsilon, self.n)
        shown: dict[str, Any] = {
            "data": self.name,
            "n": self.n,
            "ones": self.ones,
            "runs": RUNS,
            "epsilon_alone": self.epsilon,
            "epsilon_5_known_pairing_hidden": "infinite" if math.isinf(told) else round(told, 6),
            "epsilon_partner": "infinite",
            "mse_jrr": self.mse[0],
            "mse_jrr_theorem_4": self.theorem_4,
            "mse_rr": self.mse[1],
            "mse_rr_exact": self.rr_variance,
        }
        defined = 0 < self.ones < self.n
        for place, who in enumerate(("jrr", "rr")):
            errors = self.are[place] if defined else None
            shown[f"are_{who}"] = None if errors is None else float(errors.mean())
            for level in PERCENTILES:
                value = None if errors is None else float(np.percentile(errors, level))
                shown[f"are_{who}_{level}"] = value
        return shown


def measure(name: str, n: int, ones: int, epsilon: float, source: RandomSource) -> Run:
    """Draw the collections of one setting."""
    oracle, rr = choice(epsilon), GRR(2, epsilon=epsilon)
    return Run(
        *(name, n, ones, epsilon, counts(oracle, n, ones, source), counts(rr, n, ones, source)),
        oracle.variance(ones / n, n) * n**2,
        rr.variance(ones / n, n) * n**2,
    )
