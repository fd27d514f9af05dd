"""The upload route: plain ASGI, in front of everything else, because nearly every request is one.

It reads the body, refuses what can be refused from the header alone, hands the rest to the writer
and answers when the writer says that it is on the disk. Nothing about the sender is kept or
logged; who sends too often is known by a salted hash, in memory, until the salt changes.
"""

from __future__ import annotations

import asyncio
import contextlib
import datetime
import hashlib
import ipaddress
import os
import time
from collections.abc import Awaitable, Callable, MutableMapping
from typing import TYPE_CHECKING, Any

from ldpkit.client.upload import HEADER_BYTES, UploadHeader
from ldpkit.collector.asked import Shelf
from ldpkit.collector.problems import HttpProblem
from ldpkit.collector.writer import Counted, Fate, Upload, Writer
from ldpkit.core.errors import FileFormatError

if TYPE_CHECKING:
    from ldpkit.collector.service import Service

__all__ = ["Limits", "Receive", "Send", "Uploads", "respond"]

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]

_PATIENCE = 4  # times the limit, before the connection is cut
_PREFIX, _SUFFIX = "/v1/collections/", "/reports"
_SHORTEST = len(_PREFIX) + len(_SUFFIX) - 1
_CORS = [(b"access-control-allow-origin", b"*")]
_JSON = [(b"content-type", b"application/json"), *_CORS]
_PREFLIGHT = [
    *_CORS,
    (b"access-control-allow-methods", b"POST"),
    (b"access-control-allow-headers", b"content-type"),
    (b"access-control-max-age", b"86400"),
]
_MOST_ADDRESSES = 1 << 20  # that are counted within a minute


