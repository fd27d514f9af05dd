"""A progress bar for long work, and silence for short work."""

from __future__ import annotations

import sys
import time
from collections.abc import Generator, Iterable
from contextlib import closing
from typing import TypeVar

from ldpkit.core.stopping import tidied

__all__ = ["track", "watched"]

Item = TypeVar("Item")


def track(
    items: Iterable[Item], total: int | None, label: str, *, patience: float = 2.0
) -> Generator[Item, None, None]:
    """Yield the items, and show on a terminal how far they are.

    Nothing is shown while the work is young, nor where standard error is no terminal.
    Close the generator (`contextlib.closing`) so that the bar goes away with an exception.

    Parameters
    ----------
    items : iterable
        What is worked on.
    total : int or None
        How many items there will be, if that is known.
    label : str
        What is being done.
    patience : float
        After how many seconds the bar appears.
    """
    if not sys.stderr.isatty():
        yield from items
        return

    from rich.console import Console
    from rich.progress import Progress

    bar = Progress(console=Console(stderr=True), transient=True)
    task = bar.add_task(label, total=total)
    shown_from = time.monotonic() + patience
    with tidied():  # the bar hides the cursor
        try:
            for item in items:
                if not bar.live.is_started and time.monotonic() >= shown_from:
                    bar.start()
                yield item
                bar.advance(task)
        finally:
            if bar.live.is_started:
                bar.stop()


def watched(items: Iterable[Item], total: int | None, label: str) -> Generator[Item, None, None]:
    """Yield the items as `track` does, and take the bar away however that ends."""
    with closing(track(items, total, label)) as tracked:
        yield from tracked
