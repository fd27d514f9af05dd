"""Writing report files: whole, or not at all."""

from __future__ import annotations

import contextlib
import gc
import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import ldpkit
from files.reports import ORACLES, write
from ldpkit.core.errors import FileFormatError, InvalidInputError, WriteError
from ldpkit.core.wholefile import remove_unfinished, whole_file
from ldpkit.files.reportfile import ReportFile, ReportWriter

forks = pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")


def write_interrupted(path: Path, interruption: type[BaseException]) -> None:
    with ReportWriter(path, ORACLES[0]) as writer:
        writer.write(np.array([0, 1, 0]))
        raise interruption


def test_a_device_is_never_replaced():
    with pytest.raises(InvalidInputError, match="not a file"), whole_file("/dev/null"):
        pass
    assert Path("/dev/null").is_char_device()


def test_a_link_keeps_pointing(tmp_path):
    (tmp_path / "link").symlink_to(tmp_path / "target")
    write(tmp_path / "link", ORACLES[0], np.array([1]))
    assert (tmp_path / "link").is_symlink()
    assert ReportFile.open(tmp_path / "target").n == 1


def test_a_foreign_report_is_refused_and_no_file_appears(tmp_path):
    with pytest.raises(InvalidInputError, match="report 0 cannot come from"):
        write(tmp_path / "a.ldp", ORACLES[0], np.array([0, 1]), np.array([2]))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("interruption", [RuntimeError, KeyboardInterrupt, SystemExit])
def test_an_exception_leaves_neither_file_nor_litter(tmp_path, interruption):
    with pytest.raises(interruption):
        write_interrupted(tmp_path / "a.ldp", interruption)
    assert list(tmp_path.iterdir()) == []


def test_an_exception_leaves_the_old_file_alone(tmp_path):
    before = write(tmp_path / "a.ldp", ORACLES[0], np.array([1]))
    with pytest.raises(RuntimeError):
        write_interrupted(tmp_path / "a.ldp", RuntimeError)
    assert (tmp_path / "a.ldp").read_bytes() == before
    assert len(list(tmp_path.iterdir())) == 1


def test_a_failure_at_the_very_end_leaves_nothing(tmp_path, monkeypatch):
    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with (
        pytest.raises(WriteError, match=r"No space.*make room"),
        ReportWriter(tmp_path / "a.ldp", ORACLES[0]) as writer,
    ):
        writer.write(np.array([1]))
    assert list(tmp_path.iterdir()) == []


def test_writing_after_the_end_is_refused(tmp_path):
    with ReportWriter(tmp_path / "a.ldp", ORACLES[0]) as writer:
        writer.write(np.array([1]))
    with pytest.raises(InvalidInputError, match="not open"):
        writer.write(np.array([1]))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL], ids=["SIGINT", "SIGKILL"])
def test_a_killed_process_leaves_no_complete_file(tmp_path, number):
    script = """
        import sys, time
        import numpy as np, ldpkit
        from ldpkit.files.reportfile import ReportWriter
        oracle = ldpkit.GRR(4, epsilon=1.0)
        with ReportWriter(sys.argv[1], oracle) as writer:
            writer.write(np.zeros(3_000_000, np.uint8))
            print("writing", flush=True)
            time.sleep(60)
    """
    target = tmp_path / "a.ldp"
    process = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(script), str(target)],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    with process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"writing\n"
        time.sleep(0.05)  # let it fall asleep
        process.send_signal(number)
        assert process.wait(timeout=30) != 0
    left = list(tmp_path.iterdir())
    assert target not in left
    if number == signal.SIGINT:
        assert left == []
    for part in left:  # nobody can clean up after SIGKILL, but what is left is no report file
        with pytest.raises(FileFormatError, match="truncated"):
            ReportFile.open(part)


def test_a_writer_writes_one_file(tmp_path):
    writer = ReportWriter(tmp_path / "a.ldp", ORACLES[0])
    with writer:
        writer.write(np.array([1]))
    before = (tmp_path / "a.ldp").read_bytes()
    with pytest.raises(InvalidInputError, match="make a new ReportWriter"), writer:
        pass
    assert (tmp_path / "a.ldp").read_bytes() == before


