"""A device that answers a collection: it stores before it sends, and never spends twice.

An answer is made once for each question and round. Report and charge are written in one
transaction before anything leaves the device; whoever asks again gets the stored report, with
no new randomness and no new charge. What was not confirmed is sent again, under the same id.
"""

from __future__ import annotations

import datetime
import hashlib
import json
import os
from dataclasses import dataclass
from typing import Any

from ldpkit.client.canonical import canonical
from ldpkit.client.collection import Collection
from ldpkit.client.labels import COINS, PERMANENT, derive, drawn_questions, pack, question_label, upload_id
from ldpkit.client.places import place_of
from ldpkit.client.questions import FIXED, Question, category_count
from ldpkit.client.randomness import key_stream, secure_bytes
from ldpkit.client.samplers import MemorySampler, read_sampler
from ldpkit.client.sending import Delivery, Sender
from ldpkit.client.signing import PublicKey
from ldpkit.client.spending import Charge, Micro, Spending, micro_text
from ldpkit.client.store import DeviceStore, Records
from ldpkit.client.upload import UploadHeader
from ldpkit.core.errors import InvalidInputError, MismatchError

__all__ = ["Answer", "Client"]

_DEVICE, _SEEN = b"ldpkit-client", b"ldpkit-client seen"
_ANSWERS, _OUTCOMES, _FIRST = b"ldpkit-client answers", b"ldpkit-client outcomes", b"ldpkit-client first"
_SECRET_BYTES = 32


@dataclass(frozen=True)
class Answer:
    """One stored answer.

    Parameters
    ----------
    collection, question : str
        Their ids.
    round : int
        The round it belongs to.
    report : bytes
        What is sent. The value itself is not kept.
    micro : int or None
        What it cost, in millionths of an epsilon; None stands for infinite.
    header : UploadHeader
        What an upload says about it.
    id : int
        Under which the collector counts it once.
    sampler : str
        The digest of what made it, and "fixed" behind it if the value is.
    outcome : str
        "waiting", "accepted", or the problem for which the collector refused it.
    """

    collection: str
    question: str
    round: int
    report: bytes
    micro: Micro
    header: UploadHeader
    id: int
    sampler: str
    outcome: str = "waiting"

    def to_bytes(self) -> bytes:
        """Return what the store keeps; the outcome is kept beside it."""
        return json.dumps(
            {
                "version": self.header.version,
                "number": self.header.question,
                "fingerprint": f"{self.header.fingerprint:016x}",
                "report": self.report.hex(),
                "micro": self.micro,
                "id": f"{self.id:016x}",
                "sampler": self.sampler,
            }
        ).encode()

    @classmethod
    def from_store(cls, place: bytes, content: bytes, outcome: bytes | None) -> Answer:
        """Return the answer that a store keeps."""
        collection, question, number = json.loads(place)
        form = json.loads(content)
        return cls(
            collection=collection,
            question=question,
            round=number,
            report=bytes.fromhex(form["report"]),
            micro=form["micro"],
            header=UploadHeader(form["version"], form["number"], number, int(form["fingerprint"], 16)),
            id=int(form["id"], 16),
            sampler=form["sampler"],
            outcome="waiting" if outcome is None else outcome.decode(),
        )

    @property
    def place(self) -> bytes:
        """Where it stands in a store."""
        return _place(self.collection, self.question, self.round)


