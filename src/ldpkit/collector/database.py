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

from ldpkit.core.errors import FileFormatError, InvalidInputError, InvalidParameterError, LdpkitError
from ldpkit.core.locks import lock

__all__ = ["Connection", "Database", "DatabaseError", "open_database"]

_FORMAT_VERSIONS = 18  # where an SQLite header says whether there is a write-ahead log (2, 2) or not (1, 1)
_APPLICATION = 0x6C647063  # "ldpc", in the header of an SQLite file


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

    def forget(self) -> None:
        """Leave nothing of what was deleted, as far as the database can."""
        return

    @abc.abstractmethod
    def transaction(self) -> contextlib.AbstractContextManager[None]:
        """Keep all that is done in the block, on the disk when it ends, or nothing."""

    @abc.abstractmethod
    def snapshot(self) -> contextlib.AbstractContextManager[None]:
        """See in the block only what was there when it began to read, whatever others write meanwhile."""

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
    def connect_writer(self) -> Connection:
        """Return a connection that keeps every other writer out while it is open, or refuse."""

    def copies(self) -> list[str]:
        """Return the names of older databases that are kept beside this one."""
        return []

    @abc.abstractmethod
    def _version(self, connection: Connection) -> int:
        """Return the number of the last migration that was made, 0 for a new database."""

    @abc.abstractmethod
    def _set_version(self, connection: Connection, version: int) -> None:
        """Note that a migration was made."""

    def prepare(self, connection: Connection) -> None:
        """Bring the schema up to this program's, as its only writer; refuse a newer one."""
        migrations = _migrations()
        with connection.transaction():
            version = self._checked_version(connection, len(migrations))
            for number, text in enumerate(migrations[version:], version + 1):
                for statement in text.format(**self.types).split(";"):
                    if statement.strip():
                        connection.execute(statement)
                self._set_version(connection, number)

    def check(self, connection: Connection) -> None:
        """Refuse a database whose schema is not this program's."""
        last = len(_migrations())
        version = self._checked_version(connection, last)
        if version < last:
            raise FileFormatError(
                f"the database {self} has the schema {version} and this ldpkit {last}: start ldpkit serve "
                "once, which brings it up"
            )

    def check_old(self, connection: Connection) -> None:
        """Refuse a database that is none of a collector, or a newer one."""
        if not self._checked_version(connection, len(_migrations())):
            raise FileFormatError(f"{self} is not a collector's database")

    def _checked_version(self, connection: Connection, last: int) -> int:
        version = self._version(connection)
        if version > last:
            raise FileFormatError(
                f"the database {self} was written by a newer ldpkit (schema {version}, this knows {last}): "
                "update ldpkit, or restore a backup of before"
            )
        return version


def open_database(where: str | os.PathLike[str]) -> Database:
    """Return the database of an address: `postgresql://...`, or a folder for an SQLite file."""
    if not str(where).strip():
        raise InvalidParameterError("--data is empty: name a folder, or . for this one")
    if urlsplit(str(where)).scheme in ("postgres", "postgresql"):
        from ldpkit.collector.postgres import PostgresDatabase

        return PostgresDatabase(str(where))
    return SqliteDatabase(Path(where) / "collector.db")


