"""The collection file as a device reads it: every check before the first answer.

One document says what is asked, what makes the reports, what they cost and what is promised.
It is believed in nothing that can be computed: the promise must cover the charges, and the
charges what the integers of the samplers give away. Whether it comes from the right people
only a signature can tell: a device that was given a public key takes nothing else.
"""

from __future__ import annotations

import datetime
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ldpkit.client.canonical import canonical, read_json
from ldpkit.client.fields import check_fields, choice_of, list_of, name_of, text_of, whole_of
from ldpkit.client.promises import Totals, promised
from ldpkit.client.questions import Question, read_question
from ldpkit.client.signing import ALGORITHM, PublicKey, from_base64url
from ldpkit.core.errors import FileFormatError, InvalidInputError, MismatchError, UnknownNameError

__all__ = ["FORMAT", "MOST_QUESTIONS", "Collection", "Question", "Schedule", "signed_message"]

FORMAT = "ldpkit-collection-1"
"""The name of this form of collection file."""

MOST_QUESTIONS = 1000
_MOST_ROUNDS = 100_000
_DAYS = {"once": None, "daily": 1, "weekly": 7}
_RANDOMNESS = ("secure", "seeded")
_FIELDS = (
    *("format", "id", "version", "purpose", "questions", "rounds", "spend", "promise", "least_reports"),
    "randomness",
)


@dataclass(frozen=True)
class Schedule:
    """When answers are taken.

    Parameters
    ----------
    every : {"once", "daily", "weekly"}
        How often a device answers.
    start : date
        The first day, in UTC.
    count : int
        How many rounds there are.

    Examples
    --------
    >>> weekly = Schedule("weekly", datetime.date(2026, 12, 1), 4)
    >>> weekly.number(datetime.datetime(2026, 12, 9, tzinfo=datetime.UTC))
    1
    """

    every: str
    start: datetime.date
    count: int

    def __post_init__(self) -> None:
        choice_of(self.every, "rounds.every", tuple(_DAYS))
        whole_of(self.count, "rounds.count", least=1, most=_MOST_ROUNDS)
        if self.every == "once" and self.count != 1:
            raise FileFormatError(
                f"rounds.count is {self.count}, but once is one round: make it 1, daily or weekly"
            )
        if self.start.year + self.count * (_DAYS[self.every] or 1) // 365 >= datetime.MAXYEAR:
            raise FileFormatError(f"rounds.start is {self.start}: {self.count} rounds from there have no end")

    @classmethod
    def from_json(cls, form: Any) -> Schedule:
        """Return the rounds of a collection, or refuse them."""
        fields = check_fields(form, "rounds", ("every", "start", "count"))
        try:
            start = datetime.date.fromisoformat(fields["start"])
        except (TypeError, ValueError):
            start = None
        if start is None or start.isoformat() != fields["start"]:
            raise FileFormatError(
                f"rounds.start is a day such as 2026-12-01, got {str(fields['start'])[:50]!r}"
            )
        return cls(fields["every"], start, fields["count"])

    def to_json(self) -> dict[str, Any]:
        """Return the JSON form."""
        return {"every": self.every, "start": self.start.isoformat(), "count": self.count}

    def index(self, at: datetime.datetime) -> int:
        """Return the round that a time falls into: negative before the first, beyond the last after it."""
        days = (at.astimezone(datetime.UTC).date() - self.start).days
        length = _DAYS[self.every]
        if length is None:
            return min(max(days, -1), 0)
        return days // length

    def number(self, at: datetime.datetime) -> int:
        """Return the round that a time belongs to; refuse times before the first and after the last."""
        index = self.index(at)
        if index < 0:
            raise InvalidInputError(f"the collection starts on {self.start} (UTC): answer then")
        if index >= self.count:
            last = self.start + datetime.timedelta(days=self.count * (_DAYS[self.every] or 1) - 1)
            raise InvalidInputError(f"the collection ended with {last} (UTC): nothing is answered any more")
        return index


