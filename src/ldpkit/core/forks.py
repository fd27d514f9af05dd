"""Forks wait for what a child could not finish.

A child has only the thread that forked. What another thread was importing stays half done in
it, and a lock of another thread stays locked, so that a child that needs them would hang.
"""

from __future__ import annotations

import os
import threading
from typing import Protocol

__all__ = ["hold_at_forks", "importing", "process"]

_PATIENCE = 20.0  # seconds for an import: it can itself wait for what the forking thread has


class Lock(Protocol):
    """What can be held; a thread that has it may take it again."""

    def acquire(self, blocking: bool = True, timeout: float = -1) -> bool:
        """Take it."""

    def release(self) -> None:
        """Give it back."""


importing = threading.RLock()  # held while a package is imported late that a child needs, too
_forks = 0  # between the first process and this one
_outer: list[Lock] = []  # taken first: who has one of these may import


class _Held(threading.local):
    """The locks of a thread that forks; in the child, this is still that thread."""

    def __init__(self) -> None:
        self.locks: list[Lock] = []


_held = _Held()


def process() -> tuple[int, int]:
    """Return what tells this process from its parent and its children.

    The number of forks does, where the interpreter forks. The process id alone does not:
    parent and child are both number 1 in namespaces of their own. It is there for forks
    that pass the interpreter by.
    """
    return os.getpid(), _forks


def hold_at_forks(lock: Lock) -> None:
    """Take a lock before each fork, and give it back on both sides."""
    _outer.append(lock)


def _before() -> None:
    for lock in tuple(_outer):
        lock.acquire()
        _held.locks.append(lock)
    if importing.acquire(timeout=_PATIENCE):
        _held.locks.append(importing)


def _after() -> None:
    while _held.locks:
        _held.locks.pop().release()


def _enter_child() -> None:
    global _forks
    _forks += 1
    _after()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before, after_in_parent=_after, after_in_child=_enter_child)
