"""The store on a device: what was drawn once, and what was spent, in one file.

A permanent report that is drawn twice, or a charge that is forgotten, breaks the promise,
so both are written in one transaction before a report leaves the device. The file is a
SQLite database: it locks out other threads and processes, comes through a crash or a
power cut whole, and needs no clean-up. SQLite does not notice a flipped bit, so every
record carries a checksum; and since damage can also make a record vanish, nothing is
called new before all records were counted and found whole.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from ldpkit.client.journal import check_names, check_neighbours, identity, is_identity
from ldpkit.client.labels import pack
from ldpkit.core.errors import FileFormatError, InvalidParameterError, LdpkitError, WriteError
from ldpkit.core.forks import hold_at_forks
from ldpkit.core.wholefile import create_file

if TYPE_CHECKING:
    import sqlite3

__all__ = ["DeviceStore", "Records", "VolatileStore"]

_APPLICATION = 0x6C64706B  # "ldpk", in the header of the file
_SCHEMA = 2
_WITHOUT_ID = 1  # the schema of stores that had no id yet
_PATIENCE = 20.0  # seconds to wait for another process
_PAUSE = 0.002
_CHECKSUM_BYTES = 16
_MOST_TIMES = 1 << 48  # charges of one place; more were never made, and SQLite could not count on
_TABLES = (
    """CREATE TABLE kept (
    owner BLOB NOT NULL, place BLOB NOT NULL, content BLOB NOT NULL, times INTEGER NOT NULL,
    checksum BLOB NOT NULL, PRIMARY KEY (owner, place)
) WITHOUT ROWID""",
    "CREATE TABLE whole (records INTEGER NOT NULL, checksum BLOB NOT NULL)",
)
_SETTINGS = (
    "PRAGMA synchronous=EXTRA",  # a commit also syncs the folder: a power cut brings no old journal back
    "PRAGMA fullfsync=ON",  # where a plain sync stops at the disk's own cache
    "PRAGMA cache_spill=OFF",  # nothing is written before the commit, whose journal has the first page
    "PRAGMA cell_size_check=ON",
    "PRAGMA trusted_schema=OFF",
)

# One transaction at a time in a process, for two reasons. SQLite does not survive a fork
# while another thread is inside it, so a fork waits here. And closing any handle of a file
# drops the locks that the process holds on it, so no file is made while another is in use.
# A thread may enter again, as a signal handler does, with another store.
_turn = threading.RLock()
_in_use = set[tuple[int, int]]()  # stores with a transaction, by device and inode
hold_at_forks(_turn)


class Records(Protocol):
    """What is kept, while a transaction is open."""

    def recall(self, owner: bytes, place: bytes, make: Callable[[], bytes], *, times: int = 0) -> bytes:
        """Return what stands in a place; make it the first time. Charge it so many times."""

    def charges(self, owner: bytes) -> dict[bytes, int]:
        """Return how often each place of an owner was charged."""

    def contents(self, owner: bytes) -> dict[bytes, bytes]:
        """Return what stands in each place of an owner."""


class VolatileStore:
    """Charges that are counted in memory and end with the object, where permanent reports are derived."""

    def __init__(self) -> None:
        self._times: dict[tuple[bytes, bytes], int] = {}

    @contextlib.contextmanager
    def transaction(self) -> Iterator[Records]:
        """Yield the records."""
        yield self

    def recall(self, owner: bytes, place: bytes, make: Callable[[], bytes], *, times: int = 0) -> bytes:
        """Make the record, which is never kept, and charge it."""
        made = make()
        with _turn:
            self._times[owner, place] = self._times.get((owner, place), 0) + times
        return made

    def charges(self, owner: bytes) -> dict[bytes, int]:
        """Return the charges of an owner by place."""
        with _turn:
            return {place: times for (each, place), times in self._times.items() if each == owner}

    def contents(self, owner: bytes) -> dict[bytes, bytes]:
        """Return nothing: what is made here is never kept."""
        return {}


class DeviceStore:
    """Permanent reports and charges in one file, for one device and all its questions.

    Threads and processes may use the file at the same time. It is made readable by its
    owner only: it tells which values the device had, and must not leave the device. A
    copy that is put back later forgets what was spent in between.

    Parameters
    ----------
    path : path
        Where the file is or will be. A link is followed. Nothing is read or written
        before the first use.

    Examples
    --------
    >>> import ldpkit, tempfile
    >>> oracle = ldpkit.get("lgrr", 4, epsilon_inf=2, epsilon_1=1)
    >>> folder = tempfile.TemporaryDirectory()
    >>> store = DeviceStore(folder.name + "/device.db")
    >>> first = ldpkit.Device(oracle, store, question="page")
    >>> _ = first.report(2)
    >>> again = ldpkit.Device(oracle, store, question="page")          # after a restart
    >>> bool(first.permanent(2) == again.permanent(2)), again.privacy_loss().reports
    (True, 1)
    >>> folder.cleanup()
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        # Absolute, because a service that changes its folder must not start a second store.
        self.path = Path(path).absolute()

    @contextlib.contextmanager
    def transaction(self) -> Iterator[Records]:
        """Yield the records; what is done to them stays when the block ends, or not at all."""
        import sqlite3

        try:
            with _turn, self._target() as target, contextlib.closing(_connect(target)) as connection:
                _begin(connection)  # and to close is to roll back
                self._prepare(connection)
                yield _StoredRecords(connection, self)
                connection.execute("COMMIT")
        except sqlite3.Error as error:
            raise self._refusal(error) from error
        except UnicodeDecodeError:  # SQLite quotes a damaged schema in its complaint
            raise self.damaged() from None
        except MemoryError:  # SQLite also says so of a damaged length, and takes no memory then
            raise LdpkitError(
                f"the store {str(self.path)!r} cannot be read: memory ran out, or a length in the file is "
                "damaged. If it fails again with memory to spare, restore it from a copy of the device"
            ) from None

    @contextlib.contextmanager
    def _target(self) -> Iterator[Path]:
        """Yield the file of the store, which no other transaction of this process uses meanwhile."""
        try:
            target = Path(os.path.realpath(self.path))  # a link keeps pointing where it points
            if not target.exists():
                create_file(target, _empty_store())
            status = target.stat()
        except WriteError:
            raise
        except (LdpkitError, OSError, ValueError) as error:
            raise self._not_opened(error) from None
        if not stat.S_ISREG(status.st_mode):
            raise InvalidParameterError(f"the store {str(self.path)!r} is not a file: choose another path")
        if status.st_size < 2:  # which SQLite takes for a new one, but a store is never empty
            raise self.damaged()
        key = (status.st_dev, status.st_ino)
        if key in _in_use:  # all other threads wait for their turn
            raise LdpkitError(
                f"the store {str(self.path)!r} is in the middle of another report of this same thread, as it "
                "is when a signal handler interrupts one: report after it has returned"
            )
        _in_use.add(key)
        try:
            try:
                check_names(target)
                check_neighbours(target, _PATIENCE)
            except OSError as error:
                raise self._not_opened(error) from None
            yield target
        finally:
            _in_use.discard(key)

    def _not_opened(self, error: Exception) -> InvalidParameterError:
        why = error.strerror if isinstance(error, OSError) else error
        return InvalidParameterError(
            f"the store {str(self.path)!r} cannot be opened ({why}): "
            "choose a folder that exists and can be written to"
        )

    def _prepare(self, connection: sqlite3.Connection) -> None:
        """Refuse a file that is of another program or of a newer ldpkit; give one of an older one its id."""
        (application,), (schema,) = (
            connection.execute(query).fetchone() for query in ("PRAGMA application_id", "PRAGMA user_version")
        )
        tables = connection.execute("SELECT sql FROM sqlite_master").fetchall()
        parts = sorted(str(part) for (part,) in tables)
        if application != _APPLICATION:
            raise FileFormatError(
                f"{str(self.path)!r} is a database of another program: choose another path for the store"
            )
        if schema > _SCHEMA:
            raise FileFormatError(
                f"the store {str(self.path)!r} was written by a newer ldpkit "
                f"(schema {schema}, this one knows {_SCHEMA}): update ldpkit"
            )
        ids = sum(map(is_identity, parts))
        if (schema, ids) not in {(_SCHEMA, 1), (_WITHOUT_ID, 0)}:
            raise self.damaged()
        if [part for part in parts if not is_identity(part)] != sorted(_TABLES):
            raise self.damaged()  # a view or a trigger would run as we read
        if schema == _WITHOUT_ID:
            connection.execute(identity(connection.serialize()))
            connection.execute(f"PRAGMA user_version={_SCHEMA}")

    def damaged(self) -> FileFormatError:
        """Return the refusal of a store that is not as it was written."""
        return FileFormatError(
            f"the store {str(self.path)!r} is damaged: restore it from a copy of the device, or start a new "
            "one and accept that every value is given away by as much again"
        )

    def _refusal(self, error: sqlite3.Error) -> LdpkitError:
        import sqlite3

        code, name = getattr(error, "sqlite_errorcode", 0) & 0xFF, repr(str(self.path))
        if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            return LdpkitError(
                f"the store {name} was in use by another process for {_PATIENCE:g} seconds: try again"
            )
        if code == sqlite3.SQLITE_FULL:
            return LdpkitError(f"the store {name} cannot be written ({error}): make room on the disk")
        if code in (
            sqlite3.SQLITE_READONLY,
            sqlite3.SQLITE_CANTOPEN,
            sqlite3.SQLITE_PERM,
            sqlite3.SQLITE_IOERR,
        ):
            return LdpkitError(
                f"the store {name} cannot be written ({error}): check the disk, and the permissions of the "
                "file and its folder"
            )
        if code == sqlite3.SQLITE_NOTADB and _begins(self.path, b"{"):
            return FileFormatError(
                f"{name} is not a store but a memo of an earlier ldpkit, whose permanent reports had no "
                "question: choose another path, and count epsilon_inf again for each value"
            )
        if code == sqlite3.SQLITE_NOTADB:
            return FileFormatError(f"{name} is not a store of a device: choose another path", offset=0)
        return self.damaged()

    def __repr__(self) -> str:
        return f"DeviceStore({str(self.path)!r})"


