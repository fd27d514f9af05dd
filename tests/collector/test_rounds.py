"""Which uploads a collection takes, by version, question and round; and what the clock may do."""

from __future__ import annotations

import contextlib
import datetime
import itertools
import sys

import numpy as np
import pytest

from client.collecting import collection_file
from collector.attacks.clock import jump_clock
from collector.inside import inside
from ldpkit.client.collection import Collection
from ldpkit.client.upload import UploadHeader
from ldpkit.collector import closing
from ldpkit.collector.asked import LATE_ROUNDS, Entry, asked_of
from ldpkit.collector.closing import Closing
from ldpkit.collector.database import SqliteDatabase
from ldpkit.collector.kept import Place, add_chunk, chunks_of, merge_chunks
from ldpkit.collector.problems import HttpProblem

DAY = datetime.timedelta(days=1)
FIRST = datetime.datetime(2026, 11, 1, 8, tzinfo=datetime.UTC)


@pytest.fixture(scope="module")
def entry():
    versions = {}
    for version in (1, 2, 3):
        collection = Collection.read(collection_file(version=version))
        versions[version] = (collection, asked_of(collection))
    return Entry(versions, dict.fromkeys(versions, b""), frozenset({2}))


def _header(entry, version=3, question=0, number=5, fingerprint=None, seeded=False):
    asked = entry.versions[3][1][min(question, 2)].question
    return UploadHeader(version, question, number, fingerprint or asked.fingerprint, seeded)


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({}, None),
        ({"version": 2}, None),
        ({"version": 1}, "outdated-collection"),
        ({"version": 9}, "foreign-reports"),
        ({"question": 7}, "foreign-reports"),
        ({"fingerprint": 3}, "foreign-reports"),
        ({"seeded": True}, "foreign-reports"),
        ({"number": 2}, "round-closed"),
        ({"number": 100}, "foreign-reports"),
        ({"number": 6}, "round-not-open"),
        ({"number": 0}, None),
    ],
)
def test_each_reason_has_its_own_problem(entry, changes, problem):
    today = FIRST + 5 * DAY
    if problem is None:
        assert entry.accept(_header(entry, **changes), today).question.id == "commute"
        return
    with pytest.raises(HttpProblem) as caught:
        entry.accept(_header(entry, **changes), today)
    assert caught.value.name == problem


def test_rounds_are_overdue_only_long_after_their_end(entry):
    assert entry.overdue(FIRST + LATE_ROUNDS * DAY) == []
    assert entry.overdue(FIRST + (LATE_ROUNDS + 1) * DAY) == [0]
    assert entry.overdue(FIRST + (LATE_ROUNDS + 4) * DAY) == [0, 1, 3]  # the second is closed
    assert len(entry.overdue(FIRST + 10_000 * DAY)) == 99
    assert entry.overdue(FIRST - 10 * DAY) == []


def test_a_clock_that_jumps_closes_nothing_until_it_has_stayed():
    now, steady, closed = [FIRST], [0.0], []
    hourly = Closing(closed.append, lambda: now[0], lambda: steady[0])

    def hour(jump=datetime.timedelta(0)):
        steady[0] += 3600
        now[0] += datetime.timedelta(hours=1) + jump
        return hourly.check()

    assert hour()
    assert hour()
    assert not hour(60 * DAY)  # it leaps ahead
    assert not hour(-60 * DAY)  # and is set right: nothing was closed in between
    assert hour()
    assert not hour(60 * DAY)
    assert hour()  # an hour later it is believed
    assert [(each - FIRST).days for each in closed] == [0, 0, 0, 60]


def test_overdue_rounds_are_closed_and_late_answers_refused_only_then(tmp_path):
    now = [FIRST + DAY]
    database = SqliteDatabase(tmp_path / "collector.db")
    with inside(database, collection_file(), now=lambda: now[0]) as service:
        service.send(range(10), number=0)
        service.send(range(10), number=1)
        entry = service.service.shelf.get("survey")
        now[0] += 40 * DAY  # the clock leaps: late answers are still taken
        entry.accept(_header_of(entry, 0), now[0])
        service.service.close_overdue(now[0])
        assert service.service.shelf.get("survey").closed == frozenset(range(34))
        with pytest.raises(HttpProblem, match="round 0 is closed"):
            service.service.shelf.get("survey").accept(_header_of(entry, 0), now[0])
        now[0] -= 41 * DAY  # and back, before its time: a closed round stays closed
        with pytest.raises(HttpProblem, match="round 0 is closed"):
            service.service.shelf.get("survey").accept(_header_of(entry, 0), now[0])
        assert service.verified() == 20
        with service.service.connection() as connection:
            assert connection.execute("SELECT length(ids), n FROM chunks ORDER BY number") == [
                (0, 10),
                (0, 10),
            ]


def test_no_leap_of_the_clock_loses_an_answer_or_closes_a_round(monkeypatch):
    """Days of uploads, hourly checks and restarts; with a clock that is always believed, rounds are lost."""
    assert jump_clock(40, 7).problems == []
    monkeypatch.setattr(closing, "_JUMP", float("inf"))
    assert any("is closed in round" in each for each in jump_clock(40, 7).problems)


def _header_of(entry, number):
    question = entry.newest.questions[0]
    return UploadHeader(entry.newest.version, 0, number, question.fingerprint)


def test_closing_a_round_takes_work_in_proportion_to_its_chunks(tmp_path):
    """An answer that arrives alone is a chunk; the lengths of all before were once added up for each."""
    calls = [_calls_of_merging(SqliteDatabase(tmp_path / f"{count}.db"), count) for count in (100, 400)]
    assert calls[1] < 4.5 * calls[0]  # 7 times when each chunk looks at all before it


def _calls_of_merging(database, count):
    """Return how many functions are called while so many chunks are merged."""
    place, numbers = Place("survey", 1, "commute", 0), itertools.count(1)
    connection = database.connect_writer()
    with contextlib.closing(connection):
        database.prepare(connection)
        for _ in range(count):
            add_chunk(connection, next(numbers), place, np.ones((1, 4), np.uint8), np.empty(0, np.uint64))
        calls = itertools.count()
        sys.setprofile(lambda *event: next(calls))
        try:
            merge_chunks(connection, place, lambda: next(numbers))
        finally:
            sys.setprofile(None)
        (merged,) = chunks_of(connection, place)
        assert merged.n == count
    return next(calls)
