"""Faults of the machine: the process is killed, the disk is full."""

from __future__ import annotations

import random
import subprocess
import tempfile
import time
from pathlib import Path

from client.collecting import collection_file
from collector.attacks.found import Found, kept_ids, turns
from collector.attacks.load import Load, compare, start_loads, write_survey
from collector.inside import inside
from collector.serving import free_port, serving
from ldpkit.collector.database import SqliteDatabase
from ldpkit.collector.problems import HttpProblem

__all__ = ["fill_disk", "kill_service"]


def kill_service(count: int, seed: int) -> Found:
    """Kill a service at random moments, start it again, and in the end compare."""
    found, source = Found(), random.Random(seed)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        upload = write_survey(folder / "survey.json")
        port = free_port()
        loads: list[Load] = []
        kills = 0
        for _ in turns(count):
            with serving(str(folder / "survey.json"), data=folder / "data", port=port) as service:
                loads = loads or start_loads(port, upload, seed)
                time.sleep(source.uniform(0.05, 1.5))
                service.kill()
            kills += 1
        told = compare(found, loads, SqliteDatabase(folder / "data" / "collector.db"))
    found.told = f"{kills} kills, {told}"
    return found


def fill_disk(count: int, seed: int) -> Found:
    """Write to a small file system until it is full, make it larger, and go on. Needs root, to mount it."""
    found, source = Found(), random.Random(seed)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", name], check=True)
        try:
            database = SqliteDatabase(folder / "collector.db")
            with inside(database, collection_file()) as service:
                acknowledged, refused, following = set[int](), 0, 0
                for turn in range(count):
                    while True:
                        ids = list(range(following, following + source.randint(1, 300)))
                        answer = service.send(ids)
                        if isinstance(answer, HttpProblem):
                            break
                        acknowledged |= set(ids)
                        following += len(ids)
                    refused += 1
                    if answer.name != "busy":
                        found.problems.append(f"a full disk is called {answer.name}")
                    larger = f"remount,size={1024 + 300 * (turn + 1)}k"
                    subprocess.run(["mount", "-o", larger, name], check=True)
                ids, problems = kept_ids(database)
        finally:
            subprocess.run(["umount", name], check=False)
    found.problems += problems
    if acknowledged - ids:
        found.problems.append(f"{len(acknowledged - ids)} acknowledged answers are lost")
    lost = len(acknowledged - ids)
    found.told = f"{refused} times full, {len(acknowledged):,} acknowledged, {lost} lost, none twice"
    return found
