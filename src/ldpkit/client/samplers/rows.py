"""Tables: a row of weights for each place, and a table between whose rows a place is rounded."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Self

from ldpkit.client.epsilon import Ratio
from ldpkit.client.randomness import Take
from ldpkit.client.samplers.base import Sampler, u32, u64
from ldpkit.client.samplers.fields import Fields
from ldpkit.client.samplers.response import Folded, read_shape
from ldpkit.client.samplers.window import LARGEST_GRID, CellSampler

__all__ = ["RowSampler", "TableSampler"]


def _column(row: Sequence[int], word: int) -> int:
    return bisect_right(list(accumulate(row)), word)


def _worst(rows: Iterable[Sequence[int]]) -> Ratio:
    """Return the largest ratio of two entries of a column."""
    high, low = 1, 1
    for column in zip(*rows, strict=True):
        if max(column) * low > high * min(column):
            high, low = max(column), min(column)
    return Ratio(high, low)


@dataclass(frozen=True)
class RowSampler(Sampler):
    """One word chooses a report by the row of the place."""

    form = "rows"
    sites: Folded
    rows: tuple[tuple[int, ...], ...]

    @classmethod
    def read(cls, fields: Fields) -> Self:
        shape, rows = read_shape(fields), fields.rows("rows")
        count = math.prod(shape)
        fields.require(len(rows) == count, f"there must be {count} rows, got {len(rows)}")
        fields.require(len(shape) == 1 or len(rows[0]) == count, "rows must have a weight for each site")
        return cls(Folded(shape), rows)

    @property
    def places(self) -> tuple[int, ...]:
        return self.sites.shape

    @property
    def report_bytes(self) -> int:
        return self.sites.length(len(self.rows[0]))

    def ratio(self) -> Ratio:
        return _worst(self.rows)

    def _draw(self, place: tuple[int, ...], take: Take) -> bytes:
        row = self.rows[self.sites.flat(place)]
        return self.sites.encode(_column(row, u64(take)), len(row))


@dataclass(frozen=True)
class TableSampler(CellSampler):
    """A 32-bit word rounds the place to one of two rows, a word before it chooses the report."""

    form = "table"
    grid: int
    rows: tuple[tuple[int, ...], ...]

    @classmethod
    def read(cls, fields: Fields) -> Self:
        grid, rows = fields.power_of_two("grid", 2, LARGEST_GRID), fields.rows("rows")
        fields.require(len(rows) - 1 <= grid, "there are more rows than places")
        return cls(grid, rows)

    @property
    def _bins(self) -> int:
        return len(self.rows) - 1

    @property
    def outputs(self) -> int:
        return len(self.rows[0])

    @property
    def places(self) -> tuple[int, ...]:
        return (self.grid + 1,)

    def ratio(self) -> Ratio:
        # Between two rows the law changes evenly, so the extremes are at the places next to rows.
        bins, grid = self._bins, self.grid
        nearest = {place for row in range(bins + 1) for place in (row * grid // bins, -(-row * grid // bins))}
        return _worst([self._law(place) for place in sorted(nearest)])

    def _law(self, place: int) -> list[int]:
        """Return the weights of the reports for a place, over 2**64 times the grid."""
        row, upper = divmod(place * self._bins, self.grid)
        above = self.rows[row + 1] if upper else self.rows[row]
        return [
            low * (self.grid - upper) + high * upper for low, high in zip(self.rows[row], above, strict=True)
        ]

    def cell(self, place: int, take: Take) -> int:
        word, coin = u64(take), u32(take)
        row, upper = divmod(place * self._bins, self.grid)
        return _column(self.rows[row + (coin % self.grid < upper)], word)
