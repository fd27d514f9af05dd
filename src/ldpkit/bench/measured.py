"""Benchmarks as results: a grid with the rows that were measured, all or as yet some of them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any, Self

from ldpkit.bench.grid import Grid
from ldpkit.core.results import Result
from ldpkit.core.watching import Watch, collect, unwatched

__all__ = ["Measured"]


class Measured(Result):
    """An experiment and what came of it."""

    experiment: Grid
    measured: tuple[Any, ...]

    def with_rows(self, rows: Iterable[Any]) -> Self:
        """Return the same benchmark with these rows."""
        changed: Any = replace(self, measured=tuple(rows))  # type: ignore[type-var]  # those are dataclasses
        made: Self = changed
        return made

    def run(self, watch: Watch = unwatched) -> Self:
        """Return the benchmark with the rows of all cells."""
        cells = collect(self.experiment.run(), len(self.experiment.cells()), "simulating", watch)
        return self.with_rows(row for cell in cells for row in cell.rows)
