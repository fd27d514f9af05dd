"""Grids: the cells of an experiment, each with randomness of its own, whatever is estimated.

The randomness of a cell is derived from the seed and the cell's own label, so a cell has
the same numbers whichever other cells are run, in whatever order and with however many
threads.
"""

from __future__ import annotations

import abc
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

from ldpkit.bench.rows import Rows
from ldpkit.core import random
from ldpkit.core.random import RandomSource

__all__ = ["CellResult", "Grid"]


@dataclass(frozen=True)
class CellResult:
    """What a cell gave: its rows, and the seconds it took."""

    cell: Any
    rows: Rows
    seconds: float


class Grid(abc.ABC):
    """What to compare, how often: cells that are run one by one.

    A cell is a named tuple with a `label`, a row a cell with further names and a value. Both
    are an experiment's own.
    """

    repeats: int
    seed: int
    cell_type: ClassVar[type[NamedTuple]]
    row_type: ClassVar[type[NamedTuple]]

    @abc.abstractmethod
    def cells(self) -> list[Any]:
        """Return the cells in the order of the axes."""

    @abc.abstractmethod
    def keys(self, cell: Any) -> Sequence[tuple[str | int, ...]]:
        """Return what stands between the cell and the value in each row of a cell."""

    @abc.abstractmethod
    def values(self, cell: Any) -> Iterator[float]:
        """Run a cell and yield its values, in the order of its keys."""

    @abc.abstractmethod
    def fingerprint(self) -> dict[str, Any]:
        """Return what two runs must have in common for their rows to belong together."""

    def source(self, cell: Any) -> RandomSource:
        """Return the randomness of a cell."""
        return random.seeded(self.seed).derive(cell.label)

    def is_impossible(self, key: tuple[str | int, ...], value: float) -> bool:
        """Whether no run gives this value in the row of a key; a metric of the user's own may give any."""
        return False

    def rows_of(self, cell: Any, values: Iterable[float]) -> Rows:
        """Return the rows of a cell with so many values."""
        return Rows(self.row_type, cell, self.keys(cell), values)

    def run_cell(self, cell: Any) -> CellResult:
        """Run one cell."""
        start = time.perf_counter()
        rows = self.rows_of(cell, self.values(cell))
        return CellResult(cell, rows, time.perf_counter() - start)

    def run(self, skip: Sequence[Any] = ()) -> Iterator[CellResult]:
        """Run all cells but some, one after the other."""
        done = set(skip)
        return (self.run_cell(cell) for cell in self.cells() if cell not in done)
