"""AAA: the solvers of its program side by side, and its sampler against NumPy."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

import ldpkit
from ldpkit.mechanisms.adaptive.descriptor import descriptor_of_law
from ldpkit.mechanisms.adaptive.interior import minimise
from ldpkit.mechanisms.adaptive.lattice import Lattice
from ldpkit.mechanisms.adaptive.mechanism import AAA
from ldpkit.mechanisms.adaptive.program import solve_with_highs
from ldpkit.mechanisms.adaptive.repair import repair
from timing import best_seconds, print_table

EPSILON = 1.0
HIGHS_LIMIT = 60.0
TARGETS = {
    (32, "gaussian"): 1.0,
    (32, "exponential"): 1.0,
    (100, "gaussian"): 12.0,
    (100, "exponential"): 45.0,
}


def main() -> None:
    print_table(
        "Linear program, M = 4N, eps = 1, on one core",
        [_program(bins, law) for bins in (16, 32, 100) for law in ("gaussian", "exponential")],
    )
    print_table("Sampling, per user, secure randomness, on one core", [_sampling(bins) for bins in (16, 100)])


def _descriptor(law: str, bins: int) -> Any:
    from scipy import stats

    laws = {"gaussian": stats.norm(0, 0.2), "exponential": stats.expon(-1, 1 / 6)}
    return descriptor_of_law(laws[law].cdf, bins)


def _program(bins: int, law: str) -> dict[str, Any]:
    lattice, descriptor = Lattice(bins, 4 * bins), _descriptor(law, bins)
    repeats = 3 if bins <= 32 else 1
    minimise(Lattice(2, 8), np.full(3, 1 / 3), EPSILON)  # compile
    solution = minimise(lattice, descriptor, EPSILON)
    ours = best_seconds(lambda: minimise(lattice, descriptor, EPSILON), repeats)
    exact = best_seconds(lambda: repair(solution, EPSILON), repeats)
    start = time.perf_counter()
    found = solve_with_highs(lattice, descriptor, EPSILON, time_limit=HIGHS_LIMIT)
    theirs = time.perf_counter() - start
    target = TARGETS.get((bins, law))
    return {
        "work": f"N={bins}, {law}",
        "interior s": ours,
        "repair s": exact,
        "HiGHS s": theirs if found is not None else f"> {HIGHS_LIMIT:g}",
        "ratio": theirs / ours,
        "proven gap": solution.gap,
        "target": "" if target is None else f"< {target:g} s: {'met' if ours + exact < target else 'MISSED'}",
    }


def _sampling(bins: int) -> dict[str, Any]:
    mechanism = AAA((-1, 1), EPSILON, descriptor=_descriptor("gaussian", bins))
    values = np.random.default_rng(1).uniform(-1, 1, 1_000_000)
    ours = best_seconds(lambda: mechanism.privatize(values)) / len(values)
    peer = best_seconds(lambda: _numpy_reports(mechanism, values, np.random.default_rng(2)), 2) / len(values)
    return {
        "work": f"AAA, N={bins}",
        "ns": ours * 1e9,
        "NumPy ns": peer * 1e9,
        "ratio": peer / ours,
        "secure": ldpkit.random.secure().is_secure,
    }


def _numpy_reports(mechanism: AAA, values: Any, generator: np.random.Generator) -> Any:
    """Draw reports as a textbook would: round at random, then invert each row's distribution function."""
    bins = mechanism.table.bins
    places = (values + 1) / 2 * bins
    rows = np.minimum(places.astype(int), bins - 1)
    rows += generator.random(len(values)) < places - rows
    uniform = generator.random(len(values))
    reports = np.empty(len(values), np.int64)
    for row in range(bins + 1):
        cumulative = mechanism.table.bounds[row] / 2.0**64
        same = rows == row
        reports[same] = np.searchsorted(cumulative, uniform[same], "right") - 1
    return reports


if __name__ == "__main__":
    main()