class Limits:
    """How much may be sent, and how often, by one address and by all.

    Parameters
    ----------
    body : int
        The largest upload, in bytes.
    per_address : int
        Requests of one address in a minute; 0 for no limit. Behind a proxy every request has
        the proxy's address, unless `proxies` says whose word is taken.
    in_all : int
        Requests of all in a second; 0 for no limit.
    at_once : int
        Requests that are answered at one time.
    seconds : float
        How long a body may take to arrive.
    """

    def __init__(
        self,
        *,
        body: int = 1 << 22,
        per_address: int = 0,
        in_all: int = 0,
        at_once: int = 10_000,
        seconds: float = 15.0,
    ) -> None:
        self.body, self.per_address, self.in_all, self.seconds = body, per_address, in_all, seconds
        self.at_once = at_once
        self._minute, self._salt, self._seen = -1, b"", dict[bytes, int]()
        self._second, self._count = -1, 0

    def check(self, address: str) -> None:
        """Count a request of an address, or refuse it."""
        if self.in_all:
            second = int(time.monotonic())
            if second != self._second:
                self._second, self._count = second, 0
            self._count += 1
            if self._count > self.in_all:
                raise HttpProblem("too-many-requests", f"more than {self.in_all} requests in a second")
        if self.per_address:
            self._check_address(address)

    def _check_address(self, address: str) -> None:
        minute = int(time.monotonic() // 60)
        if minute != self._minute or len(self._seen) > _MOST_ADDRESSES:
            self._minute, self._salt, self._seen = minute, os.urandom(16), {}
        key = hashlib.blake2b(_network(address), key=self._salt, digest_size=8).digest()
        self._seen[key] = count = self._seen.get(key, 0) + 1
        if count > self.per_address:
            raise HttpProblem("too-many-requests", f"more than {self.per_address} requests in a minute")


def _network(address: str) -> bytes:
    """Return what one sender has: an address, or half of one of IPv6, whose rest is his to choose."""
    try:
        found = ipaddress.ip_address(address)
    except ValueError:
        return address.encode(errors="replace")
    return found.packed[:8] if found.version == 6 else found.packed


class Uploads:
    """The ASGI application for uploads.

    Parameters
    ----------
    limits : Limits
        What may be sent.
    """

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self._shelf = Shelf()
        self._writer: Writer | None = None
        self._now: Callable[[], datetime.datetime] = lambda: datetime.datetime.now(datetime.UTC)
        self.problems: dict[str, int] = {}
        self._loop: asyncio.AbstractEventLoop | None = None
        self._present = 0  # requests that are being answered
        self._patience = _Patience(limits.seconds)

    def attach(self, service: Service) -> None:
        """Take uploads for a service from now on."""
        self._shelf, self._writer, self._now = service.shelf, service.writer, service.now

    @staticmethod
    def takes(scope: MutableMapping[str, Any]) -> bool:
        """Whether a request is for this application."""
        path: str = scope["path"]
        # A collection may be called "reports": then both share a slash, and it is not an upload.
        return path.endswith(_SUFFIX) and path.startswith(_PREFIX) and len(path) > _SHORTEST

    def deliver(self, fates: list[Fate]) -> None:
        """Bring fates from the writer's thread to the requests that wait for them."""
        loop = self._loop
        if loop is not None:
            with contextlib.suppress(RuntimeError):  # the loop has ended, and nobody waits any more
                loop.call_soon_threadsafe(_settle, fates)

    async def __call__(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        """Answer one upload."""
        if scope["method"] == "OPTIONS":  # a browser asks first if a page sends more than it has to
            await respond(send, 204, _PREFLIGHT, b"")
            return
        self._present += 1
        try:
            found = await self._upload(scope, receive)
        except HttpProblem as problem:
            found = problem
        finally:
            self._present -= 1
        if isinstance(found, HttpProblem):
            self.problems[found.name] = self.problems.get(found.name, 0) + 1
            await respond(send, found.status, [*found.headers, *_CORS], found.body)
        else:
            await respond(send, 200, _JSON, b'{"accepted":%d,"duplicate":%d,"refused":%d}' % found)

    async def _upload(self, scope: MutableMapping[str, Any], receive: Receive) -> Counted | HttpProblem:
        if scope["method"] != "POST":
            raise HttpProblem("wrong-method", "reports are sent with POST")
        if self._present > self.limits.at_once or self._writer is None:
            raise HttpProblem("busy", "too many requests at once")
        client = scope.get("client")
        self.limits.check(client[0] if client else "")
        name = scope["path"][len(_PREFIX) : -len(_SUFFIX)]
        entry = self._shelf.get(name)
        body = await self._body(receive)
        try:
            header = UploadHeader.decode(body)
        except FileFormatError as error:
            raise HttpProblem("malformed-upload", str(error)) from None
        asked = entry.accept(header, self._now())
        records = body[HEADER_BYTES:]
        if not records or len(records) % asked.record_bytes:
            raise HttpProblem(
                "malformed-upload",
                f"{len(records)} bytes are not a whole number of records of {asked.record_bytes} bytes",
            )
        loop = self._loop = asyncio.get_running_loop()
        fate: asyncio.Future[Counted | HttpProblem] = loop.create_future()
        self._writer.submit(Upload(asked, header.round, records, fate))
        return await fate

    async def _body(self, receive: Receive) -> bytes:
        """Return the body; one that is too large is read on for a while, so that the answer is heard."""
        parts, size = list[bytes](), 0
        with self._patience:
            while True:
                message = await receive()
                if message["type"] == "http.disconnect":
                    raise HttpProblem("malformed-upload", "the connection broke")
                part = message.get("body", b"")
                size += len(part)
                is_last = not message.get("more_body", False)
                if size <= self.limits.body:
                    parts.append(part)
                elif is_last or size > _PATIENCE * self.limits.body:
                    raise HttpProblem("too-large", f"an upload has at most {self.limits.body} bytes")
                if is_last:
                    return parts[0] if len(parts) == 1 else b"".join(parts)


class _Patience:
    """Ends what takes too long, within a second: one look at all of them, instead of a clock for each.

    A timer for each request (asyncio.timeout) costs a tenth of all that an upload costs.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._since: dict[asyncio.Task[Any], float] = {}
        self._is_cut: set[asyncio.Task[Any]] = set()
        self._is_watching = False

    def __enter__(self) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._since[task] = time.monotonic()
        if not self._is_watching:
            self._is_watching = True
            asyncio.get_running_loop().call_later(1.0, self._look)

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: object) -> None:
        task = asyncio.current_task()
        assert task is not None
        del self._since[task]
        if task in self._is_cut:
            self._is_cut.discard(task)
            task.uncancel()
            if kind is asyncio.CancelledError:
                raise HttpProblem("too-slow", f"the upload did not arrive within {self._seconds:g} seconds")

    def _look(self) -> None:
        now = time.monotonic()
        for task, since in self._since.items():
            if now - since > self._seconds and task not in self._is_cut:
                self._is_cut.add(task)
                task.cancel()
        self._is_watching = bool(self._since)
        if self._is_watching:
            asyncio.get_running_loop().call_later(1.0, self._look)


def _settle(fates: list[Fate]) -> None:
    for future, fate in fates:
        if not future.done():
            future.set_result(fate)


async def respond(send: Send, status: int, headers: list[tuple[bytes, bytes]], body: bytes) -> None:
    """Send a whole response."""
    length = (b"content-length", b"%d" % len(body))
    await send({"type": "http.response.start", "status": status, "headers": [*headers, length]})
    await send({"type": "http.response.body", "body": body})
