"""A collection for those who answer or allow it: what is asked, and what each answer reveals."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

from ldpkit.assurance.adversary.compare import risk
from ldpkit.assurance.adversary.exposure import LARGE_FOR_PEOPLE, epsilon_warnings
from ldpkit.assurance.adversary.numeric import BINS
from ldpkit.assurance.adversary.risk_record import Risk
from ldpkit.assurance.adversary.words import suspicion_in_words
from ldpkit.client.collection import Collection
from ldpkit.client.questions import FIXED, FREQUENCY, Question
from ldpkit.client.spending import micro_text
from ldpkit.core.errors import LdpkitError
from ldpkit.core.results import TOP, Result
from ldpkit.core.tables import Table
from ldpkit.protocols.collection.building import mechanism_of
from ldpkit.protocols.collection.domains import labels_of
from ldpkit.protocols.ledger import MICRO

__all__ = ["CollectionSummary", "collection_warnings", "summarise"]

_SHOWN = 6  # labels of a question that are listed


@dataclass(frozen=True, repr=False)
class CollectionSummary(Result):
    """What a collection asks, and what it gives away.

    Parameters
    ----------
    collection : Collection
        The collection.
    risks : tuple of Risk or None
        What an adversary learns from the first answer to each question; None where that is not known.
    """

    collection: Collection
    risks: tuple[Risk | None, ...]

    kind: ClassVar[str] = "collection"

    @property
    def title(self) -> str:
        """The title above the table."""
        return f"{self.collection.purpose} ({self.collection.id}, version {self.collection.version})"

    @property
    def caption(self) -> str:
        """What the columns mean, and what was checked."""
        pairs = zip(self.collection.questions, self.risks, strict=True)
        parts = f" (of a number: which of {BINS} equal parts of its range it is in)"
        return (
            "first, next: what the first answer and each further one cost, as an epsilon; guessed: how often "
            f"a guess from one answer is right{parts if any(_is_in_parts(*each) for each in pairs) else ''}; "
            f"blind: without it; {self.collection.checked}"
        )

    def rows(self, top: int | None = None) -> list[dict[str, Any]]:
        """Return one record for each question."""
        pairs = zip(self.collection.questions, self.risks, strict=True)
        rows = [
            {
                "question": question.id,
                "text": question.text,
                "answers": _answers(question),
                "mechanism": question.mechanism,
                "first": micro_text(question.first),
                "next": micro_text(question.next),
                "guessed": None if found is None else found.success,
                "blind": None if found is None else found.blind,
                "words": " ".join(_words(question, found)),
            }
            for question, found in pairs
        ]
        return rows[:top]

    def about(self) -> dict[str, Any]:
        """Return what holds for all questions."""
        collection = self.collection
        return {
            "id": collection.id,
            "version": collection.version,
            "digest": collection.digest,
            "purpose": collection.purpose,
            "rounds": collection.rounds.to_json(),
            "ask": collection.ask,
            "promise": collection.promise.to_json(),
            "least_reports": collection.least_reports,
            "randomness": collection.randomness,
            "key": None if collection.key is None else str(collection.key),
        }

    def notes(self) -> list[str]:
        """Return what a person should know, a sentence at a time."""
        collection, rounds = self.collection, self.collection.rounds
        count = len(collection.questions)
        asked = (
            "every question"
            if collection.ask == count
            else f"{collection.ask} of {count} questions, drawn at random"
        )
        times = "once" if rounds.every == "once" else f"{rounds.every}, {rounds.count} times"
        told = [
            f"A person answers {asked}, {times}, from {rounds.start} on.",
            f"The promise: {collection.promise}.",
        ]
        lifetime = collection.promise.lifetime
        if lifetime is not None:
            told.append(_of_all(suspicion_in_words(lifetime / MICRO)))
        told += [
            f"{question.id}: {sentence}"
            for question, found in zip(collection.questions, self.risks, strict=True)
            for sentence in _words(question, found)
        ]
        told.append(
            f"Results are not shown for a question with fewer than {collection.least_reports} answers."
        )
        return told

    @property
    def warnings(self) -> tuple[str, ...]:
        """What must be known before the collection is allowed."""
        return collection_warnings(self.collection)

    def tables(self, top: int | None = TOP) -> list[Table]:
        """Return the questions; the words are in the notes."""
        rows = [{name: cell for name, cell in row.items() if name != "words"} for row in self.rows(top)]
        return [Table.of(rows, title=self.title, caption=self.caption)]


def collection_warnings(collection: Collection) -> tuple[str, ...]:
    """Return what must be known before a collection is allowed: of its promise, and of its randomness."""
    found = []
    lifetime = collection.promise.lifetime
    if lifetime is None:
        found.append("there is no bound on what a person gives away: a value that changes is revealed")
    else:
        large = epsilon_warnings(lifetime / MICRO, above=LARGE_FOR_PEOPLE)
        found += [f"{_of_all(each)} See the page 'Which epsilon?' of the guide." for each in large]
    if collection.randomness != "secure":
        found.append("reports are made with a seed: they protect nobody, and are only for tests")
    return tuple(found)


def _of_all(sentence: str) -> str:
    """Return what is said of a report, said of all answers of a person."""
    return sentence.replace("the report is", "all the answers are")


def summarise(collection: Collection) -> CollectionSummary:
    """Return a collection in words, with what each answer reveals.

    Examples
    --------
    >>> from ldpkit.protocols.collection.building import compile_toml
    >>> made = compile_toml(b'''
    ... id = "a"
    ... version = 1
    ... purpose = "To see."
    ... rounds = {every = "once", start = 2026-12-01}
    ... questions = [{id = "q", text = "Yes?", domain = ["no", "yes"], mechanism = "grr", epsilon = 1}]
    ... ''')
    >>> print(summarise(made).notes()[3])
    q: A report shows the person's own value in 73.1% of all cases, and each other value in 26.9%.
    """
    return CollectionSummary(collection, tuple(map(_risk, collection.questions)))


def _risk(question: Question) -> Risk | None:
    try:
        return risk(mechanism_of(question))[0]
    except LdpkitError:  # of locations it is not known
        return None


def _is_in_parts(question: Question, found: Risk | None) -> bool:
    """Whether what is guessed of an answer is the part of a range or a turn that it is in."""
    return found is not None and question.kind != FREQUENCY


def _words(question: Question, found: Risk | None) -> list[str]:
    if found is not None:
        told = found.notes()
        if _is_in_parts(question, found):
            told = [*told, f"What is guessed is which of {BINS} equal parts of the range the number is in."]
    elif question.first is None:
        told = ["One answer gives the value away."]
    else:
        told = [suspicion_in_words(question.first / MICRO)]
    if question.value == FIXED and question.first is not None:
        told.append(
            f"The device keeps reporting its first value: all its answers together cost epsilon "
            f"{micro_text(question.first)}."
        )
    return told


def _answers(question: Question) -> str:
    """Return what can be answered, in short."""
    domain = question.domain
    if question.kind == FREQUENCY:
        if isinstance(domain, int):
            return f"0 to {domain - 1}"
        labels = labels_of(domain)
        more = "" if len(labels) <= _SHOWN else f", ... {len(labels)} in all"
        return ", ".join(labels[:_SHOWN]) + more
    if isinstance(domain, list):
        return f"{domain[0]:g} to {domain[1]:g}"
    if "period" in domain:
        return f"around a circle, {domain['low']:g} to {math.fsum([domain['low'], domain['period']]):g}"
    return f"a location in a {domain['shape']}"
