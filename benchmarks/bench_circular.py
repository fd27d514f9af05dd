"""Sampling of OGPM and of the circular mechanisms against PM, in the same run.

Run `python benchmarks/bench_circular.py [people]`. All include checks, the integer grid and
secure randomness. A ratio above 1 is faster than PM. Times are the best of several runs on
one core, taken in turns, so that a busy machine slows all of them alike.
"""

from __future__ import annotations

import sys
from functools import partial
from typing import Any

import numpy as np

import ldpkit
from timing import best_seconds, print_table

EPSILON = 1.0
NAMES = ("pm", "ogpm", "circular_ogpm", "circular_sw", "purkayastha", "von_mises")
_TURNS = 5


def main(people: int = 4_000_000) -> None:
    values = np.random.Generator(np.random.PCG64(1)).uniform(0, 1, people)
    made: dict[str, Any] = {}
    for name in NAMES:
        numeric = name in ldpkit.list_mechanisms("numeric")
        made[name] = ldpkit.get(name, (0, 1) if numeric else 1.0, epsilon=EPSILON)
    best = dict.fromkeys(NAMES, float("inf"))
    for _ in range(_TURNS):
        for name, mechanism in made.items():
            seconds = best_seconds(partial(mechanism.privatize, values), 3)
            best[name] = min(best[name], seconds / people * 1e9)
    rows = [{"work": name, "privatize": best[name], "ratio": best["pm"] / best[name]} for name in NAMES]
    print_table(f"Sampling, ns per user on one core, {people:,} users, eps = {EPSILON:g}", rows)


if __name__ == "__main__":
    main(*(int(argument) for argument in sys.argv[1:]))
