"""Watching long work: how a function that takes a while lets its caller show how far it is, or says so.

Nothing is printed here: a program that shows progress hands in a record and reads it, one that shows
notices listens.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Protocol, TypeVar

__all__ = [
    "Onlooker",
    "ProgressRecord",
    "Stage",
    "Watch",
    "collect",
    "listen",
    "notify",
    "unwatched",
    "watching",
]

Item = TypeVar("Item")
_listener: Callable[[str], None] | None = None


class Watch(Protocol):
    """Passes items on, given how many there will be and what is done: a `ProgressRecord`, or your own."""

    def __call__(self, items: Iterable[Item], total: int | None, label: str, /) -> Iterator[Item]:
        """Return the same items."""


def unwatched(items: Iterable[Item], total: int | None, label: str, /) -> Iterator[Item]:
    """Return the items; nobody looks."""
    return iter(items)


@dataclass
class Stage:
    """A part of long work: what is being done, with how many items if known, and how many are done."""

    label: str
    total: int | None
    done: int = 0


class ProgressRecord:
    """A watch that only records how far the work is; whoever shows it looks when they like.

    Examples
    --------
    >>> progress = ProgressRecord()
    >>> for letter in progress("ab", 2, "reading"):
    ...     print(letter, progress.stage)
    a Stage(label='reading', total=2, done=0)
    b Stage(label='reading', total=2, done=1)
    >>> progress.stage is None
    True
    """

    def __init__(self) -> None:
        self.stage: Stage | None = None

    def __call__(
        self, items: Iterable[Item], total: int | None, label: str, /
    ) -> Generator[Item, None, None]:
        """Return the same items, and count those that are done."""
        around, stage = self.stage, Stage(label, total)
        self.stage = stage
        try:
            for item in items:
                yield item
                stage.done += 1
        finally:
            self.stage = around


@dataclass(frozen=True)
class Onlooker:
    """A watch that is no part of what is computed: all are equal, so a cache takes any for the same.

    Examples
    --------
    >>> Onlooker() == Onlooker(lambda items, total, label: iter(items))
    True
    """

    watch: Watch = field(default=unwatched, compare=False)


def collect(items: Iterable[Item], total: int | None, label: str, watch: Watch = unwatched) -> list[Item]:
    """Return all items in a list, watched; what watches is closed also where an item fails.

    Examples
    --------
    >>> def tell(items, total, label):
    ...     for number, item in enumerate(items, start=1):
    ...         print(f"{label}: {number} of {total}")
    ...         yield item
    >>> collect("ab", 2, "reading", tell)
    reading: 1 of 2
    reading: 2 of 2
    ['a', 'b']
    """
    with watching(items, total, label, watch) as watched:
        return list(watched)


@contextmanager
def watching(
    items: Iterable[Item], total: int | None, label: str, watch: Watch = unwatched
) -> Generator[Iterator[Item], None, None]:
    """Let items be watched while they are worked on; close what watches, also where the work fails."""
    watched = watch(items, total, label)
    try:
        yield watched
    finally:
        close = getattr(watched, "close", None)
        if close is not None:
            close()


def listen(listener: Callable[[str], None] | None) -> None:
    """Pass every notice to this function from now on; None means that nobody listens.

    Examples
    --------
    >>> listen(print)
    >>> notify("compiling once")
    compiling once
    >>> listen(None)
    >>> notify("compiling once")
    """
    global _listener
    _listener = listener


def notify(message: str) -> None:
    """Tell whoever listens."""
    if _listener is not None:
        _listener(message)
