"""What lies beside a store: its own journal is applied, that of another store never."""

from __future__ import annotations

import contextlib
import os
import shutil
import sqlite3
import struct
import time
from pathlib import Path

import pytest

from ldpkit.client import store as module
from ldpkit.client.journal import identity
from ldpkit.client.store import DeviceStore
from ldpkit.core.errors import FileFormatError, InvalidParameterError, LdpkitError
from ldpkit.core.locks import lock

OWNER = b"o" * 32
PAGE = 4096


def recall(store, place, content=b"made", times=1):
    with store.transaction() as records:
        return records.recall(OWNER, place, lambda: content, times=times)


def charges(store):
    with store.transaction() as records:
        return records.charges(OWNER)


def beside(path, ending="-journal"):
    return path.with_name(path.name + ending)


def change(path, place=b"late", content=b"late"):
    """Add a record as a killed process does: all is written, and the journal would undo it."""
    before = path.read_bytes()
    recall(DeviceStore(path), place, content)
    write_journal(path, before)


def write_journal(path, before):
    pages = [before[at : at + PAGE] for at in range(0, len(before), PAGE)]
    made = bytes.fromhex("d9d505f920a163d7") + struct.pack(">5I", len(pages), 7, len(pages), 512, PAGE)
    made += bytes(512 - len(made))
    for number, page in enumerate(reversed(pages)):  # the first page is the last record
        checksum = 7 + sum(page[at] for at in range(PAGE - 200, 0, -200))
        made += struct.pack(">I", len(pages) - number) + page + struct.pack(">I", checksum)
    beside(path).write_bytes(made)


def counter(data):
    """Return the number of transactions that a store counts."""
    return int.from_bytes(data[24:28])


def old_store(path):
    """Make a store of schema 1, which has no id."""
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as connection:
        for table in module._TABLES:
            connection.execute(table)
        connection.execute("INSERT INTO whole VALUES (0, ?)", (bytes(16),))
        connection.execute(f"PRAGMA application_id={module._APPLICATION}")
        connection.execute("PRAGMA user_version=1")
        row = (OWNER, b"early", b"made", 1)
        connection.execute("INSERT INTO kept VALUES (?, ?, ?, ?, ?)", (*row, module._checksum(*row)))
        connection.execute("UPDATE whole SET records=1, checksum=?", (module._checksum(*row),))
    return DeviceStore(path)


@pytest.fixture
def killed(tmp_path):
    """Return a store whose last transaction is to be undone."""
    store = DeviceStore(tmp_path / "device.db")
    recall(store, b"early")
    change(store.path)
    return store


# --- journals ---------------------------------------------------------------------------


def test_its_own_journal_is_applied(killed):
    assert charges(killed) == {b"early": 1}
    assert not beside(killed.path).exists()


def test_a_deleted_store_does_not_come_back(killed):
    killed.path.unlink()
    beside(killed.path, "-wal").write_bytes(b"log")
    beside(killed.path, "-shm").write_bytes(b"index")
    assert charges(killed) == {}
    assert recall(killed, b"early", b"new") == b"new"
    assert [file.name for file in killed.path.parent.iterdir()] == ["device.db"]


@pytest.mark.parametrize("ending", ["-journal", "-wal"])
def test_a_store_that_was_moved_into_the_place_is_not_overwritten(killed, tmp_path, ending):
    other = DeviceStore(tmp_path / "other.db")
    for _ in range(2):  # as many transactions as the first one had
        recall(other, b"early", b"of another")
    other.path.replace(killed.path)
    beside(killed.path).rename(beside(killed.path, ending))
    content = killed.path.read_bytes()
    with pytest.raises(FileFormatError, match=r"left by another store .* move it .* or delete it"):
        recall(killed, b"new")
    assert killed.path.read_bytes() == content
    beside(killed.path, ending).unlink()
    assert charges(killed) == {b"early": 2}


def test_a_copy_that_was_put_back_is_not_overwritten_by_a_later_journal(killed, tmp_path):
    shutil.copy(killed.path, tmp_path / "copy.db")
    for _ in range(2):
        recall(killed, b"early")
    change(killed.path, b"latest")
    (tmp_path / "copy.db").replace(killed.path)
    with pytest.raises(FileFormatError, match="left by another store"):
        charges(killed)


def test_a_journal_without_a_first_page_is_refused(killed):
    journal = bytearray(beside(killed.path).read_bytes())
    journal[8:12] = struct.pack(">I", 1)  # only the last page
    beside(killed.path).write_bytes(journal)
    with pytest.raises(FileFormatError, match="left by another store"):
        charges(killed)


