"""What an attack has found."""

from __future__ import annotations

from dataclasses import dataclass, field

from ldpkit.collector.database import Database
from ldpkit.collector.kept import chunks_after
from ldpkit.collector.verify import verify

__all__ = ["Found", "kept_ids"]


@dataclass
class Found:
    """In words, and what is wrong."""

    told: str = ""
    problems: list[str] = field(default_factory=list)


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
