"""Engines: two ways to get the support counts of simulated collections.

`aggregate` draws the counts from their exact law, without users. `users` makes and
tallies every single report, as a deployment would; it is there to check the first and
to measure what a collection costs. Both take and return the same things.
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait

import numpy as np

from ldpkit.core.errors import UnknownNameError
from ldpkit.core.random import RandomSource
from ldpkit.core.typing import Counts, Indices
from ldpkit.mechanisms.categorical.oracle import FrequencyOracle

__all__ = ["ENGINES", "Engine", "aggregate", "engine", "users"]

Engine = Callable[[FrequencyOracle, Counts, RandomSource, int, int], Counts]
"""A function of oracle, true counts, source, repeats and threads to counts (repeats, k)."""

_Task = tuple[int, tuple[tuple[Indices, RandomSource], ...]]  # the run, and chunks of people
_TASKS_A_THREAD = 8  # so few that handing them out costs nothing, so many that threads end together
_MOST_CHUNKS = 64  # of a task, so that few results wait


def aggregate(
    oracle: FrequencyOracle, counts: Counts, source: RandomSource, repeats: int, threads: int = 1
) -> Counts:
    """Draw the support counts of whole collections from their exact law.

    It takes so little time that `threads` makes no difference.
    """
    return oracle.simulate(counts, rng=source, repeats=repeats)


def users(
    oracle: FrequencyOracle, counts: Counts, source: RandomSource, repeats: int, threads: int = 1
) -> Counts:
    """Make and tally the report of every user, `repeats` times.

    Reports live in small chunks, each with a random stream of its own, so memory stays
    bounded and the result does not depend on the number of threads.
    """
    people = np.repeat(np.arange(oracle.size, dtype=np.uint32), counts)
    supports = np.zeros((repeats, oracle.size), np.int64)
    chunks = repeats * -(-len(people) // oracle.chunk_size)
    size = min(max(1, chunks // (_TASKS_A_THREAD * threads)), _MOST_CHUNKS)
    tasks = (
        (run, batch)
        for run, stream in enumerate(source.spawn(repeats))
        for batch in _batches(oracle.chunks(people, stream), size)
    )

    def work(task: _Task, stop: threading.Event) -> tuple[int, Counts]:
        run, batch = task
        counted = np.zeros(oracle.size, np.int64)
        for chunk, stream in batch:
            if stop.is_set():
                break
            counted += oracle.collect(chunk, stream)
        return run, counted

    for run, counted in _in_threads(work, tasks, threads):
        supports[run] += counted
    return supports


def _batches(
    chunks: Iterator[tuple[Indices, RandomSource]], size: int
) -> Iterator[tuple[tuple[Indices, RandomSource], ...]]:
    while batch := tuple(itertools.islice(chunks, size)):
        yield batch


def _in_threads(
    work: Callable[[_Task, threading.Event], tuple[int, Counts]], tasks: Iterator[_Task], threads: int
) -> Iterator[tuple[int, Counts]]:
    """Yield results as they come, with few tasks under way, so that few wait in memory."""
    stop = threading.Event()
    if threads == 1:
        yield from (work(task, stop) for task in tasks)
        return
    with ThreadPoolExecutor(threads) as pool:
        waiting: set[Future[tuple[int, Counts]]] = set()
        try:
            for task in tasks:
                waiting.add(pool.submit(work, task, stop))
                if len(waiting) >= 2 * threads:
                    done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
                    yield from (future.result() for future in done)
            yield from (future.result() for future in waiting)
        except BaseException:  # Ctrl-C above all: what runs ends with its chunk, what waits never begins
            stop.set()
            pool.shutdown(wait=False, cancel_futures=True)
            raise


ENGINES: dict[str, Engine] = {"aggregate": aggregate, "users": users}


def engine(name: str) -> Engine:
    """Return the engine of that name."""
    if name not in ENGINES:
        raise UnknownNameError("engine", name, ENGINES)
    return ENGINES[name]
