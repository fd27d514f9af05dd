"""The progress bar shows itself late, on terminals only, and changes nothing."""

from __future__ import annotations

import contextlib
import io
import sys

import pytest

from ldpkit.cli.printing import track


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("stream", [io.StringIO, Terminal])
def test_items_pass_unchanged(monkeypatch, stream):
    monkeypatch.setattr(sys, "stderr", stream())
    assert list(track(iter(range(5)), 5, "working", patience=0)) == [0, 1, 2, 3, 4]


def test_nothing_is_shown_without_a_terminal_or_before_its_time(monkeypatch):
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    list(track(range(5), 5, "working", patience=0))
    assert sys.stderr.getvalue() == ""
    monkeypatch.setattr(sys, "stderr", Terminal())
    list(track(range(5), 5, "working", patience=1000))
    assert sys.stderr.getvalue() == ""


def test_long_work_on_a_terminal_is_shown_and_the_bar_goes_away(monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys, "stderr", terminal := Terminal())
    with (
        contextlib.suppress(RuntimeError),
        contextlib.closing(track(range(5), 5, "working", patience=0)) as items,
    ):
        for _ in items:
            raise RuntimeError
    assert "working" in terminal.getvalue()
    assert terminal.getvalue().count("\x1b[?25l") == terminal.getvalue().count(
        "\x1b[?25h"
    )  # the cursor is back
