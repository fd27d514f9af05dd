"""Copies of an SQLite database, made while it is written to, and put back."""

from __future__ import annotations

import contextlib
import os
import sqlite3
from pathlib import Path

from ldpkit.collector.database import Database, SqliteDatabase, open_database
from ldpkit.core.errors import FileFormatError, InvalidInputError, InvalidParameterError
from ldpkit.core.wholefile import sync_folder

__all__ = ["back_up", "put_back"]


def _sqlite(data: str) -> SqliteDatabase:
    database: Database = open_database(data)
    if not isinstance(database, SqliteDatabase):
        raise InvalidParameterError(f"{database} is PostgreSQL: use pg_dump and pg_restore")
    return database


def back_up(data: str, target: Path) -> None:
    """Write a copy of a database that is whole, to a file that appears when it is complete."""
    database = _sqlite(data)
    if not database.path.exists():
        raise InvalidInputError(f"there is no database in {data!r}: check --data")
    part = target.with_name(f".ldpkit-backup-{os.getpid()}.part")
    try:
        database.backup(part)
        with part.open("rb") as stream:
            os.fsync(stream.fileno())
        part.chmod(0o600)
        part.replace(target)
        sync_folder(target.absolute().parent)
    finally:
        part.unlink(missing_ok=True)


def put_back(source: Path, data: str, *, force: bool) -> None:
    """Put a copy in the place of a database that no service uses.

    Answers that came in after the copy was made are lost with the database that it replaces, so
    that one is kept beside it.
    """
    database = _sqlite(data)
    if not source.is_file():
        raise InvalidInputError(f"there is no backup {str(source)!r}: check the path")
    database.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with database.locked():
        if database.path.exists() and not force:
            raise InvalidInputError(
                f"{data!r} already has a database: give --force to replace it; a copy of it is kept"
            )
        part = SqliteDatabase(database.path.with_name(".ldpkit-restore.part"))
        try:
            _copy_checked(source, part)
            for ending in ("", "-wal", "-shm"):
                old, kept = Path(f"{database.path}{ending}"), Path(f"{database.path}.replaced{ending}")
                kept.unlink(missing_ok=True)  # the log of one database must not lie beside another
                with contextlib.suppress(FileNotFoundError):
                    old.replace(kept)
            part.path.replace(database.path)
            sync_folder(database.path.parent)
        finally:
            for ending in ("", "-wal", "-shm", ".lock"):
                Path(f"{part.path}{ending}").unlink(missing_ok=True)


def _copy_checked(source: Path, part: SqliteDatabase) -> None:
    """Copy a backup, and refuse one that is damaged, foreign or newer; the backup itself stays as it is."""
    part.path.unlink(missing_ok=True)
    try:
        SqliteDatabase(source).backup(part.path)
    except sqlite3.DatabaseError as error:
        raise FileFormatError(
            f"{str(source)!r} is not a backup, or is damaged ({error}): use another one"
        ) from None
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
