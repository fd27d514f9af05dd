"""Benchmarks as results: a grid with the rows that were measured, all or as yet some of them."""

from __future__ import annotations

import abc
import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, Self

from ldpkit.bench.grid import Grid
from ldpkit.bench.rows import Rows
from ldpkit.core.parameters import check_whole
from ldpkit.core.results import Columns, Result, in_columns
from ldpkit.core.watching import Watch, collect, unwatched

__all__ = ["Measured"]


class Measured(Result):
    """An experiment and what came of it."""

    experiment: Grid
    measured: Sequence[Any]

    @abc.abstractmethod
    def records(self) -> Iterator[dict[str, Any]]:
        """Return the rows one by one, for who writes very many as they come."""

    def rows(self, top: int | None = None) -> list[dict[str, Any]]:
        """Return every number with what it is of, a record for each."""
        return list(itertools.islice(self.records(), _checked(top)))

    def iter_columns(self, top: int | None = None) -> Iterator[Columns]:
        """Yield the records of `rows` by column, some at a time."""
        return in_columns(itertools.islice(self.records(), _checked(top)))

    def with_rows(self, rows: Iterable[Any]) -> Self:
        """Return the same benchmark with these rows."""
        changed: Any = replace(self, measured=rows if isinstance(rows, Rows) else tuple(rows))  # type: ignore[type-var]  # those are dataclasses
        made: Self = changed
        return made

    def run(self, watch: Watch = unwatched) -> Self:
        """Return the benchmark with the rows of all cells."""
        cells = collect(self.experiment.run(), len(self.experiment.cells()), "simulating", watch)
        return self.with_rows(Rows.joined(cell.rows for cell in cells))


def _checked(top: int | None) -> int | None:
    return None if top is None else check_whole(top, "top", least=0)
