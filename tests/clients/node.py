"""Node for the tests of the TypeScript client: its packages and a build of the present sources."""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from ldpkit.core.locks import fcntl

__all__ = ["CLIENT", "prepare", "run_node"]

CLIENT = Path(__file__).parents[2] / "clients" / "typescript"
_STAMP = CLIENT / "node_modules" / ".installed"


def prepare() -> None:
    """Install the packages once for each lock file, and build; skip where there is no node."""
    missing = [name for name in ("node", "npm") if shutil.which(name) is None]
    if missing:
        pytest.skip(f"no {' and no '.join(missing)} here: install Node.js 20 to test the TypeScript client")
    with _alone():
        wanted = hashlib.sha256((CLIENT / "package-lock.json").read_bytes()).hexdigest()
        if not _STAMP.exists() or _STAMP.read_text() != wanted:
            _run("npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund")
            _STAMP.write_text(wanted)
        _run("node", "build.mjs", "--dist")


@contextlib.contextmanager
def _alone() -> Iterator[None]:
    """Keep other workers out, who would install and build at the same time."""
    with (CLIENT / "package.json").open() as handle:
        if fcntl is not None:
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def _run(*command: str) -> None:
    done = subprocess.run(command, cwd=CLIENT, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)} failed:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")


def run_node(*words: str, timeout: float = 600) -> str:
    """Run node in the client's folder and return what it prints; fail with all of it."""
    done = subprocess.run(
        ["node", *words],
        cwd=CLIENT,
        capture_output=True,
        text=True,
        check=False,
        timeout=timeout,
        env={**os.environ, "NODE_NO_WARNINGS": "1"},
    )
    assert done.returncode == 0, f"node {' '.join(words)}:\n{done.stdout[-6000:]}{done.stderr[-3000:]}"
    return done.stdout