class _StoredRecords:
    """The records of a store in one transaction."""

    def __init__(self, connection: sqlite3.Connection, store: DeviceStore) -> None:
        self._connection, self._store = connection, store
        self._known: set[tuple[bytes, bytes]] | None = None

    def recall(self, owner: bytes, place: bytes, make: Callable[[], bytes], *, times: int = 0) -> bytes:
        row = self._connection.execute(
            "SELECT owner, place, content, times, checksum FROM kept WHERE owner=? AND place=?",
            (owner, place),
        ).fetchone()
        if row is None:
            known = self._verify()
            if (owner, place) in known:  # there, but the index of the file does not find it
                raise self._store.damaged()
            content = make()
            checksum = _checksum(owner, place, content, times)
            self._connection.execute(
                "INSERT INTO kept VALUES (?, ?, ?, ?, ?)", (owner, place, content, times, checksum)
            )
            self._add(1, checksum)
            known.add((owner, place))
            return content
        content, before = self._checked(row)
        if row[:2] != (owner, place):
            raise self._store.damaged()
        if times:
            now = _checksum(owner, place, content, before + times)
            self._connection.execute(
                "UPDATE kept SET times=?, checksum=? WHERE owner=? AND place=?",
                (before + times, now, owner, place),
            )
            self._add(0, _both(row[4], now))
        return content

    def charges(self, owner: bytes) -> dict[bytes, int]:
        return {place: times for place, (_, times) in self._of(owner).items()}

    def contents(self, owner: bytes) -> dict[bytes, bytes]:
        return {place: content for place, (content, _) in self._of(owner).items()}

    def _of(self, owner: bytes) -> dict[bytes, tuple[bytes, int]]:
        self._verify()
        rows = self._connection.execute(
            "SELECT owner, place, content, times, checksum FROM kept WHERE owner=?", (owner,)
        )
        return {row[1]: self._checked(row) for row in rows}

    def _checked(self, row: tuple[Any, ...]) -> tuple[bytes, int]:
        owner, place, content, times, checksum = row
        is_typed = all(type(each) is bytes for each in (owner, place, content)) and type(times) is int
        can_be = is_typed and 0 <= times <= _MOST_TIMES
        if not can_be or _checksum(owner, place, content, times) != checksum:
            raise self._store.damaged()
        return content, times

    def _verify(self) -> set[tuple[bytes, bytes]]:
        """Return the names of all records; refuse the store unless each is whole and none is missing."""
        if self._known is None:
            known, sums = set[tuple[bytes, bytes]](), bytes(_CHECKSUM_BYTES)
            for row in self._connection.execute("SELECT owner, place, content, times, checksum FROM kept"):
                self._checked(row)
                known.add(row[:2])
                sums = _both(sums, row[4])
            if self._whole() != (len(known), sums):
                raise self._store.damaged()
            self._known = known
        return self._known

    def _whole(self) -> tuple[int, bytes]:
        rows: list[tuple[Any, Any]] = self._connection.execute(
            "SELECT records, checksum FROM whole"
        ).fetchall()
        if len(rows) != 1 or [*map(type, rows[0])] != [int, bytes] or len(rows[0][1]) != _CHECKSUM_BYTES:
            raise self._store.damaged()
        return rows[0]

    def _add(self, records: int, checksum: bytes) -> None:
        before, sums = self._whole()
        self._connection.execute(
            "UPDATE whole SET records=?, checksum=?", (before + records, _both(sums, checksum))
        )


