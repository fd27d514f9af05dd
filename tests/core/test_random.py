"""The random source: golden words, independence of children, forks, threads, refusals."""

from __future__ import annotations

import copy
import hashlib
import os
import pickle
import subprocess
import sys
import threading

import numpy as np
import pytest

import ldpkit
from ldpkit.core import random
from ldpkit.core.errors import InvalidParameterError
from ldpkit.testing.false_alarms import fits

# The first words of some seeds, for another language to check itself against: AES-256 in
# counter mode from zero, keyed with SHA-256 of "ldpkit seed " and the decimal seed.
GOLDEN = {
    0: [0x9A700EDB636A5004, 0xF6B883B2A4022406],
    2026: [0xDEF9FA82A7170B68, 0xC5CF4D81FF367329],
}


def aes_ctr(key: bytes, count: int) -> bytes:
    """The stream by another route: encrypt the counter blocks one by one, in ECB."""
    from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

    blocks = b"".join(number.to_bytes(16, "big") for number in range(-(-count // 16)))
    return Cipher(algorithms.AES(key), modes.ECB()).encryptor().update(blocks)[:count]


@pytest.mark.parametrize("seed", GOLDEN)
def test_golden_words(seed):
    assert random.seeded(seed).words(2).tolist() == GOLDEN[seed]


@pytest.mark.parametrize("seed", [0, 1, 7, 2026, 2**64, 10**40])
def test_a_seeded_stream_is_aes_in_counter_mode(seed):
    key = hashlib.sha256(f"ldpkit seed {seed}".encode()).digest()
    assert random.seeded(seed).bytes(1000).tobytes() == aes_ctr(key, 1000)


def test_words_are_little_endian_bytes():
    raw = random.seeded(3).bytes(80).tobytes()
    assert random.seeded(3).words(10).tolist() == [
        int.from_bytes(raw[i : i + 8], "little") for i in range(0, 80, 8)
    ]
    assert random.seeded(3).words(10).dtype == np.uint64


@pytest.mark.parametrize(
    "cuts", [[1, 2, 3, 5, 7, 11, 1000], [16] * 10, [0, 5, 0], [1 << 20, 1], [(1 << 20) + 17, 3]]
)
def test_the_stream_does_not_depend_on_how_it_is_cut(cuts):
    source = random.seeded(5)
    parts = b"".join(source.bytes(cut).tobytes() for cut in cuts)
    assert parts == random.seeded(5).bytes(sum(cuts)).tobytes()


def test_blocks_beyond_the_first_megabyte_are_fresh():
    data = random.seeded(6).bytes(3 << 20).reshape(3, -1)
    assert len({row[:1000].tobytes() for row in data}) == 3
    words = random.seeded(6).words((3 << 20) // 8)
    assert len(np.unique(words)) == len(words), "a word came twice (false-alarm rate 1e-8)"


def test_bytes_are_uniform():
    table = np.bincount(random.seeded(9).bytes(1 << 20), minlength=256)
    assert fits(table, np.full(256, 1 / 256)) > 1e-9, "bytes are not uniform (false-alarm rate 1e-9)"
    assert fits(table + np.arange(256), np.full(256, 1 / 256)) < 1e-9, "negative control"


def test_what_is_handed_out_is_the_callers():
    source = random.seeded(1)
    first = source.bytes(100)
    expected = first.copy()
    source.bytes(100)
    assert (first == expected).all()
    first[:] = 0  # writable, and without effect on what comes
    assert (source.bytes(50) == random.seeded(1).bytes(250)[200:]).all()


def test_secure_sources_never_agree():
    words = [int(random.secure().words(1)[0]) for _ in range(64)]
    assert len(set(words)) == 64, "false-alarm rate 1e-16"
    assert random.secure().is_secure
    assert all(child.is_secure for child in random.secure().spawn(2))


def test_seeded_sources_say_that_they_are_not_secure():
    assert not random.seeded(1).is_secure
    assert not any(child.is_secure for child in random.seeded(1).spawn(2))
    assert repr(random.seeded(1)) == "<RandomSource seeded>"
    assert repr(random.secure()) == "<RandomSource secure>"


@pytest.mark.parametrize(
    "seed", [-1, True, False, 1.0, "1", None, b"1", [1], np.float64(2), np.bool_(True), 1j]
)
def test_senseless_seeds_are_refused(seed):
    with pytest.raises(InvalidParameterError, match="non-negative integer"):
        random.seeded(seed)


def test_seeds_are_told_apart_by_value_only():
    assert random.seeded(np.int32(7)).words(1) == random.seeded(7).words(1)
    firsts = {int(random.seeded(seed).words(1)[0]) for seed in range(200)}
    assert len(firsts) == 200


@pytest.mark.parametrize("key", [b"", bytes(16), bytes(33)])
def test_a_key_has_32_bytes(key):
    with pytest.raises(InvalidParameterError, match="32 bytes"):
        random.RandomSource(key, is_secure=False)


def test_resolve_takes_a_source_or_nothing():
    source = random.seeded(1)
    assert random.resolve(source) is source
    assert random.resolve(None).is_secure
    for other in (1, "secure", np.random.default_rng(0), random):
        with pytest.raises(InvalidParameterError, match=r"ldpkit\.random"):
            random.resolve(other)


# --- children --------------------------------------------------------------------------


def test_children_are_streams_of_their_own():
    parent = random.seeded(1)
    children = parent.spawn(5)
    streams = [source.words(1000) for source in (*children, parent)]
    for i, first in enumerate(streams):
        for second in streams[i + 1 :]:
            assert not np.isin(first, second).any()
    again = random.seeded(1).spawn(5)
    assert all((a.words(5) == b[:5]).all() for a, b in zip(again, streams[:5], strict=True))
    assert random.seeded(1).spawn(0) == []


def test_spawning_one_by_one_is_spawning_together():
    together = [child.words(1)[0] for child in random.seeded(2).spawn(3)]
    parent = random.seeded(2)
    assert [parent.spawn(1)[0].words(1)[0] for _ in range(3)] == together


def test_a_child_does_not_give_its_parent_away():
    """The key of a child is drawn from the parent's stream, which the child's stream does not show."""
    parent = random.seeded(3)
    key = random.seeded(3).bytes(32).tobytes()
    child = parent.spawn(1)[0]
    assert child.bytes(64).tobytes() == aes_ctr(key, 64)
    assert key not in child.bytes(10_000).tobytes()


def test_generators_are_keyed_from_the_source():
    first, second = (random.seeded(1).generator() for _ in range(2))
    assert (first.integers(0, 2**63, 10) == second.integers(0, 2**63, 10)).all()
    source = random.seeded(1)
    assert source.generator().random() != source.generator().random()


def test_a_source_cannot_be_copied():
    """Two copies would give two people the same noise, and their difference away."""
    for source in (random.seeded(1), random.secure()):
        for duplicate in (copy.copy, copy.deepcopy, pickle.dumps):
            with pytest.raises(TypeError, match="cannot be pickled"):
                duplicate(source)


# --- threads and processes -------------------------------------------------------------


def test_threads_never_get_the_same_words():
    source = random.seeded(4)
    taken: list[np.ndarray] = []

    def work():
        mine = [source.words(257) for _ in range(40)]
        taken.extend(mine)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    words = np.concatenate(taken)
    expected = random.seeded(4).words(len(words))
    assert (np.sort(words) == np.sort(expected)).all(), "words were lost, torn or given twice"


FORK = """
import os, sys
from ldpkit.core import random
source = {source}
source.words(3)
child = source.spawn(1)[0]
made = []
def take():
    return [*source.words(4).tolist(), *child.words(4).tolist(), *source.spawn(1)[0].words(4).tolist(){more}]
pids = []
read, write = os.pipe()
for _ in range(3):
    pid = os.fork()
    if pid == 0:
        os.write(write, (",".join(map(str, take())) + "\\n").encode())
        os._exit(0)
    os.waitpid(pid, 0)
os.close(write)
print(",".join(map(str, take())))
print(os.read(read, 100_000).decode(), end="")
"""


def fork_and_take(source: str, more: str = "") -> list[list[str]]:
    done = subprocess.run(
        [sys.executable, "-c", FORK.format(source=source, more=more)],
        capture_output=True,
        text=True,
        check=True,
    )
    return [line.split(",") for line in done.stdout.splitlines()]


needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")


@needs_fork
def test_a_forked_secure_source_takes_a_new_key():
    rows = fork_and_take("random.secure()")
    words = [word for row in rows for word in row]
    assert len(rows) == 4
    assert len(set(words)) == len(words), "parent and child share a stream (false-alarm rate 1e-15)"


@needs_fork
def test_a_forked_seeded_source_stays_what_it_is():
    rows = fork_and_take("random.seeded(1)")
    assert rows[0] == rows[1] == rows[2] == rows[3]


@needs_fork
@pytest.mark.skipif(not hasattr(random.RandomSource, "derive"), reason="there is no derive")
def test_what_a_forked_secure_source_derives_is_new():
    rows = fork_and_take("random.secure()", ', *source.derive("a").words(4).tolist()')
    words = [word for row in rows for word in row]
    assert len(set(words)) == len(words), "parent and child derive the same stream (false-alarm rate 1e-15)"


@pytest.mark.skipif(not hasattr(random.RandomSource, "derive"), reason="there is no derive")
def test_derived_sources_depend_on_seed_and_label_only():
    source = random.seeded(1)
    first = source.derive("a").words(4).tolist()
    source.words(100)
    assert source.derive("a").words(4).tolist() == first
    others = [source.derive("b"), source.derive(""), random.seeded(2).derive("a"), source, source.spawn(1)[0]]
    assert all(other.words(4).tolist() != first for other in others)


def test_reports_use_the_source_and_nothing_else():
    """A mechanism draws from the source it is given: the same state before gives the same after."""
    first, second = random.seeded(1), random.seeded(1)
    ldpkit.OLH(10, 1.0).privatize([1, 2, 3], rng=first)
    np.random.default_rng()
    ldpkit.OLH(10, 1.0).privatize([1, 2, 3], rng=second)
    assert (first.words(3) == second.words(3)).all()
