"""Forks: no two processes share secure words, and no child waits for a thread that it does not have."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

import ldpkit

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")

HEAD = """
import ctypes, os, signal, sys, threading, time
from ldpkit.core import random

def forked(work, seconds=20):
    '''Return what `work` prints in a forked process, or None if it does not end in time.'''
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        signal.alarm(seconds)
        os.write(write, " ".join(map(str, work())).encode())
        os._exit(0)
    os.close(write)
    said = os.read(read, 100_000).decode()
    os.close(read)
    return said if os.waitpid(pid, 0)[1] == 0 else None
"""

SHARED = """
source, seeded = random.secure(), random.seeded(1)
source.words(3)
child, derived = source.spawn(1)[0], source.derive("a")
def take():
    sources = (source, child, derived, source.spawn(1)[0], source.derive("b"))
    return [word for each in sources for word in each.words(2).tolist()]
print(forked(lambda: [os.getpid(), *take(), *seeded.words(2)]))
print(os.getpid(), *take(), *seeded.words(2))
"""

SAME_ID = """
os.getpid = lambda: 1
"""

NAMESPACES = """
def unshare():  # the next child is number 1 of a process namespace of its own
    if ctypes.CDLL(None, use_errno=True).unshare(0x20000000) != 0:
        print("refused: " + os.strerror(ctypes.get_errno()))
        os._exit(77)

unshare()
if pid := os.fork():
    os._exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
unshare()
"""

THREADS = """
def keep_drawing(source):
    while True:
        source.bytes(1 << 22)

random.secure().bytes(1)  # what a thread is importing stays locked in a child, whoever imports it
for source in (random.secure(), random.seeded(5)):
    threading.Thread(target=keep_drawing, args=[source], daemon=True).start()
    time.sleep(0.05)
    print(*(forked(lambda: source.words(1)) for _ in range(10)))
lock = threading.Lock()
lock.acquire()
print(forked(lambda: [lock.acquire()], seconds=1))
sys.stdout.flush()
os._exit(0)
"""


def run(*parts: str) -> list[list[str]]:
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", "".join((HEAD, *parts))],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    if done.returncode == 77:
        pytest.skip(f"a process namespace is not to be had here: {done.stdout.strip()}")
    assert done.returncode == 0, done.stderr
    return [line.split() for line in done.stdout.splitlines()]


@pytest.mark.parametrize("start", [SAME_ID, NAMESPACES], ids=["patched", "namespaces"])
def test_a_child_with_the_id_of_its_parent_has_words_of_its_own(start: str) -> None:
    (child, *theirs), (parent, *ours) = run(start, SHARED)
    assert child == parent == "1"
    assert len({*theirs[:10], *ours[:10]}) == 20, "parent and child share words (false-alarm rate 1e-17)"
    assert theirs[10:] == ours[10:], "negative control: a seeded stream is shared, and seen to be"


def test_a_fork_while_another_thread_draws() -> None:
    secure, seeded, control = run(THREADS)
    assert "None" not in secure
    assert len(set(secure)) == 10
    assert control == ["None"], "negative control: a held lock is held in the child for ever"
    # A seeded child goes on behind what the thread was drawing, 2**18 blocks of the cipher at a time.
    key = hashlib.sha256(b"ldpkit seed 5").digest()
    blocks = b"".join((turn << 18).to_bytes(16, "big") for turn in range(20_000))
    stream = Cipher(algorithms.AES(key), modes.ECB()).encryptor().update(blocks)
    starts = {str(int.from_bytes(stream[at : at + 8], "little")) for at in range(0, len(stream), 16)}
    assert len(seeded) == 10
    assert set(seeded) <= starts


def test_a_fork_while_another_thread_computes_a_cached_property() -> None:
    script = """
from functools import cached_property as locked
from ldpkit.core.cached import cached_property
for kind in (cached_property, locked):
    class Slow:
        @kind
        def value(self):
            time.sleep(0.3)
            return 1
    thread = threading.Thread(target=lambda: Slow().value)
    thread.start()
    time.sleep(0.1)
    print(forked(lambda: [Slow().value], seconds=1))
    thread.join()
