"""The writer on SQLite and on PostgreSQL: what it counts, what it refuses, and what a failure leaves."""

from __future__ import annotations

import os
import signal
import threading
import time

import numpy as np
import pytest

from client.collecting import collection_file
from collector.inside import inside, opened
from ldpkit.collector.database import SqliteDatabase
from ldpkit.collector.problems import HttpProblem
from ldpkit.collector.writer import Counted
from ldpkit.core.errors import FileFormatError, InvalidParameterError


def _name(found):
    return found.name if isinstance(found, HttpProblem) else found


def test_uploads_are_counted_once_across_versions_commits_and_restarts(database):
    with inside(database, collection_file(), collection_file(version=2)) as service:
        tickets = [service.submit(range(10), version=1), service.submit(range(5, 15), version=2)]
        counted = [ticket.wait() for ticket in tickets]
        assert counted == [Counted(10, 0, 0), Counted(5, 5, 0)]
        assert service.send([3, 100, 100], version=2) == Counted(1, 2, 0)
        assert service.send([3], question="commute", number=1) == Counted(1, 0, 0)  # another round
        assert service.verified() == 17
    with inside(database) as service:
        assert service.send(range(16), version=1) == Counted(1, 15, 0)
        assert service.verified() == 18


def test_one_commit_takes_versions_together(tmp_path):
    """The same ids under two versions in the very same commit, in both orders."""
    with inside(
        SqliteDatabase(tmp_path / "collector.db"), collection_file(), collection_file(version=2)
    ) as service:
        writer = service.service.writer
        started = threading.Event()
        before = writer.commits
        blocking = threading.Thread(target=lambda: writer.call(lambda _: started.wait(10)))
        blocking.start()
        tickets = [service.submit(range(8), version=2), service.submit(range(4, 12), version=1)]
        started.set()
        assert [ticket.wait() for ticket in tickets] == [Counted(8, 0, 0), Counted(4, 4, 0)]
        blocking.join()
        assert writer.commits == before + 1
        assert service.verified() == 12


def test_reports_that_cannot_be_are_refused_and_their_ids_stay_free(database):
    with inside(database, collection_file()) as service:
        mechanism = service.asked("commute").mechanism
        good = mechanism.encode(mechanism.privatize(["bike"] * 3))
        bad = bytearray(good)
        bad[mechanism.report_bytes - 1] = 255  # a bucket that there is not
        assert service.send([1, 2, 3], reports=bytes(bad)) == Counted(2, 0, 1)
        assert service.send([1, 2, 3], reports=good) == Counted(1, 2, 0)
        assert service.verified() == 3


def test_a_round_closed_while_an_upload_waits_takes_nothing(database):
    with inside(database, collection_file()) as service:
        assert service.send(range(5)) == Counted(5, 0, 0)
        service.service.close_round("survey", 0)
        assert _name(service.send([9])) == "round-closed"
        assert service.verified() == 5
    with inside(database) as service:
        assert service.service.writer.ids == {}
        assert _name(service.send([1])) == "round-closed"


def test_a_question_replaced_while_an_upload_waits_takes_nothing(database):
    with inside(database, collection_file()) as service:
        old = service.asked("commute")
        service.service.add(collection_file(count=50))  # no reports yet, so it may be replaced
        assert not service.service.shelf.has(old)
        service.asked = lambda *_: old
        assert _name(service.send([1])) == "foreign-reports"
        assert service.verified() == 0


def test_a_retired_or_erased_collection_takes_nothing_and_stays_so(database):
    with inside(database, collection_file()) as service:
        service.send(range(5))
        service.service.retire("survey")
        assert _name(service.send([9])) == "round-closed"
        with pytest.raises(HttpProblem, match="is retired"):
            service.service.add(collection_file(version=2))
    with inside(database) as service:
        assert service.service.shelf.get("survey").retired
        assert service.verified() == 5
        service.service.erase("survey")
        assert service.service.shelf.names() == []
        assert service.verified() == 0
        with service.service.connection() as connection:
            days = connection.execute("SELECT day, what FROM audit ORDER BY number")
    assert days[-1][1] == "collection survey erased"
    assert all(len(day) == len("2026-11-04") for day, _ in days)  # no hour, no minute


def test_versions_keep_their_rounds(database):
    with inside(database, collection_file()) as service:
        with pytest.raises(HttpProblem, match="the rounds of 'survey' are daily from 2026-11-01"):
            service.service.add(collection_file(version=2, start="2026-11-02"))
        service.service.add(collection_file(version=2, count=200))


def test_a_second_service_is_kept_out(database):
    with (
        inside(database),
        pytest.raises(InvalidParameterError, match="another service writes to"),
        inside(database),
    ):
        pass


def test_a_newer_schema_is_refused_and_left_alone(database):
    with inside(database, collection_file()) as service:
        service.send([1])
    connection = database.connect()
    database._set_version(connection, 99)
    with pytest.raises(FileFormatError, match=r"newer ldpkit \(schema 99"), inside(database):
        pass
    with pytest.raises(FileFormatError, match="newer"):
        database.check(connection)
    assert connection.execute("SELECT count(*) FROM chunks") == [(1,)]
    connection.close()


