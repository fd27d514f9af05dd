"""Requests to the collector, inside this process: uploads, paths, queries, tokens and JSON bodies.

The first line of an input is JSON with method, path, query and headers, the rest is the body. Where
`authorization` has the word ANALYST or ADMIN, the token of that role is put in its place. One collector
answers all requests of a process, so what would end its collection is asked for without the right to it.
"""

from __future__ import annotations

import asyncio
import atexit
import datetime
import functools
import json
import random
import shutil
import struct
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

from fuzz.mutate import HOSTILE_TEXTS, change_bytes, change_json_text, change_text
from fuzz.target import Target, refused_if, require
from fuzz.targets.collections import COLLECTION_FILES
from ldpkit.client.upload import HEADER_BYTES, UploadHeader, encode_upload
from ldpkit.core.errors import LdpkitError
from ldpkit.core.random import seeded
from ldpkit.protocols.collection.building import compile_toml
from ldpkit.protocols.collection.files import seal
from questions import age, commute

__all__ = ["REQUESTS"]

_TEXT = f"""\
id = "survey"
version = 1
purpose = "What the collector is asked."
rounds = {{every = "weekly", start = 2026-01-01, count = 50}}

{commute("grr", 1.0)}
{age("pm", 1.0)}""".encode()
_ROOT = "/v1/collections"
_HEADER = struct.Struct("<4sBBHHIQ")
_PLAN = {
    "questions": [{"id": "a", "domain": 4}, {"id": "b", "low": 0, "high": 9}],
    "epsilon": 1,
    "people": 1000,
}
_WORDS = (
    *("survey", "commute", "age", "reports", "estimates", "tally", "progress", "export.csv", "export.ldp"),
    *("..", "%2e%2e", "%00", "//", "?", "&", "=", "0", "1", "0,1", "99999999999", "mle", "ibu", "norm_sub"),
)
_METHODS = ("GET", "POST", "HEAD", "OPTIONS", "PUT", "BREW", "PATCH", "DELETE")
_KEYS = ("question", "round", "version", "estimator", "consistency", "level", "change")
_SHOWN = 100  # reports, below which a collector shows nothing
_EVERY = 2000  # requests after which all that the collector keeps is verified


def _now() -> datetime.datetime:
    return datetime.datetime(2026, 1, 3, tzinfo=datetime.UTC)  # in the first round


class _Site(NamedTuple):
    service: Any
    app: Any
    loop: asyncio.AbstractEventLoop
    tokens: dict[str, str]


@functools.cache
def _site() -> _Site:
    """Return a collector that runs until the process ends."""
    from ldpkit.collector.app import make_app
    from ldpkit.collector.database import SqliteDatabase
    from ldpkit.collector.serve import Front
    from ldpkit.collector.service import Service
    from ldpkit.collector.tokens import ADMIN, ANALYST, new_token
    from ldpkit.collector.uploads import Limits, Uploads

    folder = tempfile.mkdtemp(prefix="ldpkit-fuzz-")
    uploads = Uploads(Limits())
    service = Service(SqliteDatabase(Path(folder) / "collector.db"), uploads.deliver, _now)
    service.__enter__()
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    atexit.register(service.__exit__, None, None, None)
    service.add(_envelope())
    uploads.attach(service)
    with service.connection() as connection:
        tokens = {role.upper(): new_token(connection, role, role) for role in (ANALYST, ADMIN)}
    site = _Site(service, Front(uploads, make_app(service, uploads)), asyncio.new_event_loop(), tokens)
    for data in _uploads(service, _SHOWN):
        first, _, body = data.partition(b"\n")
        status, _, answer = site.loop.run_until_complete(_ask(site, json.loads(first), body))
        require(status == 200 and json.loads(answer)["accepted"] == _SHOWN, "the first reports are not taken")
    return site


@functools.cache
def _envelope() -> bytes:
    return seal(compile_toml(_TEXT))


