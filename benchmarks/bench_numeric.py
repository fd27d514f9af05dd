"""Sampling of numeric mechanisms against a straightforward NumPy version, in the same run.

Run `python benchmarks/bench_numeric.py [people]`. Both sides take the same values. Ours
includes checks, the integer grid and secure randomness; NumPy's takes PCG64 and floats.
Times are the best of several runs on one core.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

import ldpkit
from timing import best_seconds, print_table

EPSILON = 1.0
E, S = math.exp(EPSILON), math.exp(EPSILON / 2)


def numpy_duchi(x: Any, rng: np.random.Generator) -> Any:
    bound = (E + 1) / (E - 1)
    return np.where(rng.random(len(x)) < 0.5 + x / (2 * bound), bound, -bound)


def numpy_pm(x: Any, rng: np.random.Generator) -> Any:
    c = (S + 1) / (S - 1)
    left = (c + 1) / 2 * x - (c - 1) / 2
    within = left + rng.random(len(x)) * (c - 1)
    outside = rng.random(len(x)) * (c + 1) - c
    outside += np.where(outside >= left, c - 1, 0.0)
    return np.where(rng.random(len(x)) < S / (S + 1), within, outside)


def numpy_hm(x: Any, rng: np.random.Generator) -> Any:
    return np.where(rng.random(len(x)) < 1 - 1 / S, numpy_pm(x, rng), numpy_duchi(x, rng))


def numpy_sw(x: Any, rng: np.random.Generator) -> Any:
    b = (EPSILON * E - E + 1) / (2 * E * (E - 1 - EPSILON))
    u = (x + 1) / 2
    within = u - b + 2 * b * rng.random(len(x))
    outside = rng.random(len(x)) - b
    outside += np.where(outside >= u - b, 2 * b, 0.0)
    return np.where(rng.random(len(x)) < 2 * b * E / (2 * b * E + 1), within, outside)


def numpy_laplace(x: Any, rng: np.random.Generator) -> Any:
    return x + rng.laplace(0, 2 / EPSILON, len(x))


def numpy_staircase(x: Any, rng: np.random.Generator) -> Any:
    n, gamma = len(x), 1 / (1 + S)
    sign = np.where(rng.random(n) < 0.5, -1.0, 1.0)
    block = rng.geometric(1 - 1 / E, n) - 1
    low = rng.random(n) < gamma / (gamma + (1 - gamma) / E)
    u = rng.random(n)
    return x + 2 * sign * (block + np.where(low, gamma * u, gamma + (1 - gamma) * u))


def numpy_truncated_laplace(x: Any, rng: np.random.Generator) -> Any:
    return np.clip(numpy_laplace(x, rng), -1, 1)


PEERS: dict[str, Callable[..., Any]] = {
    "duchi": numpy_duchi,
    "pm": numpy_pm,
    "hm": numpy_hm,
    "sw": numpy_sw,
    "laplace": numpy_laplace,
    "truncated_laplace": numpy_truncated_laplace,
    "staircase": numpy_staircase,
}


def main(people: int = 4_000_000) -> None:
    rng = np.random.Generator(np.random.PCG64(1))
    values = rng.uniform(-1, 1, people)
    rows = [_row(name, values, rng) for name in PEERS]
    print_table(f"Sampling, ns per user on one core, {people:,} users, eps = {EPSILON:g}", rows)


def _row(name: str, values: Any, rng: np.random.Generator) -> dict[str, Any]:
    mechanism, peer = ldpkit.get(name, (-1, 1), epsilon=EPSILON), PEERS[name]
    reports = mechanism.privatize(values)
    ours, count, theirs = (
        best_seconds(work, 15) / len(values) * 1e9
        for work in (
            lambda: mechanism.privatize(values),
            lambda: mechanism.tally(reports),
            lambda: peer(values, rng),
        )
    )
    return {"work": name, "privatize": ours, "tally": count, "NumPy": theirs, "ratio": theirs / ours}


if __name__ == "__main__":
    main(*(int(argument) for argument in sys.argv[1:]))
