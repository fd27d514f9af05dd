"""Bad input: mutated uploads and requests, and what a tool makes of the OpenAPI document."""

from __future__ import annotations

import asyncio
import contextlib
import json
import random
import resource
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from client.collecting import collection_file
from collector.attacks.found import Found, turns
from collector.inside import Inside, request
from ldpkit.client.upload import HEADER_BYTES, UploadHeader, encode_upload
from ldpkit.collector.app import make_app
from ldpkit.collector.database import SqliteDatabase
from ldpkit.collector.serve import Front
from ldpkit.collector.tokens import ADMIN, ANALYST, new_token
from ldpkit.collector.uploads import Limits, Uploads
from ldpkit.collector.verify import verify

__all__ = ["from_openapi", "mutate_uploads"]

_AT_ONCE = 250
_OTHERS = 0.03  # of all requests: they cost a hundred uploads each
_WORDS = [
    "", "survey", "commute", "age", "..", "%2e%2e", "a" * 5000, "\u0000", "\udc80", "\u202e", "0", "-1",
    "99999999999999999999", "NaN", "null", "true", "'", '"', "<b>", "{}", "[]", "csv", "ldp", "mle", "1e9",
    "norm_sub", "base_cut",
]  # fmt: skip


class Mutator:
    """Makes requests that are nearly right."""

    def __init__(self, service: Inside, envelope: bytes, tokens: dict[str, str], seed: int) -> None:
        self.random, self.envelope, self.tokens = random.Random(seed), envelope, tokens
        self.uploads = []
        _, questions = service.service.shelf.get("survey").versions[1]
        values = {"commute": ["bike"] * 20, "age": [30.0] * 20, "app": [7] * 20}
        for asked in questions:
            new = {"new_devices": True} if asked.mechanism.can("memoized") else {}
            data = asked.mechanism.encode(asked.mechanism.privatize(values[asked.question.id], **new))
            length = asked.question.report_bytes
            header = UploadHeader(1, asked.question.number, 0, asked.question.fingerprint)
            records = [(self.random.getrandbits(64), data[length * i :][:length]) for i in range(20)]
            self.uploads += [encode_upload(header, records[:count]) for count in (1, 3, 20)]

    def bytes_(self, data: bytes) -> bytes:
        """Change some bytes."""
        made = bytearray(data)
        for _ in range(self.random.choice((1, 1, 1, 2, 5))):
            at = self.random.randrange(len(made) + 1)
            match self.random.randrange(7):
                case 0 if made:
                    made[at % len(made)] ^= 1 << self.random.randrange(8)
                case 1 if made:
                    made[at % len(made)] = self.random.choice((0, 1, 127, 128, 255))
                case 2:
                    del made[at:]
                case 3:
                    made[at:at] = self.random.randbytes(self.random.randint(1, 40))
                case 4:
                    del made[at : at + self.random.randint(1, 30)]
                case 5:
                    made += made[at : at + self.random.randint(1, 60)]
                case 6:  # a record more, whose bytes are anything
                    made[HEADER_BYTES:] = self.random.randbytes(
                        len(made) - HEADER_BYTES if len(made) > 30 else 9
                    )
        return bytes(made)

    def upload(self) -> tuple[str, str, bytes, dict[str, str], str]:
        body = self.bytes_(self.random.choice(self.uploads))
        path, method = "/v1/collections/survey/reports", "POST"
        if self.random.random() < 0.02:
            path = f"/v1/collections/{self.random.choice(_WORDS)}/reports"
        if self.random.random() < 0.01:
            method = self.random.choice(("GET", "PUT", "HEAD", "OPTIONS", "BREW", "DELETE"))
        return method, path.encode("utf-8", "replace").decode(), body, {}, ""

    def other(self) -> tuple[str, str, bytes, dict[str, str], str]:
        def word() -> str:
            return self.random.choice(_WORDS)

        token = self.random.choice([*self.tokens.values(), self.tokens[ANALYST][:-1], word()])
        headers = {"authorization": f"{self.random.choice(('Bearer', 'bearer', 'Basic', ''))} {token}"}
        name = self.random.choice(("survey", "survey", "survey", word()))
        query = "&".join(
            f"{key}={self.random.choice((word(), 'commute', '0', '1'))}"
            for key in ("question", "round", "version", "estimator", "consistency", "level", "change")
            if self.random.random() < 0.6
        )
        match self.random.randrange(7):
            case 0:
                made = ("POST", "/v1/collections", self.bytes_(self.envelope))
            case 1:
                made = ("PATCH", f"/v1/collections/{name}", b"")
                number = self.random.choice(("77", word(), word())).replace("0", "7")  # round 0 stays open
                query = f"close_round={number}&retire={self.random.choice(('no', 'false', word()))}"
                query = query.replace("retire=true", "retire=no")
            case 2:
                plan = {"questions": [{"id": "a", "domain": 4}], "epsilon": 1, "people": 1000}
                made = ("POST", "/v1/plan", self.bytes_(json.dumps(plan).encode()))
            case _:
                ends = (
                    "",
                    "/estimates",
                    "/tally",
                    f"/export.{word()}",
                    "/export.csv",
                    "/progress",
                    f"/{word()}",
                )
                path = f"/v1/collections/{name}{self.random.choice(ends)}"
                made = (self.random.choice(("GET", "GET", "GET", "HEAD", "PUT")), path, b"")
        method, path, body = made
        safe = [each.encode("utf-8", "replace").decode() for each in (path, query)]
        headers = {
            key: value.encode("latin-1", "replace").decode("latin-1") for key, value in headers.items()
        }
        return method, safe[0], body, headers, safe[1]


