"""Runs the examples of the README and the docs: Python blocks, and shell blocks with their output.

Where a page shows the output of a real run with fresh randomness, the line above the block says
`<!-- numbers differ -->`: the output is compared word by word, and numbers count only as numbers.
`script/docs-outputs` writes the output of commands that have none yet.

Linear algebra runs on one thread: on small matrices more threads mostly wait for each other,
which doubles the CPU time of the tests.
"""

from __future__ import annotations

import doctest
import json
import os
import re
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
from ldpkit.estimation.consistency import CONSISTENCY
from ldpkit.mechanisms.base import MECHANISMS

if TYPE_CHECKING:
    from sybil import Example

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # read when NumPy is imported, here and in child processes

_OPTIONS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
_REGISTRIES: tuple[Any, ...] = (MECHANISMS, CONSISTENCY)
_NOISY = "<!-- numbers differ -->"
# A number, the random name of a batch, or the rule of a table, which is as wide as its numbers.
_NUMBER = re.compile(r"\b[0-9a-f]{8,}\b|-?\d[\d,]*(?:\.\d+)?(?:e[+-]?\d+)?|─+")
_RECORD = os.environ.get("LDPKIT_RECORD_OUTPUTS")  # where script/docs-outputs wants them


def pytest_configure(config: pytest.Config) -> None:
    """Measure what each test and example costs."""
    config.pluginmanager.register(Costs())


class ConsoleParser(CodeBlockParser):
    """Runs `$ command` lines of console blocks; lines below a command are its expected output."""

    language = "console"

    def evaluate(self, example: Example) -> str | None:
        """Return what went wrong in a block, or None."""
        text = example.document.text
        noisy = text[: text.rfind("```console", 0, example.end)].rstrip().endswith(_NOISY)
        for written in re.split(r"^\$ ", str(example.parsed), flags=re.MULTILINE)[1:]:
            command, _, expected = written.partition("\n")
            while command.endswith("\\"):
                line, _, expected = expected.partition("\n")
                command = command[:-1] + line.strip()
            done = _run(command, example.namespace["folder"])
            if done.returncode:
                return f"{command!r} failed with {done.returncode}:\n{done.stderr}"
            if _RECORD:
                record = {
                    "page": str(example.path),
                    "line": example.line,
                    "block": written,
                    "out": done.stdout,
                }
                with Path(_RECORD).open("a") as file:
                    file.write(json.dumps(record) + "\n")
            elif expected.strip() and not _same(expected, done.stdout, noisy):
                return f"{command!r} printed\n{done.stdout}\ninstead of\n{expected}"
        return None


def _same(expected: str, printed: str, noisy: bool) -> bool:
    if noisy:
        expected, printed = (_NUMBER.sub("#", text) for text in (expected, printed))
    return doctest.OutputChecker().check_output(expected, printed, _OPTIONS)


def _run(command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "COLUMNS": "110", "NO_COLOR": "1"}
    words = shlex.split(command) if not set(command) & set("|&;<>$*`\n") else []
    if words[:1] == ["ldpkit"] and hasattr(os, "fork"):
        return run_forked(words[1:], folder, environment)
    return subprocess.run(
        ["bash", "-c", command], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )


def _enter(namespace: dict[str, Any]) -> None:
    namespace["folder"] = Path(tempfile.mkdtemp(prefix="ldpkit-docs-"))
    namespace["back"] = Path.cwd()
    namespace["names of the house"] = [set(registry) for registry in _REGISTRIES]
    os.chdir(namespace["folder"])


def _leave(namespace: dict[str, Any]) -> None:
    import shutil

    for registry, names in zip(_REGISTRIES, namespace["names of the house"], strict=True):
        for name in set(registry) - names:  # a page's own mechanisms and methods end with it
            registry.forget(name)
    os.chdir(namespace["back"])
    shutil.rmtree(namespace["folder"])


pytest_collect_file = Sybil(
    parsers=[PythonCodeBlockParser(doctest_optionflags=_OPTIONS), ConsoleParser(), SkipParser()],
    patterns=["README.md", "docs/*.md", "docs/**/*.md"],
    setup=_enter,
    teardown=_leave,
).pytest()
