"""Permanent reports about one question: found again for ever, for a device or for many people.

Where there is a secret they are derived from it; where there is only a store they are
drawn securely once and kept. With both, what is kept must be what the secret gives: a
secret that was lost and made anew would otherwise draw every permanent report again.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from ldpkit.client.labels import (
    CHECK,
    COINS,
    PERMANENT,
    PERSON,
    check_name,
    check_secret,
    derive,
    pack,
    question_label,
)
from ldpkit.client.store import DeviceStore, Records, VolatileStore
from ldpkit.core.cached import cached_property
from ldpkit.core.errors import InvalidInputError, InvalidParameterError, MismatchError
from ldpkit.core.random import RandomSource, secure
from ldpkit.protocols.people import person_keys

if TYPE_CHECKING:
    from ldpkit.core.typing import Indices, Reports, Values
    from ldpkit.mechanisms.longitudinal.memoized import MemoizedOracle

__all__ = ["PermanentReports"]

_NONE = RandomSource(bytes(32), is_secure=False)  # for what draws nothing
_loaded = set[str]()  # the mechanisms that have drawn in this process
_COINS, _STATE, _FIRST, _MEMO = b"coins", b"state %d", b"first", b"memo"


@dataclass(frozen=True)
class PermanentReports:
    """What is permanent about one question.

    Parameters
    ----------
    mechanism : MemoizedOracle
        What makes the reports.
    question : str
        What is asked. Two questions have independent permanent reports.
    collection : str
        The collection that the question belongs to.
    secret : bytes, optional
        What permanent reports are derived from.
    store : DeviceStore, optional
        Where they and the charges are kept. One of secret and store is needed.
    """

    mechanism: MemoizedOracle
    question: str
    collection: str = ""
    secret: bytes | None = field(default=None, repr=False)
    store: DeviceStore | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "question", check_name(self.question, "a question"))
        if self.collection != "":
            object.__setattr__(self, "collection", check_name(self.collection, "a collection"))
        if self.secret is not None:
            object.__setattr__(self, "secret", check_secret(self.secret))
        if self.store is not None and not isinstance(self.store, DeviceStore):
            raise InvalidParameterError(
                f"a store is a DeviceStore(path), got {type(self.store).__name__}: make one"
            )
        if self.secret is None and self.store is None:
            raise InvalidParameterError(
                "permanent reports need a memory: give a secret that stays the same, or "
                "store=DeviceStore(path)"
            )

    @cached_property
    def records(self) -> DeviceStore | VolatileStore:
        """Where charges are counted: in the store, or for the life of this object."""
        return VolatileStore() if self.store is None else self.store

    def load(self) -> None:
        """Draw once for nobody, where there is a store.

        What is imported and compiled at the first draw would otherwise be within a transaction, for which
        forks and signal handlers wait.
        """
        mechanism = self.mechanism
        if self.store is not None and mechanism.name not in _loaded:
            source = secure()
            coins = mechanism.public_coins(1, source)
            mechanism.memorise(coins, mechanism.states(coins, np.zeros(1, np.uint32)), source)
            _loaded.add(mechanism.name)

    @cached_property
    def _label(self) -> bytes:
        mechanism = self.mechanism
        domain, integers = mechanism.domain.to_json(), mechanism.sampler_integers()
        return question_label(self.collection, self.question, mechanism.name, domain, integers)

    def owner(self, person: bytes) -> bytes:
        """Return whose records these are in the store; the person of a device of one's own is empty."""
        return hashlib.sha256(self._label + pack(person)).digest()

    def recall(
        self, records: Records, index: int, *, person: bytes = b"", times: int = 0
    ) -> tuple[int, Reports]:
        """Return the state for a value and its permanent report, charged so many times."""
        mechanism = self.mechanism
        self._check_memo(records, person)
        coins = self._coins(records, person)
        states = mechanism.states(coins, np.array([index], np.uint32))
        state = int(states[0])

        def draw() -> Reports:
            return mechanism.memorise(coins, states, self._source(person, PERMANENT, b"%d" % state))

        return state, self._kept(records, self.owner(person), _STATE % state, draw, times)

    def coins(self, person: bytes = b"") -> Reports:
        """Return the public coins of a device, in the layout of a report."""
        if self.mechanism.has_public_coins:
            self.load()
        with self.records.transaction() as records:
            return self._coins(records, person)

    def _coins(self, records: Records, person: bytes) -> Reports:
        mechanism = self.mechanism
        if not mechanism.has_public_coins:
            return mechanism.public_coins(1, _NONE)
        return self._kept(
            records,
            self.owner(person),
            _COINS,
            lambda: mechanism.public_coins(1, self._source(person, COINS)),
        )

    def _check_memo(self, records: Records, person: bytes) -> None:
        """Refuse a store that was begun with another secret, or without one: it would draw reports anew."""
        if self.store is None:
            return
        memo = b"none"
        if self.secret is not None:
            memo = derive(self.secret, pack(CHECK) + self._label)
        if records.recall(self.owner(person), _MEMO, lambda: memo) != memo:
            raise MismatchError(
                f"{self.store!r} was begun for question {self.question!r} with another secret, or without "
                "one: use the same memo as then, because new permanent reports give as much away again"
            )

    def _source(self, person: bytes, use: bytes, *state: bytes) -> RandomSource:
        """Return the randomness of one use: derived from the secret, or new where there is none."""
        if self.secret is None:
            return secure()
        secret = derive(self.secret, pack(PERSON, person)) if person else self.secret
        return RandomSource(derive(secret, pack(use) + self._label + pack(*state)), is_secure=False)

    def _kept(
        self, records: Records, owner: bytes, place: bytes, draw: Callable[[], Reports], times: int = 0
    ) -> Reports:
        mechanism = self.mechanism
        content = records.recall(owner, place, lambda: mechanism.encode(draw()), times=times)
        if self.store is not None and self.secret is not None and content != mechanism.encode(draw()):
            raise MismatchError(
                f"{self.store!r} holds permanent reports that were made with another secret: use the same "
                "secret as then, because new permanent reports give as much away again"
            )
        return mechanism.decode(content).copy()

    def first(self, records: Records, index: int, *, person: bytes = b"", fixed: bool) -> int:
        """Return the value to report: the first one ever for a device that is fixed, else the present one."""
        content = records.recall(self.owner(person), _FIRST, lambda: b"%d" % index if fixed else b"any")
        if (content != b"any") != fixed:
            raise InvalidParameterError(
                f"question {self.question!r} was answered with fixed={not fixed} before: keep that, or "
                "ask under another name, which costs one more permanent report"
            )
        return int(content) if fixed else index

    def charges(self, person: bytes = b"") -> dict[int, int]:
        """Return how many reports were made from each state."""
        with self.records.transaction() as records:
            found = records.charges(self.owner(person))
        return {int(place.split()[1]): times for place, times in found.items() if times}

    def of_people(self, indices: Indices, people: Values) -> Iterator[Reports]:
        """Yield the permanent reports of some people, one after the other.

        With a store, all are charged one report before the first is given out.
        """
        keys = person_keys(people)
        if len(keys) != len(indices):
            raise InvalidInputError(f"{len(keys)} ids for {len(indices)} values: give one id for each value")
        if self.store is not None:
            self.load()
            with self.store.transaction() as records:
                found = [self._of(records, *each) for each in zip(indices.tolist(), keys, strict=True)]
            return iter(found)
        return self._derived(indices.tolist(), keys)

    def _derived(self, indices: Sequence[int], keys: Sequence[bytes]) -> Iterator[Reports]:
        for index, key in zip(indices, keys, strict=True):
            yield self._of(VolatileStore(), index, key)

    def _of(self, records: Records, index: int, person: bytes) -> Reports:
        present = self.first(records, index, person=person, fixed=False)
        return self.recall(records, present, person=person, times=1)[1]
