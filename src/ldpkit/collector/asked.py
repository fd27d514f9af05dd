"""What is asked now: the collections, their versions and rounds, and which uploads may come in.

The shelf is read by the thread that receives and changed by the one that writes. A change puts a
new entry in the place of the old one, so who reads sees the one or the other, whole.
"""

from __future__ import annotations

import datetime
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass

from ldpkit.client.collection import Collection
from ldpkit.client.questions import Question
from ldpkit.client.upload import ID_BYTES, UploadHeader
from ldpkit.collector.kept import Place
from ldpkit.collector.problems import HttpProblem
from ldpkit.core.cached import cached_property
from ldpkit.mechanisms.base import Mechanism
from ldpkit.protocols.collection.building import check_collection, mechanism_of

__all__ = ["LATE_ROUNDS", "Asked", "Entry", "Shelf", "asked_of"]

LATE_ROUNDS = 7
"""How many rounds after its own a round is closed: until then late devices are taken."""

_ACCEPTED_VERSIONS = 2


@dataclass(frozen=True, eq=False)
class Asked:
    """One question of one version, with the mechanism that makes its reports."""

    collection: str
    version: int
    question: Question
    mechanism: Mechanism

    @cached_property
    def record_bytes(self) -> int:
        """The length of a record of an upload: an id and a report."""
        return ID_BYTES + self.question.report_bytes

    def place(self, number: int) -> Place:
        """Return where the reports of a round are kept."""
        return Place(self.collection, self.version, self.question.id, number)


def asked_of(collection: Collection) -> tuple[Asked, ...]:
    """Return the questions of a collection, each with its mechanism, or refuse it.

    The mechanism is made from the stated parameters, and must have the very integers that
    devices are given: else its estimates would be of other reports.
    """
    check_collection(collection)
    return tuple(
        Asked(collection.id, collection.version, question, mechanism_of(question))
        for question in collection.questions
    )


@dataclass(frozen=True, eq=False)
class Entry:
    """A collection on the shelf."""

    versions: Mapping[int, tuple[Collection, tuple[Asked, ...]]]
    envelopes: Mapping[int, bytes]
    closed: frozenset[int] = frozenset()
    retired: bool = False

    @cached_property
    def newest(self) -> Collection:
        """The version that devices fetch."""
        return self.versions[max(self.versions)][0]

    @property
    def envelope(self) -> bytes:
        """The bytes that devices fetch."""
        return self.envelopes[max(self.envelopes)]

    @cached_property
    def tag(self) -> str:
        """What changes with the bytes that devices fetch, in quotes, as HTTP has it."""
        return f'"{hashlib.sha256(self.envelope).hexdigest()}"'

    @cached_property
    def round_count(self) -> int:
        """How many rounds there may be reports of: a newer version may have fewer."""
        return max(collection.rounds.count for collection, _ in self.versions.values())

    @cached_property
    def is_over(self) -> bool:
        """Whether no round can be answered any more."""
        return self.retired or all(number in self.closed for number in range(self.newest.rounds.count))

    @cached_property
    def accepted(self) -> tuple[int, ...]:
        """The versions whose reports are taken: the newest two, so that devices have time to change."""
        return tuple(sorted(self.versions)[-_ACCEPTED_VERSIONS:])

    def accept(self, header: UploadHeader, today: datetime.datetime) -> Asked:
        """Return the question that an upload answers, or say why it is not taken."""
        if header.version not in self.versions:
            raise HttpProblem("foreign-reports", f"there is no version {header.version} of this collection")
        if header.version not in self.accepted:
            raise HttpProblem(
                "outdated-collection",
                f"version {header.version} has ended: version {self.newest.version} is asked",
            )
        collection, questions = self.versions[header.version]
        if header.question >= len(questions):
            raise HttpProblem(
                "foreign-reports", f"version {header.version} has no question number {header.question}"
            )
        asked = questions[header.question]
        if header.fingerprint != asked.question.fingerprint:
            raise HttpProblem(
                "foreign-reports",
                f"the fingerprint does not match question {asked.question.id!r}",
            )
        if header.seeded and collection.randomness != "seeded":
            raise HttpProblem(
                "foreign-reports",
                "the reports were made with a seed, and this collection takes secure ones only",
            )
        self.check_round(header.round, today)
        return asked

    def check_round(self, number: int, today: datetime.datetime) -> None:
        """Refuse a round that is closed or has not begun."""
        if self.retired or number in self.closed:
            raise HttpProblem("round-closed", f"round {number} is closed")
        rounds = self.newest.rounds
        if number >= rounds.count:
            raise HttpProblem(
                "foreign-reports", f"there is no round {number}: the last is {rounds.count - 1}"
            )
        present = rounds.index(today)
        if number > present:
            raise HttpProblem(
                "round-not-open",
                f"round {number} has not begun: round {present} is open"
                if present >= 0
                else f"the collection starts on {rounds.start}",
            )

    def overdue(self, today: datetime.datetime) -> list[int]:
        """Return the rounds that are to be closed: those that ended long ago."""
        rounds = self.newest.rounds
        if rounds.every == "once" or self.retired:
            return []
        last = min(rounds.index(today) - LATE_ROUNDS, self.round_count)
        return [number for number in range(last) if number not in self.closed]


class Shelf:
    """Every collection of a service, by id."""

    def __init__(self, entries: Mapping[str, Entry] | None = None) -> None:
        self._entries: dict[str, Entry] = dict(entries or {})

    def get(self, name: str) -> Entry:
        """Return a collection, or the problem that there is none."""
        entry = self._entries.get(name)
        if entry is None:
            raise HttpProblem("unknown-collection", f"no collection is called {name[:64]!r}")
        return entry

    def put(self, name: str, entry: Entry) -> None:
        """Put a collection in the place of what stood there."""
        self._entries = {**self._entries, name: entry}

    def remove(self, name: str) -> None:
        """Take a collection away."""
        self._entries = {each: entry for each, entry in self._entries.items() if each != name}

    def take_over(self, other: Shelf) -> None:
        """Have what another shelf has."""
        self._entries = dict(other._entries)

    def names(self) -> list[str]:
        """Return the ids of all collections."""
        return sorted(self._entries)

    def is_open(self, name: str, number: int) -> bool:
        """Whether a round of a collection may have reports."""
        entry = self._entries.get(name)
        return entry is not None and not entry.retired and number not in entry.closed

    def has(self, asked: Asked) -> bool:
        """Whether a question is still asked just so."""
        entry = self._entries.get(asked.collection)
        found = None if entry is None else entry.versions.get(asked.version)
        return found is not None and found[1][asked.question.number] is asked
