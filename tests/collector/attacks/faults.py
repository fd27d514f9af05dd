"""Faults of the machine: the process is killed, the disk is full, the clock leaps."""

from __future__ import annotations

import datetime
import http.client
import random
import subprocess
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

from client.collecting import collection_file
from collector.attacks.found import Found, kept_ids
from collector.inside import inside
from collector.serving import free_port, serving
from ldpkit.client.collection import Collection
from ldpkit.client.upload import UploadHeader, encode_upload
from ldpkit.collector.database import SqliteDatabase
from ldpkit.collector.problems import HttpProblem
from ldpkit.protocols.collection.building import mechanism_of

__all__ = ["fill_disk", "jump_clock", "kill_service"]


class Load(threading.Thread):
    """Sends answers of new devices, one to forty at a time, and some again, until it is told to stop."""

    def __init__(self, port: int, upload: Any, seed: int, first: int) -> None:
        super().__init__(daemon=True)
        self.port, self.upload, self.random, self.next = port, upload, random.Random(seed), first
        self.acknowledged: set[int] = set()
        self.unknown: list[list[int]] = []
        self.problems: list[str] = []
        self.is_over = False

    def run(self) -> None:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        while not self.is_over:
            if self.unknown and self.random.random() < 0.5:
                ids = self.unknown.pop()  # what was never confirmed is sent again
            else:
                ids = list(range(self.next, self.next + self.random.randint(1, 40)))
                self.next += len(ids)
            try:
                connection.request("POST", "/v1/collections/survey/reports", self.upload(ids))
                answer = connection.getresponse()
                body = answer.read()
            except (OSError, http.client.HTTPException):
                self.unknown.append(ids)
                connection.close()
                time.sleep(0.02)
                continue
            if answer.status == 200:
                self.acknowledged |= set(ids)
            elif answer.status == 503 and answer.getheader("retry-after"):
                self.unknown.append(ids)
            else:
                self.problems.append(f"status {answer.status}: {body[:100]!r}")


def kill_service(count: int, seed: int) -> Found:
    """Kill a service at random moments, start it again, and in the end compare."""
    found, source = Found(), random.Random(seed)
    start = datetime.datetime.now(datetime.UTC).date().isoformat()
    envelope = collection_file(start=start)
    question = Collection.read(envelope).question("commute")
    mechanism = mechanism_of(question)
    header = UploadHeader(1, question.number, 0, question.fingerprint)
    length = mechanism.report_bytes
    pool = mechanism.encode(mechanism.privatize(["bike"] * 64))

    def upload(ids: list[int]) -> bytes:
        return encode_upload(header, [(each, pool[length * (each % 64) :][:length]) for each in ids])

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "survey.json").write_bytes(envelope)
        port = free_port()
        loads = [Load(port, upload, seed + i, (i + 1) << 40) for i in range(4)]
        for turn in range(count):
            with serving(str(folder / "survey.json"), data=folder / "data", port=port) as service:
                if turn == 0:
                    for load in loads:
                        load.start()
                time.sleep(source.uniform(0.05, 1.5))
                service.kill()
        for load in loads:
            load.is_over = True
        for load in loads:
            load.join()
            found.problems += load.problems
        ids, problems = kept_ids(SqliteDatabase(folder / "data" / "collector.db"))
    acknowledged = set().union(*(load.acknowledged for load in loads))
    sent = sum(load.next & ((1 << 40) - 1) for load in loads)
    found.problems += problems
    if lost := acknowledged - ids:
        found.problems.append(f"{len(lost)} acknowledged answers are lost")
    if len(ids) > sent:
        found.problems.append(f"{len(ids)} answers are kept of {sent} that were sent")
    found.told = (
        f"{count} kills, {sent:,} answers sent, {len(acknowledged):,} acknowledged, "
        f"{len(acknowledged - ids)} lost, {len(ids):,} kept, none twice"
    )
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


def jump_clock(count: int, seed: int) -> Found:
    """Let the clock leap by up to sixty days between uploads."""
    found, source = Found(), random.Random(seed)
    true = datetime.datetime(2026, 11, 20, 12, tzinfo=datetime.UTC)
    now = [true]
    with tempfile.TemporaryDirectory() as name:
        database = SqliteDatabase(Path(name) / "collector.db")
        acknowledged, refused = set[int](), 0
        for turn in range(count):
            with inside(database, collection_file(), now=lambda: now[0]) as service:
                now[0] = true + datetime.timedelta(days=source.uniform(-60, 60))
                ids = list(range(10 * turn, 10 * turn + 10))
                answer = service.send(ids, number=19)
                if isinstance(answer, HttpProblem):
                    refused += 1
                else:
                    acknowledged |= set(ids)
                again = service.send(ids, number=19)
                if not isinstance(again, HttpProblem) and again.accepted:
                    found.problems.append("an answer was counted twice")
            now[0] = true
        connection = database.connect()
        n = connection.execute("SELECT sum(n) FROM tallies")[0][0] or 0
        connection.close()
        _, problems = kept_ids(database)
    found.problems += problems
    if n != len(acknowledged):
        found.problems.append(f"{n} answers are kept of {len(acknowledged)} acknowledged")
    found.told = f"{count} leaps, {len(acknowledged):,} acknowledged, {n - len(acknowledged)} lost or twice"
    return found