def _framed(method: str, path: str, body: bytes = b"", query: str = "", role: str = "") -> bytes:
    headers = {"authorization": f"Bearer {role}"} if role else {}
    asked = {"method": method, "path": path, "query": query, "headers": headers}
    return json.dumps(asked).encode() + b"\n" + body


def _uploads(service: Any, count: int) -> list[bytes]:
    """Return a request for each question that brings some reports of it."""
    _, questions = service.shelf.get("survey").versions[1]
    made = []
    people: tuple[list[Any], ...] = (["bike", "car"], [30.0, 41.0])
    for asked, values in zip(questions, people, strict=True):
        data = asked.mechanism.encode(asked.mechanism.privatize(values * (count // 2), rng=seeded(1)))
        length = asked.question.report_bytes
        header = UploadHeader(1, asked.question.number, 0, asked.question.fingerprint)
        records = [(count + place, data[place * length :][:length]) for place in range(count)]
        made.append(_framed("POST", f"{_ROOT}/survey/reports", encode_upload(header, records)))
    return made


@functools.cache
def _seeds() -> tuple[bytes, ...]:
    name = f"{_ROOT}/survey"
    return (
        *(_uploads(_site().service, 2) * 4),
        _framed("GET", name),
        _framed("GET", f"{name}/estimates", query="question=commute&round=0", role="ANALYST"),
        _framed("GET", f"{name}/tally", query="question=age", role="ANALYST"),
        _framed("GET", f"{name}/export.csv", query="question=commute", role="ANALYST"),
        _framed("GET", f"{name}/export.ldp", query="question=age", role="ANALYST"),
        _framed("GET", f"{name}/progress", role="ANALYST"),
        _framed("GET", "/c/survey"),
        _framed("GET", "/metrics"),
        _framed("POST", _ROOT, _envelope(), role="ADMIN"),
        _framed("POST", "/v1/plan", json.dumps(_PLAN).encode(), role="ANALYST"),
        _framed("PATCH", name, query="close_round=7", role="ADMIN"),
    )


def _mutate(rng: random.Random, data: bytes) -> bytes:
    first, _, body = data.partition(b"\n")
    asked = json.loads(first)
    kind = rng.randrange(8)
    if kind == 0:
        asked["method"] = rng.choice(_METHODS)
    elif kind == 1:
        asked["path"] = change_text(rng, str(asked["path"]), _WORDS)
    elif kind == 2:
        pairs = [f"{rng.choice(_KEYS)}={rng.choice((*_WORDS, *HOSTILE_TEXTS))[:200]}" for _ in range(3)]
        told = change_text(rng, str(asked["query"]), ("&", "=", *_KEYS, *_WORDS))
        asked["query"] = "&".join((told, *pairs[: rng.randrange(3)]))
    elif kind == 3 and rng.random() < 0.5:
        schemes = ("Bearer ANALYST", "bearer ADMIN", "Basic ANALYST", "Bearer", "ADMIN", "Bearer ADMINx", "")
        asked["headers"] = {"authorization": rng.choice(schemes)}
    elif body[:4] == b"LDPU":
        body = _change_upload(rng, body)
    elif body[:1] == b"{" and asked["path"] == _ROOT:
        body = COLLECTION_FILES.mutate(rng, body)
    elif body[:1] == b"{":
        body = change_json_text(rng, json.loads(body), ("id", "domain", "low", "high", "period", "within"))
    else:
        body = change_bytes(rng, body)
    return json.dumps(asked).encode() + b"\n" + body


def _change_upload(rng: random.Random, body: bytes) -> bytes:
    """Return an upload with another field in its header, other records, or any other bytes."""
    kind = rng.randrange(5)
    if kind == 0 and len(body) >= HEADER_BYTES:
        fields = list(_HEADER.unpack(body[:HEADER_BYTES]))
        at = rng.randrange(1, len(fields))
        bits = (8, 8, 16, 16, 32, 64)[at - 1]
        fields[at] = rng.choice((0, 1, 2, 7, (1 << bits) - 1, rng.getrandbits(bits)))
        return _HEADER.pack(*fields) + body[HEADER_BYTES:]
    if kind < 3:
        records = rng.randbytes(len(body) - HEADER_BYTES) if rng.random() < 0.3 else body[HEADER_BYTES:]
        return body[:HEADER_BYTES] + (
            change_bytes(rng, records) if kind == 1 else records * rng.choice((1, 2, 9))
        )
    return change_bytes(rng, body)


async def _ask(site: _Site, asked: dict[str, Any], body: bytes) -> tuple[int, dict[bytes, bytes], bytes]:
    """Return what the application answers, as a server would call it."""
    headers = [(b"host", b"localhost:8000")]
    for key, value in asked["headers"].items():
        for role, token in site.tokens.items():
            value = value.replace(role, token)
        headers.append((key.lower().encode("latin-1", "replace"), value.encode("latin-1", "replace")))
    path = asked["path"].encode("utf-8", "replace")
    scope = {
        "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "scheme": "http", "root_path": "",
        "method": asked["method"], "path": path.decode(), "raw_path": path, "headers": headers,
        "query_string": asked["query"].encode("utf-8", "replace"),
        "client": ("127.0.0.1", 5000), "server": ("127.0.0.1", 8000),
    }  # fmt: skip
    half = len(body) // 2  # in two parts, as bodies come
    waiting = [
        {"type": "http.request", "body": body[half:], "more_body": False},
        {"type": "http.request", "body": body[:half], "more_body": True},
    ]
    sent = list[dict[str, Any]]()

    async def receive() -> dict[str, Any]:
        if waiting:
            return waiting.pop()
        await asyncio.sleep(3600)
        return {"type": "http.disconnect"}

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    await site.app(scope, receive, send)
    return sent[0]["status"], dict(sent[0]["headers"]), b"".join(each.get("body", b"") for each in sent[1:])


_asked = 0


def _check(data: bytes, folder: Path) -> None:
    global _asked
    first, _, body = data.partition(b"\n")
    try:
        asked = json.loads(first)
        texts = [asked["method"], asked["path"], asked["query"], *asked["headers"].values()]
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        raise LdpkitError("not a request") from None
    refused_if(not all(isinstance(each, str) for each in texts), "not a request")
    if asked["method"] == "DELETE" or (asked["method"] == "PATCH" and "close_round=7" not in asked["query"]):
        asked["headers"] = {"authorization": "Bearer ANALYST"}
    asked["query"] = asked["query"].replace("retire", "retired")
    site = _site()
    was, tempfile.tempdir = tempfile.tempdir, str(folder)  # where an export is made
    try:
        status, headers, answer = site.loop.run_until_complete(_ask(site, asked, body))
    finally:
        tempfile.tempdir = was
    require(not list(folder.iterdir()), "an export is left behind")
    require(
        status < 500 or (status == 503 and b"retry-after" in headers), f"status {status}: {answer[:200]!r}"
    )
    if status == 200 and asked["path"].endswith("/reports") and asked["method"] == "POST":
        _, questions = site.service.shelf.get("survey").versions[1]
        number = UploadHeader.decode(body).question
        length = next(each.record_bytes for each in questions if each.question.number == number)
        counted = sum(json.loads(answer).values())
        require(counted == (len(body) - HEADER_BYTES) // length, "answers are lost")
    _asked += 1
    if _asked % _EVERY == 0:
        _verify(site)
    if status >= 400:
        require(
            asked["method"] == "HEAD" or b"problem+json" in headers.get(b"content-type", b""), "no problem"
        )
        raise LdpkitError(f"status {status}")


def _verify(site: _Site) -> None:
    from ldpkit.collector.verify import verify

    with site.service.connection() as connection:
        wrong = [f"{each.what}: {each.problem}" for each in verify(connection) if each.problem]
    require(not wrong, "; ".join(wrong)[:300])


REQUESTS = Target("requests", _seeds, _mutate, _check)
