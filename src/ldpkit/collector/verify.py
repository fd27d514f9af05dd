"""Whether all that was kept is as it was written: checksums, and every tally counted again."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ldpkit.collector.asked import Shelf
from ldpkit.collector.database import Connection
from ldpkit.collector.kept import Place, chunks_of, places, read_tally, row_checksum, write_tally
from ldpkit.collector.loading import Subject, load_shelf
from ldpkit.core.errors import LdpkitError
from ldpkit.mechanisms.base import Mechanism

__all__ = ["Finding", "verify"]

_TABLES = {
    "collections": "SELECT id, version, digest, envelope, retired, checksum FROM collections",
    "closed_rounds": "SELECT collection, round, checksum FROM closed_rounds",
    "tokens": "SELECT name, role, digest, checksum FROM tokens",
    "audit": "SELECT day, what, checksum FROM audit",
}
"""What has a checksum, beside reports and tallies."""

_REPAIRED = " (repaired)"


@dataclass(frozen=True)
class Finding:
    """What was found of a question and round, or of a table.

    Parameters
    ----------
    what : str
        Of what.
    n : int
        How many reports, or rows, are kept.
    problem : str
        What is wrong; empty if nothing is.
    """

    what: str
    n: int
    problem: str = ""

    @property
    def is_good(self) -> bool:
        """Whether nothing is wrong, or no longer."""
        return not self.problem or self.problem.endswith(_REPAIRED)


def verify(connection: Connection, *, repair: bool = False) -> Iterator[Finding]:
    """Yield what is found in each table, and of each question and round: count its reports again and compare.

    A service may write meanwhile: everything is as it was at one moment, unless it is to be repaired.

    Parameters
    ----------
    connection : Connection
        To read with, and to write with if it is to repair.
    repair : bool
        Whether to put the new count in the place of a tally that differs. Reports that are
        damaged stay as they are.
    """
    with contextlib.nullcontext() if repair else connection.snapshot():
        yield from _findings(connection, repair=repair)


def _findings(connection: Connection, *, repair: bool) -> Iterator[Finding]:
    for table, query in _TABLES.items():
        rows = connection.execute(query)
        bad = sum(row_checksum(*map(_plain, row[:-1])) != bytes(row[-1]) for row in rows)
        yield Finding(f"table {table}", len(rows), f"{bad} rows are damaged" if bad else "")
    try:
        shelf = load_shelf(connection)
    except LdpkitError as error:
        yield Finding("collections", 0, str(error))
        return
    kept = {
        Place(*row)
        for row in connection.execute("SELECT DISTINCT collection, version, question, round FROM chunks")
    }
    seen: dict[Subject, Any] = {}
    for place in sorted(
        kept | set(places(connection)), key=lambda each: (each[0], each[2], each[3], each[1])
    ):
        subject = (place.collection, place.question, place.round)
        if subject not in seen:  # the versions of one question and round follow each other
            seen = {subject: np.empty(0, np.uint64)}
        try:
            found, seen[subject] = _verify(connection, shelf, place, seen[subject], repair=repair)
            yield found
        except LdpkitError as error:
            yield Finding(str(place), 0, str(error))


def _plain(value: Any) -> str | int | bytes:
    return value if isinstance(value, (str, int)) else bytes(value)


def _mechanism(shelf: Shelf, place: Place) -> Mechanism:
    entry = shelf.get(place.collection)
    _, questions = entry.versions.get(place.version, (None, ()))
    for asked in questions:
        if asked.question.id == place.question:
            return asked.mechanism
    raise LdpkitError("the collection has no such version or question")


def _verify(
    connection: Connection, shelf: Shelf, place: Place, others: Any, *, repair: bool
) -> tuple[Finding, Any]:
    mechanism = _mechanism(shelf, place)
    n, counts, ids = 0, np.zeros(mechanism.tally_size, np.int64), [others]
    is_closed = place.round in shelf.get(place.collection).closed
    for chunk in chunks_of(connection, place):
        tally = mechanism.tally(mechanism.decode(chunk.reports))
        found = np.frombuffer(chunk.ids, "<u8").astype(np.uint64)
        if tally.n != chunk.n or len(found) != (0 if is_closed else chunk.n):
            raise LdpkitError(
                f"chunk {chunk.number} says {chunk.n} reports: {tally.n} and {len(found)} ids are there"
            )
        n, counts = n + tally.n, counts + tally.counts
        ids.append(found)
    every = np.concatenate(ids)
    twice = len(every) - len(np.unique(every))
    problem = f"{twice} answers are stored twice" if twice else ""
    try:
        kept = read_tally(connection, place)
        if kept is None or kept[0] != n or not np.array_equal(kept[1], counts):
            tallied = 0 if kept is None else kept[0]
            raise LdpkitError(f"the tally has {tallied} reports, {n} are stored, or its counts differ")
    except LdpkitError as error:
        problem = problem or str(error)
        if repair:
            with connection.transaction():
                write_tally(connection, place, n, counts)
            problem += _REPAIRED
    return Finding(str(place), n, problem), every
