"""Files are there whole or not at all, and what killed processes left goes away."""

from __future__ import annotations

import errno
import os
import resource
import stat
import subprocess
import sys
import threading
import time

import pytest

from ldpkit.core import wholefile
from ldpkit.core.errors import InvalidInputError, WriteError
from ldpkit.core.locks import lock
from ldpkit.core.wholefile import create_file, whole_file, whole_text

KILLED = """
import os, signal, sys
from ldpkit.core.wholefile import whole_file
with whole_file(sys.argv[1]) as stream:
    stream.write(b"half")
    stream.flush()
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_killed_writer_leaves_a_file_that_the_next_one_removes(tmp_path):
    done = subprocess.run([sys.executable, "-c", KILLED, str(tmp_path / "a.csv")], check=False)
    assert done.returncode == -9
    (left,) = tmp_path.iterdir()
    assert left.name.endswith(".part")
    whole_text(tmp_path / "b.csv", "whole")  # another name in the same folder
    assert [path.name for path in tmp_path.iterdir()] == ["b.csv"]


def test_only_files_of_our_own_that_nobody_writes_are_stale(tmp_path):
    host = wholefile._host()
    names = {
        "stale": f".ldpkit-{host}-0123456789abcdef.part",
        "living": f".ldpkit-{host}-1123456789abcdef.part",
        "elsewhere": ".ldpkit-00000000-2123456789abcdef.part",
        "long ago": ".ldpkit-00000000-3123456789abcdef.part",
        "foreign": ".download.part",
    }
    for name in names.values():
        (tmp_path / name).write_bytes(b"half")
    yesterday = time.time() - 100_000
    os.utime(tmp_path / names["long ago"], (yesterday, yesterday))
    (tmp_path / f".ldpkit-{host}-4123456789abcdef.part").symlink_to(tmp_path / names["foreign"])
    with (tmp_path / names["living"]).open("r+b") as stream:
        assert lock(stream.fileno())
        whole_text(tmp_path / "a.csv", "whole")
    left = {path.name for path in tmp_path.iterdir()} - {"a.csv"}
    links = {f".ldpkit-{host}-4123456789abcdef.part"}
    assert left - links == {names["living"], names["elsewhere"], names["foreign"]}


def test_two_writers_do_not_take_each_other_for_stale(tmp_path):
    with whole_file(tmp_path / "a") as first:
        first.write(b"first")
        whole_text(tmp_path / "b", "second")
        whole_text(tmp_path / "a", "early")
    assert (tmp_path / "a").read_bytes() == b"first"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "b"]


def test_a_full_disk_is_a_refusal_with_the_name_and_nothing_is_left(tmp_path):
    (tmp_path / "a.csv").write_text("old")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, before[1]))
    try:
        with pytest.raises(WriteError, match=r"cannot write .*a\.csv.*: make room"):
            whole_text(tmp_path / "a.csv", "x" * 100_000)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("a.csv", "old")]


def test_the_folder_is_on_the_disk_too(tmp_path, monkeypatch):
    synced = []
    monkeypatch.setattr(os, "fsync", lambda handle: synced.append(stat.S_ISDIR(os.fstat(handle).st_mode)))
    whole_text(tmp_path / "a", "x")
    assert synced == [False, True]


def test_who_may_read_a_file_stays_when_it_is_replaced(tmp_path):
    (tmp_path / "a").touch(mode=0o600)
    whole_text(tmp_path / "a", "new")
    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == 0o600


@pytest.mark.parametrize("name", ["a\0b", "no/such/a", "x" * 300, ""])
def test_places_that_cannot_be_written_are_refused(tmp_path, name):
    with pytest.raises(InvalidInputError, match="cannot write"):
        whole_text(f"{tmp_path}/{name}", "x")
    assert not list(tmp_path.iterdir())


def test_a_lone_surrogate_is_written_as_an_escape(tmp_path):
    whole_text(tmp_path / "a", "a\udcffb")
    assert (tmp_path / "a").read_text() == "a\\udcffb"


def test_a_foreign_error_inside_the_block_stays_what_it_is(tmp_path):
    with pytest.raises(FileNotFoundError), whole_file(tmp_path / "a"):
        raise OSError(errno.ENOENT, "input is missing")
    assert not list(tmp_path.iterdir())


def test_a_file_is_made_once_also_where_there_are_no_links(tmp_path, monkeypatch):
    def refuse(*_):
        raise OSError(errno.EPERM, "Operation not permitted")

    for name in ("linked", "moved"):
        path = tmp_path / name
        assert create_file(path, b"first")
        assert not create_file(path, b"second")
        assert path.read_bytes() == b"first"
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        monkeypatch.setattr("os.link", refuse)
    assert {path.name for path in tmp_path.iterdir()} == {"linked", "moved"}


def test_where_there_are_no_links_one_of_two_waits_and_finds_the_file_of_the_other(tmp_path, monkeypatch):
    def refuse(*_):
        raise OSError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr("os.link", refuse)
    path, made = tmp_path / "key", list[bool]()
    thread = threading.Thread(target=lambda: made.append(create_file(path, b"second")))
    with wholefile._alone_in(tmp_path):
        thread.start()
        thread.join(0.2)
        assert not path.exists()
        path.write_bytes(b"first")
    thread.join()
    assert (made, path.read_bytes()) == ([False], b"first")


def test_a_new_file_that_another_process_takes_for_stale_is_given_up_at_once(tmp_path, monkeypatch):
    """It was written to its end, and then was not there."""
    answers = [False]
    monkeypatch.setattr(wholefile, "lock", lambda handle: answers.pop() if answers else lock(handle))
    opened = list[str]()
    plain = wholefile._open_part
    monkeypatch.setattr(wholefile, "_open_part", lambda *given: opened.append(given[0].name) or plain(*given))
    with whole_file(tmp_path / "a") as stream:
        stream.write(b"whole")
        assert [path.name for path in tmp_path.iterdir()] == opened[1:]
    assert len(opened) == 2
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


def test_a_forked_process_moves_nothing_in_the_file_of_its_parent(tmp_path, monkeypatch):
    with whole_file(tmp_path / "a") as stream:
        stream.write(b"whole")
        stream.flush()
        monkeypatch.setattr(wholefile, "process", lambda: (0, 0))
        for move in (lambda: stream.raw.seek(0), lambda: stream.raw.truncate(0)):
            with pytest.raises(InvalidInputError, match="opened before this process was forked"):
                move()
        monkeypatch.undo()
    assert (tmp_path / "a").read_bytes() == b"whole"


def test_a_file_of_which_the_disk_takes_a_part_is_not_made(tmp_path):
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10, hard))
    try:
        with pytest.raises(WriteError, match="make room"):
            create_file(tmp_path / "a.key", b"longer than ten bytes")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert not list(tmp_path.iterdir())
