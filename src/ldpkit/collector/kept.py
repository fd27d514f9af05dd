"""What is kept of the reports: chunks of them, and their tallies, each with a checksum.

A chunk holds the reports of one question and round that were acknowledged together. Its reports
stand in random order and its ids in that of their size, so that neither the time of arrival nor
an id leads to a report; that hides nothing in a chunk of one, so chunks are merged when a round
closes, and the ids are dropped.
"""

from __future__ import annotations

import datetime
import zlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from ldpkit.collector.database import Connection
from ldpkit.core.errors import FileFormatError
from ldpkit.core.random import secure

__all__ = [
    "Chunk",
    "Place",
    "add_chunk",
    "chunks_after",
    "chunks_of",
    "last_chunk",
    "merge_chunks",
    "mixed_reports",
    "note",
    "read_tally",
    "row_checksum",
    "places",
    "write_tally",
]

_CHECKSUM_BYTES = 4
_ORDERS = secure()  # a new generator for each chunk: who works out one order has only that one
_MERGED_BYTES = 1 << 24  # of reports in a chunk of a closed round
_FETCHED = 500  # chunks in one query


class Place(NamedTuple):
    """What some reports answer: version and question of a collection, in a round."""

    collection: str
    version: int
    question: str
    round: int

    def __str__(self) -> str:
        return f"question {self.question!r} of {self.collection!r} version {self.version}, round {self.round}"


class Chunk(NamedTuple):
    """Some reports as they are kept."""

    place: Place
    number: int
    n: int
    reports: bytes
    ids: bytes


def row_checksum(*values: str | int | bytes) -> bytes:
    """Return the CRC-32 of what a row says, to find what a disk or a hand has changed."""
    texts = [each if isinstance(each, bytes) else str(each).encode() for each in values]
    found = zlib.crc32(b",".join(b"%d" % len(each) for each in texts))
    for each in texts:
        found = zlib.crc32(each, found)
    return found.to_bytes(_CHECKSUM_BYTES, "little")


def note(connection: Connection, what: str) -> None:
    """Write down what an administrator did, with the day; within a transaction of the caller."""
    day = datetime.datetime.now(datetime.UTC).date().isoformat()
    connection.execute(
        "INSERT INTO audit (day, what, checksum) VALUES (?, ?, ?)", (day, what, row_checksum(day, what))
    )


