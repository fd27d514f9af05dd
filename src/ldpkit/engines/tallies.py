"""Tallies by group: the sum of what tasks returned, and estimates from it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ldpkit.core.errors import InvalidInputError, MismatchError
from ldpkit.core.provenance import Provenance
from ldpkit.core.results import Result
from ldpkit.core.typing import Counts
from ldpkit.engines.grouping import Key
from ldpkit.engines.partial import (
    Job,
    Partial,
    mixture,
    read_batches,
    read_counts,
    read_provenance,
    read_spec,
)
from ldpkit.estimation.from_reports import at_level
from ldpkit.mechanisms.base import Mechanism
from ldpkit.mechanisms.tally import Tally

__all__ = ["GroupEstimates", "Tallies", "merge"]


@dataclass(frozen=True)
class Tallies(Mapping[Key, Tally]):
    """The tally of each group: a mapping from the values of its keys, as text, to the tally.

    Parameters
    ----------
    by : tuple of str
        The names of the keys; none where there is one group, of all reports.
    groups : mapping
        The tally of each group, in the order of keys.
    bad_rows : mapping
        How many rows of a group held no report and were set aside.

    Examples
    --------
    >>> import ldpkit
    >>> oracle = ldpkit.GRR(["no", "yes"], epsilon=2)
    >>> tallies = Tallies(("day",), {("1",): oracle.tally([0, 1, 1]), ("2",): oracle.tally([1])}, {})
    >>> tallies["1"].counts.tolist(), tallies.total().n
    ([1, 2], 4)
    >>> tallies.estimate().rows()[0]["day"]
    '1'
    """

    by: tuple[str, ...]
    groups: Mapping[Key, Tally]
    bad_rows: Mapping[Key, int] = field(default_factory=dict)

    def __getitem__(self, key: Key | str | None) -> Tally:
        return self.groups[key if isinstance(key, tuple) else (key,)]

    def __iter__(self) -> Iterator[Key]:
        return iter(self.groups)

    def __len__(self) -> int:
        return len(self.groups)

    @property
    def n(self) -> int:
        """How many reports there are in all groups."""
        return sum(tally.n for tally in self.groups.values())

    @property
    def bad(self) -> int:
        """How many rows held no report and were set aside."""
        return sum(self.bad_rows.values())

    def total(self) -> Tally:
        """Return the tally of all groups together, which must be of one mechanism."""
        if not self.groups:
            raise InvalidInputError("the files hold no reports: there is nothing to count, check the path")
        return Tally.merge(self.groups.values())

    def estimate(
        self,
        method: str | None = None,
        *,
        consistency: str | None = None,
        level: float = 0.95,
        simultaneous: bool = False,
        **options: Any,
    ) -> GroupEstimates:
        """Return what each group's reports tell, as `Tally.estimate` does.

        Parameters
        ----------
        method, consistency, options
            As `Tally.estimate` takes them.
        level : float
            The coverage of the intervals.
        simultaneous : bool
            Whether all intervals of a group together have that coverage; for frequencies.
        """
        together = {"simultaneous": True} if simultaneous else {}
        made: dict[Key, Any] = {}
        for keys, tally in self.groups.items():
            if tally.n:
                held = at_level(tally.mechanism, level, method)
                found: Any = tally.estimate(method, consistency=consistency, **held, **options)
                made[keys] = found.with_level(level, **together) if hasattr(found, "with_level") else found
        if not made:
            raise InvalidInputError("no group has a report: there is nothing to estimate from")
        return GroupEstimates(self.by, made, self.bad)

    def to_frame(self, backend: str = "auto", **options: Any) -> Any:
        """Return the estimates of all groups as one data frame, with a column for each key."""
        return self.estimate(**options).to_frame(backend)

    def __repr__(self) -> str:
        groups = f"{len(self)} groups by {', '.join(self.by)}" if self.by else "one group"
        return f"Tallies({groups}, n={self.n}, bad={self.bad})"


@dataclass(frozen=True, repr=False)
class GroupEstimates(Result):
    """The estimate of each group, in one table with a column for each key."""

    by: tuple[str, ...]
    groups: Mapping[Key, Any]
    bad: int = 0

    kind = "groups"

    def answer(self, unit: str = "") -> str:
        """Return what the first group tells, as a sentence, and how many groups there are."""
        keys, first = next(iter(self.groups.items()))
        which = ", ".join(f"{name} {key}" for name, key in zip(self.by, keys, strict=True))
        rest = len(self.groups) - 1
        others = (
            f" There {'is' if rest == 1 else 'are'} {rest:,} more group{'s' * (rest != 1)}." if rest else ""
        )
        return f"{which}: {first.answer(unit)}{others}"

    @property
    def title(self) -> str:
        """The title above the table."""
        n = sum(each.n for each in self.groups.values())
        return f"Estimates by {', '.join(self.by)} from n={n} reports in {len(self.groups)} groups"

    @property
    def caption(self) -> str:
        """The caption below the table: what made the reports, and what the intervals are of."""
        made = dict.fromkeys(maker for each in self.groups.values() for maker in each.mechanisms)
        told = [f"{maker!r}, {maker.promise()}" for maker in made]
        return "\n".join([*told, "standard errors and intervals are for each group on its own"])

    def rows(self, top: int | None = None) -> list[dict[str, Any]]:
        """Return the rows of each group's estimate, the keys in front; `top` of each group."""
        made = [
            {**dict(zip(self.by, keys, strict=True)), **row}
            for keys, estimate in self.groups.items()
            for row in (estimate.rows() if top is None else estimate.rows(top))
        ]
        names = list(dict.fromkeys(name for row in made for name in row))  # questions may be of several kinds
        # Where questions have labels and numbers, a column of both would be of no type.
        mixed = {name for name in names if len({isinstance(row.get(name), str) for row in made}) > 1}
        return [
            {
                name: str(row[name]) if name in mixed and row.get(name) is not None else row.get(name)
                for name in names
            }
            for row in made
        ]

    def about(self) -> dict[str, Any]:
        """Return what holds for each group."""
        told = [
            {**dict(zip(self.by, keys, strict=True)), **each.about()} for keys, each in self.groups.items()
        ]
        return {"by": list(self.by), "bad_rows": self.bad, "groups": told}

    def notes(self) -> list[str]:
        """Say how many rows were set aside, if any."""
        if not self.bad:
            return []
        return [f"note: {self.bad:,} rows held no report of the mechanism and were set aside"]

    @property
    def warnings(self) -> tuple[str, ...]:
        """What a reader must know before trusting the numbers."""
        return tuple(dict.fromkeys(each for group in self.groups.values() for each in group.warnings))


