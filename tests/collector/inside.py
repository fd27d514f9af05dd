"""A service in this process, without HTTP: what its writer does with uploads, and an ASGI call."""

from __future__ import annotations

import asyncio
import contextlib
import datetime
import sqlite3
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from ldpkit.collector.asked import Asked
from ldpkit.collector.database import Database
from ldpkit.collector.problems import HttpProblem
from ldpkit.collector.service import Service
from ldpkit.collector.verify import verify
from ldpkit.collector.writer import Counted, Fate, Upload

__all__ = ["Inside", "call", "inside", "opened"]


class Ticket:
    """What an upload waits with."""

    def __init__(self) -> None:
        self._done, self._fate = threading.Event(), None

    def settle(self, fate: Counted | HttpProblem) -> None:
        self._fate = fate
        self._done.set()

    def wait(self) -> Counted | HttpProblem:
        assert self._done.wait(600), "the writer did not answer"
        return self._fate


class Inside:
    """A service, and how to send to it."""

    def __init__(self, service: Service) -> None:
        self.service = service

    def asked(self, question: str, version: int | None = None, name: str = "survey") -> Asked:
        entry = self.service.shelf.get(name)
        _, questions = entry.versions[version or entry.newest.version]
        return next(each for each in questions if each.question.id == question)

    def submit(
        self, ids: Any, *, question: str = "commute", number: int = 0, version=None, reports=None
    ) -> Ticket:
        """Queue an upload of some devices."""
        asked = self.asked(question, version)
        ids = np.asarray(ids, np.uint64)
        if reports is None:
            reports = asked.mechanism.encode(asked.mechanism.privatize(["bike"] * len(ids)))
        table = np.empty((len(ids), asked.record_bytes), np.uint8)
        table[:, :8] = ids.astype("<u8").view(np.uint8).reshape(-1, 8)
        table[:, 8:] = np.frombuffer(reports, np.uint8).reshape(len(ids), -1)
        ticket = Ticket()
        self.service.writer.submit(Upload(asked, number, table.tobytes(), ticket))
        return ticket

    def send(self, ids: Any, **options: Any) -> Counted | HttpProblem:
        """Send an upload, and return what became of it."""
        return self.submit(ids, **options).wait()

    def verified(self) -> int:
        """Check everything, and return how many reports there are."""
        with self.service.connection() as connection:
            found = list(verify(connection))
        assert [each for each in found if each.problem] == []
        return sum(each.n for each in found if not each.what.startswith("table"))


def _deliver(fates: list[Fate]) -> None:
    for ticket, fate in fates:
        ticket.settle(fate)


@contextlib.contextmanager
def inside(
    database: Database, *envelopes: bytes, now: Callable[[], datetime.datetime] | None = None
) -> Iterator[Inside]:
    """Run a service for the length of the block."""
    clock = now or (lambda: datetime.datetime(2026, 11, 4, 12, tzinfo=datetime.UTC))
    with Service(database, _deliver, clock) as service:
        for envelope in envelopes:
            service.add(envelope)
        yield Inside(service)


@contextlib.contextmanager
def opened(path: Path) -> Iterator[sqlite3.Connection]:
    """Open a database, commit what the block does and close it, which `with sqlite3.connect` does not."""
    with contextlib.closing(sqlite3.connect(path)) as connection, connection:
        yield connection


def call(
    app: Any,
    method: str,
    path: str,
    body: bytes = b"",
    headers: dict[str, str] | None = None,
    query: str = "",
) -> tuple[int, dict[str, str], bytes]:
    """Return status, headers and body of one request to an ASGI application."""
    return asyncio.run(request(app, method, path, body, headers, query))


async def request(
    app: Any,
    method: str,
    path: str,
    body: bytes = b"",
    headers: dict[str, str] | None = None,
    query: str = "",
) -> tuple[int, dict[str, str], bytes]:
    """As `call`, within a loop."""
    told = {"host": "localhost:8000", **(headers or {})}
    scope = {
        "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": method, "scheme": "http",
        "path": path, "raw_path": path.encode(), "query_string": query.encode(), "root_path": "",
        "headers": [(key.lower().encode("latin-1"), value.encode("latin-1")) for key, value in told.items()],
        "client": ("127.0.0.1", 5000), "server": ("127.0.0.1", 8000),
    }  # fmt: skip
    sent: list[dict[str, Any]] = []
    messages = [{"type": "http.request", "body": body, "more_body": False}]

    async def receive() -> dict[str, Any]:
        if messages:
            return messages.pop()
        await asyncio.sleep(3600)
        return {"type": "http.disconnect"}

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    await app(scope, receive, send)
    found = {name.decode(): value.decode("latin-1") for name, value in sent[0]["headers"]}
    return sent[0]["status"], found, b"".join(each.get("body", b"") for each in sent[1:])
