"""The users engine: the same counts however many threads, and an end soon after Ctrl-C."""

import threading
import time

import numpy as np
import pytest

import ldpkit
from ldpkit.mechanisms.categorical.grr import GRR
from ldpkit.simulation import engines

CHUNK = 10


class Small(GRR):
    """GRR in chunks of ten people."""

    chunk_size = CHUNK


@pytest.mark.parametrize("threads", [2, 3])
def test_threads_change_nothing(threads):
    counts = np.array([300, 150, 57])
    one = engines.users(Small(3, 1.0), counts, ldpkit.random.seeded(1), 5, 1)
    several = engines.users(Small(3, 1.0), counts, ldpkit.random.seeded(1), 5, threads)
    assert np.array_equal(one, several)


def test_streams_are_made_as_they_are_needed_and_are_the_same():
    """All streams of a large population at once would fill the memory."""
    spawned = []

    class Counting(ldpkit.random.RandomSource):
        def spawn(self, count):
            spawned.append(count)
            return super().spawn(count)

    people = np.zeros(1000 * CHUNK, np.uint32)
    chunks = Small(2, 1.0).chunks(people, Counting(bytes(32), is_secure=False))
    words = [next(chunks)[1].words(1)[0]]
    assert len(spawned) == 1
    assert spawned[0] < 1000
    words += [stream.words(1)[0] for _, stream in chunks]
    assert sum(spawned) == 1000
    expected = ldpkit.random.RandomSource(bytes(32), is_secure=False).spawn(1000)
    assert words == [stream.words(1)[0] for stream in expected]


@pytest.mark.parametrize("threads", [1, 2])
def test_an_interruption_ends_running_tasks_with_their_chunk(threads):
    """A task has 20 chunks here; one that went on to its end would show."""
    calls, lock = [], threading.Lock()

    class Interrupted(Small):
        def collect(self, indices, source):
            with lock:
                calls.append(len(indices))
                number = len(calls)
            if number == 3:
                raise KeyboardInterrupt
            time.sleep(0.05)
            return super().collect(indices, source)

    people = threads * 8 * 20 * CHUNK
    with pytest.raises(KeyboardInterrupt):
        engines.users(Interrupted(2, 1.0), np.array([people, 0]), ldpkit.random.seeded(1), 1, threads)
    assert len(calls) < 20
