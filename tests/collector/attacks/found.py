"""What an attack has found."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from dataclasses import dataclass, field

from ldpkit.collector.database import Database
from ldpkit.collector.kept import chunks_after
from ldpkit.collector.verify import verify

__all__ = ["Found", "kept_ids", "turns"]


@dataclass
class Found:
    """In words, and what is wrong."""

    told: str = ""
    problems: list[str] = field(default_factory=list)


def turns(count: int, step: int = 1) -> Iterator[int]:
    """Yield 0, step, ... below a number; SIGINT ends it early, and what was done until then is judged."""
    is_over = False

    def stop(*_: object) -> None:
        nonlocal is_over
        is_over = True

    before = signal.signal(signal.SIGINT, stop)
    try:
        for turn in range(0, count, step):
            if is_over:
                return
            yield turn
    finally:
        signal.signal(signal.SIGINT, before)


def kept_ids(database: Database) -> tuple[set[int], list[str]]:
    """Return the ids in a database, all rounds together, and what a verification finds wrong."""
    connection = database.connect()
    try:
        problems = [f"{each.what}: {each.problem}" for each in verify(connection) if each.problem]
        ids: list[int] = []
        for chunk in chunks_after(connection, 0):
            ids += [
                int.from_bytes(chunk.ids[start : start + 8], "little")
                for start in range(0, len(chunk.ids), 8)
            ]
    finally:
        connection.close()
    if len(set(ids)) < len(ids):
        problems.append(f"{len(ids) - len(set(ids))} ids are there twice")
    return set(ids), problems