def shuffled(records: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return records, each a row of bytes, in a random order that nothing else knows."""
    if len(records) < 2:
        return records
    rows = np.ascontiguousarray(records)
    whole = rows.view(np.dtype((np.void, rows.shape[1]))).ravel()  # a row at a time, not byte by byte
    return np.asarray(whole[_ORDERS.generator().permutation(len(whole))])


def add_chunk(
    connection: Connection,
    number: int,
    place: Place,
    reports: np.ndarray[Any, Any],
    ids: np.ndarray[Any, Any],
) -> None:
    """Keep some reports, each a row of bytes, and the ids they came with, in ascending order."""
    mixed, others = shuffled(reports).tobytes(), ids.astype("<u8", copy=False).tobytes()
    count = len(reports)
    connection.execute(
        "INSERT INTO chunks VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (number, *place, count, mixed, others, row_checksum(number, *place, count, mixed, others)),
    )


_CHUNK = "SELECT number, collection, version, question, round, n, reports, ids, checksum FROM chunks"


def _checked(row: tuple[Any, ...]) -> Chunk:
    number, *where, n, reports, ids, checksum = row
    found = Chunk(Place(*where), number, n, bytes(reports), bytes(ids))
    if row_checksum(number, *where, n, found.reports, found.ids) != bytes(checksum):
        raise FileFormatError(f"chunk {number} of {found.place} is damaged: restore a backup")
    return found


def chunks_of(connection: Connection, place: Place) -> Iterator[Chunk]:
    """Yield what is kept of a place, checked; refuse a chunk that is not as it was written."""
    where = "WHERE collection=? AND version=? AND question=? AND round=? ORDER BY number"
    for row in connection.rows(f"{_CHUNK} {where}", place):
        yield _checked(row)


def mixed_reports(connection: Connection, some: Sequence[Place]) -> Iterator[bytes]:
    """Yield the reports of some places, many at a time, in an order that is drawn anew for each caller.

    Chunks stand in the order of arrival, and where answers come slowly a chunk has one report. All
    chunks are taken in random order, and those that fit into the memory together are mixed, so that
    no two files that are made here can be laid side by side. The places have reports of one length,
    and the caller sees to it that nobody merges their chunks meanwhile.
    """
    found = [
        row
        for place in some
        for row in connection.execute(
            "SELECT number, length(reports) FROM chunks"
            " WHERE collection=? AND version=? AND question=? AND round=?",
            place,
        )
    ]
    order = _ORDERS.generator().permutation(len(found))
    numbers = np.array([number for number, _ in found], np.int64)[order]
    ends = np.cumsum(np.array([length for _, length in found], np.int64)[order])
    for group in np.split(numbers, np.flatnonzero(np.diff(ends // _MERGED_BYTES)) + 1):
        held: list[Chunk] = []
        for start in range(0, len(group), _FETCHED):
            wanted = group[start : start + _FETCHED].tolist()
            marks = ", ".join("?" * len(wanted))
            held += map(_checked, connection.execute(f"{_CHUNK} WHERE number IN ({marks})", wanted))
        if held:
            yield shuffled(_records(held)).tobytes()


def chunks_after(connection: Connection, number: int) -> Iterator[Chunk]:
    """Yield the chunks that were written after a known one."""
    for row in connection.rows(f"{_CHUNK} WHERE number>? ORDER BY number", (number,)):
        yield _checked(row)


def last_chunk(connection: Connection) -> int:
    """Return the number of the last chunk that was written; 0 if there is none."""
    ((number,),) = connection.execute("SELECT max(number) FROM chunks")
    return int(number or 0)


def places(connection: Connection, collection: str | None = None) -> list[Place]:
    """Return every place that has a tally."""
    where, parameters = ("", ()) if collection is None else (" WHERE collection=?", (collection,))
    rows = connection.execute(
        f"SELECT collection, version, question, round FROM tallies{where}"
        " ORDER BY collection, version, question, round",
        parameters,
    )
    return [Place(*row) for row in rows]


def read_tally(
    connection: Connection, place: Place
) -> tuple[int, np.ndarray[Any, np.dtype[np.int64]]] | None:
    """Return how many reports a place has and their counts; None if there are none yet."""
    rows = connection.execute(
        "SELECT n, counts, checksum FROM tallies WHERE collection=? AND version=? AND question=? AND round=?",
        place,
    )
    if not rows:
        return None
    ((n, counts, checksum),) = rows
    if row_checksum(*place, n, bytes(counts)) != bytes(checksum):
        raise FileFormatError(
            f"the tally of {place} is damaged: restore a backup, or recount it with verify --repair"
        )
    return n, np.frombuffer(bytes(counts), "<i8").astype(np.int64)


def write_tally(connection: Connection, place: Place, n: int, counts: np.ndarray[Any, Any]) -> None:
    """Keep the counts of a place in the stead of those before."""
    data = counts.astype("<i8").tobytes()
    connection.execute(
        "INSERT INTO tallies VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (collection, version, question, round)"
        " DO UPDATE SET n=excluded.n, counts=excluded.counts, checksum=excluded.checksum",
        (*place, n, data, row_checksum(*place, n, data)),
    )


def merge_chunks(connection: Connection, place: Place, next_number: Callable[[], int]) -> None:
    """Put the chunks of a place together in a new random order, and forget the ids."""
    numbers = [
        number
        for (number,) in connection.execute(
            "SELECT number FROM chunks WHERE collection=? AND version=? AND question=? AND round=?"
            " ORDER BY number",
            place,
        )
    ]
    held: list[Chunk] = []
    size = 0
    for number in numbers:  # one at a time: a round may be larger than the memory
        held.append(_checked(connection.execute(f"{_CHUNK} WHERE number=?", (number,))[0]))
        size += len(held[-1].reports)
        if size >= _MERGED_BYTES or number == numbers[-1]:
            _merge(connection, place, held, next_number())
            held, size = [], 0


def _merge(connection: Connection, place: Place, held: list[Chunk], number: int) -> None:
    connection.execute(
        "DELETE FROM chunks WHERE collection=? AND version=? AND question=? AND round=?"
        " AND number BETWEEN ? AND ?",
        (*place, held[0].number, held[-1].number),
    )
    add_chunk(connection, number, place, _records(held), np.empty(0, np.uint64))


def _records(held: list[Chunk]) -> np.ndarray[Any, Any]:
    """Return the reports of some chunks, each a row of bytes."""
    n = sum(chunk.n for chunk in held)
    return np.frombuffer(b"".join(chunk.reports for chunk in held), np.uint8).reshape(n, -1)
