"""One database, SQLite or PostgreSQL, behind the same few calls; the schema grows by numbered files.

SQL is written once, with `?` for a parameter. What differs between the two is said here: how a
column of bytes is called, how a writer keeps a second one out, and which errors pass.
"""

from __future__ import annotations

import abc
import contextlib
import importlib.resources
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, ClassVar
from urllib.parse import urlsplit

from ldpkit.core.errors import FileFormatError, InvalidParameterError, LdpkitError
from ldpkit.core.locks import lock

__all__ = ["Connection", "Database", "DatabaseError", "open_database"]

_APPLICATION = 0x6C647063  # "ldpc", in the header of an SQLite file
_LOCK = 0x6C6470636F6C6C31  # of the writer, in PostgreSQL


class DatabaseError(LdpkitError):
    """The database did not take what it was given; nothing of it was kept.

    Parameters
    ----------
    message : str
        What it said.
    is_gone : bool
        Whether the connection is lost, and a new one may work.
    """

    def __init__(self, message: str, *, is_gone: bool = False) -> None:
        super().__init__(message)
        self.is_gone = is_gone


class Connection(abc.ABC):
    """One connection, for one thread."""

    @abc.abstractmethod
    def execute(self, sql: str, parameters: Iterable[Any] = ()) -> list[tuple[Any, ...]]:
        """Run a statement and return its rows."""

    @abc.abstractmethod
    def rows(self, sql: str, parameters: Iterable[Any] = ()) -> Iterator[tuple[Any, ...]]:
        """Yield the rows of a query one by one, so that they never fill the memory."""

    @abc.abstractmethod
    def transaction(self) -> contextlib.AbstractContextManager[None]:
        """Keep all that is done in the block, on the disk when it ends, or nothing."""

    @abc.abstractmethod
    def close(self) -> None:
        """Let go of the connection."""


class Database(abc.ABC):
    """Where a collector keeps its reports."""

    types: ClassVar[dict[str, str]]
    """What the schema's placeholders stand for."""

    @abc.abstractmethod
    def connect(self) -> Connection:
        """Return a new connection."""

    @abc.abstractmethod
    def take_writer_lock(self) -> contextlib.AbstractContextManager[None]:
        """Keep every other service out for the length of the block, or refuse."""

    @abc.abstractmethod
    def _version(self, connection: Connection) -> int:
        """Return the number of the last migration that was made, 0 for a new database."""

    @abc.abstractmethod
    def _set_version(self, connection: Connection, version: int) -> None:
        """Note that a migration was made."""

    def prepare(self) -> None:
        """Bring the schema up to this program's; refuse one that a newer program made."""
        migrations = _migrations()
        connection = self.connect()
        try:
            with connection.transaction():
                version = self._version(connection)
                if version > len(migrations):
                    raise FileFormatError(
                        f"the database {self} was written by a newer ldpkit (schema {version}, this knows "
                        f"{len(migrations)}): update ldpkit, or restore a backup of before"
                    )
                for number, text in enumerate(migrations[version:], version + 1):
                    for statement in text.format(**self.types).split(";"):
                        if statement.strip():
                            connection.execute(statement)
                    self._set_version(connection, number)
        finally:
            connection.close()


def open_database(where: str | os.PathLike[str]) -> Database:
    """Return the database of an address: `postgresql://...`, or a folder for an SQLite file."""
    if urlsplit(str(where)).scheme in ("postgres", "postgresql"):
        from ldpkit.collector.postgres import PostgresDatabase

        return PostgresDatabase(str(where))
    return SqliteDatabase(Path(where) / "collector.db")


def _migrations() -> list[str]:
    """Return the statements of each migration, in their order."""
    folder = importlib.resources.files("ldpkit.collector") / "migrations"
    files = sorted(
        (each for each in folder.iterdir() if each.name.endswith(".sql")), key=lambda each: each.name
    )
    return [each.read_text("utf-8") for each in files]


