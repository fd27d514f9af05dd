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


def prepare() -> None:
    """Install the packages once for each lock file, and build; skip where there is no node."""
    missing = [name for name in ("node", "npm") if shutil.which(name) is None]
    if missing:
        pytest.skip(f"no {' and no '.join(missing)} here: install Node.js 20 to test the TypeScript client")
    with _alone():
        _once(CLIENT / "node_modules", [CLIENT / "package-lock.json"], "npm", "ci", "--ignore-scripts")
        sources = [CLIENT / "build.mjs", CLIENT / "test" / "internals.ts", *CLIENT.glob("src/**/*.ts")]
        # Once as well: a build under the feet of another worker's test would be read half written.
        _once(CLIENT / "dist", sources, "node", "build.mjs", "--dist")


def _once(folder: Path, sources: list[Path], *command: str) -> None:
    """Run a command that makes a folder, unless it was made from the same sources."""
    contents = b"".join(path.read_bytes() for path in sorted(sources))
    stamp, wanted = folder / ".made", hashlib.sha256(contents).hexdigest()
    if not stamp.exists() or stamp.read_text() != wanted:
        _run(*command)
        stamp.write_text(wanted)


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
