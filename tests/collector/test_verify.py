"""What is kept is checked: every damaged row is found, and a tally can be counted again."""

from __future__ import annotations

import resource
import sqlite3
from pathlib import Path

import pytest

from client.collecting import collection_file
from collector.inside import inside, opened
from ldpkit.collector.backup import back_up, put_back
from ldpkit.collector.database import SqliteDatabase
from ldpkit.collector.problems import HttpProblem
from ldpkit.collector.tokens import ADMIN, ANALYST, check_token, list_tokens, new_token, revoke_token
from ldpkit.collector.verify import verify
from ldpkit.core.errors import FileFormatError, InvalidInputError, InvalidParameterError, WriteError

DAMAGE = {
    "chunks": ("reports", "ids", "n", "round", "version"),
    "tallies": ("counts", "n", "question"),
    "collections": ("envelope", "digest", "version", "retired"),
    "closed_rounds": ("round", "collection"),
    "tokens": ("role", "digest"),
    "audit": ("what", "day"),
}


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    """A database with reports of two rounds, one of them closed, and a token."""
    folder = tmp_path_factory.mktemp("kept")
    with inside(SqliteDatabase(folder / "collector.db"), collection_file()) as service:
        for number in (0, 1):
            service.send(range(40), number=number)
            service.send(range(30, 60), number=number)
        service.service.close_round("survey", 0)
        with service.service.connection() as connection:
            new_token(connection, "ours", ANALYST)
        assert service.verified() == 120
    back_up(str(folder), folder / "copy.db")
    return folder / "copy.db"


@pytest.fixture
def damaged(kept, tmp_path):
    put_back(kept, str(tmp_path), force=False)
    return SqliteDatabase(tmp_path / "collector.db")


def _problems(database, **options):
    connection = database.connect()
    try:
        return [each for each in verify(connection, **options) if each.problem]
    finally:
        connection.close()


@pytest.mark.parametrize("table", DAMAGE)
def test_every_changed_value_is_found(damaged, table):
    whole = damaged.path.read_bytes()
    for column in DAMAGE[table]:
        damaged.path.write_bytes(whole)
        assert _problems(damaged) == []
        _change(damaged, table, column)
        assert _problems(damaged) != [], column


def _change(damaged, table, column):
    with opened(damaged.path) as connection:
        ((row, value),) = connection.execute(f"SELECT rowid, {column} FROM {table} LIMIT 1").fetchall()
        changed = (
            value + 1
            if isinstance(value, int)
            else (bytes([value[0] ^ 1]) + value[1:] if isinstance(value, bytes) else value[:-1] + "~")
            or b"\x00"
        )
        connection.execute(f"UPDATE {table} SET {column}=? WHERE rowid=?", (changed, row))
    connection.close()


def test_a_damaged_tally_is_counted_again_and_damaged_reports_are_not(damaged):
    with opened(damaged.path) as connection:
        connection.execute("UPDATE tallies SET n=n+1 WHERE round=0")
    connection.close()
    assert [each.is_good for each in _problems(damaged)] == [False]
    assert [each.problem.endswith("(repaired)") for each in _problems(damaged, repair=True)] == [True]
    assert _problems(damaged) == []
    with opened(damaged.path) as connection:
        connection.execute("UPDATE chunks SET n=n+1")
    connection.close()
    assert not any(each.is_good for each in _problems(damaged, repair=True))


def test_an_answer_kept_twice_is_found(damaged):
    with opened(damaged.path) as connection:
        connection.create_function("again", 1, lambda ids: ids[8:16] + ids[8:])
        connection.execute("UPDATE chunks SET ids=again(ids) WHERE round=1")
    connection.close()
    from ldpkit.collector.kept import row_checksum

    with opened(damaged.path) as connection:
        for row in connection.execute("SELECT * FROM chunks").fetchall():
            connection.execute(
                "UPDATE chunks SET checksum=? WHERE number=?", (row_checksum(*row[:-1]), row[0])
            )
    connection.close()
    assert "stored twice" in _problems(damaged)[0].problem


def test_a_service_with_a_damaged_collection_does_not_start(damaged):
    with opened(damaged.path) as connection:
        connection.execute("UPDATE collections SET digest='x'")
    connection.close()
    with pytest.raises(FileFormatError, match="collection 'survey' version 1 is damaged"), inside(damaged):
        pass


def test_backups_are_whole_while_reports_come_in(tmp_path):
    database = SqliteDatabase(tmp_path / "data" / "collector.db")
    (tmp_path / "data").mkdir()
    with inside(database, collection_file()) as service:
        tickets = []
        for turn in range(5):
            tickets += [
                service.submit(range(1000 * turn + 10 * i, 1000 * turn + 10 * i + 10)) for i in range(20)
            ]
            back_up(str(tmp_path / "data"), tmp_path / f"{turn}.db")
        for ticket in tickets:
            ticket.wait()
        assert service.verified() == 1000
        with pytest.raises(InvalidParameterError, match="another service writes"):
            put_back(tmp_path / "0.db", str(tmp_path / "data"), force=True)
    seen = []
    for turn in range(5):
        before = (tmp_path / f"{turn}.db").read_bytes()
        put_back(tmp_path / f"{turn}.db", str(tmp_path / "data"), force=True)
        assert (tmp_path / f"{turn}.db").read_bytes() == before  # the copy itself is left alone
        with inside(database) as service:
            seen.append(service.verified())
    assert seen == sorted(seen)
    with pytest.raises(InvalidInputError, match="give --force"):
        put_back(tmp_path / "0.db", str(tmp_path / "data"), force=False)


