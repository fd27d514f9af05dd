"""Forks wait for what another thread is in the middle of, so that the child does not find it half done.

A forked process has one thread, the one that forked. A lock that another thread held at
that moment stays locked in the child for ever, and so does a module that another thread
was importing: the child would wait for them as soon as it needs them.
"""

from __future__ import annotations

import importlib
import os
import sys
from contextlib import suppress
from typing import Any, Protocol

__all__ = ["hold_over_forks"]

# On first use, by whichever thread that is.
_IMPORTED_LATE = ("ldpkit", "cryptography", "llvmlite", "numba", "numpy", "scipy")


class _Lock(Protocol):
    def acquire(self) -> Any: ...
    def release(self) -> Any: ...


_locks: list[_Lock] = []
_taken: list[list[_Lock]] = []  # by the fork under way: others may be added while it waits


def hold_over_forks(lock: _Lock) -> None:
    """Have every fork of this process wait for a lock, and find it free on both sides after.

    Meant for reentrant locks of modules, held briefly and never while waiting for another
    thread.

    Examples
    --------
    >>> import threading
    >>> hold_over_forks(threading.RLock())
    """
    _locks.append(lock)


def _before() -> None:
    while True:
        for name in _half_imported():
            with suppress(Exception):  # that thread's matter
                importlib.import_module(name)  # waits for the thread that imports it
        taken = list(_locks)
        for lock in taken:
            lock.acquire()
        if not _half_imported():
            _taken.append(taken)
            return
        _release(taken)


def _after() -> None:
    _release(_taken.pop())


def _release(locks: list[_Lock]) -> None:
    for lock in reversed(locks):
        lock.release()


def _half_imported() -> list[str]:
    """Return the modules of ours that some thread is importing just now."""
    return [
        name
        for name, module in list(sys.modules.items())
        if name.partition(".")[0] in _IMPORTED_LATE
        and getattr(getattr(module, "__spec__", None), "_initializing", False)
    ]


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before, after_in_parent=_after, after_in_child=_after)
