"""Partial tallies: what a task returns of the rows that it has read.

A task returns rows of plain values: the keys of a group, how many reports, their counts as
bytes, how many rows were bad, and what is recorded of the reports. An engine moves these rows
and nothing else. They are values that a task returns, not counters that it changes: a task
that fails and runs again returns them once.

What a task must refuse is a value too. Engines try a failed task several times, and an
error in the data is there each time.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, TypedDict, Unpack

import numpy as np

from ldpkit.core.errors import FileFormatError, InvalidInputError, InvalidParameterError, LdpkitError
from ldpkit.core.provenance import UNKNOWN, Provenance, Span
from ldpkit.core.typing import Counts
from ldpkit.engines.grouping import Key, grouped
from ldpkit.engines.lake import folder_keys
from ldpkit.files.arrow import REPORT, Bad, ParquetReports, check_bad, decode_column, open_parquet
from ldpkit.mechanisms.base import Mechanism, from_spec

__all__ = ["Job", "Partial", "ROWS_AT_ONCE", "PartialCounts", "Reading", "check_job"]

ROWS_AT_ONCE = 1 << 18
"""How many rows a task decodes at once."""


class Partial(NamedTuple):
    """One row that a task returns: a group, or why the task must refuse its rows."""

    keys: str
    """The keys as a JSON list."""
    n: int
    counts: bytes
    bad: int
    spec: str
    """The mechanism in JSON where the files say what it is, else empty."""
    told: str
    """The provenance in JSON."""
    batches: str
    """The batches that were read, in JSON: whether one is there twice is seen only at the end."""
    source: str
    """Where the first of the reports stand, for an error that is seen only at the end."""
    error: str


class Reading(TypedDict, total=False):
    """How reports lie in their rows: what every engine takes in the same words, as `Job` explains them."""

    question: str
    """By default "question"."""
    column: str
    """By default "report"."""
    blocks: bool
    """By default false."""
    bad: Bad
    """By default "refuse"."""


@dataclass(frozen=True)
class Job:
    """What every task does with the rows that it is given.

    Parameters
    ----------
    mechanism : Mechanism, mapping or None
        What made the reports; one for each value of `question`; None where files say it.
    by : tuple of str
        The columns, or the folders such as `day=2026-11-17`, that make groups.
    question : str
        The column whose values choose among several mechanisms.
    column : str
        The column of reports.
    blocks : bool
        Whether a row holds many reports.
    bad : {"refuse", "count"}
        What to do with rows that hold no report.
    """

    mechanism: Mechanism | Mapping[str, Mechanism] | None
    by: tuple[str, ...] = ()
    question: str = "question"
    column: str = REPORT
    blocks: bool = False
    bad: Bad = "refuse"

    @property
    def only(self) -> Mechanism | None:
        """The mechanism, where the user gave one for all reports."""
        return None if isinstance(self.mechanism, Mapping) else self.mechanism

    def count_paths(self, paths: Iterable[str], kept: Any = None) -> list[Partial]:
        """Return the partial tallies of some files; `kept` says which rows of a single one count."""
        counts = PartialCounts(self)
        try:
            for path in paths:
                counts.add_file(open_parquet(path), folder_keys(path), kept)
        except LdpkitError as error:
            return [refusal(error)]
        return counts.rows()

    def count_batches(self, batches: Iterable[Any], title: str = "the frame") -> list[Partial]:
        """Return the partial tallies of Arrow record batches or tables."""
        counts = PartialCounts(self)
        first = 0
        try:
            for batch in batches:
                counts.add(batch, {}, title, first)
                first += len(batch)
        except LdpkitError as error:
            return [refusal(error)]
        return counts.rows()

    def mechanism_of(self, keys: Key, told: Mechanism | None) -> Mechanism | None:
        """Return what made the reports of a group; None where nobody says it."""
        if isinstance(self.mechanism, Mapping):
            asked = keys[self.by.index(self.question)]
            return None if asked is None else self.mechanism.get(asked)
        return self.only or told


def check_job(
    mechanism: Mechanism | Mapping[Any, Mechanism] | None,
    by: Iterable[str],
    *,
    told: bool = True,
    **reading: Unpack[Reading],
) -> Job:
    """Return the job that a user asks for, or refuse it before any task runs.

    `told` says whether the reports may know themselves what made them, as files do.
    """
    keys = (by,) if isinstance(by, str) else tuple(by)
    question, column = reading.get("question", "question"), reading.get("column", REPORT)
    check_bad(reading.get("bad", "refuse"))
    if len(set(keys)) < len(keys):
        raise InvalidParameterError(f"by names a column twice: {', '.join(keys)}")
    if column in keys:
        raise InvalidParameterError(f"the column {column!r} holds the reports: group by another one")
    if mechanism is None and not told:
        raise InvalidParameterError("the rows of a frame do not say what made them: give the mechanism")
    several = isinstance(mechanism, Mapping)
    if isinstance(mechanism, Mapping):
        if not mechanism:
            raise InvalidParameterError("a mechanism for each question is needed: the mapping is empty")
        if question not in keys:
            raise InvalidParameterError(
                f"mechanisms for each {question} need {question!r} in by: reports of different mechanisms "
                "do not add"
            )
        mechanism = {str(name): each for name, each in mechanism.items()}
    elif mechanism is not None and not mechanism.can("tallied"):
        raise InvalidParameterError(f"reports of {mechanism!r} do not add up to a tally")
    reading["question"] = question if several else ""
    return Job(mechanism, keys, **reading)


def mixture(title: str, mechanism: Mechanism | None, other: str, first: Mechanism | None) -> str:
    """Say that reports of two mechanisms stand in one group."""
    return (
        f"{title} holds reports of {mechanism!r}, and {other} in the same group holds reports of {first!r}: "
        "they do not mix; group by a column that separates them"
    )


def refusal(error: LdpkitError) -> Partial:
    """Return an error as a row."""
    return Partial("[]", 0, b"", 0, "", "", "[]", "", str(error))


class _Counted:
    """What is known of one group so far."""

    def __init__(self, mechanism: Mechanism | None, source: str = "") -> None:
        self.mechanism, self.source = mechanism, source
        self.n, self.bad = 0, 0
        self.counts: Counts | None = None
        self.made: list[Provenance] = []

    def add(self, mechanism: Mechanism, reports: Any) -> None:
        counted = mechanism.tally(reports)
        self.counts = counted.counts.copy() if self.counts is None else self.counts + counted.counts
        self.n += counted.n


class PartialCounts:
    """Adds up the reports of a task by group."""

    def __init__(self, job: Job) -> None:
        self.job = job
        self._groups: dict[Key, _Counted] = {}
        self._batches: list[tuple[str, int, int]] = []

    def add_file(self, file: ParquetReports, folders: Mapping[str, str | None], kept: Any = None) -> None:
        """Add a Parquet file, or the rows that are kept; folders may give keys that no column has."""
        told = file.description
        if self.job.only is not None and told is not None:
            told.check(self.job.only, file.title)
        elif self.job.mechanism is None and told is None:
            raise InvalidInputError(
                f"{file.title} does not say what made its reports: write it with ldpkit, or give the "
                "mechanism in Python"
            )
        given = {name: folders[name] for name in self.job.by if name in folders and name not in file.names}
        columns = [self.job.column, *(name for name in self.job.by if name not in given)]
        made = UNKNOWN if told is None else told.of_rows(file.rows)
        maker = None if told is None else told.mechanism
        self._batches += [(span.batch, span.start, span.stop) for span in made.spans]
        first, touched = 0, set[Key]()
        whole = len(given) == len(self.job.by) and not self.job.blocks and kept is None
        for batch in file.batches(columns, ROWS_AT_ONCE):
            if kept is not None:
                rows, first = first, first + len(batch)
                touched |= self.add(batch.filter(kept[rows:first]), given, file.title, rows, maker)
                continue
            touched |= self.add(batch, given, file.title, first, maker)
            first += len(batch)
        for keys in touched:
            group = self._groups[keys]
            # Which reports of a batch a group holds is known only where it holds all of them.
            group.made.append(made if whole and not group.bad else replace(made, spans=()))

    def add(
        self,
        batch: Any,
        given: Mapping[str, str | None],
        title: str,
        first: int = 0,
        told: Mechanism | None = None,
    ) -> set[Key]:
        """Add a record batch or table; return the groups that its rows are of."""
        job, touched = self.job, set[Key]()
        names = batch.schema.names
        for name in (job.column, *(each for each in job.by if each not in given)):
            if name not in names:
                raise InvalidInputError(f"{title} has no column {name!r}: it has {', '.join(names)[:200]}")
        column = batch.column(names.index(job.column))
        where = f"{title}, column {job.column!r}"
        for keys, rows in grouped(batch, job.by, given, title):
            mechanism = job.mechanism_of(keys, told)
            if mechanism is not None and told is not None and told != mechanism:
                raise InvalidInputError(f"{title} holds reports of {told!r}, not of {mechanism!r}")
            group = self._groups.setdefault(keys, _Counted(mechanism, title))
            touched.add(keys)
            if mechanism is None:
                self._count_unknown(group, keys, len(column) if rows is None else len(rows), title)
                continue
            if group.mechanism != mechanism:
                raise InvalidInputError(mixture(title, mechanism, group.source, group.mechanism))
            some = column if rows is None else column.take(rows)
            places = None if rows is None else rows
            self._count(group, mechanism, some, where, first, places)
        return touched

    def _count(
        self, group: _Counted, mechanism: Mechanism, column: Any, where: str, first: int, places: Any
    ) -> None:
        job = self.job
        try:
            found = decode_column(column, mechanism, bad=job.bad, blocks=job.blocks, title=where, first=first)
        except FileFormatError:
            if places is None:
                raise
            # Rows of a group are not in a row: look again, one by one, for the place of the first bad one.
            for row, place in enumerate(places.tolist()):
                decode_column(
                    column.slice(row, 1), mechanism, blocks=job.blocks, title=where, first=first + place
                )
            raise
        group.add(mechanism, found.reports)
        group.bad += len(found.bad)

    def _count_unknown(self, group: _Counted, keys: Key, rows: int, title: str) -> None:
        asked = keys[self.job.by.index(self.job.question)]
        if self.job.bad == "refuse":
            raise InvalidInputError(
                f"{title} has rows of the {self.job.question} {asked!r}, for which no mechanism is given: "
                'add it, or count such rows and set them aside with bad="count" (--bad count)'
            )
        group.bad += rows

    def add_reports(self, mechanism: Mechanism, reports: Any, made: Provenance) -> None:
        """Add reports that are here already, to the one group that there is then."""
        group = self._groups.setdefault((), _Counted(mechanism))
        group.add(mechanism, reports)
        group.made.append(made)

    def rows(self) -> list[Partial]:
        """Return what was counted; a task without rows returns none."""
        batches = json.dumps(self._batches)
        made: list[Partial] = []
        for keys, group in self._groups.items():
            counts = b"" if group.counts is None else group.counts.astype("<i8").tobytes()
            stated = self.job.mechanism is None and group.mechanism is not None
            spec = json.dumps(group.mechanism.spec()) if stated and group.mechanism else ""
            told = json.dumps([each.to_json() for each in group.made])
            made.append(
                Partial(json.dumps(keys), group.n, counts, group.bad, spec, told, batches, group.source, "")
            )
            batches = "[]"  # once for a task
        return made


def read_counts(partial: Partial) -> Counts:
    """Return the counts of a partial tally."""
    return np.frombuffer(partial.counts, "<i8").astype(np.int64)


def read_spec(partial: Partial) -> Mechanism | None:
    """Return the mechanism that a partial tally names."""
    return from_spec(json.loads(partial.spec)) if partial.spec else None


def read_provenance(partial: Partial) -> Provenance:
    """Return what is recorded of the reports of a partial tally."""
    return Provenance.merge(Provenance.from_json(each) for each in json.loads(partial.told))


def read_batches(partial: Partial) -> list[Span]:
    """Return which reports of which batches the task has read."""
    return [Span(*each) for each in json.loads(partial.batches)]