class _Sum:
    """A group whose partial tallies are being added."""

    source = ""

    def __init__(self) -> None:
        self.n, self.bad = 0, 0
        self.counts: Counts | None = None
        self.mechanism: Mechanism | None = None
        self.made: list[Provenance] = []


def merge(job: Job, partials: Iterable[Partial]) -> Tallies:
    """Return the tallies that partial ones add up to; refuse what a task had to refuse.

    The sums are of whole numbers, so the order in which tasks end makes no difference.
    """
    sums: dict[Key, _Sum] = {}
    read: list[Provenance] = []
    specs: dict[str, Mechanism | None] = {}
    for partial in partials:
        if partial.error:
            raise InvalidInputError(partial.error)
        keys = tuple(_keys(partial))
        group = sums.setdefault(keys, _Sum())
        if partial.spec not in specs:
            specs[partial.spec] = read_spec(partial)
        made = specs[partial.spec] or job.mechanism_of(keys, None)
        if group.mechanism is not None and group.mechanism != made:
            raise MismatchError(mixture(partial.source, made, group.source, group.mechanism))
        if group.mechanism is None:
            group.mechanism, group.source = made, partial.source
        read.append(Provenance(spans=tuple(read_batches(partial))))
        group.bad += partial.bad
        group.n += partial.n
        if partial.counts:
            counts = read_counts(partial)
            group.counts = counts if group.counts is None else group.counts + counts
        if partial.n:
            group.made.append(read_provenance(partial))
    Provenance.merge(read)  # refuses a batch that is there twice
    if not sums and not job.by and job.only is not None:
        sums[()] = _Sum()
        sums[()].mechanism = job.only
    ordered = sorted(sums.items(), key=lambda item: [(text is None, text or "") for text in item[0]])
    return Tallies(
        job.by,
        {keys: _tally(group.mechanism, group) for keys, group in ordered if group.mechanism is not None},
        {keys: group.bad for keys, group in ordered if group.bad},
    )


def _keys(partial: Partial) -> list[str | None]:
    import json

    found: list[str | None] = json.loads(partial.keys)
    return found


def _tally(mechanism: Mechanism, group: _Sum) -> Tally:
    counts = np.zeros(mechanism.tally_size, np.int64) if group.counts is None else group.counts
    return Tally(mechanism, group.n, counts, Provenance.merge(group.made))
