"""Locations by the million against a loop over points in Python, in the same run.

Run `python benchmarks/bench_spatial.py [points]`. All include checks, the integer grid and
secure randomness, and are taken in turns on one core. Two loops stand beside them: TraCS-C one
point at a time as its paper writes it, with secure floating-point numbers (which keep no exact
epsilon), and this package called once for each point.
"""

from __future__ import annotations

import math
import random
import sys
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

import ldpkit
from timing import print_table

EPSILON = 4.0
NAMES = ("tracs_c", "planar_window", "grid_response", "tracs_d")
LIMITS = {"tracs_c": 100, "planar_window": 100, "grid_response": 100, "tracs_d": 250}
_TURNS = 3
_LOOPED = 3000


def piecewise(secure: random.Random, value: float, epsilon: float) -> float:
    """Return a report of one coordinate, as Definition 10 has it."""
    p = math.exp(epsilon / 2)
    c = (math.exp(epsilon / 2) - 1) / (2 * math.exp(epsilon) - 2)
    left = min(max(value - c, 0.0), 1 - 2 * c)
    edges = np.array([0.0, left, left + 2 * c, 1.0])
    chances = np.diff(edges) * [p / math.exp(epsilon), p, p / math.exp(epsilon)]
    piece = int(np.searchsorted(np.cumsum(chances), secure.random()))
    piece = min(piece, 2)
    return float(edges[piece] + (edges[piece + 1] - edges[piece]) * secure.random())


def published_loop(points: Any) -> list[tuple[float, float]]:
    secure = random.SystemRandom()
    return [(piecewise(secure, x, EPSILON / 2), piecewise(secure, y, EPSILON / 2)) for x, y in points]


def own_loop(mechanism: Any, points: Any) -> list[Any]:
    return [mechanism.privatize(point[None]) for point in points]


def seconds(work: Callable[[], Any]) -> tuple[float, float]:
    """Return the time that a work took, by the clock and on the processor."""
    clock, processor = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - clock, time.process_time() - processor


def main(count: int = 10_000_000) -> None:
    points = np.random.Generator(np.random.PCG64(1)).random((count, 2))
    made: dict[str, Any] = {name: ldpkit.get(name, ((0, 0), (1, 1)), epsilon=EPSILON) for name in NAMES}
    few = points[:_LOOPED]
    works: dict[str, tuple[int, Callable[[], Any]]] = {
        "TraCS-C as published, one a point": (_LOOPED, partial(published_loop, few)),
        "tracs_c, one call a point": (_LOOPED, partial(own_loop, made["tracs_c"], few)),
        **{name: (count, partial(mechanism.privatize, points)) for name, mechanism in made.items()},
    }
    for mechanism in made.values():
        mechanism.privatize(few)  # compiles
    best = {name: np.full(2, np.inf) for name in works}
    for _ in range(_TURNS):
        for name, (size, work) in works.items():
            best[name] = np.minimum(best[name], np.array(seconds(work)) / size * 1e9)
    loop = best["TraCS-C as published, one a point"]
    rows = [
        {
            "work": name,
            "ns": float(clock),
            "cpu ns": float(processor),
            "limit": LIMITS.get(name, ""),
            "ratio": ratio,
        }
        for name, (clock, processor) in best.items()
        for ratio in [float(loop[1] / processor)]
    ]
    print_table(f"Locations, ns per point on one core, {count:,} points, eps = {EPSILON:g}", rows)


if __name__ == "__main__":
    main(*(int(argument) for argument in sys.argv[1:]))