def _empty_store() -> bytes:
    """Return the bytes of a store in which nothing is kept."""
    import sqlite3

    with contextlib.closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        connection.execute("PRAGMA page_size=4096")  # so that all statements, and the id, are on the first
        for table in (identity(), *_TABLES):
            connection.execute(table)
        connection.execute("INSERT INTO whole VALUES (0, ?)", (bytes(_CHECKSUM_BYTES),))
        connection.execute(f"PRAGMA application_id={_APPLICATION}")
        connection.execute(f"PRAGMA user_version={_SCHEMA}")
        return connection.serialize()


def _connect(target: Path) -> sqlite3.Connection:
    import sqlite3

    return sqlite3.connect(f"{target.as_uri()}?mode=rw", uri=True, timeout=0, isolation_level=None)


def _begin(connection: sqlite3.Connection) -> None:
    """Start a transaction as soon as no other process has one.

    SQLite's own wait soon sleeps a tenth of a second at a time, and a process that answers
    without pause leaves the file free for less than that.
    """
    import sqlite3

    deadline = time.monotonic() + _PATIENCE
    while True:
        try:
            for statement in (*_SETTINGS, "BEGIN IMMEDIATE"):
                connection.execute(statement)
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                raise
            time.sleep(_PAUSE)
        else:
            connection.execute(f"PRAGMA busy_timeout={round(1000 * _PATIENCE)}")  # for who reads meanwhile
            return


def _checksum(owner: bytes, place: bytes, content: bytes, times: int) -> bytes:
    return hashlib.sha256(pack(owner, place, content, b"%d" % times)).digest()[:_CHECKSUM_BYTES]


def _both(one: bytes, other: bytes) -> bytes:
    """Return the sum of two checksums, which does not depend on their order and undoes itself."""
    return (int.from_bytes(one) ^ int.from_bytes(other)).to_bytes(_CHECKSUM_BYTES)


def _begins(path: Path, start: bytes) -> bool:
    with contextlib.suppress(OSError), path.open("rb") as stream:
        return stream.read(len(start)) == start
    return False
