"""The store on a device: nothing is drawn twice, nothing is forgotten, nothing damaged is used."""

from __future__ import annotations

import contextlib
import os
import signal
import sqlite3
import stat
import subprocess
import sys
import threading
import warnings
from pathlib import Path

import numpy as np
import pytest

import ldpkit
from ldpkit.client import store as module
from ldpkit.client.store import DeviceStore
from ldpkit.core.errors import FileFormatError, InvalidParameterError, LdpkitError

OWNER = b"o" * 32
posix = pytest.mark.skipif(os.name != "posix", reason="needs POSIX files and signals")


def recall(store, place, make=lambda: os.urandom(8), times=0):
    with store.transaction() as records:
        return records.recall(OWNER, place, make, times=times)


def charges(store):
    with store.transaction() as records:
        return records.charges(OWNER)


def filled(path, count=12):
    store = DeviceStore(path)
    with store.transaction() as records:
        kept = {
            b"state %d" % i: records.recall(OWNER, b"state %d" % i, lambda: os.urandom(8))
            for i in range(count)
        }
    return store, kept


# --- one permanent report, whoever comes first ------------------------------------------


def test_two_threads_at_first_use_get_one_permanent_report(tmp_path):
    oracle = ldpkit.get("lsue", 64, epsilon_inf=2, epsilon_1=1)
    for attempt in range(50):
        store = DeviceStore(tmp_path / f"{attempt}.db")
        start, found = threading.Barrier(2), []

        def answer(store=store, start=start, found=found):
            device = ldpkit.Device(oracle, store, question="page")
            start.wait()
            found.append(device.permanent(3).tobytes())

        threads = [threading.Thread(target=answer) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(found) == 2
        assert len(set(found)) == 1, f"two permanent reports at attempt {attempt}"


STALE = bytes.fromhex("d9d505f920a163d7 00000001 00000007 00000001 00000200 00001000") + bytes(5000)
RACE = """
import os, sys, time
from pathlib import Path
from ldpkit.client.store import DeviceStore
folder, me, other = Path(sys.argv[1]), sys.argv[2], sys.argv[3]
(folder / f"ready {me}").touch()
while not (folder / f"ready {other}").exists():
    time.sleep(0.001)
for attempt in range(20):
    with DeviceStore(folder / f"{attempt}.db").transaction() as records:
        print(records.recall(b"o", b"state 1", lambda: os.urandom(8), times=1).hex())
"""


@pytest.mark.parametrize("is_stale", [False, True], ids=["alone", "beside a stale journal"])
def test_two_processes_at_first_use_get_one_permanent_report(tmp_path, is_stale):
    for attempt in range(20 * is_stale):  # of a store that was deleted: none may remove that of the other
        (tmp_path / f"{attempt}.db-journal").write_bytes(STALE)
    racers = [
        subprocess.Popen([sys.executable, "-c", RACE, tmp_path, *names], stdout=subprocess.PIPE, text=True)
        for names in (("a", "b"), ("b", "a"))
    ]
    one, other = (racer.communicate(timeout=60)[0].split() for racer in racers)
    assert len(one) == 20
    assert one == other
    with DeviceStore(tmp_path / "0.db").transaction() as records:
        assert records.charges(b"o") == {b"state 1": 2}


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_fork_while_another_thread_answers_does_not_hang_the_child(tmp_path):
    store, kept = filled(tmp_path / "device.db", 2)
    over = threading.Event()

    def answer():
        while not over.is_set():
            recall(store, b"state 0", _never, times=1)

    thread = threading.Thread(target=answer)
    thread.start()
    try:
        for _ in range(10):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", DeprecationWarning)  # this is what is tested
                child = os.fork()
            if child == 0:
                signal.alarm(15)
                os._exit(recall(store, b"state 1", _never, times=1) != kept[b"state 1"])
            assert os.waitpid(child, 0)[1] == 0, "the child hung, or drew again"
    finally:
        over.set()
        thread.join()
    assert charges(store)[b"state 1"] == 10


# --- crashes ----------------------------------------------------------------------------

ENDLESS = """
import os, sys
from ldpkit.client.store import DeviceStore
store, place = DeviceStore(sys.argv[1]), 0
while True:
    with store.transaction() as records:
        made = records.recall(b"o" * 32, b"state %d" % (place % 7), lambda: os.urandom(8), times=1)
    print(place % 7, made.hex(), flush=True)
    place += 1
"""


@posix
def test_a_kill_loses_and_doubles_nothing(tmp_path):
    store, seen = DeviceStore(tmp_path / "device.db"), {}
    sent = 0
    for lines in (1, 4, 9):
        with subprocess.Popen(
            [sys.executable, "-c", ENDLESS, store.path], stdout=subprocess.PIPE, text=True
        ) as writer:
            told = [writer.stdout.readline() for _ in range(lines)]
            writer.send_signal(signal.SIGKILL)
            told += writer.stdout.readlines()
        for line in told:
            place, made = line.split()
            assert seen.setdefault(place, made) == made, "a permanent report was drawn again"
        recall(store, b"state 0", lambda: pytest.fail("no answer was kept"), times=1)
        sent += len(told) + 1
        spent = sum(charges(store).values())
        assert sent <= spent <= sent + 1, "a report that left was not charged"
        sent = spent
        assert [file.name for file in tmp_path.iterdir()] == ["device.db"]
    for place, made in seen.items():
        assert recall(store, f"state {place}".encode(), _never).hex() == made


def _never():
    raise AssertionError("a permanent report was drawn again")


def test_an_answer_that_fails_leaves_no_trace(tmp_path):
    store, kept = filled(tmp_path / "device.db", 2)

    def answer(records):
        records.recall(OWNER, b"state 0", _never, times=1)
        records.recall(OWNER, b"state 9", lambda: b"new")
        raise RuntimeError("power is gone")

    with pytest.raises(RuntimeError, match="power"), store.transaction() as records:
        answer(records)
    assert charges(store) == dict.fromkeys(kept, 0)
    assert [file.name for file in tmp_path.iterdir()] == ["device.db"]


@posix
def test_the_answer_is_on_the_disk_before_it_is_given(tmp_path, monkeypatch):
    """SQLite syncs the file and, with EXTRA, its folder at each commit; a new file's folder is synced too."""
    synced = []
    sync = os.fsync
    monkeypatch.setattr(
        os,
        "fsync",
        lambda handle: (synced.append(Path(f"/proc/self/fd/{handle}").readlink()), sync(handle))[1],
    )
    store = DeviceStore(tmp_path / "device.db")
    recall(store, b"state 0")
    if Path("/proc/self/fd").exists():
        assert len(synced) == 2
        assert synced[-1] == tmp_path, "the new file first, and then its folder"
    with module._connect(store.path) as connection:
        module._begin(connection)
        assert connection.execute("PRAGMA synchronous").fetchone() == (3,)
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("delete",)
    connection.close()


# --- damage -----------------------------------------------------------------------------


def test_a_flipped_bit_is_refused_or_harmless(tmp_path):
    store, kept = filled(tmp_path / "device.db", 60)
    recall(store, b"state 3", times=5)
    spent = charges(store)
    sound = np.frombuffer(store.path.read_bytes(), np.uint8)
    generator = np.random.default_rng(1)
    used = np.flatnonzero(sound)
    places = np.concatenate([generator.choice(used, 250), generator.integers(0, len(sound), 50)])
    refused = 0
    for place, bit in zip(places, generator.integers(0, 8, len(places)), strict=True):
        flipped = sound.copy()
        flipped[place] ^= np.uint8(1 << bit)
        damaged = DeviceStore(tmp_path / "damaged.db")
        damaged.path.write_bytes(flipped.tobytes())
        refused += not _is_as(damaged, kept, spent)
    assert refused > 100, "most of these bytes matter"


def _is_as(store, kept, spent):
    """Whether all is as it was kept, or something is refused; anything else fails the test."""
    trouble = []
    try:
        with store.transaction() as records:
            for name, content in kept.items():
                try:
                    assert records.recall(OWNER, name, _never) == content
                except (LdpkitError, sqlite3.Error) as error:
                    trouble.append(error)
            assert records.charges(OWNER) == spent
    except LdpkitError as error:
        trouble.append(error)
    return not trouble


def test_a_record_that_vanished_is_missed(tmp_path):
    store, _ = filled(tmp_path / "device.db")
    connection = sqlite3.connect(store.path)
    connection.execute("DELETE FROM kept WHERE place=?", (b"state 4",))
    connection.commit()
    connection.close()
    with pytest.raises(FileFormatError, match=r"is damaged: restore it"):
        recall(store, b"state 4")
    with pytest.raises(FileFormatError, match="damaged"):
        charges(store)


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (b'{"a 1": "ff"}', "memo of an earlier ldpkit"),
        (b"{}", "memo of an earlier ldpkit"),
        (b"a,b\n1,2\n", "not a store of a device"),
        (bytes(100_000), "not a store of a device"),
        (b"SQLite format 3\0", "not a store of a device|damaged"),
    ],
)
def test_foreign_files_are_refused_and_left_alone(content, what, tmp_path):
    path = tmp_path / "device.db"
    path.write_bytes(content)
    with pytest.raises(FileFormatError, match=what):
        recall(DeviceStore(path), b"state 1")
    assert path.read_bytes() == content
    assert [file.name for file in tmp_path.iterdir()] == ["device.db"]


