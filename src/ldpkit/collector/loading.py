"""What a service keeps in memory, read from its database: what is asked, and the ids that were counted."""

from __future__ import annotations

from typing import Any

import numpy as np

from ldpkit.client.collection import Collection
from ldpkit.collector.asked import Asked, Entry, Shelf, asked_of
from ldpkit.collector.database import Connection
from ldpkit.collector.ids import IdSet
from ldpkit.collector.kept import chunks_after, row_checksum
from ldpkit.core.errors import FileFormatError

__all__ = ["Subject", "load_ids", "load_shelf"]

Subject = tuple[str, str, int]
"""What an id counts once for, whatever the version: collection, question and round."""


def load_shelf(connection: Connection, known: Shelf | None = None) -> Shelf:
    """Return what a database says is asked; mechanisms that are known already are not made again."""
    made: dict[str, tuple[Asked, ...]] = {}
    for name in () if known is None else known.names():
        for collection, asked in known.get(name).versions.values() if known is not None else ():
            made[collection.digest] = asked
    versions: dict[str, dict[int, Any]] = {}
    envelopes: dict[str, dict[int, bytes]] = {}
    retired: dict[str, bool] = {}
    for name, version, digest, data, is_retired, checksum in connection.execute(
        "SELECT id, version, digest, envelope, retired, checksum FROM collections ORDER BY id, version"
    ):
        envelope = bytes(data)
        if row_checksum(name, version, digest, envelope, is_retired) != bytes(checksum):
            raise FileFormatError(f"collection {name!r} version {version} is damaged: restore a backup")
        collection = Collection.read(envelope)
        asked = made.get(collection.digest) or asked_of(collection)
        versions.setdefault(name, {})[version] = (collection, asked)
        envelopes.setdefault(name, {})[version] = envelope
        retired[name] = bool(is_retired)
    closed: dict[str, set[int]] = {}
    for name, number in connection.execute("SELECT collection, round FROM closed_rounds"):
        closed.setdefault(name, set()).add(number)
    return Shelf(
        {
            name: Entry(found, envelopes[name], frozenset(closed.get(name, ())), retired[name])
            for name, found in versions.items()
        }
    )


def load_ids(connection: Connection, shelf: Shelf, ids: dict[Subject, IdSet], after: int) -> int:
    """Add the ids of chunks behind a known one, if their round is open; return the last chunk's number."""
    found: dict[Subject, list[Any]] = {}
    for chunk in chunks_after(connection, after):
        after = chunk.number
        place = chunk.place
        if chunk.ids and place.round not in shelf.get(place.collection).closed:
            subject = (place.collection, place.question, place.round)
            found.setdefault(subject, []).append(np.frombuffer(chunk.ids, "<u8").astype(np.uint64))
    for subject, parts in found.items():
        known = ids.setdefault(subject, IdSet())
        known.add(known.new(np.concatenate(parts))[1])
    return after
