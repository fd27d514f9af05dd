"""What analysts ask of a collector: tallies, estimates, trends, files, and whether all is well.

Versions of a collection whose mechanism and answers are the same add; others are asked for by
their number. In each round a version counts only from the number of reports on that it promised to
wait for: until then nothing that is told, alone or added to others, depends on its reports.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ldpkit.collector.asked import Asked, Entry
from ldpkit.collector.database import Connection
from ldpkit.collector.kept import mixed_reports, read_tally
from ldpkit.collector.labelled import labelled
from ldpkit.collector.problems import HttpProblem
from ldpkit.core.provenance import Provenance
from ldpkit.core.typing import Reports
from ldpkit.estimation.evidence import Evidence
from ldpkit.estimation.from_reports import about_all, at_level
from ldpkit.estimation.over_rounds import OverRounds, change, together
from ldpkit.mechanisms.base import Mechanism
from ldpkit.mechanisms.tally import Tally

__all__ = ["Analyst", "Progress"]

_MLE = "mle"


@dataclass(frozen=True)
class Progress:
    """How many answers a question has in a round."""

    question: str
    round: int
    version: int
    n: int
    is_closed: bool


class Analyst:
    """What can be known of one collection.

    Parameters
    ----------
    connection : Connection
        To read with.
    entry : Entry
        The collection.
    """

    def __init__(self, connection: Connection, entry: Entry) -> None:
        self._connection, self._entry = connection, entry

    @property
    def name(self) -> str:
        """The id of the collection."""
        return self._entry.newest.id

    def progress(self) -> list[Progress]:
        """Return how many answers there are, by question, round and version."""
        rows = self._connection.execute(
            "SELECT question, round, version, n FROM tallies WHERE collection=? ORDER BY 1, 2, 3",
            (self.name,),
        )
        closed = self._entry.closed
        return [
            Progress(question, number, version, n, number in closed) for question, number, version, n in rows
        ]

    def rounds(self, question: str) -> list[int]:
        """Return the rounds in which a question has answers."""
        return sorted({each.round for each in self.progress() if each.question == question})

    def asked(self, question: str, version: int | None = None) -> list[Asked]:
        """Return a question in the versions that ask it as the newest does, or in the one wanted."""
        found = [
            each
            for number, (_, questions) in sorted(self._entry.versions.items())
            for each in questions
            if each.question.id == question and version in (None, number)
        ]
        if not found:
            known = ", ".join(each.id for each in self._entry.newest.questions)
            where = "" if version is None else f" in version {version}"
            raise HttpProblem(
                "not-found", f"{self.name!r} has no question {question[:64]!r}{where}: it asks {known}"
            )
        # A mechanism knows of a product only how many cells it has: another version may name them otherwise.
        mechanism, domain = found[-1].mechanism, found[-1].question.domain
        return [each for each in found if each.mechanism == mechanism and each.question.domain == domain]

    def is_sampled(self, question: str, version: int | None = None) -> bool:
        """Whether chance decides which devices answer a question."""
        return any(self._entry.versions[each.version][0].is_sampled for each in self.asked(question, version))

    def tally(self, question: str, number: int, version: int | None = None) -> Tally:
        """Return the tally of a question and round, or say that there are too few reports."""
        return Tally.merge(tally for _, tally in self._counted(question, number, version))

    def _counted(self, question: str, number: int, version: int | None) -> list[tuple[Asked, Tally]]:
        """Return the versions of a question that have enough reports in a round, or say that none has."""
        waiting, counted = list[int](), list[tuple[Asked, Tally]]()
        for asked in self.asked(question, version):
            least = self._entry.versions[asked.version][0].least_reports
            kept = read_tally(self._connection, asked.place(number))
            if kept is not None and kept[0] >= least:
                counted.append((asked, Tally(asked.mechanism, *kept, self._provenance(asked))))
            elif kept is not None:
                waiting.append(least)
        newest = self._entry.newest.least_reports
        if not counted or sum(tally.n for _, tally in counted) < newest:
            least = max([newest, *waiting])
            each = " in each version" if waiting and len(waiting) + len(counted) > 1 else ""
            raise HttpProblem(
                "too-few-reports",
                f"question {question!r} has fewer than {least} reports in round {number}{each}: wait",
            )
        return counted

    def _provenance(self, asked: Asked) -> Provenance:
        collection, _ = self._entry.versions[asked.version]
        mechanism = asked.mechanism
        return Provenance(
            collection.randomness,
            "stated",
            devices="kept" if mechanism.can("memoized") else None,
            outside=None if mechanism.kind == "frequency" else "refused",
        )

    def estimate(
        self,
        question: str,
        number: int,
        *,
        version: int | None = None,
        estimator: str | None = None,
        consistency: str | None = None,
        level: float = 0.95,
    ) -> Any:
        """Return the estimate of a question in a round, as everywhere in ldpkit.

        Where devices answer some of the questions, drawn at random, errors are about all of them, and not
        about those that happened to answer this one.
        """
        tally = self.tally(question, number, version)
        about = about_all(tally.mechanism, estimator) if self.is_sampled(question, version) else {}
        if estimator != _MLE:
            held = at_level(tally.mechanism, level, estimator)
            made: Any = tally.estimate(estimator, consistency=consistency, **about, **held)
        else:
            oracle: Any = tally.mechanism
            evidence = Evidence.of(oracle, self.reports(question, number, version), tally.provenance)
            made = evidence.provenance.sign(evidence.estimate(_MLE, consistency=consistency, **about))
        return labelled(made, self.asked(question, version)[-1].question.domain).with_level(level)

    def over(
        self, question: str, numbers: Sequence[int], *, difference: bool = False, **options: Any
    ) -> OverRounds:
        """Return what rounds tell together, or the change from the first to the second."""
        level = options.get("level", 0.95)
        made = [self.estimate(question, number, **options) for number in numbers]
        return (
            change(made[0], made[1], numbers, level=level)
            if difference
            else together(made, numbers, level=level)
        )

    def reports(self, question: str, number: int, version: int | None = None) -> Reports:
        """Return every report of a question and round."""
        parts = list(self.report_parts(question, number, version))
        mechanism = self.asked(question, version)[-1].mechanism
        return np.concatenate(parts) if parts else mechanism.decode(b"")

    def report_parts(self, question: str, number: int, version: int | None = None) -> Iterator[Reports]:
        """Yield the reports of a question and round, some at a time, each time in a new random order."""
        with self._connection.snapshot():  # closing the round would merge its chunks
            found = [asked for asked, _ in self._counted(question, number, version)]
            for data in mixed_reports(self._connection, [each.place(number) for each in found]):
                yield found[-1].mechanism.decode(data)

    def provenance(self, question: str, version: int | None = None) -> Provenance:
        """Return how the reports of a question were made, as far as devices say."""
        return self._provenance(self.asked(question, version)[-1])

    def mechanism(self, question: str, version: int | None = None) -> Mechanism:
        """Return what makes the reports of a question."""
        return self.asked(question, version)[-1].mechanism
