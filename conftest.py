"""Runs the examples of the README and the docs: Python blocks, and shell blocks with their output.

Linear algebra runs on one thread: on small matrices more threads mostly wait for each other,
which doubles the CPU time of the tests.
"""

from __future__ import annotations

import doctest
import os
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from sybil import Sybil
from sybil.parsers.markdown import CodeBlockParser, PythonCodeBlockParser, SkipParser

from costs import Costs
from forked import run_forked

if TYPE_CHECKING:
    from sybil import Example

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # read when NumPy is imported, here and in child processes

_OPTIONS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def pytest_configure(config: pytest.Config) -> None:
    """Measure what each test and example costs."""
    config.pluginmanager.register(Costs())


class ConsoleParser(CodeBlockParser):
    """Runs `$ command` lines of console blocks; lines below a command are its expected output."""

    language = "console"

    def evaluate(self, example: Example) -> str | None:
        """Return what went wrong in a block, or None."""
        for block in str(example.parsed).split("$ ")[1:]:
            command, _, expected = block.partition("\n")
            while command.endswith("\\"):
                line, _, expected = expected.partition("\n")
                command = command[:-1] + line.strip()
            problem = _run(command, expected, example.namespace["folder"])
            if problem:
                return problem
        return None


def _run(command: str, expected: str, folder: Path) -> str | None:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "COLUMNS": "110", "NO_COLOR": "1"}
    words = shlex.split(command) if not set(command) & set("|&;<>$*`\n") else []
    if words[:1] == ["ldpkit"] and hasattr(os, "fork"):
        done = run_forked(words[1:], folder, environment)
    else:
        done = subprocess.run(
            ["bash", "-c", command], cwd=folder, env=environment, capture_output=True, text=True, check=False
        )
    if done.returncode:
        return f"{command!r} failed with {done.returncode}:\n{done.stderr}"
    if expected.strip() and not doctest.OutputChecker().check_output(expected, done.stdout, _OPTIONS):
        return f"{command!r} printed\n{done.stdout}\ninstead of\n{expected}"
    return None


def _enter(namespace: dict[str, Any]) -> None:
    namespace["folder"] = Path(tempfile.mkdtemp(prefix="ldpkit-docs-"))
    namespace["back"] = Path.cwd()
    os.chdir(namespace["folder"])


def _leave(namespace: dict[str, Any]) -> None:
    import shutil

    os.chdir(namespace["back"])
    shutil.rmtree(namespace["folder"])


pytest_collect_file = Sybil(
    parsers=[PythonCodeBlockParser(doctest_optionflags=_OPTIONS), ConsoleParser(), SkipParser()],
    patterns=["README.md", "docs/*.md", "docs/**/*.md"],
    setup=_enter,
    teardown=_leave,
).pytest()
