"""Locks on open files: they hold back other processes, and die with the process that has them."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

try:
    import fcntl as _fcntl

    fcntl: Any = _fcntl
except ImportError:  # Windows
    fcntl = None

__all__ = ["held", "lock"]


def lock(handle: int) -> bool | None:
    """Lock an open file for this process alone.

    Parameters
    ----------
    handle : int
        The file descriptor; closing it frees the lock.

    Returns
    -------
    bool or None
        True if the lock is ours, False if somebody else has it, None where the system or
        the file system has no locks.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile() as first, open(first.name) as second:
    ...     lock(first.fileno()), lock(second.fileno())
    (True, False)
    """
    if fcntl is None:
        return None
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return None
    return True


@contextlib.contextmanager
def held(path: str | Path) -> Iterator[bool]:
    """Hold a file that is going to be replaced by another one under its name.

    Until the block ends, whoever holds the file as well is told False. Whoever comes later holds the new
    file.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile() as file, held(file.name) as first, held(file.name) as second:
    ...     first, second
    (True, False)
    """
    while True:
        with open(path, "rb") as stream:  # noqa: PTH123 - a text or a Path
            is_ours = lock(stream.fileno()) is not False
            # What was opened may have been replaced before the lock was ours.
            if not is_ours or os.path.samestat(os.fstat(stream.fileno()), os.stat(path)):  # noqa: PTH116
                yield is_ours
                return
