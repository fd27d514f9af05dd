"""A real PostgreSQL of this machine's own, from the binaries of the PyPI package pgserver, never run as root.

`pgserver` itself gives a server ten seconds to start, which one that recovers from a crash on a
busy machine does not keep; so the server is started with `pg_ctl` here.
"""

from __future__ import annotations

import contextlib
import importlib.util
import os
import pwd
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

__all__ = ["Postgres", "postgres_running"]

_PATIENCE = 120


class Postgres:
    """A server that can be killed and started again.

    Parameters
    ----------
    folder : Path
        An empty folder for its files and its socket.
    settings : str
        Of the server, such as `commit_delay=10000`.
    """

    def __init__(self, folder: Path, *settings: str) -> None:
        package = importlib.util.find_spec("pgserver")
        if package is None or package.origin is None:
            raise ImportError("pgserver is not installed")
        self._bin = Path(package.origin).parent / "pginstall" / "bin"
        self._folder, self._data, self._settings = folder, folder / "data", settings
        self._user = "nobody" if os.geteuid() == 0 else None
        if self._user:
            os.chown(folder, pwd.getpwnam(self._user).pw_uid, -1)
        self._run("initdb", "-D", str(self._data), "-U", "postgres", "--auth=trust", "--encoding=utf8")
        self.start()

    def _run(self, program: str, *words: str) -> None:
        done = subprocess.run(
            [self._bin / program, *words],
            cwd=self._folder,
            user=self._user,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE if program == "initdb" else subprocess.DEVNULL,  # the server keeps it open
            stderr=subprocess.STDOUT,
            check=False,
        )
        if done.returncode:
            raise RuntimeError(f"{program} failed: {done.stdout}\n{self.log[-2000:]}")

    @property
    def log(self) -> str:
        """What the server said."""
        path = self._folder / "log"
        return path.read_text() if path.exists() else ""

    @property
    def pid(self) -> int:
        """The process id of the first of its processes, which starts all others."""
        return int((self._data / "postmaster.pid").read_text().split()[0])

    def address(self, name: str = "postgres") -> str:
        """Return how a database is reached."""
        return f"postgresql://postgres@/{name}?host={self._folder}"

    def create(self, name: str) -> str:
        """Make a new database, and return its address."""
        import psycopg

        with psycopg.connect(self.address(), autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name}")
        return self.address(name)

    def start(self) -> None:
        """Start it, and wait until it takes connections, however long it recovers."""
        options = " ".join(["-h ''", f"-k {self._folder}", *(f"-c {each}" for each in self._settings)])
        log = str(self._folder / "log")
        words = ["-D", str(self._data), "-l", log, "-w", "-t", str(_PATIENCE), "-o", options, "start"]
        deadline = time.monotonic() + _PATIENCE
        while True:
            try:
                self._run("pg_ctl", *words)
                return
            except RuntimeError:  # what is left of one that was killed is still ending
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.2)

    def wait(self) -> None:
        """Wait until it has recovered from what was done to it a moment ago."""
        import psycopg

        time.sleep(0.3)
        deadline = time.monotonic() + _PATIENCE
        while True:
            try:
                psycopg.connect(self.address()).close()
                return
            except psycopg.OperationalError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.1)

    def stop(self) -> None:
        """End it at once."""
        with contextlib.suppress(RuntimeError):  # it was killed
            self._run("pg_ctl", "-D", str(self._data), "-m", "immediate", "-w", "stop")


@contextlib.contextmanager
def postgres_running(*settings: str) -> Iterator[Postgres]:
    """Run a new server for the length of the block."""
    folder = Path(tempfile.mkdtemp(prefix="ldpkit-pg-"))
    try:
        server = Postgres(folder, *settings)
        try:
            yield server
        finally:
            server.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