class Client:
    """A device's answers to one collection.

    Parameters
    ----------
    collection : Collection
        What is asked, as `Collection.read` checked it.
    store : DeviceStore or path
        The device's memory: its secret, its answers and what they cost. One store serves every
        collection of a device; a cap holds over all of them.
    url : str, optional
        Where the collector is, such as "https://collect.example.org"; needed to send.
    cap : int, optional
        The most that this device may spend over everything in the store, in millionths of an
        epsilon. The collection's own promise holds in any case.

    Examples
    --------
    >>> import ldpkit, tempfile
    >>> from ldpkit.protocols.collection.building import compile_toml
    >>> asked = compile_toml(b'''
    ... id = "town"
    ... version = 1
    ... purpose = "How people travel."
    ... rounds = {every = "once", start = 2026-11-01}
    ... questions = [{id = "way", text = "How?", domain = ["walk", "bike"], mechanism = "grr", epsilon = 1}]
    ... ''')
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     device = Client(asked, folder + "/device.db")
    ...     answer = device.answer("way", "bike")     # stored; `flush` sends it where there is a url
    ...     answer == device.answer("way", "walk")    # asked again: the same report
    True
    """

    def __init__(
        self,
        collection: Collection,
        store: DeviceStore | str | os.PathLike[str],
        *,
        url: str | None = None,
        cap: int | None = None,
    ) -> None:
        self.collection, self.cap = collection, cap
        self.store = store if isinstance(store, DeviceStore) else DeviceStore(store)
        self._sender = None if url is None else Sender(url)
        with self.store.transaction() as records:
            _notice(records, collection)
            self._secret = records.recall(_DEVICE, b"secret", lambda: os.urandom(_SECRET_BYTES))
        ids = [question.id for question in collection.questions]
        self.drawn = tuple(drawn_questions(self._secret, collection.id, ids, collection.ask))
        """The ids of the questions that this device answers."""

    @classmethod
    def fetch(
        cls,
        url: str,
        collection: str,
        store: DeviceStore | str | os.PathLike[str],
        *,
        public_key: bytes | str | PublicKey | None = None,
        digest: str | None = None,
        cap: int | None = None,
    ) -> Client:
        """Return the client of a collection that a collector serves.

        Give `public_key`, or `digest`, whenever you ship a device. Without both, the device takes what
        the address serves: it checks that the epsilon arithmetic holds, but not who asks, nor what.

        Parameters
        ----------
        url : str
            Where the collector is, such as "https://collect.example.org".
        collection : str
            The id of the collection.
        store : DeviceStore or path
            The device's memory, as for `Client`.
        public_key : bytes or str, optional
            What `ldpkit collection keygen` printed. A collection that is not signed with this key is
            refused; new versions that are signed with it are taken.
        digest : str, optional
            What `ldpkit collection check` prints. Any other document is refused, a new version too.
        cap : int, optional
            The most that this device may spend, as for `Client`.

        Raises
        ------
        MismatchError
            The collection is not signed, is signed with another key, has another digest or another id.
        FileFormatError
            It was changed after it was signed, or promises less than it takes.
        """
        read = Collection.read(Sender(url).fetch(collection), public_key=public_key, digest=digest)
        if read.id != collection:
            raise MismatchError(f"asked for collection {collection!r} and got {read.id!r}: check the address")
        return cls(read, store, url=url, cap=cap)

    def answer(self, question: str, value: Any, *, at: datetime.datetime | None = None) -> Answer:
        """Return the answer for the present round, stored; the one that is there already if there is one.

        Parameters
        ----------
        question : str
            The id of the question.
        value : str, float or tuple
            The person's own value. It never leaves this call.
        at : datetime, optional
            The time that decides the round; now, unless a test says otherwise.
        """
        asked = self.collection.question(question)
        if question not in self.drawn:
            raise InvalidInputError(
                f"this device was not drawn for question {question!r}: each answers {self.collection.ask} of "
                f"{len(self.collection.questions)}, and this one answers {', '.join(self.drawn)}"
            )
        number = self.collection.rounds.number(at or datetime.datetime.now(datetime.UTC))
        place = place_of(asked.kind, asked.domain, asked.sampler, value)
        with self.store.transaction() as records:
            answers = _answers(records)
            for kept in answers:
                if (kept.collection, kept.question, kept.round) == (self.collection.id, question, number):
                    return kept
            made = self._make(records, asked, place, number, answers)
            records.recall(_ANSWERS, made.place, made.to_bytes)
        return made

    def _make(
        self, records: Records, asked: Question, place: Any, number: int, answers: list[Answer]
    ) -> Answer:
        collection, made_by = self.collection, _digest(asked)
        before = [
            each.sampler for each in answers if (each.collection, each.question) == (collection.id, asked.id)
        ]
        if any(each.startswith(made_by) for each in before):
            micro = asked.next
        elif any(made_by.startswith(each) for each in before):
            # A value could change, and is to stay now. Reports of before may come from the permanent report
            # that stays: with all that follow they give away more than both charges, nobody says how much.
            micro = None
        else:
            micro = asked.first
        self._check(micro, number, answers)
        return Answer(
            collection=collection.id,
            question=asked.id,
            round=number,
            report=self._report(records, asked, place),
            micro=micro,
            header=UploadHeader(collection.version, asked.number, number, asked.fingerprint),
            id=upload_id(self._secret, collection.id, asked.id, number),
            sampler=made_by,
        )

    def _check(self, micro: Micro, number: int, answers: list[Answer]) -> None:
        """Refuse an answer that would cost more than was promised, or than the device may spend."""
        here = [each for each in answers if each.collection == self.collection.id]
        promised = self.collection.promise
        limits = [
            (
                "the collection's promise for a round",
                promised["round"],
                [e for e in here if e.round == number],
            ),
            ("the collection's promise for a lifetime", promised["lifetime"], here),
            ("the cap of this device", self.cap, answers),
        ]
        for name, most, counted in limits:
            spent = Spending(tuple(_charge(each) for each in counted), cap=most)
            if not spent.fits(micro):
                raise InvalidInputError(
                    f"this answer costs epsilon {micro_text(micro)} and {micro_text(spent.total)} is spent: "
                    f"together more than {name}, {micro_text(most)}. Nothing was drawn"
                )

    def _report(self, records: Records, asked: Question, place: Any) -> bytes:
        sampler = read_sampler(asked.sampler)
        if not isinstance(sampler, MemorySampler):
            return sampler.draw(place, secure_bytes)
        label = question_label(
            self.collection.id, asked.id, asked.mechanism, _label_domain(asked), sampler.integers()
        )
        if asked.value == FIXED:
            first = records.recall(_FIRST, hashlib.sha256(label).digest(), lambda: b"%d" % place)
            place = int(first)
        coins = sampler.coins(key_stream(derive(self._secret, pack(COINS) + label)))
        state = sampler.state(coins, place)
        key = derive(self._secret, pack(PERMANENT) + label + pack(b"%d" % state))
        return sampler.instant(sampler.permanent(coins, state, key_stream(key)), secure_bytes)

    def flush(self, *, patience: float = 0.0) -> Delivery:
        """Send what waits, and return what became of it.

        Parameters
        ----------
        patience : float
            For how many seconds to try again after a failure of the network or a busy
            collector. What could not be sent stays, for the next call.
        """
        if self._sender is None:
            raise InvalidInputError("this client has no collector to send to: give url=")
        waiting = [each for each in self.answers() if each.outcome == "waiting"]
        return self._sender.send(self.collection.id, waiting, patience=patience, settle=self._settle)

    def _settle(self, answer: Answer, outcome: str) -> None:
        with self.store.transaction() as records:
            records.recall(_OUTCOMES, answer.place, outcome.encode)

    def answers(self) -> list[Answer]:
        """Return the stored answers to this collection, the oldest round first."""
        with self.store.transaction() as records:
            found = [each for each in _answers(records) if each.collection == self.collection.id]
        return sorted(found, key=lambda each: (each.round, each.header.question))

    def ledger(self) -> Spending:
        """Return what the device has spent, over everything in its store."""
        with self.store.transaction() as records:
            return Spending(tuple(_charge(each) for each in _answers(records)), self.cap)

    def __reduce__(self) -> Any:
        raise TypeError("a client cannot be pickled: its secret must not leave the device")

    def __repr__(self) -> str:
        return f"<Client of {self.collection.id!r} version {self.collection.version}, {self.store!r}>"


