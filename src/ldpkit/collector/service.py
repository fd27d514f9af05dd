"""A collector at work: its database, what it asks, and the thread that writes."""

from __future__ import annotations

import contextlib
import datetime
import functools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from types import TracebackType
from typing import Any, Self

from ldpkit.client.collection import Collection
from ldpkit.client.questions import FIXED, Question
from ldpkit.collector.asked import Asked, Entry, Shelf, asked_of
from ldpkit.collector.closing import Closing
from ldpkit.collector.database import Connection, Database
from ldpkit.collector.kept import Place, merge_chunks, note, places, row_checksum
from ldpkit.collector.loading import load_shelf
from ldpkit.collector.problems import HttpProblem
from ldpkit.collector.writer import Fate, Writer

__all__ = ["Service"]

_LONG = 600.0  # seconds that closing a large round may take


class Service:
    """A running collector; use it in a `with` statement, which keeps every other one out.

    Parameters
    ----------
    database : Database
        Where it keeps what it takes.
    deliver : callable
        Takes the fates of uploads, as `Writer` says.
    now : callable
        The clock.
    """

    def __init__(
        self,
        database: Database,
        deliver: Callable[[list[Fate]], None],
        now: Callable[[], datetime.datetime] = lambda: datetime.datetime.now(datetime.UTC),
    ) -> None:
        self.database, self.shelf, self.now = database, Shelf(), now
        self._deliver = deliver
        self._closing = Closing(self.close_overdue, now)
        self.writer: Writer

    def __enter__(self) -> Self:
        connection = self.database.connect_writer()
        try:
            self.database.prepare(connection)
            self.shelf = load_shelf(connection)
            self.writer = Writer(self.database, connection, self.shelf, self._deliver)
        except BaseException:
            connection.close()
            raise
        self.writer.start()
        self._closing.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._closing.stop()
        self.writer.stop()

    @contextlib.contextmanager
    def connection(self) -> Iterator[Connection]:
        """Yield a connection to read with."""
        connection = self.database.connect()
        try:
            yield connection
        finally:
            connection.close()

    # --- what administrators do: between two commits, in the writer's thread -----------------

    def add(self, envelope: bytes) -> Collection:
        """Put up a collection, or a new version of one; one that is there already stays.

        A new signature under what is there takes the place of the old one, or of none.
        """
        collection = Collection.read(envelope)
        asked = asked_of(collection)
        self.writer.call(lambda connection: self._add(connection, envelope, collection, asked))
        return collection

    def _add(
        self, connection: Connection, envelope: bytes, collection: Collection, asked: tuple[Asked, ...]
    ) -> None:
        entry = self.shelf.get(collection.id) if collection.id in self.shelf.names() else Entry({}, {})
        known = entry.versions.get(collection.version)
        if known is not None and known[0].digest == collection.digest:
            if not collection.is_signed or entry.envelopes[collection.version] == envelope:
                return
            asked = known[1]  # uploads that wait answer these very questions
        elif entry.versions:
            self._check_change(connection, entry, collection)
        row = (collection.id, collection.version, collection.digest, envelope, int(entry.retired))
        with connection.transaction():
            connection.execute("DELETE FROM collections WHERE id=? AND version=?", row[:2])
            connection.execute(
                "INSERT INTO collections VALUES (?, ?, ?, ?, ?, ?)", (*row, row_checksum(*row))
            )
            note(
                connection,
                f"collection {collection.id} version {collection.version} put up, digest {collection.digest}"
                + (f", signed by {collection.key}" if collection.is_signed else ""),
            )
        versions = {**entry.versions, collection.version: (collection, asked)}
        envelopes = {**entry.envelopes, collection.version: envelope}
        self.shelf.put(collection.id, Entry(versions, envelopes, entry.closed, entry.retired))

    @staticmethod
    def _check_change(connection: Connection, entry: Entry, collection: Collection) -> None:
        """Refuse a change that would give another meaning to reports that are here."""
        name, version, last = collection.id, collection.version, max(entry.versions)
        if entry.retired:
            raise HttpProblem("frozen-collection", f"{name!r} is retired: give the new one another id")
        if version in entry.versions and connection.execute(
            "SELECT 1 FROM tallies WHERE collection=? AND version=? LIMIT 1", (name, version)
        ):
            raise HttpProblem(
                "frozen-collection",
                f"version {version} of {name!r} has reports: give a change version {last + 1}",
            )
        if version < last:
            raise HttpProblem(
                "frozen-collection", f"{name!r} has version {last} already: a new one has a higher number"
            )
        for old, _ in (each for number, each in entry.versions.items() if number != version):
            rounds, new = old.rounds, collection.rounds
            if (rounds.every, rounds.start) != (new.every, new.start):
                raise HttpProblem(
                    "frozen-collection",
                    f"the rounds of {name!r} are {rounds.every} from {rounds.start} on, in every version: "
                    "give other rounds another id",
                )
            for question in collection.questions:
                if any(_is_renamed(each, question) for each in old.questions):
                    raise HttpProblem(
                        "frozen-collection",
                        f"devices stay with their first answer to {question.id!r}, whose parts have other "
                        "names now: give the question another id",
                    )

    def close_round(self, name: str, number: int) -> bool:
        """Close a round: its chunks are merged, its ids forgotten, and late answers refused for ever.

        Return whether it was still open.
        """
        entry = self.shelf.get(name)
        if not 0 <= number < entry.round_count:
            raise HttpProblem(
                "malformed-request", f"{name!r} has the rounds 0 to {entry.round_count - 1}, not {number}"
            )
        return self.writer.call(lambda connection: self._close_open(connection, name, number), patience=_LONG)

    def close_overdue(self, now: datetime.datetime) -> None:
        """Close every round that ended long ago, by a time that was checked."""
        for name in self.shelf.names():
            if numbers := self.shelf.get(name).overdue(now):
                close = functools.partial(self._close, name=name, numbers=numbers)
                self.writer.call(close, patience=_LONG)

    def retire(self, name: str) -> bool:
        """Close every round of a collection, and take no further answer; return whether it took some."""
        self.shelf.get(name)
        return self.writer.call(lambda connection: self._retire(connection, name), patience=_LONG)

    def erase(self, name: str) -> None:
        """Delete a collection with all its reports."""
        self.shelf.get(name)
        self.writer.call(lambda connection: self._erase(connection, name), patience=_LONG)

    def _close_open(self, connection: Connection, name: str, number: int) -> bool:
        entry = self.shelf.get(name)
        if entry.retired or number in entry.closed:
            return False
        self._close(connection, name, [number])
        return True

    def _close(self, connection: Connection, name: str, numbers: Sequence[int]) -> None:
        entry = self.shelf.get(name)
        held: dict[int, list[Place]] = {}
        for place in places(connection, name):
            held.setdefault(place.round, []).append(place)
        empty = [number for number in numbers if number not in held]  # perhaps years of them
        for together in filter(None, (empty, *([number] for number in numbers if number in held))):
            with connection.transaction():
                for number in together:
                    connection.execute(
                        "INSERT INTO closed_rounds VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
                        (name, number, row_checksum(name, number)),
                    )
                    for place in held.get(number, ()):
                        merge_chunks(connection, place, self.writer.next_number)
                    note(connection, f"round {number} of {name} closed")
        self.shelf.put(name, replace(entry, closed=entry.closed | set(numbers)))
        self.writer.forget(lambda subject: subject[0] == name and subject[2] in numbers)
        connection.forget()

    def _retire(self, connection: Connection, name: str) -> bool:
        entry = self.shelf.get(name)
        if entry.retired:
            return False
        self._close(
            connection, name, sorted({place.round for place in places(connection, name)} - entry.closed)
        )
        entry = self.shelf.get(name)
        with connection.transaction():
            for version, (collection, _) in entry.versions.items():
                row: tuple[Any, ...] = (name, version, collection.digest, entry.envelopes[version], 1)
                connection.execute(
                    "UPDATE collections SET retired=1, checksum=? WHERE id=? AND version=?",
                    (row_checksum(*row), name, version),
                )
            note(connection, f"collection {name} retired")
        self.shelf.put(name, replace(entry, retired=True))
        return True

    def _erase(self, connection: Connection, name: str) -> None:
        with connection.transaction():
            for table, column in (
                ("chunks", "collection"),
                ("tallies", "collection"),
                ("closed_rounds", "collection"),
                ("collections", "id"),
            ):
                connection.execute(f"DELETE FROM {table} WHERE {column}=?", (name,))
            note(connection, f"collection {name} erased")
        self.shelf.remove(name)
        self.writer.forget(lambda subject: subject[0] == name)
        connection.forget()


def _is_renamed(old: Question, new: Question) -> bool:
    """Whether devices go on reporting a cell of a product that means something else now."""
    if new.value != FIXED or (old.id, old.mechanism, old.sampler) != (new.id, new.mechanism, new.sampler):
        return False
    domains = [old.domain, new.domain]
    return domains[0] != domains[1] and not any(isinstance(each, list) for each in domains)