def test_a_full_disk_refuses_and_loses_nothing(tmp_path):
    database = SqliteDatabase(tmp_path / "collector.db")
    with inside(database, collection_file()) as service:
        assert service.send(range(100)) == Counted(100, 0, 0)
        ((pages,),) = service.service.writer.call(lambda c: c.execute("PRAGMA page_count"))
        service.service.writer.call(lambda c: c.execute(f"PRAGMA max_page_count={pages}"))
        fates = [_name(service.send(range(1000 * i, 1000 * i + 1000))) for i in (1, 2, 3)]
        assert "busy" in fates
        failed = [i for i, fate in enumerate(fates, 1) if fate == "busy"]
        assert service.verified() == 100 + 1000 * (3 - len(failed))
        service.service.writer.call(lambda c: c.execute("PRAGMA max_page_count=1000000"))
        for i in (1, 2, 3):
            wanted = Counted(1000, 0, 0) if i in failed else Counted(0, 1000, 0)
            assert service.send(range(1000 * i, 1000 * i + 1000)) == wanted
        assert service.verified() == 3100


def test_a_commit_that_only_seems_to_fail_counts_nobody_twice(database, monkeypatch):
    """The connection breaks after the database has written: the device sends again, and is a duplicate."""
    with inside(database, collection_file()) as service:
        writer = service.service.writer
        assert service.send(range(10)) == Counted(10, 0, 0)
        real = writer._commit

        def breaks(connection, groups):
            before, last = dict(writer._tallies), writer._settled
            real(connection, [*groups])
            writer._tallies, writer._settled = before, last  # as if it had never heard
            for group in groups:
                writer.ids[group.subject]._runs.pop()
            raise OSError("the connection broke")

        monkeypatch.setattr(writer, "_commit", breaks)
        assert _name(service.send(range(100, 120))) == "busy"
        monkeypatch.setattr(writer, "_commit", real)
        assert service.send(range(100, 125)) == Counted(5, 20, 0)
        assert service.verified() == 35


def test_a_moved_database_file_is_noticed(tmp_path):
    database = SqliteDatabase(tmp_path / "collector.db")
    with inside(database, collection_file()) as service:
        service.send(range(3))
        (tmp_path / "collector.db").rename(tmp_path / "away.db")
        (tmp_path / "collector.db-wal").rename(tmp_path / "away.db-wal")
        assert _name(service.send([7])) == "busy"
        (tmp_path / "away.db").rename(tmp_path / "collector.db")
        (tmp_path / "away.db-wal").rename(tmp_path / "collector.db-wal")


@pytest.mark.parametrize("victim", ["stopped server", "server", "backend"])
def test_postgresql_gone_and_back(postgres, new_postgres, victim):
    """The server ends or is killed: 503, then recovery, with nothing lost or counted twice."""
    from ldpkit.collector.database import open_database

    database = open_database(new_postgres())
    with inside(database, collection_file()) as service:
        acknowledged = set()
        for step in range(6):
            ids = range(100 * step, 100 * step + 100)
            if step == 2:
                if victim == "backend":  # the server ends every other one too, and recovers
                    ((pid,),) = service.service.writer.call(lambda c: c.execute("SELECT pg_backend_pid()"))
                    os.kill(pid, signal.SIGKILL)
                else:
                    os.kill(postgres.pid, signal.SIGINT if victim == "stopped server" else signal.SIGKILL)
            found = service.send(ids)
            if isinstance(found, Counted):
                acknowledged |= set(ids)
            if step == 3 and victim != "backend":
                postgres.start()
        assert len(acknowledged) < 600, "the server was never gone"
        deadline = time.monotonic() + 60
        while isinstance(found := service.send(range(600)), HttpProblem):
            assert time.monotonic() < deadline
        assert found.duplicate >= len(acknowledged)
        assert found.accepted + found.duplicate == 600
        assert service.verified() == 600


def test_ids_of_a_closed_round_are_gone_from_the_file(tmp_path):
    database = SqliteDatabase(tmp_path / "collector.db")
    telltale = int.from_bytes(b"ID-TRACE", "little")
    with inside(database, collection_file()) as service:
        service.send([telltale, *range(50)])
        raw = b"".join(path.read_bytes() for path in tmp_path.glob("collector.db*"))
        assert b"ID-TRACE" in raw  # the control: while the round is open it is there
        service.service.close_round("survey", 0)
        raw = b"".join(path.read_bytes() for path in tmp_path.glob("collector.db*"))
        assert b"ID-TRACE" not in raw


def test_chunks_are_in_no_order_of_arrival(tmp_path):
    database = SqliteDatabase(tmp_path / "collector.db")
    with inside(database, collection_file()) as service:
        mechanism = service.asked("commute").mechanism
        reports = mechanism.encode(mechanism.privatize(["bike"] * 500))
        service.send(np.arange(500)[::-1], reports=reports)
    with opened(tmp_path / "collector.db") as connection:
        ((kept, ids),) = connection.execute("SELECT reports, ids FROM chunks").fetchall()
    length = mechanism.report_bytes
    rows = [[data[i : i + length] for i in range(0, len(data), length)] for data in (reports, kept)]
    assert sorted(rows[0]) == sorted(rows[1])
    same = sum(a == b for a, b in zip(*rows, strict=True))
    assert same < 20  # of 500; one is expected by chance
    assert np.frombuffer(ids, "<u8").tolist() == list(range(500))