def in_child(work: Callable[[], object]) -> None:
    """Run something in a forked process, which ends as Python ends, so that open files are written out."""
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        code = 1
        try:
            work()
            gc.collect()
            code = 0
        finally:
            os._exit(code)
    assert os.waitpid(child, 0)[1] == 0


@forks
def test_forked_processes_never_share_a_batch(tmp_path):
    writer = ReportWriter(tmp_path / "parent.ldp", ORACLES[0])

    def write_one() -> None:
        writer.path = tmp_path / "child.ldp"
        with writer:
            writer.write(np.array([1]))

    in_child(write_one)
    with writer:
        writer.write(np.array([0]))
    parent, child = (ReportFile.open(tmp_path / f"{name}.ldp") for name in ("parent", "child"))
    assert parent.batch == writer.batch
    assert parent.batch != child.batch


@forks
@pytest.mark.parametrize("end", ["normally", "by an exception", "by forgetting it"])
def test_a_forked_process_leaves_the_file_of_its_parent_alone(tmp_path, end):
    """Its copy of the parent's buffer would be written a second time, and the temporary file removed."""
    held = [ReportWriter(tmp_path / "a.ldp", ORACLES[0])]

    def leave() -> None:
        with pytest.raises(InvalidInputError, match=r"before this process was forked.*in each process"):
            held[0].write(np.array([1]))
        if end == "by forgetting it":
            held.clear()
            remove_unfinished()
            return
        error = RuntimeError("gone") if end == "by an exception" else None
        with pytest.raises(InvalidInputError, match="forked") if error is None else contextlib.nullcontext():
            held[0].__exit__(type(error) if error else None, error, None)

    with held[0] as writer:
        writer.write(np.array([0, 1]))
        in_child(leave)
        assert len(list(tmp_path.iterdir())) == 1, "the temporary file is gone"
        writer.write(np.array([1]))
        del writer
    file = ReportFile.open(tmp_path / "a.ldp")
    assert [reports.tolist() for reports in file.reports()] == [[0, 1, 1]]


@forks
def test_a_forked_process_does_not_finish_a_file_of_its_parent(tmp_path):
    with whole_file(tmp_path / "a.txt") as stream:
        stream.write(b"once")

        in_child(stream.flush)  # what the parent has in its buffer
    assert (tmp_path / "a.txt").read_bytes() == b"once"
    block = whole_file(tmp_path / "b.txt")
    block.__enter__().write(b"once")

    def finish() -> None:
        with pytest.raises(InvalidInputError, match="before this process was forked"):
            block.__exit__(None, None, None)

    in_child(finish)
    assert not (tmp_path / "b.txt").exists()
    block.__exit__(None, None, None)
    assert (tmp_path / "b.txt").read_bytes() == b"once"


def test_half_a_block_never_becomes_a_file(tmp_path, monkeypatch):
    """Who catches the error of a full disk and goes on must not get a file that cannot be read."""
    oracle = ldpkit.GRR(300, epsilon=1.0)

    def full(*_: object) -> int:
        raise OSError(28, "No space left on device")

    def careless() -> None:
        with ReportWriter(tmp_path / "a.ldp", oracle) as writer:
            monkeypatch.setattr(type(writer._stream.raw).__mro__[0], "write", full)
            with pytest.raises(OSError, match="No space"):
                writer.write(np.zeros(1_000_000, np.uint16))
            monkeypatch.undo()

    with pytest.raises(WriteError, match="could not be written"):
        careless()
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_is_refused_with_a_remedy(tmp_path):
    script = """
        import resource, signal, sys
        import numpy as np, ldpkit
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, 10_000))
        try:
            with ldpkit.ReportWriter(sys.argv[1], ldpkit.GRR(4, epsilon=1.0)) as writer:
                writer.write(np.zeros(3_000_000, np.uint8))
        except ldpkit.LdpkitError as error:
            print(type(error).__name__, error)
    """
    command = [sys.executable, "-c", textwrap.dedent(script), str(tmp_path / "a.ldp")]
    out = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert out.startswith("WriteError cannot write")
    assert "make room, or choose another folder" in out
    assert list(tmp_path.iterdir()) == []
