"""Copies of an SQLite database, made while it is written to, and put back."""

from __future__ import annotations

import contextlib
import os
import sqlite3
from collections.abc import Iterator
from pathlib import Path

from ldpkit.collector.database import Database, SqliteDatabase, make_data_folder, open_database
from ldpkit.collector.first_tokens import TOKEN_FILES
from ldpkit.core.errors import (
    FileFormatError,
    InvalidInputError,
    InvalidParameterError,
    LdpkitError,
    WriteError,
)
from ldpkit.core.stopping import tidied
from ldpkit.core.wholefile import sync_folder, whole_copy

__all__ = ["back_up", "own_files", "put_back", "refuse_own_file"]


def _sqlite(data: str) -> SqliteDatabase:
    database: Database = open_database(data)
    if not isinstance(database, SqliteDatabase):
        raise InvalidParameterError(f"{database} is PostgreSQL: use pg_dump and pg_restore")
    return database


def own_files(data: str) -> list[Path]:
    """Return the files that a service keeps in a folder, or would keep; none of PostgreSQL."""
    database = open_database(data)
    if not isinstance(database, SqliteDatabase):
        return []
    beside = (Path(f"{database.path}{ending}") for ending in ("", "-wal", "-shm", "-journal"))
    return [*beside, database.lock_path, *map(database.path.with_name, TOKEN_FILES.values())]


def refuse_own_file(data: str, target: Path) -> None:
    """Refuse to write a copy to the place of a file that the service uses, even one that is not there yet."""
    place = os.path.realpath(target)
    for own in own_files(data):
        if place == os.path.realpath(own) or (target.exists() and own.exists() and target.samefile(own)):
            raise InvalidInputError(
                f"{str(target)!r} is a file that the service uses: choose another name for the copy"
            )


def back_up(data: str, target: Path) -> int:
    """Write a copy of a database that is whole, to a file that appears when it is complete.

    Returns
    -------
    int
        The length of the copy in bytes.
    """
    database = _sqlite(data)
    refuse_own_file(data, target)
    if not database.path.exists():
        raise InvalidInputError(
            f"there is no database in {str(database.path.parent)!r}: run this where 'ldpkit serve' runs, "
            "or give --data"
        )
    try:
        with whole_copy(target) as part:
            part.chmod(0o600)
            database.backup(part)
            return part.stat().st_size  # before it has its name, under which somebody may move it
    except sqlite3.Error as error:
        raise _refusal(
            error, f"the database in {data!r} is damaged ({error}): restore a backup", target
        ) from None


def _refusal(error: sqlite3.Error, damaged: str, target: Path) -> LdpkitError:
    """Return what a copy failed of: a source that is damaged, or a disk that does not take it."""
    if getattr(error, "sqlite_errorcode", 0) & 0xFF in (sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT):
        return FileFormatError(damaged)
    return WriteError(str(target), str(error))


def put_back(source: Path, data: str, *, force: bool) -> Path | None:
    """Put a copy in the place of a database that no service uses; return where the old one is kept.

    Answers that came in after the copy was made are lost with the database that it replaces, so
    that one is kept beside it.
    """
    database = _sqlite(data)
    if not source.is_file():
        raise InvalidInputError(f"there is no backup {str(source)!r}: check the path")
    with _made_folder(data), database.locked(), tidied():
        is_there = database.path.exists()
        if is_there and not force:
            raise InvalidInputError(
                f"{data!r} already has a database: give --force to replace it; a copy of it is kept"
            )
        part = SqliteDatabase(database.path.with_name(".ldpkit-restore.part"))
        if part.path.exists() and part.path.samefile(source):
            raise InvalidInputError(
                f"{str(source)!r} is what a stopped restore left, and each removes it: give the backup"
            )
        try:
            _copy_checked(source, part)
            for ending in ("", "-wal", "-shm"):
                old, kept = Path(f"{database.path}{ending}"), Path(f"{database.replaced}{ending}")
                if old.exists():
                    old.replace(kept)
                elif is_there:  # else what is kept is of a restore that was stopped here: it stays
                    kept.unlink(missing_ok=True)  # the log of one database must not lie beside another
            part.path.replace(database.path)
            sync_folder(database.path.parent)
        finally:
            for ending in ("", "-wal", "-shm", ".lock"):
                Path(f"{part.path}{ending}").unlink(missing_ok=True)
    return database.replaced if is_there else None


@contextlib.contextmanager
def _made_folder(data: str) -> Iterator[None]:
    """Make the folder of a database; take away what was made of it if no database comes into it."""
    folder = Path(data)
    new = [each for each in (folder, *folder.parents) if not each.exists()]
    make_data_folder(data)
    try:
        yield
    except BaseException:
        with contextlib.suppress(OSError):  # there is something else in it now
            if new:
                _sqlite(data).lock_path.unlink(missing_ok=True)
            for each in new:
                each.rmdir()
        raise


def _copy_checked(source: Path, part: SqliteDatabase) -> None:
    """Copy a backup, and refuse one that is damaged, foreign or newer; the backup itself stays as it is."""
    part.path.unlink(missing_ok=True)
    try:
        SqliteDatabase(source).backup(part.path)
    except sqlite3.Error as error:
        damaged = f"{str(source)!r} is not a backup, or is damaged ({error}): use another one"
        raise _refusal(error, damaged, part.path.parent) from None
    connection = part.connect()
    try:
        part.check_old(connection)
        if connection.execute("PRAGMA integrity_check(1)") != [("ok",)]:
            raise FileFormatError(f"the backup {str(source)!r} is damaged: use another one")
    finally:
        connection.close()
    with part.path.open("rb") as stream:
        os.fsync(stream.fileno())
    part.path.chmod(0o600)
