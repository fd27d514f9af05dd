"""Watching long work: how a function that takes a while lets its caller show how far it is."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Protocol, TypeVar

__all__ = ["Watch", "collect", "unwatched"]

Item = TypeVar("Item")


class Watch(Protocol):
    """Passes items on, given how many there will be and what is being done: a progress bar."""

    def __call__(self, items: Iterable[Item], total: int | None, label: str, /) -> Iterator[Item]:
        """Return the same items."""


def unwatched(items: Iterable[Item], total: int | None, label: str, /) -> Iterator[Item]:
    """Return the items; nobody looks."""
    return iter(items)


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
    watched = watch(items, total, label)
    try:
        return list(watched)
    finally:
        close = getattr(watched, "close", None)
        if close is not None:
            close()
