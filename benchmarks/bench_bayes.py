"""The likelihood estimators: plain IBU against its limit, and EM on a million reports."""

from __future__ import annotations

import os
import time
from functools import partial
from typing import Any

import numpy as np

import ldpkit
from ldpkit.estimation.bayes.climb import Rules
from ldpkit.estimation.bayes.ibu import update
from ldpkit.estimation.bayes.limit import limit
from ldpkit.estimation.bayes.loglikelihood import Likelihood
from ldpkit.estimation.bayes.mle import maximise
from ldpkit.estimation.evidence import Evidence
from timing import best_seconds, peak_megabytes, print_table

ACCURACY = 1e-9


def main() -> None:
    title = f"IBU to its limit within {ACCURACY:g}, OUE, k=1024, epsilon=2"
    print_table(title, _ibu(1024, 10**9, epsilon=2))
    print_table("The exact likelihood of 1e6 OLH reports, k=256, epsilon=1", _steps())


def _ibu(size: int, n: int, epsilon: float) -> list[dict[str, Any]]:
    """Compare ways to the fixed point, all to the same accuracy."""
    oracle = ldpkit.OUE(size, epsilon=epsilon)
    people = np.random.default_rng(1).multinomial(n, np.full(size, 1 / size))
    counts = oracle.simulate(people, rng=ldpkit.random.seeded(1))
    p, q = oracle.p, oracle.q
    top = limit(counts, p, q)[0]
    closed = best_seconds(lambda: limit(counts, p, q), 50)
    rows = [_row("limit", 0, closed, closed, 0.0)]
    for way in ("scoring", "squarem"):
        rules = Rules(10_000, way, largest_change=1e-14)
        run = update(counts, p, q, rules=rules)[0]
        seconds = best_seconds(partial(update, counts, p, q, rules=rules), 3)
        rows.append(_row(way, run.iterations, seconds, closed, np.abs(run.frequencies - top).max()))
    update(counts, p, q, rules=Rules(1))  # compiles
    begin, steps, reached, error = time.perf_counter(), 0, None, np.inf
    while error > ACCURACY:
        reached = update(counts, p, q, rules=Rules(10_000), start=reached)[0].frequencies
        steps, error = steps + 10_000, np.abs(reached - top).max()
    rows.append(_row("plain", steps, time.perf_counter() - begin, closed, error))
    return rows


def _row(way: str, steps: int, seconds: float, closed: float, error: float) -> dict[str, Any]:
    ratio = seconds / closed
    target = f">= 1,000: {'met' if ratio >= 1000 else 'MISSED'}" if way == "plain" else ""
    times = {"steps": f"{steps:,}", "ms": seconds * 1e3, "limit is faster by": f"{ratio:,.0f}"}
    return {"work": way, **times, "error": f"{error:.0e}", "target": target}


def _steps() -> list[dict[str, Any]]:
    oracle = ldpkit.OLH(256, epsilon=1)
    values = np.random.default_rng(1).integers(0, 256, 1_000_000)
    reports = oracle.privatize(values, rng=ldpkit.random.seeded(1))
    packing = best_seconds(lambda: Evidence.of(oracle, reports), 3)
    evidence = Evidence.of(oracle, reports)
    uniform = np.full(256, 1 / 256)
    with Likelihood(evidence) as likelihood:
        step = best_seconds(lambda: likelihood(uniform), 25)
        curved = best_seconds(lambda: likelihood(uniform, curvature=True), 9)
    top = maximise(evidence)
    whole = best_seconds(lambda: maximise(evidence), 2)
    with_errors = best_seconds(lambda: evidence.estimate("mle"), 1)
    packed = sum(part.supports.nbytes for part in evidence.parts if part.supports is not None)
    peak = peak_megabytes()
    cores = f"{os.cpu_count()} cores"
    return [
        {
            "work": f"EM step, {cores}",
            "ms": step * 1e3,
            "note": f"target < 60: {'met' if step < 0.06 else 'MISSED'}",
        },
        {"work": f"scoring step, {cores}", "ms": curved * 1e3, "note": "EM step and curvature"},
        {
            "work": "packing the reports",
            "ms": packing * 1e3,
            "note": f"{packed / 1e6:.0f} MB, {packed / 1e6:.0f} bytes a report",
        },
        {"work": f"maximum, {top.iterations} steps", "ms": whole * 1e3, "note": f"gap {top.gap:.1e}"},
        {
            "work": "estimate with errors",
            "ms": with_errors * 1e3,
            "note": f"peak memory of the process {peak:.0f} MB",
        },
    ]


if __name__ == "__main__":
    main()
