"""Run the command line as a user does, inside the process of the test."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from ldpkit.cli.main import main

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(frozen=True)
class Result:
    """What a command printed."""

    out: str
    err: str

    @property
    def error_line(self) -> str:
        """The one line of a refusal."""
        assert self.out == ""
        (line,) = self.err.splitlines()
        assert line.startswith("error: ")
        return line


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Callable[..., Result]:
    """Return a function that runs `ldpkit` with some arguments and checks the exit code."""

    def run(*arguments: object, code: int = 0) -> Result:
        capsys.readouterr()
        monkeypatch.setattr(sys, "argv", ["ldpkit", *map(str, arguments)])
        monkeypatch.setattr("ldpkit.cli.main.stop_at_signals", lambda: None)  # signals belong to pytest
        with pytest.raises(SystemExit) as caught:
            main()
        result = Result(*capsys.readouterr())
        assert (caught.value.code or 0) == code, result.err
        assert "Traceback" not in result.err
        return result

    return run