class SqliteDatabase(Database):
    """A file, with a write-ahead log that is on the disk before a report is acknowledged."""

    types: ClassVar = {"blob": "BLOB", "int64": "INTEGER", "serial": "INTEGER PRIMARY KEY"}

    def __init__(self, path: Path) -> None:
        self.path = path.absolute()

    def connect(self) -> Connection:
        if not self.path.parent.is_dir():
            raise InvalidParameterError(
                f"the folder {str(self.path.parent)!r} for the database is not there: make it"
            )
        return _SqliteConnection(self.path)

    @contextlib.contextmanager
    def take_writer_lock(self) -> Iterator[None]:
        """Hold a lock on a file beside the database; it goes with the process, however that ends."""
        path = self.path.with_name(self.path.name + ".lock")
        handle = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), 0o600)
        try:
            if lock(handle) is False:
                raise InvalidParameterError(
                    f"another service writes to {str(self.path)!r}: stop it, or choose another --data"
                )
            yield
        finally:
            os.close(handle)

    def _version(self, connection: Connection) -> int:
        ((application,),) = connection.execute("PRAGMA application_id")
        ((version,),) = connection.execute("PRAGMA user_version")
        if application != _APPLICATION and (
            application or version or connection.execute("SELECT 1 FROM sqlite_master")
        ):
            raise FileFormatError(
                f"{str(self.path)!r} is a database of another program: choose another folder with --data"
            )
        return int(version)

    def _set_version(self, connection: Connection, version: int) -> None:
        connection.execute(f"PRAGMA application_id={_APPLICATION}")
        connection.execute(f"PRAGMA user_version={version}")

    def backup(self, target: Path) -> None:
        """Write a copy of the database as it is now, while it is being written to."""
        import sqlite3

        with (
            contextlib.closing(sqlite3.connect(self.path)) as source,
            contextlib.closing(sqlite3.connect(target)) as copy,
        ):
            source.backup(copy, pages=1024)
            copy.execute("PRAGMA journal_mode=DELETE")  # one file, to be carried away

    def __str__(self) -> str:
        return str(self.path)


class _SqliteConnection(Connection):
    def __init__(self, path: Path) -> None:
        import sqlite3

        self._errors = sqlite3.Error
        self._path = path
        try:
            self._connection = sqlite3.connect(
                path, isolation_level=None, check_same_thread=False, timeout=30
            )
            for setting in (
                "page_size=16384",  # of a new file: a chunk fills several
                "journal_mode=WAL",
                "wal_autocheckpoint=2000",
                "synchronous=FULL",  # every commit is on the disk
                "fullfsync=ON",
                "trusted_schema=OFF",
                "cell_size_check=ON",
            ):
                self._connection.execute(f"PRAGMA {setting}")
        except sqlite3.Error as error:
            raise self._refusal(error) from error
        with contextlib.suppress(OSError):
            path.chmod(0o600)

    def execute(self, sql: str, parameters: Iterable[Any] = ()) -> list[tuple[Any, ...]]:
        try:
            return self._connection.execute(sql, tuple(parameters)).fetchall()
        except self._errors as error:
            raise self._refusal(error) from error

    def rows(self, sql: str, parameters: Iterable[Any] = ()) -> Iterator[tuple[Any, ...]]:
        try:
            yield from self._connection.execute(sql, tuple(parameters))
        except self._errors as error:
            raise self._refusal(error) from error

    @contextlib.contextmanager
    def transaction(self) -> Iterator[None]:
        self.execute("BEGIN IMMEDIATE")
        try:
            yield
            self.execute("COMMIT")
        except BaseException:
            with contextlib.suppress(self._errors):
                self._connection.execute("ROLLBACK")
            raise

    def close(self) -> None:
        self._connection.close()

    def _refusal(self, error: Exception) -> LdpkitError:
        import sqlite3

        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        if code in (sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT):
            return FileFormatError(f"the database {str(self._path)!r} is damaged ({error}): restore a backup")
        remedy = {
            sqlite3.SQLITE_FULL: "make room on the disk",
            sqlite3.SQLITE_BUSY: "another process holds it: try again",
        }.get(code, "check the disk, and the permissions of the file and its folder")
        return DatabaseError(f"the database {str(self._path)!r} failed ({error}): {remedy}")
