"""A clock that leaps, forwards and back, under a service that takes uploads and closes rounds by it."""

from __future__ import annotations

import asyncio
import datetime
import random
import tempfile
from collections import Counter
from pathlib import Path

from client.collecting import collection_file
from collector.attacks.found import Found
from collector.inside import request
from ldpkit.client.collection import Collection
from ldpkit.client.upload import UploadHeader, encode_upload
from ldpkit.collector.asked import LATE_ROUNDS
from ldpkit.collector.closing import Closing
from ldpkit.collector.database import SqliteDatabase
from ldpkit.collector.service import Service
from ldpkit.collector.uploads import Limits, Uploads
from ldpkit.collector.verify import verify
from ldpkit.protocols.collection.building import mechanism_of

__all__ = ["jump_clock"]

_START = datetime.datetime(2026, 11, 1, 0, 30, tzinfo=datetime.UTC)
_HOUR = datetime.timedelta(hours=1)
_PATH = "/v1/collections/survey/reports"
_Answer = tuple[int, int]  # round and id


class _World:
    """The true time, and how far the service's clock is off."""

    def __init__(self) -> None:
        self.hours, self.wrong = 0, datetime.timedelta(0)

    @property
    def true(self) -> datetime.datetime:
        return _START + self.hours * _HOUR

    @property
    def round(self) -> int:
        """The round that devices are in, whose clocks are right."""
        return self.hours // 24

    def now(self) -> datetime.datetime:
        return self.true + self.wrong

    def steady(self) -> float:
        return self.hours * 3600.0


class _Devices:
    """Answer every hour, now and then for a round before, and send again what was not confirmed."""

    def __init__(self, envelope: bytes, seed: int) -> None:
        question = Collection.read(envelope).question("commute")
        mechanism = mechanism_of(question)
        self._report = mechanism.encode(mechanism.privatize(["bike"]))
        self._question, self._random, self._next = question, random.Random(seed), 0
        self.waiting: list[_Answer] = []
        self.acknowledged: set[_Answer] = set()
        self.refused: Counter[int] = Counter()

    def body(self, answer: _Answer) -> bytes:
        header = UploadHeader(1, self._question.number, answer[0], self._question.fingerprint)
        return encode_upload(header, [(answer[1], self._report)])

    def answer(self, present: int) -> None:
        """Let two more answer."""
        for _ in range(2):
            late = self._random.choice((0, 0, 0, 1, 3, LATE_ROUNDS))
            self.waiting.append((max(present - late, 0), self._next))
            self._next += 1

    async def send(self, app: Uploads, found: Found, world: _World) -> None:
        """Send all that waits, and some that was confirmed again."""
        again = self._random.sample(sorted(self.acknowledged), min(2, len(self.acknowledged)))
        sent, self.waiting = [*self.waiting, *again], []
        answers = await asyncio.gather(*(request(app, "POST", _PATH, self.body(each)) for each in sent))
        for each, (status, headers, body) in zip(sent, answers, strict=True):
            if status == 200:
                if (b'"accepted":1' in body) == (each in self.acknowledged):
                    found.problems.append(f"{each} was counted twice, or not at all")
                self.acknowledged.add(each)
            elif status == 425 and "retry-after" in headers:  # the clock is behind: a device waits
                self.refused[status] += 1
                if each not in self.acknowledged:
                    self.waiting.append(each)
            elif status != 410 or world.round - each[0] <= LATE_ROUNDS:
                found.problems.append(f"round {each[0]} in round {world.round}: status {status}")
            else:
                self.refused[status] += 1


def jump_clock(count: int, seed: int) -> Found:
    """Let the clock leap by up to sixty days, and be set right within the hour or after one hourly check."""
    found, source, world = Found(), random.Random(seed), _World()
    envelope = collection_file(start=_START.date().isoformat(), count=10_000)
    devices, restarts = _Devices(envelope, seed), 0
    with tempfile.TemporaryDirectory() as name:
        database = SqliteDatabase(Path(name) / "collector.db")
        leaps = 0
        while leaps < count:  # as many lives of a service
            uploads = Uploads(Limits(per_address=10**6, in_all=10**6))
            with Service(database, uploads.deliver, world.now) as service:
                service.add(envelope)
                uploads.attach(service)
                closing = Closing(service.close_overdue, world.now, world.steady)
                for turn in range(source.randint(1, 60)):
                    if leaps < count and source.random() < 0.4:
                        leaps += 1
                        world.wrong = datetime.timedelta(days=source.uniform(-60, 60))
                    devices.answer(world.round)
                    asyncio.run(devices.send(uploads, found, world))
                    # By the wrong clock; one that is wrong from the start on is set right before that.
                    is_checked = turn > 0 and source.random() < 0.5
                    world.hours += is_checked
                    if is_checked:
                        closing.check()
                    world.wrong = datetime.timedelta(0)
                    asyncio.run(devices.send(uploads, found, world))
                    world.hours += not is_checked
                    closing.check()
                    closed = service.shelf.get("survey").closed
                    if closed and max(closed) >= world.round - LATE_ROUNDS:
                        found.problems.append(f"round {max(closed)} is closed in round {world.round}")
                if source.random() < 0.5:  # the next one starts with a clock that is wrong
                    world.wrong = datetime.timedelta(days=source.uniform(-60, 60))
                restarts += 1
        connection = database.connect()
        checked = list(verify(connection))
        connection.close()
    found.problems += [f"{each.what}: {each.problem}" for each in checked if each.problem]
    kept = sum(each.n for each in checked if not each.what.startswith("table"))
    if kept != len(devices.acknowledged) or devices.waiting:
        found.problems.append(
            f"{kept} kept, {len(devices.acknowledged)} acknowledged, {len(devices.waiting)} wait"
        )
    found.told = (
        f"{leaps} leaps, {restarts} starts, {world.round} rounds, {len(closed)} of them closed in time, "
        f"{len(devices.acknowledged):,} acknowledged, {kept - len(devices.acknowledged)} lost or twice, "
        f"{devices.refused[425]} sent away until the clock was right"
    )
    return found