def test_databases_of_others_and_of_newer_versions_are_refused(tmp_path):
    store, _ = filled(tmp_path / "device.db")
    connection = sqlite3.connect(store.path)
    connection.execute("PRAGMA user_version=3")
    connection.close()
    with pytest.raises(FileFormatError, match=r"newer ldpkit \(schema 3, this one knows 2\): update"):
        recall(store, b"state 1")
    connection = sqlite3.connect(tmp_path / "other.db")
    connection.execute("CREATE TABLE kept (a)")
    connection.close()
    with pytest.raises(FileFormatError, match="of another program"):
        recall(DeviceStore(tmp_path / "other.db"), b"state 1")


# --- places -----------------------------------------------------------------------------


@posix
def test_the_file_is_its_owners_and_a_link_stays_a_link(tmp_path):
    (tmp_path / "far").mkdir()
    link = tmp_path / "device.db"
    link.symlink_to(tmp_path / "far" / "real.db")
    made = recall(DeviceStore(link), b"state 1")
    assert link.is_symlink()
    assert recall(DeviceStore(tmp_path / "far" / "real.db"), b"state 1", _never) == made
    assert stat.S_IMODE((tmp_path / "far" / "real.db").stat().st_mode) == 0o600
    loop = tmp_path / "loop.db"
    loop.symlink_to(loop)
    with pytest.raises(InvalidParameterError, match="cannot be opened"):
        recall(DeviceStore(loop), b"state 1")
    assert loop.is_symlink()


