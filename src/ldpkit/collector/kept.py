"""What is kept of the reports: chunks of them, and their tallies, each with a checksum.

A chunk holds the reports of one question and round that were acknowledged together. Reports and
ids are put into random order, each on its own, so that neither the time of arrival nor an id
leads to a report; that hides nothing in a chunk of one, so chunks are merged when a round
closes, and the ids are dropped.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from ldpkit.collector.database import Connection
from ldpkit.core.errors import FileFormatError
from ldpkit.core.random import secure

__all__ = [
    "Chunk",
    "Place",
    "add_chunk",
    "chunks_of",
    "merge_chunks",
    "read_tally",
    "places",
    "write_tally",
]

_CHECKSUM_BYTES = 4
_MERGED_BYTES = 1 << 24  # of reports in a chunk of a closed round


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

    number: int
    n: int
    reports: bytes
    ids: bytes


def _checksum(place: Place, n: int, *parts: bytes) -> bytes:
    """Return the CRC-32 of what a row says and holds."""
    found = zlib.crc32(repr((*place, n, *map(len, parts))).encode())
    for part in parts:
        found = zlib.crc32(part, found)
    return found.to_bytes(_CHECKSUM_BYTES, "little")


def shuffled(records: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return records, each a row of bytes or a number, in a random order that nothing else knows."""
    rows = np.ascontiguousarray(records)
    if rows.ndim == 2:  # a row at a time, not byte by byte
        rows = rows.view(np.dtype((np.void, rows.shape[1]))).ravel()
    return np.asarray(rows[secure().generator().permutation(len(rows))])


def add_chunk(
    connection: Connection, place: Place, reports: np.ndarray[Any, Any], ids: np.ndarray[Any, Any]
) -> None:
    """Keep some reports, each a row of bytes, and the ids they came with."""
    mixed, others = shuffled(reports).tobytes(), shuffled(ids).astype("<u8").tobytes()
    checksum = _checksum(place, len(reports), mixed, others)
    connection.execute(
        "INSERT INTO chunks (collection, version, question, round, n, reports, ids, checksum)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        (*place, len(reports), mixed, others, checksum),
    )


def chunks_of(connection: Connection, place: Place) -> Iterator[Chunk]:
    """Yield what is kept of a place, checked; refuse a chunk that is not as it was written."""
    rows = connection.rows(
        "SELECT number, n, reports, ids, checksum FROM chunks"
        " WHERE collection=? AND version=? AND question=? AND round=? ORDER BY number",
        place,
    )
    for number, n, reports, ids, checksum in rows:
        found = Chunk(number, n, bytes(reports), bytes(ids))
        if _checksum(place, n, found.reports, found.ids) != bytes(checksum):
            raise FileFormatError(f"chunk {number} of {place} is damaged: restore a backup")
        yield found


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
    if _checksum(place, n, bytes(counts)) != bytes(checksum):
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
        (*place, n, data, _checksum(place, n, data)),
    )


def merge_chunks(connection: Connection, place: Place) -> None:
    """Put the chunks of a place together in a new random order, and forget the ids."""
    held: list[Chunk] = []
    size = 0
    for chunk in list(chunks_of(connection, place)):
        held.append(chunk)
        size += len(chunk.reports)
        if size >= _MERGED_BYTES:
            _merge(connection, place, held)
            held, size = [], 0
    if held:
        _merge(connection, place, held)


def _merge(connection: Connection, place: Place, held: list[Chunk]) -> None:
    n = sum(chunk.n for chunk in held)
    data = np.frombuffer(b"".join(chunk.reports for chunk in held), np.uint8).reshape(n, -1)
    for chunk in held:
        connection.execute("DELETE FROM chunks WHERE number=?", (chunk.number,))
    add_chunk(connection, place, data, np.empty(0, np.uint64))