def _notice(records: Records, collection: Collection) -> None:
    """Refuse a collection older than one that the device saw, or another one of the same version."""
    for place, digest in records.contents(_SEEN).items():
        name, version = json.loads(place)
        if name == collection.id:
            collection.check_newer(version, digest.decode())
    seen = json.dumps([collection.id, collection.version]).encode()
    records.recall(_SEEN, seen, collection.digest.encode)


def _answers(records: Records) -> list[Answer]:
    outcomes = records.contents(_OUTCOMES)
    return [
        Answer.from_store(place, content, outcomes.get(place))
        for place, content in records.contents(_ANSWERS).items()
    ]


def _place(collection: str, question: str, number: int) -> bytes:
    return json.dumps([collection, question, number]).encode()


def _label_domain(asked: Question) -> Any:
    """Return the domain as labels have it: a product is its size."""
    domain: Any = asked.domain
    return category_count(domain) if isinstance(domain, dict) and "product" in domain else domain


def _digest(asked: Question) -> str:
    """Return what an answer is charged by: one that begins with it makes the next one a further one.

    It tells two samplers apart where labels do, for otherwise they share permanent reports. After answers
    with a fixed value, one whose value may change is a further one; the other way round it is not.
    """
    made_by = {"mechanism": asked.mechanism, "domain": _label_domain(asked), "sampler": asked.sampler}
    return hashlib.sha256(canonical(made_by)).hexdigest() + (FIXED if asked.value == FIXED else "")


def _charge(answer: Answer) -> Charge:
    return Charge(answer.collection, answer.question, answer.round, answer.micro)
