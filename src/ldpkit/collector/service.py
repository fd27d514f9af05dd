"""A collector at work: its database, what it asks, and the thread that writes."""

from __future__ import annotations

import contextlib
import datetime
from collections.abc import Callable, Iterator
from types import TracebackType
from typing import Any, Self

import numpy as np

from ldpkit.client.collection import Collection
from ldpkit.collector.asked import Entry, Shelf, asked_of
from ldpkit.collector.database import Connection, Database
from ldpkit.collector.ids import IdSet
from ldpkit.collector.kept import chunks_of, merge_chunks, places
from ldpkit.collector.problems import HttpProblem
from ldpkit.collector.writer import Counted, Writer

__all__ = ["Service", "load_shelf"]


def load_shelf(connection: Connection) -> Shelf:
    """Return what a database says is asked."""
    versions: dict[str, dict[int, Any]] = {}
    envelopes: dict[str, dict[int, bytes]] = {}
    retired: dict[str, bool] = {}
    for name, version, envelope, is_retired in connection.execute(
        "SELECT id, version, envelope, retired FROM collections ORDER BY id, version"
    ):
        collection = Collection.read(bytes(envelope))
        versions.setdefault(name, {})[version] = (collection, asked_of(collection))
        envelopes.setdefault(name, {})[version] = bytes(envelope)
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


class Service:
    """A running collector; use it in a `with` statement, which keeps every other one out.

    Parameters
    ----------
    database : Database
        Where it keeps what it takes.
    deliver : callable
        Takes the fates of uploads, as `Writer` says.
    """

    def __init__(
        self, database: Database, deliver: Callable[[list[tuple[Any, Counted | HttpProblem]]], None]
    ) -> None:
        self.database, self.shelf = database, Shelf()
        self._deliver = deliver
        self._held = contextlib.ExitStack()
        self.writer: Writer

    def __enter__(self) -> Self:
        self._held.enter_context(self.database.take_writer_lock())
        try:
            self.database.prepare()
            with self.connection() as connection:
                self.shelf = load_shelf(connection)
                self.writer = Writer(self.database, self.shelf, self._deliver)
                self._load_ids(connection)
        except BaseException:
            self._held.close()
            raise
        self.writer.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.writer.stop()
        self._held.close()

    @contextlib.contextmanager
    def connection(self) -> Iterator[Connection]:
        """Yield a connection to read with."""
        connection = self.database.connect()
        try:
            yield connection
        finally:
            connection.close()

    def _load_ids(self, connection: Connection) -> None:
        """Remember the ids of every round that is open."""
        for place in places(connection):
            if place.round in self.shelf.get(place.collection).closed:
                continue
            ids = [
                np.frombuffer(chunk.ids, "<u8").astype(np.uint64) for chunk in chunks_of(connection, place)
            ]
            known = self.writer.ids.setdefault((place.collection, place.question, place.round), IdSet())
            if ids:
                known.add(np.concatenate(ids))

    # --- what administrators do: between two commits, in the writer's thread -----------------

    def add(self, envelope: bytes) -> Collection:
        """Put up a collection, or a new version of one; one that is there already, byte for byte, stays."""
        collection = Collection.read(envelope)
        asked = asked_of(collection)
        self.writer.call(lambda connection: self._add(connection, envelope, collection, asked))
        return collection

    def _add(self, connection: Connection, envelope: bytes, collection: Collection, asked: Any) -> None:
        try:
            entry = self.shelf.get(collection.id)
        except HttpProblem:
            entry = Entry({}, {})
        known = entry.versions.get(collection.version)
        if known is not None and known[0].digest == collection.digest:
            return
        if known is not None and self._has_reports(connection, collection.id, collection.version):
            raise HttpProblem(
                "frozen-collection",
                f"version {collection.version} of {collection.id!r} has reports: give a change version "
                f"{max(entry.versions) + 1}",
            )
        if known is None and entry.versions and collection.version < max(entry.versions):
            raise HttpProblem(
                "frozen-collection",
                f"{collection.id!r} has version {max(entry.versions)} already: a new one has a higher number",
            )
        with connection.transaction():
            connection.execute(
                "DELETE FROM collections WHERE id=? AND version=?", (collection.id, collection.version)
            )
            connection.execute(
                "INSERT INTO collections (id, version, digest, envelope, retired) VALUES (?, ?, ?, ?, 0)",
                (collection.id, collection.version, collection.digest, envelope),
            )
            _note(
                connection,
                f"collection {collection.id} version {collection.version} put up, digest {collection.digest}",
            )
        versions = {**entry.versions, collection.version: (collection, asked)}
        envelopes = {**entry.envelopes, collection.version: envelope}
        self.shelf.put(collection.id, Entry(versions, envelopes, entry.closed, entry.retired))

    @staticmethod
    def _has_reports(connection: Connection, name: str, version: int) -> bool:
        return bool(
            connection.execute(
                "SELECT 1 FROM tallies WHERE collection=? AND version=? LIMIT 1", (name, version)
            )
        )

    def close_round(self, name: str, number: int) -> None:
        """Close a round: its chunks are merged, its ids forgotten, and late answers refused for ever."""
        entry = self.shelf.get(name)
        if not 0 <= number < entry.newest.rounds.count:
            raise HttpProblem(
                "malformed-request",
                f"{name!r} has the rounds 0 to {entry.newest.rounds.count - 1}, not {number}",
            )
        self.writer.call(lambda connection: self._close(connection, name, [number]), patience=600)

    def retire(self, name: str) -> None:
        """Close every round of a collection, and take no further answer."""
        self.shelf.get(name)
        self.writer.call(lambda connection: self._retire(connection, name), patience=600)

    def _close(self, connection: Connection, name: str, numbers: list[int]) -> None:
        entry = self.shelf.get(name)
        with connection.transaction():
            for number in numbers:
                connection.execute(
                    "INSERT INTO closed_rounds VALUES (?, ?) ON CONFLICT DO NOTHING", (name, number)
                )
                for place in places(connection, name):
                    if place.round == number:
                        merge_chunks(connection, place)
                _note(connection, f"round {number} of {name} closed")
        self.shelf.put(
            name, Entry(entry.versions, entry.envelopes, entry.closed | set(numbers), entry.retired)
        )
        for subject in [each for each in self.writer.ids if each[0] == name and each[2] in numbers]:
            del self.writer.ids[subject]

    def _retire(self, connection: Connection, name: str) -> None:
        self._close(connection, name, sorted({place.round for place in places(connection, name)}))
        with connection.transaction():
            connection.execute("UPDATE collections SET retired=1 WHERE id=?", (name,))
            _note(connection, f"collection {name} retired")
        entry = self.shelf.get(name)
        self.shelf.put(name, Entry(entry.versions, entry.envelopes, entry.closed, True))


def _note(connection: Connection, what: str) -> None:
    """Write down what an administrator did, with the day."""
    day = datetime.datetime.now(datetime.UTC).date().isoformat()
    connection.execute("INSERT INTO audit (day, what) VALUES (?, ?)", (day, what))
