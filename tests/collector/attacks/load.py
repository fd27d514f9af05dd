"""Devices that answer a service without pause, and a comparison of what they heard with what is kept."""

from __future__ import annotations

import datetime
import http.client
import random
import threading
import time
from pathlib import Path
from typing import Any

from client.collecting import collection_file
from collector.attacks.found import Found, kept_ids
from ldpkit.client.collection import Collection
from ldpkit.client.upload import UploadHeader, encode_upload
from ldpkit.collector.database import Database
from ldpkit.protocols.collection.building import mechanism_of

__all__ = ["Load", "compare", "start_loads", "write_survey"]


def write_survey(path: Path) -> Any:
    """Write a collection that is asked from today on; return what makes an upload for some ids."""
    envelope = collection_file(start=datetime.datetime.now(datetime.UTC).date().isoformat())
    path.write_bytes(envelope)
    question = Collection.read(envelope).question("commute")
    mechanism = mechanism_of(question)
    header = UploadHeader(1, question.number, 0, question.fingerprint)
    length = mechanism.report_bytes
    pool = mechanism.encode(mechanism.privatize(["bike"] * 64))

    def upload(ids: list[int]) -> bytes:
        return encode_upload(header, [(each, pool[length * (each % 64) :][:length]) for each in ids])

    return upload


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


def start_loads(port: int, upload: Any, seed: int) -> list[Load]:
    """Let four threads of devices answer."""
    loads = [Load(port, upload, seed + i, (i + 1) << 40) for i in range(4)]
    for load in loads:
        load.start()
    return loads


def compare(found: Found, loads: list[Load], database: Database) -> str:
    """Note what is lost or kept twice, and return how many were sent, heard of and kept."""
    for load in loads:
        load.is_over = True
    for load in loads:
        load.join()
        found.problems += load.problems
    ids, problems = kept_ids(database)
    acknowledged = set().union(*(load.acknowledged for load in loads))
    sent = sum(load.next & ((1 << 40) - 1) for load in loads)
    found.problems += problems
    if lost := acknowledged - ids:
        found.problems.append(f"{len(lost)} acknowledged answers are lost")
    if len(ids) > sent:
        found.problems.append(f"{len(ids)} answers are kept of {sent} that were sent")
    return (
        f"{sent:,} answers sent, {len(acknowledged):,} acknowledged, {len(acknowledged - ids)} lost, "
        f"{len(ids):,} kept, none twice"
    )
