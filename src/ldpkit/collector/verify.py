"""Whether all that was kept is as it was written: checksums, and every tally counted again."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ldpkit.collector.asked import Shelf
from ldpkit.collector.database import Connection
from ldpkit.collector.kept import Place, chunks_of, places, read_tally, write_tally
from ldpkit.core.errors import LdpkitError

__all__ = ["Finding", "verify"]


@dataclass(frozen=True)
class Finding:
    """What was found at a place.

    Parameters
    ----------
    place : Place
        Where.
    n : int
        How many reports are kept there.
    problem : str
        What is wrong; empty if nothing is.
    """

    place: Place
    n: int
    problem: str = ""


def verify(connection: Connection, shelf: Shelf, *, repair: bool = False) -> Iterator[Finding]:
    """Yield what is found at each place: count its reports again and compare.

    Parameters
    ----------
    connection : Connection
        To read with, and to write with if it is to repair.
    shelf : Shelf
        What is asked.
    repair : bool
        Whether to put the new count in the place of a tally that differs. Reports that are
        damaged stay as they are.
    """
    kept = {
        Place(*row)
        for row in connection.execute("SELECT DISTINCT collection, version, question, round FROM chunks")
    }
    for place in sorted(kept | set(places(connection))):
        try:
            yield _verify(connection, shelf, place, repair=repair)
        except LdpkitError as error:
            yield Finding(place, 0, str(error))


def _verify(connection: Connection, shelf: Shelf, place: Place, *, repair: bool) -> Finding:
    _, questions = shelf.get(place.collection).versions[place.version]
    mechanism = next(each.mechanism for each in questions if each.question.id == place.question)
    n, counts, ids = 0, np.zeros(mechanism.tally_size, np.int64), []
    for chunk in chunks_of(connection, place):
        tally = mechanism.tally(mechanism.decode(chunk.reports))
        if tally.n != chunk.n:
            return Finding(place, n, f"chunk {chunk.number} has {tally.n} reports and says {chunk.n}")
        n, counts = n + tally.n, counts + tally.counts
        ids.append(np.frombuffer(chunk.ids, "<u8"))
    every = np.concatenate(ids) if ids else np.empty(0, "<u8")
    problem = ""
    if len(np.unique(every)) < len(every):
        problem = f"{len(every) - len(np.unique(every))} answers are kept twice"
    try:
        kept = read_tally(connection, place)
    except LdpkitError as error:
        kept, problem = None, str(error)
    if kept is None or kept[0] != n or not np.array_equal(kept[1], counts):
        problem = (
            problem
            or f"the tally has {0 if kept is None else kept[0]} reports, and {n} are kept, or other counts"
        )
        if repair:
            with connection.transaction():
                write_tally(connection, place, n, counts)
            problem += " (repaired)"
    return Finding(place, n, problem)