@contextlib.contextmanager
def _site(envelope: bytes) -> Iterator[tuple[Inside, Any, dict[str, str]]]:
    with tempfile.TemporaryDirectory() as name:
        database = SqliteDatabase(Path(name) / "collector.db")
        uploads = Uploads(Limits())
        from ldpkit.collector.service import Service

        with Service(database, uploads.deliver) as service:
            service.add(envelope)
            uploads.attach(service)
            with service.connection() as connection:
                tokens = {role: new_token(connection, role, role) for role in (ANALYST, ADMIN)}
            yield Inside(service), Front(uploads, make_app(service, uploads)), tokens


def _judge(found: Found, seen: Counter[int], status: int, headers: dict[str, str], what: str) -> None:
    seen[status] += 1
    if status == 503 and "retry-after" in headers:
        return
    if status >= 500:
        found.problems.append(f"status {status} for {what[:200]}")


def mutate_uploads(count: int, seed: int) -> Found:
    """Send mutated uploads, and a few other requests, many at once."""
    found, seen = Found(), Counter[int]()
    envelope = collection_file(start="2026-11-01", every="daily", count=365)
    memory: list[float] = []
    with _site(envelope) as (service, app, tokens):
        mutator = Mutator(service, envelope, tokens, seed)

        async def one() -> None:
            made = mutator.other() if mutator.random.random() < _OTHERS else mutator.upload()
            method, path, body, headers, query = made
            try:
                status, told, _ = await request(app, method, path, body, headers, query)
            except Exception as error:
                found.problems.append(f"{type(error).__name__}: {error} for {made!r}"[:300])
                return
            _judge(found, seen, status, told, repr(made))

        async def all_of_them() -> None:
            for turn in turns(count, _AT_ONCE):
                await asyncio.gather(*(one() for _ in range(min(_AT_ONCE, count - turn))))
                if turn % (40 * _AT_ONCE) == 0:
                    memory.append(_resident())

        asyncio.run(all_of_them())
        with service.service.connection() as connection:
            checked = list(verify(connection))
        found.problems += [f"{each.what}: {each.problem}" for each in checked if each.problem]
        kept = sum(each.n for each in checked if not each.what.startswith("table"))
    told = ", ".join(f"{status}: {n:,}" for status, n in sorted(seen.items()))
    found.told = (
        f"{sum(seen.values()):,} requests ({told}); {kept:,} reports kept, each of which the mechanism can "
        f"have made; memory {memory[len(memory) // 4]:.0f} to {memory[-1]:.0f} MB"
    )
    return found


def _resident() -> float:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 1e6


def from_openapi(count: int, seed: int) -> Found:
    """Let schemathesis call every operation with so many cases."""
    import hypothesis
    import schemathesis

    found, seen = Found(), Counter[int]()
    with _site(collection_file(start="2026-11-01")) as (_, app, tokens):
        schema = schemathesis.openapi.from_asgi("/openapi.json", app)
        operations = [each.ok() for each in schema.get_all_operations()]
        for operation in operations:
            headers = {"Authorization": f"Bearer {tokens[ADMIN]}"}
            if operation.method.upper() == "DELETE" or (
                operation.path == "/v1/collections/{name}" and operation.method.upper() == "PATCH"
            ):
                headers = {"Authorization": f"Bearer {tokens[ANALYST]}"}  # or the collection would be gone

            @hypothesis.seed(seed)
            @hypothesis.settings(
                max_examples=count,
                database=None,
                deadline=None,
                suppress_health_check=list(hypothesis.HealthCheck),
            )
            @hypothesis.given(case=operation.as_strategy())
            def run(case: Any) -> None:
                for name in ("survey", None):
                    if name and "name" in (case.path_parameters or {}):
                        case.path_parameters["name"] = name
                    response = case.call(headers=headers, timeout=600)  # noqa: B023 - it runs at once
                    told = {key.lower(): value for key, value in response.headers.items()}
                    _judge(found, seen, response.status_code, told, f"{case.method} {case.path} {case.query}")

            run()
    told = ", ".join(f"{status}: {n:,}" for status, n in sorted(seen.items()))
    found.told = f"{len(operations)} operations, {sum(seen.values()):,} requests ({told})"
    return found