def test_a_journal_of_a_process_that_wrote_nothing_yet_is_harmless(killed):
    recall(killed, b"early")
    beside(killed.path).write_bytes(bytes(512) + b"not synced")
    assert charges(killed) == {b"early": 2}


def test_every_transaction_keeps_the_first_page_before_it_writes(tmp_path):
    """A large one would spill into the file earlier, with a journal that lacks the page."""
    store = DeviceStore(tmp_path / "device.db")
    before = store.path
    with store.transaction() as records:
        size = before.stat().st_size
        for place in range(40):
            records.recall(OWNER, b"%d" % place, lambda: bytes(100_000))
        assert before.stat().st_size == size
    assert before.stat().st_size > 4_000_000


# --- stores without an id ---------------------------------------------------------------


def test_an_old_store_is_used_and_gets_an_id(tmp_path):
    store = old_store(tmp_path / "device.db")
    before = store.path.read_bytes()
    assert recall(store, b"early", b"drawn again") == b"made"
    assert charges(store) == {b"early": 2}
    with contextlib.closing(sqlite3.connect(store.path)) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (2,)
    write_journal(store.path, before)
    assert charges(store) == {b"early": 1}, "a kill while the id was written is undone"
    recall(store, b"early")
    recall(store, b"early")
    write_journal(store.path, before)
    with pytest.raises(FileFormatError, match="left by another store"):
        charges(store)


def test_an_old_store_that_has_its_id_applies_no_journal_of_another_old_one(tmp_path):
    """It was applied at any later time, if the counters of the two stores fitted."""
    store, other = old_store(tmp_path / "device.db"), old_store(tmp_path / "other.db")
    with contextlib.closing(sqlite3.connect(other.path)) as connection:
        for content in (b"a", b"b", b"c"):  # three transactions more than the store had before its id
            connection.execute("UPDATE kept SET content=?", (content,))
            connection.commit()
    before = other.path.read_bytes()
    recall(store, b"early")
    while counter(store.path.read_bytes()) <= counter(before):
        recall(store, b"early")
    assert counter(store.path.read_bytes()) == counter(before) + 1
    write_journal(store.path, before)
    with pytest.raises(FileFormatError, match="left by another store"):
        charges(store)


def test_the_journal_of_an_old_store_is_applied(tmp_path):
    path = tmp_path / "device.db"
    old_store(path)
    before = path.read_bytes()
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.execute("DELETE FROM kept")
        connection.commit()
    write_journal(path, before)
    assert charges(DeviceStore(path)) == {b"early": 1}


def test_a_store_has_one_id(tmp_path):
    store = DeviceStore(tmp_path / "device.db")
    recall(store, b"early")
    with contextlib.closing(sqlite3.connect(store.path)) as connection:
        connection.execute("ALTER TABLE store RENAME TO store_2")
        connection.execute(identity())
    with pytest.raises(FileFormatError, match="damaged"):
        charges(store)


# --- links ------------------------------------------------------------------------------


def test_a_second_name_is_refused_before_anything_is_drawn(killed, tmp_path):
    os.link(killed.path, tmp_path / "second.db")
    for path in (killed.path, tmp_path / "second.db"):
        with (
            pytest.raises(InvalidParameterError, match=r"has 2 names \(hard links\).*remove the other"),
            DeviceStore(path).transaction(),
        ):
            pytest.fail("the store was opened")
    (tmp_path / "second.db").unlink()
    assert charges(killed) == {b"early": 1}


def test_a_store_that_is_just_being_created_has_two_names_for_a_moment(tmp_path):
    """Whoever finds it so takes the temporary one away, that of a killed process on another machine too."""
    store = DeviceStore(tmp_path / "device.db")
    recall(store, b"early")
    for part in (tmp_path / ".ldpkit-0-0.part", tmp_path / ".ldpkit-ffffffff-0.part"):
        os.link(store.path, part)
        with part.open("rb") as writer:
            assert lock(writer.fileno())
            assert charges(store) == {b"early": 1}
        assert not part.exists()


# --- one report in the middle of another ------------------------------------------------


def test_a_report_in_the_middle_of_another_is_refused_at_once(tmp_path, monkeypatch):
    def wait(_):
        pytest.fail("it waits for itself")

    store, other = DeviceStore(tmp_path / "device.db"), DeviceStore(tmp_path / "other.db")
    (tmp_path / "link.db").symlink_to(store.path)
    with store.transaction() as records:
        records.recall(OWNER, b"early", lambda: b"made", times=1)
        monkeypatch.setattr(time, "sleep", wait)
        for path in (store.path, Path(tmp_path, "link.db")):
            with pytest.raises(LdpkitError, match="in the middle of another report of this same thread"):
                recall(DeviceStore(path), b"late")
        assert recall(other, b"late") == b"made"
    assert charges(store) == {b"early": 1}
