"""The two engines of `ldpkit bench` against a per-user Python loop, their threads, time and memory."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import numpy as np

import ldpkit
from ldpkit.core.typing import Counts
from ldpkit.mechanisms.categorical.oracle import FrequencyOracle
from ldpkit.mechanisms.kinds import frequency_class
from ldpkit.simulation import engines
from peers import EPSILON, K, loop
from timing import best_in_turns, print_table

PEOPLE = 929_669
REPEATS = {"grr": 40, "olh": 5, "blh": 5, "oue": 2, "sue": 2, "ss": 1}  # a tenth of a second of work or two
PROTOCOLS = tuple(REPEATS)
RUNS = 10
METHODS = ("none", "base_pos", "norm", "norm_cut", "norm_mul", "norm_sub", "power", "power_ns")


def main() -> None:
    print_table(
        "Time of one collection, per user, on one core", [_engines(name) for name in ("grr", "oue", "olh")]
    )
    print_table("Two threads against one, users engine", list(_threads()))
    print_table(
        "Whole commands, process start included", [_table_one("aggregate", 3), _table_one("users", 30)]
    )
    print_table("Memory, users engine, n=10 million, k=1024", [_memory(name) for name in ("olh", "oue")])


def _engines(name: str) -> dict[str, Any]:
    oracle = frequency_class(name).make(K, epsilon=EPSILON)
    counts = np.full(K, PEOPLE // K)
    source = ldpkit.random.seeded(1)
    few = 2000
    device, collector = loop(name)
    values = [user % K for user in range(few)]
    works = {
        "looped": lambda: collector(device(values)),
        "made": lambda: engines.users(oracle, counts, source, 1, 1),
        "drawn": lambda: engines.aggregate(oracle, counts, source, 10),
    }
    users = {"looped": few, "made": counts.sum(), "drawn": 10 * counts.sum()}
    looped, made, drawn = (seconds / users[each] for each, seconds in best_in_turns(works, 15).items())
    met = looped / made >= 100 and looped / drawn >= 10_000
    return {
        "work": name,
        "loop ns": looped * 1e9,
        "users ns": made * 1e9,
        "aggregate ns": drawn * 1e9,
        "users ratio": f"{looped / made:,.0f}",
        "aggregate ratio": f"{looped / drawn:,.0f}",
        "target": f">= 100 and >= 10,000: {'met' if met else 'MISSED'}",
    }


def _threads() -> Iterator[dict[str, Any]]:
    """Time one and two threads.

    Beside it, how much more two threads do of a compiled loop with no Python in between:
    what the machine itself gives at the time. All six together are ten runs of each.
    """
    counts = np.full(K, PEOPLE // K)
    total = {"one": 0.0, "two": 0.0, "bare one": 0.0, "bare two": 0.0}
    for name, repeats in REPEATS.items():
        work = partial(_users, frequency_class(name).make(K, epsilon=EPSILON), counts, repeats)
        works = {
            "one": partial(work, 1),
            "two": partial(work, 2),
            "bare one": partial(_bare, 1),
            "bare two": partial(_bare, 2),
        }
        best = best_in_turns(works, 60)  # so often that both cores are free at least once
        total = {each: total[each] + best[each] * RUNS / repeats for each in total}
        yield _thread_row(name, best)
    yield _thread_row(f"all six, {RUNS} runs", total)


def _users(oracle: FrequencyOracle, counts: Counts, repeats: int, threads: int) -> None:
    engines.users(oracle, counts, ldpkit.random.seeded(1), repeats, threads)


def _thread_row(name: str, seconds: dict[str, float]) -> dict[str, Any]:
    ratio = seconds["one"] / seconds["two"]
    return {
        "work": name,
        "1 thread s": seconds["one"],
        "2 threads s": seconds["two"],
        "ratio": f"{ratio:.2f}",
        "bare loop's ratio": f"{2 * seconds['bare one'] / seconds['bare two']:.2f}",
        "target": f">= 1.6: {'met' if ratio >= 1.6 else 'MISSED'}",
    }


def _bare(threads: int) -> None:
    from ldpkit.mechanisms.kernels.columns import count_columns

    rows = np.zeros((1 << 19, 16), np.uint8)
    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(lambda _: [count_columns(rows) for _ in range(4)], range(threads)))


def _table_one(engine: str, limit: int) -> dict[str, Any]:
    command = [
        sys.executable, "-m", "ldpkit", "bench", "-d", f"zipf:k={K},n={PEOPLE}", "-e", "1", "-r", "10",
        "-p", *PROTOCOLS, "-m", *METHODS, "--engine", engine, "-t", "2",
    ]  # fmt: skip
    subprocess.run(command, capture_output=True, check=True)  # the first may still have to compile
    start = time.perf_counter()
    subprocess.run(command, capture_output=True, check=True)
    seconds = time.perf_counter() - start
    target = f"< {limit} s: {'met' if seconds < limit else 'MISSED'}"
    return {"work": f"table I's size, 10 repeats, {engine}", "seconds": seconds, "target": target}


_MEMORY = """
import sys, numpy as np, ldpkit
from ldpkit.simulation import engines
from timing import peak_megabytes
oracle = ldpkit.get(sys.argv[1], 1024, epsilon=1.0)
counts = np.full(1024, 10_000_000 // 1024 + 1)
engines.users(oracle, counts, ldpkit.random.seeded(1), 1, 2)
print(peak_megabytes())
"""


def _memory(name: str) -> dict[str, Any]:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-c", _MEMORY, name], env=environment, capture_output=True, text=True, check=True
    )
    megabytes = float(done.stdout)
    target = f"< 500 MB: {'met' if megabytes < 500 else 'MISSED'}"
    return {"work": name, "peak MB": megabytes, "target": target}


if __name__ == "__main__":
    main()