"""
    ours, theirs = run(script)
    assert ours == ["1"]
    if sys.version_info < (3, 12):
        assert theirs == ["None"], "negative control: Python's own has a lock"


def test_nobody_takes_the_one_with_the_lock() -> None:
    package = Path(ldpkit.__file__).parent
    files = {str(file.relative_to(package)) for file in package.rglob("*.py")}
    takes = {
        file for file in files if "from functools import cached_property" in (package / file).read_text()
    }
    assert takes == {str(Path("core", "cached.py"))}, "import it from ldpkit.core.cached"


def test_a_fork_while_another_thread_discovers_members() -> None:
    script = """
from ldpkit.core import registry
shapes = registry.Registry("shape", "shapes_to_come")
registry._load_room = lambda room: time.sleep(0.3) or shapes.register("square")(int)
thread = threading.Thread(target=lambda: list(shapes))
thread.start()
time.sleep(0.1)
print(forked(lambda: list(shapes), seconds=5))
thread.join()
print(*shapes)
"""
    assert run(script) == [["square"], ["square"]]


def test_a_fork_while_another_thread_draws_for_the_first_time() -> None:
    """The cipher is imported then, and what is half imported stays so in a child."""
    script = """
class Slow:
    def find_spec(self, name, *_):
        if name == "cryptography.hazmat.primitives.ciphers":
            begun.set()
            time.sleep(0.3)

begun = threading.Event()
sys.meta_path.insert(0, Slow())
thread = threading.Thread(target=random.secure().words, args=[1])
thread.start()
begun.wait()
print(forked(lambda: [len(random.secure().words(1))], seconds=5))
thread.join()
"""
    assert run(script) == [["1"]]


def test_only_the_first_cipher_is_made_alone() -> None:
    """Who is interrupted while it makes another one may be waited for by who has the store."""
    script = """
random.secure().words(1)
begun, over = threading.Event(), threading.Event()

def hold():
    with forks.importing:
        begun.set()
        over.wait()

threading.Thread(target=hold).start()
begun.wait()
thread = threading.Thread(target=random.secure().words, args=[1])
thread.start()
thread.join(5)
print(thread.is_alive())
over.set()
"""
    assert run(f"from ldpkit.core import forks{script}") == [["False"]]


def test_nothing_large_is_imported_within_a_transaction() -> None:
    """A fork waits for it, and what is imported may wait for the fork."""
    script = """
import contextlib, tempfile
import ldpkit
from ldpkit.client.store import DeviceStore

plain, inside = DeviceStore.transaction, set()

@contextlib.contextmanager
def watched(self):
    with plain(self) as records:
        before = set(sys.modules)
        yield records
        inside.update(name.split(".")[0] for name in set(sys.modules) - before)

DeviceStore.transaction = watched
oracle = ldpkit.get("lolh", 8, epsilon_inf=2, epsilon_1=1)
with tempfile.TemporaryDirectory() as folder:
    device = ldpkit.Device(oracle, DeviceStore(folder + "/device.db"), question="q")
    device.report(3)
print("numba" in sys.modules, *(inside & {"numba", "scipy", "cryptography", "logging"}))
"""
    assert run(script) == [["True"]]


def test_a_fork_waits_for_an_import_only_so_long() -> None:
    """The import may itself wait for a lock that the forking thread has, as that of logging is."""
    script = """
from ldpkit.core import forks
forks._PATIENCE = 0.05
held, over = threading.Event(), threading.Event()

def hold():
    with forks.importing:
        held.set()
        over.wait()

thread = threading.Thread(target=hold)
thread.start()
held.wait()
print(forked(lambda: ["forked"]))
over.set()
thread.join()
print(forked(lambda: [forks.importing.acquire(timeout=5)]))
"""
    assert run(script) == [["forked"], ["True"]]
