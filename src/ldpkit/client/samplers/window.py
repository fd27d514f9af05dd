"""A window of likely cells that stands near the place: it slides, is clamped, wraps or is a sector.

All cells of the window have the weight `inside` and all others `outside`; together the weights are
2**64, so one word chooses a cell and none is left over.
"""

from __future__ import annotations

import abc
from dataclasses import dataclass
from typing import Self

from ldpkit.client.epsilon import Ratio
from ldpkit.client.randomness import Take
from ldpkit.client.samplers.base import Sampler, u64
from ldpkit.client.samplers.fields import WORD, Fields, index_bytes

__all__ = ["CellSampler", "LARGEST_GRID", "MOST_CELLS", "WindowSampler", "read_levels", "window_cell"]

LARGEST_GRID = 1 << 30
MOST_CELLS = 1 << 32
_STANDS = ("slide", "clamp", "wrap", "sector")


class CellSampler(Sampler):
    """A sampler whose report is one number below a count."""

    @property
    @abc.abstractmethod
    def outputs(self) -> int:
        """How many different reports there are."""

    @abc.abstractmethod
    def cell(self, place: int, take: Take) -> int:
        """Return the number of a report for a place."""

    @property
    def report_bytes(self) -> int:
        return index_bytes(self.outputs)

    def _draw(self, place: tuple[int, ...], take: Take) -> bytes:
        return self.cell(place[0], take).to_bytes(self.report_bytes, "little")


def read_levels(fields: Fields) -> tuple[int, int]:
    """Return the weights of a cell inside and outside, or refuse them."""
    inside, outside = fields.word("inside"), fields.word("outside")
    fields.require(outside >= 1, "outside must be at least 1, or some reports give others away")
    fields.require(inside >= outside, "inside is less than outside, so near reports would be the rarest")
    return inside, outside


def window_cell(word: int, start: int, width: int, inside: int, outside: int) -> int:
    """Return the cell of a word: the words of the window come first, then those of the other cells."""
    edge = width * inside
    if word < edge:
        return start + word // inside
    index = (word - edge) // outside
    return index + (width if index >= start else 0)


@dataclass(frozen=True)
class WindowSampler(CellSampler):
    """One word chooses a cell; of those that leave the kept ones, each side is one report."""

    form = "window"
    stand: str
    grid: int
    width: int
    inside: int
    outside: int
    margin: int = 0
    kept: tuple[int, ...] | None = None

    @classmethod
    def read(cls, fields: Fields) -> Self:
        stand = fields.take("stand")
        fields.require(stand in _STANDS, f"stand must be one of {', '.join(_STANDS)}")
        is_slide, is_sector = stand == "slide", stand == "sector"
        steps = fields.number if is_sector else fields.power_of_two
        grid = steps("grid", 2, LARGEST_GRID)
        width = fields.number("width", 1, MOST_CELLS)
        margin = fields.number("margin", 0, LARGEST_GRID) if is_slide else 0
        kept = fields.numbers("kept", 0, MOST_CELLS, few=2) if is_slide and fields.has("kept") else None
        made = cls(stand, grid, width, *read_levels(fields), margin, kept)
        cells = made.cells
        fields.require(width < cells <= MOST_CELLS, f"a width of {width} does not go with {cells} cells")
        fields.require(width % 2 == 0 or is_slide or is_sector, "width must be even, so that it has a middle")
        total = width * made.inside + (cells - width) * made.outside
        fields.require(total == WORD, "the weights of all cells do not sum to 2**64")
        if kept is not None:
            fields.require(len(kept) == 2, "kept has the first cell and how many there are")
            fields.require(kept[1] >= 1 and sum(kept) <= cells, "kept must be cells that there are")
        return made

    @property
    def cells(self) -> int:
        """How many cells there are."""
        if self.stand == "slide":
            return self.grid + self.width + 2 * self.margin
        return self.grid * (self.width if self.stand == "sector" else 2)

    @property
    def places(self) -> tuple[int, ...]:
        return (self.grid + (self.stand in ("slide", "clamp")),)

    @property
    def outputs(self) -> int:
        return self.cells if self.kept is None else self.kept[1] + 2

    def ratio(self) -> Ratio:
        return Ratio(self.inside, self.outside)

    def start(self, place: int) -> int:
        """Return the first cell of the window."""
        if self.stand == "slide":
            return place + self.margin
        if self.stand == "sector":
            return place * self.width
        centred = 2 * place - self.width // 2
        return centred % self.cells if self.stand == "wrap" else min(max(centred, 0), self.cells - self.width)

    def cell(self, place: int, take: Take) -> int:
        start, word = self.start(place), u64(take)
        if self.stand == "wrap":  # cells are counted from the start of the window
            return (start + window_cell(word, 0, self.width, self.inside, self.outside)) % self.cells
        cell = window_cell(word, start, self.width, self.inside, self.outside)
        if self.kept is None:
            return cell
        first, count = self.kept
        if cell < first:
            return count
        return cell - first if cell < first + count else count + 1