@posix
def test_what_is_not_a_file_is_refused_at_once(tmp_path):
    os.mkfifo(tmp_path / "fifo")
    for path in (tmp_path, "/dev/full", "/dev/zero", tmp_path / "fifo", ""):
        with pytest.raises(InvalidParameterError, match="not a file: choose another path"):
            recall(DeviceStore(path), b"state 1")
    for path in (tmp_path / "missing" / "device.db", "/proc/device.db", "a\0b", tmp_path / ("x" * 300)):
        with pytest.raises(InvalidParameterError, match="cannot be opened"):
            recall(DeviceStore(path), b"state 1")


def test_troubles_of_the_disk_are_named(tmp_path, monkeypatch):
    store, kept = filled(tmp_path / "device.db")
    monkeypatch.setattr(module, "_PATIENCE", 0.01)
    with contextlib.closing(sqlite3.connect(store.path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(LdpkitError, match=r"in use by another process .*: try again"):
            recall(store, b"state 1", times=1)
    # A page more than there are: what a full disk answers.
    pages = store.path.stat().st_size // 4096
    monkeypatch.setattr(module, "_SETTINGS", (*module._SETTINGS, f"PRAGMA max_page_count={pages}"))
    with pytest.raises(LdpkitError, match="make room on the disk"):
        recall(store, b"state 99", lambda: bytes(50_000))
    monkeypatch.setattr(module, "_SETTINGS", ("PRAGMA query_only=ON",))
    with pytest.raises(LdpkitError, match="check the disk, and the permissions"):
        recall(store, b"state 1", times=1)
    monkeypatch.undo()
    assert recall(store, b"state 1", _never) == kept[b"state 1"]
    assert charges(store) == dict.fromkeys(kept, 0)


@posix
@pytest.mark.skipif(os.name == "posix" and os.geteuid() == 0, reason="root may write everywhere")
def test_a_read_only_folder_is_named(tmp_path):
    store, _ = filled(tmp_path / "device.db")
    tmp_path.chmod(0o500)
    try:
        with pytest.raises(LdpkitError, match="permissions"):
            recall(store, b"state 1", times=1)
        with pytest.raises(LdpkitError, match="can be written to"):
            recall(DeviceStore(tmp_path / "new.db"), b"state 1")
    finally:
        tmp_path.chmod(0o700)


@pytest.mark.parametrize("length", [0, 1])
def test_a_store_that_was_cut_to_nothing_is_refused(tmp_path, length):
    """SQLite takes an empty file for a new one: every permanent report was drawn again."""
    oracle = ldpkit.get("lgrr", 4, epsilon_inf=2, epsilon_1=1)
    store = DeviceStore(tmp_path / "device.db")
    ldpkit.Device(oracle, store, question="page").report(1)
    os.truncate(store.path, length)
    with pytest.raises(FileFormatError, match="damaged"):
        ldpkit.Device(oracle, store, question="page").report(1)


def test_a_store_stays_where_it_was_when_the_process_moves(tmp_path, monkeypatch):
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path)
    store = DeviceStore("device.db")
    device = ldpkit.Device(ldpkit.get("lgrr", 4, epsilon_inf=2, epsilon_1=1), store, question="page")
    device.report(1)
    monkeypatch.chdir(tmp_path / "elsewhere")
    device.report(1)
    assert device.privacy_loss().reports == 2
    assert not list((tmp_path / "elsewhere").iterdir())
