"""A collection to answer, and a small collector on this machine that can fail on demand."""

from __future__ import annotations

import http.server
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from ldpkit.client.collection import Collection
from ldpkit.client.upload import HEADER_BYTES, ID_BYTES, UploadHeader
from ldpkit.protocols.collection.building import compile_toml
from ldpkit.protocols.collection.files import seal
from questions import age, commute

__all__ = ["SmallCollector", "collection_file", "running", "survey"]

_TOML = """
id = "survey"
version = {version}
purpose = "How people travel."
rounds = {{every = "{every}", start = {start}, count = {count}}}
spend = {{ask = {ask}}}
{commute}{age}[[questions]]
id = "app"
text = "Which page do you read?"
domain = 50
mechanism = "lolh"
epsilon_inf = 2
epsilon_1 = 1
value = "{value}"
"""


def collection_file(
    *,
    version: int = 1,
    every: str = "daily",
    count: int = 100,
    ask: object = 3,
    value: str = "fixed",
    start: str = "2026-11-01",
) -> bytes:
    """Return the envelope of a collection with three questions."""
    told = {"version": version, "every": every, "count": count, "ask": ask, "value": value, "start": start}
    text = _TOML.format(commute=commute("olh", 1), age=age("pm", 0.5), **told)
    return seal(compile_toml(text.encode()))


def survey(**options: object) -> Collection:
    """Return the collection itself."""
    return Collection.read(collection_file(**options))


class SmallCollector:
    """Counts every id once, and answers as it is told to."""

    def __init__(self, envelope: bytes) -> None:
        self.envelope = envelope
        self.counted: dict[tuple[int, int, int], bytes] = {}
        self.uploads = self.gets = 0
        self.failures: list[tuple[int, bytes, dict[str, str]]] = []
        self.url = ""

    def take(self, body: bytes) -> tuple[int, dict[str, object]]:
        """Count one upload."""
        self.uploads += 1
        header = UploadHeader.decode(body)
        record = body[HEADER_BYTES:]
        key = (header.question, header.round, int.from_bytes(record[:ID_BYTES], "little"))
        if key in self.counted:
            assert self.counted[key] == record[ID_BYTES:], "the same answer was sent with other randomness"
            return 200, {"accepted": 0, "duplicate": 1, "refused": 0}
        self.counted[key] = record[ID_BYTES:]
        return 200, {"accepted": 1, "duplicate": 0, "refused": 0}


@contextmanager
def running(collector: SmallCollector) -> Iterator[SmallCollector]:
    """Serve a collector on a free port of this machine."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            collector.gets += 1
            self._answer(200, collector.envelope)

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            if collector.failures:
                status, text, headers = collector.failures.pop(0)
                if status == -1:  # counted, but the answer is lost on the way
                    collector.take(body)
                    self.close_connection = True
                    return
                self._answer(status, text, headers)
                return
            status, form = collector.take(body)
            self._answer(status, json.dumps(form).encode())

        def _answer(self, status: int, body: bytes, headers: dict[str, str] | None = None) -> None:
            self.send_response(status)
            for name, value in (headers or {}).items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    collector.url = f"http://127.0.0.1:{server.server_port}"
    try:
        yield collector
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