def test_what_is_written_meanwhile_is_no_damage(database):
    """A report comes in between the chunks of a round and its tally, in the middle of the check."""
    with inside(database, collection_file()) as service:
        service.send(range(10))
        with service.service.connection() as connection:
            found = verify(connection)
            seen = [next(found) for _ in range(4)]  # the tables
            service.send(range(100, 120))
            seen += found
        assert [(each.n, each.problem) for each in seen[4:]] == [(10, "")]
        assert service.verified() == 30


def test_nobody_else_reads_a_backup_in_the_making(kept, tmp_path, monkeypatch):
    modes = []
    backup = SqliteDatabase.backup

    def watched(self, target):
        monkeypatch.setattr(
            sqlite3, "connect", lambda path, **_: modes.append(target.stat().st_mode) or made(path)
        )
        try:
            backup(self, target)
        finally:
            monkeypatch.setattr(sqlite3, "connect", made)

    made = sqlite3.connect
    monkeypatch.setattr(SqliteDatabase, "backup", watched)
    put_back(kept, str(tmp_path), force=False)
    back_up(str(tmp_path), tmp_path / "again.db")
    assert {mode & 0o777 for mode in modes} == {0o600}


def test_what_is_no_backup_replaces_nothing(kept, tmp_path):
    put_back(kept, str(tmp_path), force=False)
    before = (tmp_path / "collector.db").read_bytes()
    (tmp_path / "text.db").write_bytes(b"not a database" * 1000)
    sqlite3.connect(tmp_path / "other.db").execute("CREATE TABLE x (y)").connection.close()
    with opened(tmp_path / "newer.db") as newer, opened(kept) as source:
        source.backup(newer)
        newer.execute("PRAGMA user_version=99")
    for name, said in (
        ("text.db", "not a backup"),
        ("other.db", "another program"),
        ("newer.db", "newer ldpkit"),
    ):
        with pytest.raises(FileFormatError, match=said):
            put_back(tmp_path / name, str(tmp_path), force=True)
    assert (tmp_path / "collector.db").read_bytes() == before


def test_a_full_disk_is_told_and_leaves_nothing(damaged, kept, tmp_path):
    (tmp_path / "copies").mkdir()
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    before = damaged.path.read_bytes()
    resource.setrlimit(resource.RLIMIT_FSIZE, (len(before) // 2, hard))
    try:
        with pytest.raises(WriteError, match=r"copy\.db': .*: make room"):
            back_up(str(tmp_path), tmp_path / "copies" / "copy.db")
        with pytest.raises(WriteError, match="make room"):
            put_back(kept, str(tmp_path), force=True)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert not list((tmp_path / "copies").iterdir())
    assert not list(tmp_path.glob("*.part*"))
    assert damaged.path.read_bytes() == before


def test_a_backup_removes_what_a_killed_one_left(damaged, tmp_path, monkeypatch):
    monkeypatch.setattr(Path, "unlink", lambda *_, **__: None)  # as if it were killed on the way
    monkeypatch.setattr(SqliteDatabase, "backup", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        back_up(str(tmp_path), tmp_path / "copy.db")
    assert list(tmp_path.glob(".*.part"))
    monkeypatch.undo()
    back_up(str(tmp_path), tmp_path / "copy.db")
    assert not list(tmp_path.glob(".*.part"))


def test_a_restore_that_was_stopped_keeps_what_it_replaced(damaged, kept, tmp_path, monkeypatch):
    before = damaged.path.read_bytes()

    def stop(self, target):
        if self.name.endswith(".part"):
            raise KeyboardInterrupt
        return replace(self, target)

    replace = Path.replace
    monkeypatch.setattr(Path, "replace", stop)
    with pytest.raises(KeyboardInterrupt):
        put_back(kept, str(tmp_path), force=True)
    monkeypatch.undo()
    put_back(kept, str(tmp_path), force=False)
    assert (tmp_path / "collector.db.replaced").read_bytes() == before
    assert _problems(damaged) == []


def test_tokens_are_kept_as_digests_and_can_be_revoked(damaged):
    connection = damaged.connect()
    token = new_token(connection, "weekly", ADMIN)
    assert list_tokens(connection) == [("ours", ANALYST), ("weekly", ADMIN)]
    assert check_token(connection, f"Bearer {token}", ADMIN) == "weekly"
    assert token.encode() not in b"".join(path.read_bytes() for path in damaged.path.parent.glob("*"))
    for header in (None, token, f"Basic {token}", "Bearer ", f"Bearer {token[:-1]}", "Bearer \xff"):
        with pytest.raises(HttpProblem) as caught:
            check_token(connection, header, ANALYST)
        assert caught.value.name == "not-signed-in"
    for name in ("weekly", "", "x" * 101, "two\nlines"):
        with pytest.raises(InvalidParameterError):
            new_token(connection, name, ANALYST)
    revoke_token(connection, "weekly")
    with pytest.raises(HttpProblem, match="revoked"):
        check_token(connection, f"Bearer {token}", ADMIN)
    connection.close()
