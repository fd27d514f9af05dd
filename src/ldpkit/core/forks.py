"""Locks and forks: a fork waits for a lock, so that the child never finds it held by nobody.

A forked process has one thread, the one that forked. A lock that another thread held at
that moment stays locked in the child for ever, and what it guards stays half done.
"""

from __future__ import annotations

import os
from typing import Any, Protocol

__all__ = ["hold_over_forks"]


class _Lock(Protocol):
    def acquire(self) -> Any: ...
    def release(self) -> Any: ...


def hold_over_forks(lock: _Lock) -> None:
    """Take a lock before every fork of this process, and release it on both sides after.

    Meant for module-level locks that are held briefly and never while waiting for another
    thread. They must be reentrant: a fork may come while its own thread holds one.

    Examples
    --------
    >>> import threading
    >>> hold_over_forks(threading.RLock())
    """
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(before=lock.acquire, after_in_parent=lock.release, after_in_child=lock.release)
