"""PostgreSQL is killed under a service that writes to it: the whole server, or the process that commits."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import tempfile
import time
from collections import Counter
from pathlib import Path

from collector.attacks.found import Found, turns
from collector.attacks.load import compare, start_loads, write_survey
from collector.postgresql import Postgres, postgres_running
from collector.serving import free_port, serving
from ldpkit.collector.database import open_database

__all__ = ["crash_postgres"]

_SLOW = ("commit_delay=20000", "commit_siblings=0")  # so that a kill falls into a commit
_WRITER = (
    "SELECT a.pid, a.state = 'active' AND a.query = 'COMMIT'"
    " FROM pg_locks l JOIN pg_stat_activity a USING (pid)"
    " WHERE l.locktype = 'advisory' AND l.granted"
)


def crash_postgres(count: int, seed: int) -> Found:
    """Kill it at random moments and in the middle of commits; let it recover, and in the end compare."""
    found, source, done = Found(), random.Random(seed), Counter[str]()
    with tempfile.TemporaryDirectory() as name, postgres_running(*_SLOW) as server:
        folder, port, address = Path(name), free_port(), server.create("crashes")
        upload = write_survey(folder / "survey.json")
        with serving(str(folder / "survey.json"), data=address, port=port) as service:
            loads = start_loads(port, upload, seed)
            for turn in turns(count):
                time.sleep(source.uniform(0.1, 1.0))
                done[_crash(server, address, turn)] += 1
                server.wait()
                before = sum(len(load.acknowledged) for load in loads)
                deadline = time.monotonic() + 120
                while sum(len(load.acknowledged) for load in loads) <= before:  # it takes answers again
                    if time.monotonic() > deadline or service.process.poll() is not None:
                        found.problems.append(f"crash {turn}: the service takes nothing any more")
                        break
                    time.sleep(0.05)
            told = compare(found, loads, open_database(address))
            if code := service.stop():
                found.problems.append(f"the service ended with {code}")
    kinds = ", ".join(f"{n} {kind}" for kind, n in sorted(done.items()))
    found.told = f"{sum(done.values())} crashes ({kinds}), {told}"
    return found


def _crash(server: Postgres, address: str, turn: int) -> str:
    """Kill the server, by SIGKILL or SIGQUIT, or its process that writes; say what was done."""
    kind = turn % 3
    if kind < 2:
        os.kill(server.pid, (signal.SIGKILL, signal.SIGQUIT)[kind])
        server.start()
        return ("SIGKILL", "SIGQUIT")[kind] + " of the server"
    import psycopg

    pid, is_committing = None, False
    deadline = time.monotonic() + 10
    with contextlib.suppress(psycopg.Error), psycopg.connect(address, autocommit=True) as connection:
        while not is_committing and time.monotonic() < deadline:
            for writer in connection.execute(_WRITER).fetchall():
                pid, is_committing = writer
    if pid is None:
        return "too early: nobody wrote"
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)
    return "SIGKILL of the backend" + (" in a commit" if is_committing else "")
