"""Locks on open files: they hold back other processes, and die with the process that has them."""

from __future__ import annotations

from typing import Any

try:
    import fcntl as _fcntl

    fcntl: Any = _fcntl
except ImportError:  # Windows
    fcntl = None

__all__ = ["lock"]


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
