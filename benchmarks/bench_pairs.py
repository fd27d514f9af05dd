"""People in pairs against the same people alone, in the same run.

Run `python benchmarks/bench_pairs.py [people]`. All include checks and secure randomness; pairs
also shuffle everybody. A ratio above 1 is slower than the oracle for people alone. Times are
the best of several runs on one core, taken in turns, so that a busy machine slows all of them
alike. The last line is 1,000 whole collections drawn from the exact law, without people.
"""

from __future__ import annotations

import sys
from functools import partial
from typing import Any

import numpy as np

import ldpkit
from timing import best_in_turns, best_seconds, print_table

_TURNS = 5
_BITS = 16  # values of the unary and hashing oracles
_RUNS = 1000


def main(people: int = 2_000_000) -> None:
    stated = ldpkit.Adversary(known=5)
    alone: dict[str, Any] = {
        "grr": ldpkit.GRR(2, epsilon=1),
        "sue": ldpkit.SUE(_BITS, epsilon=1),
        "olh": ldpkit.OLH(_BITS, epsilon=1),
    }
    pairs: dict[str, tuple[Any, str]] = {
        "jrr": (ldpkit.JRR(2, 1, 2), "grr"),
        "jrr, strongest": (ldpkit.JRR(2, 1, adversary=stated), "grr"),
        "group_count of 2": (ldpkit.GroupCount(2, 1), "grr"),
        "joint_sue": (ldpkit.get("joint_sue", _BITS, epsilon_alone=1, epsilon=2), "sue"),
        "joint_olh": (ldpkit.get("joint_olh", _BITS, epsilon_alone=1, epsilon=2), "olh"),
    }
    values = (np.arange(people) < people // 200).astype(np.int64)
    works = {**alone, **{name: mechanism for name, (mechanism, _) in pairs.items()}}
    turns = best_in_turns({name: partial(each.privatize, values) for name, each in works.items()}, _TURNS)
    best = {name: seconds / people * 1e9 for name, seconds in turns.items()}
    rows = [
        {"work": name, "privatize": best[name], "ratio": best[name] / best[base], "against": base}
        for name, base in [*((name, name) for name in alone), *((name, pairs[name][1]) for name in pairs)]
    ]
    print_table(f"Privatizing, ns per user on one core, {people:,} users, eps = 1", rows)
    counts = [people - people // 200, people // 200]
    drawn = best_seconds(partial(works["jrr"].simulate, counts, repeats=_RUNS), 3)
    print(f"{_RUNS:,} collections of {people:,} people in pairs by their exact law: {drawn * 1e3:.2f} ms")


if __name__ == "__main__":
    main(*(int(argument) for argument in sys.argv[1:]))
