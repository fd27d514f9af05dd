"""The progress bar shows itself late, on terminals only, and changes nothing."""

from __future__ import annotations

import contextlib
import io
import sys
import threading
import time

import pytest

from ldpkit.cli.printing import progress_bar
from ldpkit.core.watching import ProgressRecord

DEADLINE = 10.0  # seconds; drawing takes a tenth of one, and only a bar that never comes takes them all


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def a_terminal(monkeypatch) -> Terminal:
    """Make standard error a terminal; no fixture, as pytest replaces the streams after those."""
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys, "stderr", made := Terminal())
    return made


def wait_for(terminal: Terminal, text: str) -> None:
    begin = time.monotonic()
    while text not in terminal.getvalue():
        assert time.monotonic() < begin + DEADLINE, f"{text!r} is not in {terminal.getvalue()!r}"
        time.sleep(0.01)


def is_tidy(terminal: Terminal) -> bool:
    """Return whether the cursor is back."""
    shown = terminal.getvalue()
    return shown.count("\x1b[?25l") == shown.count("\x1b[?25h")


@pytest.mark.parametrize("stream", [io.StringIO, Terminal])
def test_items_pass_unchanged(monkeypatch, stream):
    monkeypatch.setattr(sys, "stderr", stream())
    with progress_bar(patience=0) as watch:
        assert list(watch(iter(range(5)), 5, "working")) == [0, 1, 2, 3, 4]


def test_nothing_is_shown_without_a_terminal_or_before_its_time(monkeypatch):
    for stream, patience in ((io.StringIO(), 0), (Terminal(), 1000)):
        monkeypatch.setattr(sys, "stderr", stream)
        before = threading.active_count()
        with progress_bar(patience=patience) as watch:
            list(watch(range(5), 5, "working"))
        assert stream.getvalue() == ""
        assert threading.active_count() == before


def test_long_work_on_a_terminal_is_shown_and_the_bar_goes_away(monkeypatch):
    terminal = a_terminal(monkeypatch)
    with contextlib.suppress(RuntimeError), progress_bar(patience=0) as watch:
        for item in watch(range(4), 4, "working"):
            wait_for(terminal, "working")
            if item == 1:
                wait_for(terminal, "25%")
                raise RuntimeError
    assert "\x1b[?25l" in terminal.getvalue()
    assert is_tidy(terminal)


def test_one_stage_is_shown_after_another_and_inside_another(monkeypatch):
    terminal = a_terminal(monkeypatch)
    with progress_bar(patience=0) as watch:
        for _ in watch(range(1), None, "outside"):
            for _ in watch(range(1), 1, "inside"):
                wait_for(terminal, "inside")
            wait_for(terminal, "outside")
        for _ in watch(range(1), 1, "afterwards"):
            wait_for(terminal, "afterwards")
    assert is_tidy(terminal)


def test_the_bar_leaves_alone_what_goes_to_a_pipe(monkeypatch):
    terminal = a_terminal(monkeypatch)
    monkeypatch.setattr(sys, "stdout", pipe := io.StringIO())
    with progress_bar(patience=0) as watch:
        for _ in watch(range(1), 1, "working"):
            wait_for(terminal, "working")
            print("a row")
    assert pipe.getvalue() == "a row\n"


def test_a_terminal_that_is_gone_stops_no_work(monkeypatch):
    class Gone(Terminal):
        def write(self, text: str) -> int:
            written.set()
            raise OSError(5, "Input/output error")

    written = threading.Event()
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys, "stderr", Gone())
    with progress_bar(patience=0) as watch:
        for _ in watch(range(1), 1, "working"):
            assert written.wait(DEADLINE)


def test_a_record_counts_what_is_done_and_is_left_where_work_fails():
    progress = ProgressRecord()
    with contextlib.closing(progress("abc", 3, "reading")) as items:
        for _ in items:
            pass
    items = progress("abc", 3, "reading")
    next(items), next(items)
    assert progress.stage is not None
    assert (progress.stage.label, progress.stage.total, progress.stage.done) == ("reading", 3, 1)
    items.close()
    assert progress.stage is None
