"""Locations: a window in the plane, or two reports, one for each coordinate."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, Self

from ldpkit.client.epsilon import Ratio
from ldpkit.client.randomness import Take
from ldpkit.client.samplers.base import Sampler, choose_range, ends_of, u64
from ldpkit.client.samplers.fields import WORD, Fields, index_bytes
from ldpkit.client.samplers.noise import TurnedSampler
from ldpkit.client.samplers.window import WindowSampler, read_levels

__all__ = ["LocationPair", "PlanarSampler"]

_LARGEST_GRID = 1 << 15


@dataclass(frozen=True)
class PlanarSampler(Sampler):
    """One word chooses a cell of the window, which is a rectangle or a disc, or any cell at all."""

    form = "planar"
    grid: int
    widths: tuple[int, ...]
    inside: int
    outside: int
    reaches: tuple[int, ...] | None
    _ends: list[int] = field(repr=False, compare=False)

    @classmethod
    def read(cls, fields: Fields) -> Self:
        grid = fields.power_of_two("grid", 2, _LARGEST_GRID)
        widths = fields.numbers("widths", 2, 2 * grid, few=2)
        fields.require(len(widths) == 2, "widths has two numbers")
        fields.require(
            all(each % 2 == 0 for each in widths), "widths must be even, so that there is a middle"
        )
        reaches = fields.numbers("reaches", 0, widths[1] // 2) if fields.has("reaches") else None
        ends = ends_of([2 * reach for reach in reaches or ()])
        fields.require(reaches is None or len(reaches) == widths[0], "there must be a reach for each column")
        made = cls(grid, widths, *read_levels(fields), reaches, ends)
        area, cells = made.area, 4 * grid * grid
        fields.require(1 <= area < cells, "the window must have fewer cells than there are")
        fields.require(made.inside > made.outside, "inside must be more than outside")
        total = area * (made.inside - made.outside) + cells * made.outside
        fields.require(total == WORD, "the weights of all cells do not sum to 2**64")
        return made

    @property
    def area(self) -> int:
        """How many cells the window has."""
        return math.prod(self.widths) if self.reaches is None else self._ends[-1]

    @property
    def places(self) -> tuple[int, ...]:
        return self.grid + 1, self.grid + 1

    @property
    def report_bytes(self) -> int:
        return 2 * index_bytes(2 * self.grid)

    def ratio(self) -> Ratio:
        return Ratio(self.inside, self.outside)

    def _draw(self, place: tuple[int, ...], take: Take) -> bytes:
        word, cells, size = u64(take), 2 * self.grid, self.report_bytes // 2
        more = self.inside - self.outside
        if word >= self.area * more:
            x, y = divmod((word - self.area * more) // self.outside, cells)
        else:
            x, y = self._within(word // more)
            starts = (
                min(max(2 * each - width // 2, 0), cells - width)
                for each, width in zip(place, self.widths, strict=True)
            )
            x, y = x + next(starts), y + next(starts)
        return x.to_bytes(size, "little") + y.to_bytes(size, "little")

    def _within(self, index: int) -> tuple[int, int]:
        """Return the column and the row of a cell of the window."""
        if self.reaches is None:
            return divmod(index, self.widths[1])
        column, rest = choose_range(self._ends, index)
        return column, self.widths[1] // 2 - self.reaches[column] + rest


@dataclass(frozen=True)
class LocationPair(Sampler):
    """Two reports with words of their own; where directions are reported, from a public reference."""

    form = "pair"
    first: WindowSampler | TurnedSampler
    second: WindowSampler | TurnedSampler
    reference: tuple[float, ...] | None

    @classmethod
    def read(cls, fields: Fields) -> Self:
        reference = None
        if fields.has("reference"):
            given: Any = fields.take("reference")
            fields.require(
                isinstance(given, (list, tuple)) and len(given) == 2 and all(map(_is_finite, given)),
                "reference has two finite numbers",
            )
            reference = tuple(float(each) for each in given)
        return cls(_part(fields.part("first")), _part(fields.part("second")), reference)

    @property
    def places(self) -> tuple[int, ...]:
        return self.first.places + self.second.places

    @property
    def report_bytes(self) -> int:
        return 2 * index_bytes(max(self.first.outputs, self.second.outputs))

    def ratio(self) -> Ratio:
        one, two = self.first.ratio(), self.second.ratio()
        return Ratio(one.num * two.num, one.den * two.den)

    def _draw(self, place: tuple[int, ...], take: Take) -> bytes:
        cells = self.first.cell(place[0], take), self.second.cell(place[1], take)
        return b"".join(cell.to_bytes(self.report_bytes // 2, "little") for cell in cells)


def _is_finite(number: Any) -> bool:
    return type(number) in (int, float) and abs(number) < 1e300


def _part(fields: Fields) -> WindowSampler | TurnedSampler:
    kinds: dict[str, type[WindowSampler] | type[TurnedSampler]] = {
        "window": WindowSampler,
        "turned": TurnedSampler,
    }
    name = fields.take("form")
    fields.require(isinstance(name, str) and name in kinds, "its form must be window or turned")
    made = kinds[name].read(fields)
    fields.require(not isinstance(made, WindowSampler) or made.kept is None, "a part has no kept cells")
    fields.done()
    return made
