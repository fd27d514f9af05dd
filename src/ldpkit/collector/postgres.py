"""PostgreSQL as a collector's database, through psycopg."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterable, Iterator
from typing import Any, ClassVar

from ldpkit.collector.database import Connection, Database, DatabaseError
from ldpkit.core.errors import InvalidParameterError, MissingDependencyError

__all__ = ["PostgresDatabase"]

_LOCK = 0x6C64706B  # of the one service that writes to a database
_TRIES, _PAUSE = 20, 0.05  # seconds: a server may notice a little late that the service before has gone


def _psycopg() -> Any:
    try:
        import psycopg
    except ImportError:
        raise MissingDependencyError("psycopg", "a PostgreSQL database", "postgres") from None
    return psycopg


def _locked(connection: Connection) -> bool:
    """Take the lock of the one writer; return whether that was possible."""
    for attempt in range(_TRIES):
        if attempt:
            time.sleep(_PAUSE)
        ((is_ours,),) = connection.execute("SELECT pg_try_advisory_lock(?)", [_LOCK])
        if is_ours:
            return True
    return False


class PostgresDatabase(Database):
    """A PostgreSQL database, in which a collector has the whole of a schema for itself.

    Parameters
    ----------
    address : str
        Such as `postgresql://collector@localhost/ldpkit`. A password is better left to
        PGPASSFILE: addresses end up in logs and process lists.
    """

    types: ClassVar = {"blob": "BYTEA", "int64": "BIGINT", "serial": "BIGSERIAL PRIMARY KEY"}

    def __init__(self, address: str) -> None:
        self._address = address
        _psycopg()

    def connect(self) -> Connection:
        """Return a new connection."""
        return _PostgresConnection(self._address, str(self))

    def connect_writer(self) -> Connection:
        """Return a connection with an advisory lock: both are lost together, with what was begun."""
        connection = self.connect()
        try:
            if not _locked(connection):
                raise InvalidParameterError(
                    f"another service writes to {self}: stop it, or choose another database with --data"
                )
            connection.execute("SET synchronous_commit TO on")  # whatever the server's own setting is
        except BaseException:
            connection.close()
            raise
        return connection

    def _version(self, connection: Connection) -> int:
        if connection.execute("SELECT to_regclass('schema_version')") == [(None,)]:
            return 0
        rows = connection.execute("SELECT max(version) FROM schema_version")
        return int(rows[0][0] or 0)

    def _set_version(self, connection: Connection, version: int) -> None:
        connection.execute("CREATE TABLE IF NOT EXISTS schema_version (version INTEGER NOT NULL)")
        connection.execute("INSERT INTO schema_version VALUES (?)", [version])

    def __str__(self) -> str:
        from urllib.parse import urlsplit

        parts = urlsplit(self._address)  # without who connects, and how
        return f"postgresql://{parts.hostname or ''}{parts.path}"


class _PostgresConnection(Connection):
    def __init__(self, address: str, name: str) -> None:
        self._module, self._name = _psycopg(), name
        try:
            self._connection = self._module.connect(
                address,
                autocommit=True,
                connect_timeout=10,
                keepalives_idle=10,  # a server that vanished is noticed within the minute
                keepalives_interval=5,
                tcp_user_timeout=30_000,
            )
        except self._module.Error as error:
            raise self._refusal(error) from None

    def execute(self, sql: str, parameters: Iterable[Any] = ()) -> list[tuple[Any, ...]]:
        try:
            cursor = self._connection.execute(sql.replace("?", "%s"), tuple(parameters))
            return list(cursor.fetchall()) if cursor.description else []
        except self._module.Error as error:
            raise self._refusal(error) from error

    def rows(self, sql: str, parameters: Iterable[Any] = ()) -> Iterator[tuple[Any, ...]]:
        try:
            with self._connection.transaction(), self._connection.cursor("ldpkit") as cursor:
                cursor.itersize = 16  # chunks are large
                cursor.execute(sql.replace("?", "%s"), tuple(parameters))
                yield from cursor
        except self._module.Error as error:
            raise self._refusal(error) from error

    @contextlib.contextmanager
    def transaction(self) -> Iterator[None]:
        try:
            with self._connection.transaction():
                yield
        except self._module.Error as error:
            raise self._refusal(error) from error

    @contextlib.contextmanager
    def snapshot(self) -> Iterator[None]:
        with self.transaction():
            self.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
            yield

    def close(self) -> None:
        self._connection.close()

    def _refusal(self, error: Exception) -> DatabaseError:
        is_gone = isinstance(error, self._module.OperationalError)
        said = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        return DatabaseError(
            f"the database {self._name} failed ({said}): check that it runs", is_gone=is_gone
        )
