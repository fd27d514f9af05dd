"""`ldpkit reproduce`: what cannot be written is refused before the work."""

from __future__ import annotations

import sys

import pytest

from ldpkit.core.installing import install_command
from ldpkit.papers import REPRODUCTIONS, Reproduction


@pytest.fixture
def idle(monkeypatch):
    """Let a reproduction fail that begins to work."""

    def work(settings):
        raise AssertionError("it works before it looks")

    monkeypatch.setattr(REPRODUCTIONS, "get", lambda name: Reproduction(name, work))


@pytest.mark.usefixtures("idle")
def test_what_cannot_be_written_is_refused_before_the_work(run, tmp_path, monkeypatch):
    file = tmp_path / "a.txt"
    file.write_text("1")
    assert (
        "is a file: give --output the name of a folder"
        in run("reproduce", "jrr", "-o", file, code=2).error_line
    )
    assert "several files" in run("reproduce", "jrr", "-o", "-", code=2).error_line
    (tmp_path / "claims.csv").write_text("1")
    assert "--force" in run("reproduce", "jrr", "-o", tmp_path, code=2).error_line
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    line = run("reproduce", "jrr", "-o", tmp_path / "new", code=2).error_line
    assert install_command("plots") in line
    assert not (tmp_path / "new").exists()
