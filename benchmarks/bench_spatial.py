"""Locations by the million against a loop over points in Python, in the same run.

Run `python benchmarks/bench_spatial.py [points]`. All include checks, the integer grid and
secure randomness, and are taken in turns on one core. Loops stand beside them: TraCS-C and TraCS-D
one point at a time as their paper writes them, with secure floating-point numbers (which keep no exact
epsilon), and this package called once for each point. Each ratio is to the loop of TraCS-C, that of
tracs_d to the loop of TraCS-D. Last, a million points are rounded to 7,798 places.
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
from ldpkit.mechanisms.spatial.clusters import nearest
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


def circular(secure: random.Random, angle: float, epsilon: float) -> float:
    """Return a report of a direction, as Definition 9 has it."""
    turn, p = 2 * math.pi, math.exp(epsilon / 2) / (2 * math.pi)
    half = math.pi * (math.exp(epsilon / 2) - 1) / (math.exp(epsilon) - 1)
    if secure.random() < 2 * half * p:
        return (angle + half * (2 * secure.random() - 1)) % turn
    return (angle + half + (turn - 2 * half) * secure.random()) % turn


def to_edge(x: float, y: float, angle: float) -> float:
    """Return how far it is from a point of the unit square to its edge."""
    ahead = np.array([math.cos(angle), math.sin(angle)])
    with np.errstate(divide="ignore"):
        far = np.where(ahead > 0, (1 - np.array([x, y])) / ahead, -np.array([x, y]) / ahead)
    return float(np.min(far[np.abs(ahead) > 0]))


def published_loop_d(points: Any) -> list[tuple[float, float]]:
    secure, share = random.SystemRandom(), math.pi / (math.pi + 1)
    answers, (x, y) = [], (0.5, 0.5)
    for point in points:
        angle = math.atan2(point[1] - y, point[0] - x) % (2 * math.pi)
        far = min(math.hypot(point[0] - x, point[1] - y) / to_edge(x, y, angle), 1.0)
        turned = circular(secure, angle, share * EPSILON)
        out = piecewise(secure, far, (1 - share) * EPSILON) * to_edge(x, y, turned)
        x, y = x + out * math.cos(turned), y + out * math.sin(turned)
        x, y = min(max(x, 1e-9), 1 - 1e-9), min(max(y, 1e-9), 1 - 1e-9)
        answers.append((x, y))
    return answers


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
        "TraCS-D as published, one a point": (_LOOPED, partial(published_loop_d, few)),
        "tracs_c, one call a point": (_LOOPED, partial(own_loop, made["tracs_c"], few)),
        **{name: (count, partial(mechanism.privatize, points)) for name, mechanism in made.items()},
    }
    for mechanism in made.values():
        mechanism.privatize(few)  # compiles
    best = {name: np.full(2, np.inf) for name in works}
    for _ in range(_TURNS):
        for name, (size, work) in works.items():
            best[name] = np.minimum(best[name], np.array(seconds(work)) / size * 1e9)
    loops = {
        name: best[f"TraCS-{name[-1].upper()} as published, one a point"] for name in ("tracs_c", "tracs_d")
    }
    rows = [
        {
            "work": name,
            "ns": float(clock),
            "cpu ns": float(processor),
            "limit": LIMITS.get(name, ""),
            "ratio": ratio,
        }
        for name, (clock, processor) in best.items()
        for ratio in [float(loops.get(name, loops["tracs_c"])[1] / processor)]
    ]
    print_table(f"Locations, ns per point on one core, {count:,} points, eps = {EPSILON:g}", rows)
    places = np.random.Generator(np.random.PCG64(2)).random((7798, 2))
    some = points[:1_000_000]
    clock, processor = np.min([seconds(lambda: nearest(places)(some)) for _ in range(_TURNS)], axis=0)
    print(f"{len(some):,} points to {len(places):,} places: {clock:.2f} s, {processor:.2f} CPU-s (limit 2 s)")


if __name__ == "__main__":
    main(*(int(argument) for argument in sys.argv[1:]))