def signed_message(form: Mapping[str, Any]) -> bytes:
    """Return the bytes that a signature of a collection covers."""
    return FORMAT.encode() + b"\n" + canonical(form)


@dataclass(frozen=True, eq=False)
class Collection:
    """A collection whose every promise was recomputed.

    Parameters
    ----------
    id, version : str, int
        Which collection it is; a change is a new version.
    purpose : str
        What it is for, in a sentence.
    questions : tuple of Question
        What is asked.
    rounds : Schedule
        When.
    ask : int
        How many of the questions a device answers.
    promise : Totals
        What a report, a round and all rounds cost a person at most.
    least_reports : int
        Nothing is shown of a question with fewer.
    randomness : {"secure", "seeded"}
        Whether reports are made with secure randomness.
    form : mapping
        The document itself.
    key : PublicKey or None
        Whose signature was found good.
    is_expected : bool
        Whether that is the key that `read` was given. Otherwise anybody can have made it.

    Examples
    --------
    >>> from ldpkit.client.signing import SigningKey
    >>> from ldpkit.protocols.collection.building import compile_toml
    >>> from ldpkit.protocols.collection.files import seal
    >>> made = compile_toml(b'''
    ... id = "town"
    ... version = 1
    ... purpose = "How people travel."
    ... rounds = {every = "once", start = 2026-11-01}
    ... questions = [{id = "way", text = "How?", domain = ["walk", "bike"], mechanism = "grr", epsilon = 1}]
    ... ''')
    >>> key = SigningKey.new()
    >>> received = Collection.read(seal(made, key), public_key=str(key.public))   # what a device does
    >>> received.is_expected, received.promise.lifetime  # in millionths of an epsilon
    (True, 1000000)
    """

    id: str
    version: int
    purpose: str
    questions: tuple[Question, ...]
    rounds: Schedule
    ask: int
    promise: Totals
    least_reports: int
    randomness: str
    form: Mapping[str, Any]
    key: PublicKey | None = None
    is_expected: bool = False

    @classmethod
    def read(
        cls,
        data: bytes | str,
        *,
        public_key: bytes | str | PublicKey | None = None,
        digest: str | None = None,
    ) -> Collection:
        """Return the collection of a file, or refuse it.

        Parameters
        ----------
        data : bytes or str
            An envelope: the collection, and its signature if there is one.
        public_key : bytes or str, optional
            The only key whose signature is good, as 65 bytes or in base64url. Without one,
            only the arithmetic is checked.
        digest : str, optional
            The only document that is good, by the digest that `ldpkit collection check` prints.
        """
        envelope = read_json(data, "the collection file")
        if isinstance(envelope, dict) and "format" in envelope:
            raise FileFormatError('the collection has no envelope: put it into one, {"collection": ...}')
        has_signature = isinstance(envelope, dict) and "signature" in envelope
        check_fields(
            envelope, "the collection file", ("collection", *(["signature"] if has_signature else []))
        )
        wanted = _public_key(public_key)
        if wanted is not None and not has_signature:
            raise MismatchError("the collection is not signed, and this device takes signed ones only")
        form = envelope["collection"]
        key = _check_signature(form, envelope["signature"], wanted) if has_signature else None
        read = cls.from_form(form, key=key, is_expected=wanted is not None)
        if digest is not None and read.digest != digest:
            raise MismatchError(
                f"the digest of the collection is {read.digest}, and this device expects {digest}: what is "
                "asked was changed"
            )
        return read

    @classmethod
    def from_form(cls, form: Any, *, key: PublicKey | None = None, is_expected: bool = False) -> Collection:
        """Return the collection of a document that is no file, with every check but that of a signature."""
        if isinstance(form, dict) and "format" in form and form["format"] != FORMAT:
            raise FileFormatError(
                f"this is {str(form['format'])[:50]!r}, and this device reads {FORMAT!r}: update it"
            )
        fields = check_fields(form, "the collection", _FIELDS)
        items = list_of(fields["questions"], "questions", most=MOST_QUESTIONS)
        questions = tuple(read_question(item, number) for number, item in enumerate(items))
        ids = [each.id for each in questions]
        for each in ids:
            if ids.count(each) > 1:
                raise FileFormatError(f"two questions have the id {each!r}: give each its own")
        rounds = Schedule.from_json(fields["rounds"])
        spend = check_fields(fields["spend"], "spend", ("ask",))
        ask = whole_of(spend["ask"], "spend.ask", least=1, most=len(questions))
        promise = Totals.from_json(fields["promise"], "promise")
        promise.check(promised((each.charges for each in questions), ask, rounds.count))
        return cls(
            id=name_of(fields["id"], "id"),
            version=whole_of(fields["version"], "version", least=1, most=65535),
            purpose=text_of(fields["purpose"], "purpose"),
            questions=questions,
            rounds=rounds,
            ask=ask,
            promise=promise,
            least_reports=whole_of(fields["least_reports"], "least_reports", least=1),
            randomness=choice_of(fields["randomness"], "randomness", _RANDOMNESS),
            form=form,
            key=key,
            is_expected=is_expected,
        )

    @property
    def is_signed(self) -> bool:
        """Whether a good signature was found."""
        return self.key is not None

    @property
    def is_sampled(self) -> bool:
        """Whether chance decides which questions a device answers."""
        return self.ask < len(self.questions)

    @property
    def digest(self) -> str:
        """The SHA-256 of its canonical bytes, in hexadecimal digits: what a device pins."""
        return hashlib.sha256(canonical(self.form)).hexdigest()

    def question(self, name: str) -> Question:
        """Return the question of an id."""
        for each in self.questions:
            if each.id == name:
                return each
        raise UnknownNameError("question", name, [each.id for each in self.questions])

    def check_newer(self, version: int, digest: str) -> None:
        """Refuse it on a device that has seen a newer version, or this version with another content."""
        if self.version < version:
            raise MismatchError(
                f"collection {self.id!r} is version {self.version}, and this device has seen version "
                f"{version}: "
                "an older one is not taken back"
            )
        if self.version == version and self.digest != digest:
            raise MismatchError(
                f"collection {self.id!r} has changed without a new version: this device has seen another "
                f"version {version}"
            )

    @property
    def checked(self) -> str:
        """What was checked, in words."""
        if self.key is None:
            return "only the epsilon arithmetic was checked: the file is not signed"
        if self.is_expected:
            return "signed by the expected key; the epsilon arithmetic was checked"
        return f"signed by {self.key}, an unknown key; the epsilon arithmetic was checked"

    def __repr__(self) -> str:
        asked = f"{len(self.questions)} questions"
        return f"<Collection {self.id!r} version {self.version}, {asked}, {self.promise}>"


def _public_key(key: bytes | str | PublicKey | None) -> PublicKey | None:
    if key is None or isinstance(key, PublicKey):
        return key
    return PublicKey.from_text(key) if isinstance(key, str) else PublicKey(bytes(key))


def _check_signature(form: Any, signature: Any, wanted: PublicKey | None) -> PublicKey:
    """Return the key whose signature is under a collection, or refuse it."""
    fields = check_fields(signature, "the signature", ("algorithm", "key", "value"))
    if fields["algorithm"] != ALGORITHM:
        raise FileFormatError(
            f"the signature is made with {str(fields['algorithm'])[:50]!r}, not {ALGORITHM}"
        )
    point = from_base64url(fields["key"], 65, "the key of the signature")
    if wanted is not None and point != wanted.point:
        raise MismatchError(
            f"the collection is signed with another key, {fields['key'][:16]}..., than the one this device "
            "knows"
        )
    key = PublicKey(point)
    if not key.verifies(
        from_base64url(fields["value"], 64, "the value of the signature"), signed_message(form)
    ):
        raise FileFormatError("the signature does not match this collection: it was changed after signing")
    return key
