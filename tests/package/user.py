"""A user's script, for the type checker: `mypy --strict` must pass it, and know what everything is.

`assert_type` fails where a type is lost: a result that has become `Any` is not the one that is named.
"""

from __future__ import annotations

from pathlib import Path
from typing import assert_type

import numpy as np

import ldpkit
from ldpkit.estimation.density import Density, Quantile
from ldpkit.mechanisms.numeric.mechanism import NumericMechanism
from ldpkit.planning.frequencies.plans import BudgetPlans


def frequencies(values: list[str]) -> dict[str, float]:
    """Collect categories."""
    oracle = ldpkit.OLH(["walk", "bike", "bus"], epsilon=1.0)
    reports = oracle.privatize(values, rng=ldpkit.random.seeded(1))
    tally = oracle.tally(reports) + oracle.tally(reports)
    assert_type(oracle.exact_epsilon(), float)
    assert_type(tally.n, int)
    estimate = tally.estimate(consistency="norm_sub")
    assert_type(estimate, ldpkit.Estimate)
    assert_type(estimate["bike"], float)
    low, high = estimate.interval(0.95)
    return {"bike": estimate["bike"], "low": float(low[1]), "high": float(high[1])}


def numbers(values: np.ndarray[tuple[int], np.dtype[np.float64]]) -> float:
    """Collect numbers."""
    mechanism = ldpkit.SW((0, 120), epsilon=2.0)
    found = mechanism.tally(mechanism.privatize(values)).estimate()
    assert_type(found, ldpkit.NumericEstimate)
    assert_type(found.mean, float)
    assert_type(found.density(bins=10), Density)
    assert_type(found.quantile(0.5), Quantile)
    return found.mean


def angles(values: list[float]) -> float:
    """Collect angles."""
    mechanism = ldpkit.CircularOGPM(ldpkit.CircleDomain(360), epsilon=2.0)
    found = mechanism.tally(mechanism.privatize(values)).estimate()
    assert_type(found, ldpkit.DirectionEstimate)
    return found.direction


def places(values: np.ndarray[tuple[int, int], np.dtype[np.float64]]) -> int:
    """Collect locations."""
    town = ldpkit.PlaneDomain.rectangle((0, 0), (10, 10))
    mechanism = ldpkit.PlanarWindow(town, epsilon=4)
    found = mechanism.tally(mechanism.privatize(values)).estimate(columns=4, rows=4)
    assert_type(found, ldpkit.HeatMap)
    return len(ldpkit.hotspots(found, 2, draws=2).rows())


def plans() -> None:
    """Ask before collecting."""
    assert_type(ldpkit.plan.budget([60, 30, 10], "grr", metric="mae", at_most=0.1), BudgetPlans)
    assert_type(ldpkit.recommend([60, 30, 10], epsilon=1.0), ldpkit.Recommendation)
    assert_type(ldpkit.risk("grr", epsilon=1.0, domain=4), ldpkit.Risks)
    assert_type(ldpkit.audit(ldpkit.GRR(4, epsilon=1)), ldpkit.Audit)
    assert_type(ldpkit.bench.frequencies([60, 30, 10], repeats=2), ldpkit.Benchmark)
    assert_type(ldpkit.list_mechanisms("frequency"), list[str])
    assert_type(ldpkit.list_mechanisms("numeric")[0], str)


def files(folder: Path) -> int:
    """Write and read reports."""
    oracle = ldpkit.GRR(4, epsilon=1)
    with ldpkit.ReportWriter(folder / "reports.ldp", oracle) as writer:
        writer.write(oracle.privatize([0, 1, 2]))
    file = ldpkit.ReportFile.open(folder / "reports.ldp")
    assert_type(file.n, int)
    tally = ldpkit.tally_file(folder / "reports.ldp")
    assert_type(tally.n, int)
    return tally.n


@ldpkit.register
class Steady(ldpkit.MatrixMechanism):
    """A mechanism of one's own."""

    name, title, citation = "steady", "Randomised response", "a user's script"

    def matrix(self) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
        """Return how likely each report is for each value."""
        return np.ones((self.size, self.size)) + np.eye(self.size)


assert_type(Steady(4, epsilon=1).exact_epsilon(), float)


def kinds(mechanism: ldpkit.Mechanism) -> str:
    """Take any mechanism."""
    if isinstance(mechanism, NumericMechanism):
        return f"numbers in {mechanism.domain}"
    return mechanism.name
