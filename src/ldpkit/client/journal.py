"""Whether what lies beside the store on a device may be applied to it.

SQLite finds the journal of a killed process by the name of the file alone. So the journal
of a store that was deleted, or in whose place another was moved, would overwrite the store
that is there now; and under a second name, a hard link, the store's own journal is not
found. Each store has a random id on its first page. Every journal keeps the first page as
it was, because it has a counter of transactions, and so tells which store it belongs to.
"""

from __future__ import annotations

import contextlib
import os
import re
import struct
import time
from pathlib import Path

from ldpkit.core.errors import FileFormatError, InvalidParameterError
from ldpkit.core.locks import lock
from ldpkit.core.wholefile import end_creation, sync_folder

__all__ = ["check_names", "check_neighbours", "identity", "is_identity"]

_MAGIC = bytes.fromhex("d9d505f920a163d7")
_HEADER = struct.Struct(">8s5I")  # magic, records, nonce, pages before, bytes to the records, bytes of a page
_COUNTER = slice(24, 28)  # of transactions, on the first page
_MODES = slice(18, 20)
_LOGGED = b"\2\2"  # the modes of a database that somebody gave a write-ahead log
_LONGEST_PAGE = 1 << 16
# `new` stands in a store that had its id from the start, `old` and the counter of transactions before in
# one of schema 1 that was given one.
_IDENTITY = re.compile(r"CREATE TABLE store \((?:new|old_([0-9]+))_[0-9a-f]{32}\)")
_STORED = re.compile(_IDENTITY.pattern.encode())
_PAUSE = 0.002


def identity(page: bytes = b"") -> str:
    """Return the statement that gives a store its id; SQLite keeps the text on the first page.

    Parameters
    ----------
    page : bytes
        The first page of a store that had none until now.
    """
    kind = f"old_{int.from_bytes(page[_COUNTER])}" if page else "new"
    return f"CREATE TABLE store ({kind}_{os.urandom(16).hex()})"


def is_identity(statement: str) -> bool:
    """Whether a statement gives a store its id.

    Examples
    --------
    >>> is_identity(identity()), is_identity("CREATE TABLE store (x)")
    (True, False)
    """
    return _IDENTITY.fullmatch(statement) is not None


def check_names(target: Path) -> None:
    """Refuse a store with a hard link: a journal that is left under one name is not seen under the other."""
    if target.stat().st_nlink > 1:
        end_creation(target)
        if (names := target.stat().st_nlink) > 1:
            raise InvalidParameterError(
                f"the store {str(target)!r} has {names} names (hard links), and what a killed process leaves "
                "to be undone under one of them is not seen under the other: remove the other names, or "
                "make them symbolic links"
            )


def check_neighbours(target: Path, patience: float) -> None:
    """Refuse a store beside a journal that is not its own; remove it if the store was never written to."""
    if (other := _foreign(target)) is None:
        return
    if _is_unwritten(_first_page(target)):
        _remove_foreign(target, patience)
        other = _foreign(target)
    if other is not None:
        raise FileFormatError(
            f"the file {str(other)!r} was left by another store than {str(target)!r}, which it would "
            "overwrite: move it to the store that it belongs to, or delete it if that store is gone"
        )


def _foreign(target: Path) -> Path | None:
    """Return the neighbour that SQLite would apply to a store that it does not belong to."""
    journal, log = _beside(target, "-journal"), _beside(target, "-wal")
    while True:
        page = _first_page(target)
        if log.exists() and page[_MODES] != _LOGGED:
            return log
        image = _image(journal)
        if image is None or _is_own(page, image):
            return None
        # Another process may have gone on between the two looks. If not, its journal would fit.
        if _first_page(target) == page:
            return journal


def _beside(target: Path, ending: str) -> Path:
    return target.with_name(target.name + ending)


def _first_page(target: Path) -> bytes:
    with target.open("rb") as stream:
        start = stream.read(_LONGEST_PAGE)
    size = int.from_bytes(start[16:18])
    return start[: _LONGEST_PAGE if size == 1 else size]


def _image(journal: Path) -> bytes | None:
    """Return the first page as a journal keeps it, empty if it has none, or None if it would undo nothing."""
    with contextlib.suppress(FileNotFoundError), journal.open("rb") as stream:
        header = stream.read(_HEADER.size)
        if len(header) < _HEADER.size or not header.startswith(_MAGIC):
            return None  # nothing was written to the store yet: SQLite marks the journal as whole before
        _, records, _, _, start, size = _HEADER.unpack(header)
        stream.seek(start)
        for _ in range(records if size <= _LONGEST_PAGE else 0):
            record = stream.read(size + 8)
            if len(record) < size + 8:
                break
            if int.from_bytes(record[:4]) == 1:
                return record[4:-4]
        return b""
    return None


def _is_own(page: bytes, image: bytes) -> bool:
    """Whether a first page was, or was about to become, what the journal keeps of it plus one transaction."""
    if len(image) != len(page):
        return False
    behind = (int.from_bytes(page[_COUNTER]) - int.from_bytes(image[_COUNTER])) % (1 << 32)
    own, other = _STORED.search(page), _STORED.search(image)
    if own is not None and other is None:  # the transaction that gave an old store its id
        return behind == 1 and own[1] == str(int.from_bytes(image[_COUNTER])).encode()
    return behind <= 1 and (own and own[0]) == (other and other[0])


def _is_unwritten(page: bytes) -> bool:
    return not any(page[_COUNTER]) and _STORED.search(page) is not None


def _remove_foreign(target: Path, patience: float) -> None:
    """Remove what an earlier store of the same name has left.

    Nobody writes to the store while this lies beside it, and those who would remove it hold
    a lock, so what is removed is never a journal that another process has just begun.
    """
    deadline = time.monotonic() + patience
    with target.open("r+b") as stream:
        while not (held := lock(stream.fileno())):
            if held is None or time.monotonic() > deadline:
                return
            time.sleep(_PAUSE)
        while _is_unwritten(_first_page(target)) and (other := _foreign(target)) is not None:
            other.unlink(missing_ok=True)
            _beside(target, "-shm").unlink(missing_ok=True)
        sync_folder(target.parent)