def make_data_folder(where: str) -> None:
    """Make the folder for an SQLite file, for its owner alone, if it is not there."""
    try:
        Path(where).mkdir(mode=0o700, parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError):
        raise InvalidInputError(f"{where!r} is not a folder: name another one with --data") from None


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

    @property
    def lock_path(self) -> Path:
        """The file that a writer locks."""
        return Path(f"{self.path}.lock")

    @property
    def replaced(self) -> Path:
        """Where a restore keeps the database that it replaced."""
        return Path(f"{self.path}.replaced")

    def copies(self) -> list[str]:
        return [self.replaced.name] if self.replaced.exists() else []

    def connect(self) -> Connection:
        if self.path.parent.is_file():
            raise InvalidParameterError(
                f"{str(self.path.parent)!r} is a file, not the folder of a service: to look into a backup, "
                "restore it into a new folder with 'ldpkit collector restore FILE --data FOLDER'"
            )
        if not self.path.exists():
            raise InvalidParameterError(
                f"there is no database in {str(self.path.parent)!r}: run this where 'ldpkit serve' runs, "
                "or give --data"
            )
        return _SqliteConnection(self.path)

    def connect_writer(self) -> Connection:
        """Return a connection behind a lock on a file beside it, which goes with the process."""
        held = contextlib.ExitStack()
        held.enter_context(self.locked())
        try:
            if not self.path.parent.is_dir():
                raise self._no_folder()
            return _SqliteConnection(self.path, held)
        except BaseException:
            held.close()
            raise

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Keep every writer out for the length of the block, or refuse."""
        try:
            handle = os.open(self.lock_path, os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), 0o600)
        except FileNotFoundError:
            raise self._no_folder() from None
        except OSError as error:
            raise InvalidParameterError(
                f"cannot write to the folder {str(self.path.parent)!r} ({error.strerror}): check --data"
            ) from None
        try:
            if lock(handle) is False:
                raise InvalidParameterError(
                    f"another service writes to {str(self.path)!r}: stop it, or choose another --data"
                )
            yield
        finally:
            os.close(handle)

    def _no_folder(self) -> InvalidParameterError:
        return InvalidParameterError(
            f"the folder {str(self.path.parent)!r} for the database does not exist: make it"
        )

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

        os.close(os.open(target, os.O_WRONLY | os.O_CREAT, 0o600))  # SQLite would let everybody read it
        # Nobody else knows the copy: it needs no locks, which could meet those of who made the file.
        alone = f"{target.absolute().as_uri()}?nolock=1"
        with (
            contextlib.closing(sqlite3.connect(self.path)) as source,
            contextlib.closing(sqlite3.connect(alone, uri=True)) as copy,
        ):
            copy.execute("PRAGMA journal_mode=OFF")  # a copy that fails is thrown away
            source.backup(copy, pages=-1)  # in one step: a writer would make it begin anew after each
        with target.open("r+b") as stream:  # one file, to be carried away: its header names no other journal
            stream.seek(_FORMAT_VERSIONS)
            stream.write(b"\1\1")

    def __str__(self) -> str:
        return str(self.path)


class _SqliteConnection(Connection):
    def __init__(self, path: Path, held: contextlib.ExitStack | None = None) -> None:
        import sqlite3

        self._errors = sqlite3.Error
        self._path, self._held = path, held
        settings = ["trusted_schema=OFF", "cell_size_check=ON"]
        if held is not None:
            settings += [
                "page_size=8192",  # of a new file: smaller ones cost large commits, larger ones small commits
                "journal_mode=WAL",
                "wal_autocheckpoint=2000",
                "secure_delete=ON",  # ids of a closed round are gone from the file, too
            ]
        settings += ["synchronous=FULL", "fullfsync=ON"]  # every commit is on the disk
        try:
            self._connection = sqlite3.connect(
                path, isolation_level=None, check_same_thread=False, timeout=30
            )
            try:
                for setting in settings:
                    self._connection.execute(f"PRAGMA {setting}")
            except sqlite3.Error:
                self._connection.close()
                raise
        except sqlite3.Error as error:
            raise self._refusal(error) from error
        self._file = _identity(path)
        if held is not None:
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
        if _identity(self._path) != self._file:  # SQLite would go on writing to a file that has no name
            raise DatabaseError(
                f"the database {str(self._path)!r} was moved or deleted: put it back", is_gone=True
            )
        self.execute("BEGIN IMMEDIATE")
        try:
            yield
            self.execute("COMMIT")
        except BaseException:
            with contextlib.suppress(self._errors):
                self._connection.execute("ROLLBACK")
            raise

    @contextlib.contextmanager
    def snapshot(self) -> Iterator[None]:
        self.execute("BEGIN")
        try:
            yield
        finally:
            with contextlib.suppress(self._errors):
                self._connection.execute("ROLLBACK")

    def forget(self) -> None:
        """Empty the write-ahead log, which has pages as they were before."""
        self.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def close(self) -> None:
        self._connection.close()
        if self._held is not None:
            self._held.close()

    def _refusal(self, error: Exception) -> LdpkitError:
        import sqlite3

        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        if code in (sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT):
            return FileFormatError(f"the database {str(self._path)!r} is damaged ({error}): restore a backup")
        remedy = {
            sqlite3.SQLITE_FULL: "make room on the disk",
            sqlite3.SQLITE_BUSY: "another process holds it: try again",
        }.get(code, "check the disk, and the permissions of the file and its folder")
        return DatabaseError(
            f"the database {str(self._path)!r} failed ({error}): {remedy}",
            is_gone=code in (sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN),
        )


def _identity(path: Path) -> tuple[int, int] | None:
    """Return what tells one file from another of the same name; None if there is none."""
    try:
        found = os.stat(path)  # noqa: PTH116 - half the time of Path.stat, at every commit
    except OSError:
        return None
    return found.st_dev, found.st_ino
