"""A proxy that loses connections: before a request, after it, and in the middle of the answer.

It runs as a process of its own: `python proxy.py PORT SHARE SEED` passes requests of one
HTTP/1.1 client at a time to a port of this machine, and says on standard output where it listens,
and at its end what it has lost.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import random
import re
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator

__all__ = ["lossy_proxy"]

_LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)
_KINDS = ("before the request", "after the request", "within the answer")


async def _message(reader: asyncio.StreamReader) -> bytes:
    """Return one request or response, which says how long it is."""
    head = await reader.readuntil(b"\r\n\r\n")
    found = _LENGTH.search(head)
    return head + (await reader.readexactly(int(found[1])) if found else b"")


class _Proxy:
    def __init__(self, port: int, share: float, seed: int) -> None:
        self._port, self._share, self._random = port, share, random.Random(seed)
        self.seen: Counter[str] = Counter(dict.fromkeys(("requests", *_KINDS), 0))

    async def connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Pass on what one client sends, until it is lost."""
        there: asyncio.StreamWriter | None = None
        with contextlib.suppress(OSError, asyncio.IncompleteReadError):
            back, there = await asyncio.open_connection("127.0.0.1", self._port)
            while not await self._pass(reader, writer, back, there):
                pass
        for each in (writer, there):
            if each is not None:
                each.transport.abort()

    async def _pass(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        back: asyncio.StreamReader,
        there: asyncio.StreamWriter,
    ) -> bool:
        """Pass one request on, and its answer; say whether the connection is lost."""
        request = await _message(reader)
        self.seen["requests"] += 1
        fate = self._random.choice(_KINDS) if self._random.random() < self._share else None
        if fate is not None:
            self.seen[fate] += 1
        if fate == _KINDS[0]:
            return True
        there.write(request)
        answer = await _message(back)  # the collector has done its part by now
        if fate == _KINDS[1]:
            return True
        writer.write(answer[: len(answer) // 2] if fate else answer)
        await writer.drain()
        if fate:
            await asyncio.sleep(0.01)  # so that the half is on its way before the connection ends
        return fate is not None


async def _serve(port: int, share: float, seed: int) -> None:
    proxy = _Proxy(port, share, seed)
    server = await asyncio.start_server(proxy.connection, "127.0.0.1", 0, backlog=1024)
    print(server.sockets[0].getsockname()[1], flush=True)
    over = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, over.set)
    await over.wait()
    print(json.dumps(proxy.seen), flush=True)


@contextlib.contextmanager
def lossy_proxy(port: int, share: float, seed: int) -> Iterator[tuple[str, Counter[str]]]:
    """Yield the address of a proxy before a port, and a counter that is filled when the block ends."""
    words = [sys.executable, __file__, str(port), str(share), str(seed)]
    seen = Counter[str]()
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield f"http://127.0.0.1:{int(process.stdout.readline())}", seen
        finally:
            process.terminate()
            seen.update(json.loads(process.stdout.read() or "{}"))


if __name__ == "__main__":
    asyncio.run(_serve(int(sys.argv[1]), float(sys.argv[2]), int(sys.argv[3])))
