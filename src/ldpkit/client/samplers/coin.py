"""A coin whose chance grows evenly with the place, and the hybrid of a coin and a window."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from ldpkit.client.epsilon import Ratio, larger
from ldpkit.client.randomness import Take
from ldpkit.client.samplers.base import u64
from ldpkit.client.samplers.fields import WORD, Fields
from ldpkit.client.samplers.window import LARGEST_GRID, MOST_CELLS, CellSampler, read_levels, window_cell

__all__ = ["CoinSampler", "HybridSampler", "Slope"]


@dataclass(frozen=True)
class Slope:
    """Of `total` words, base + slope * place are for the upper side, so both sides mirror each other."""

    grid: int
    base: int
    slope: int

    @classmethod
    def read(cls, fields: Fields) -> Slope:
        """Return the coin of some fields, or refuse them."""
        grid = fields.power_of_two("grid", 2, LARGEST_GRID)
        base, slope = fields.word("base"), fields.word("slope")
        fields.require(base >= 1, "base must be at least 1, or some reports give others away")
        return cls(grid, base, slope)

    @property
    def total(self) -> int:
        """All words of the coin."""
        return 2 * self.base + self.grid * self.slope

    def side(self, word: int, place: int) -> bool:
        """Return the side of a word below the total."""
        return word < self.base + self.slope * place

    @property
    def ratio(self) -> Ratio:
        """The ratio of both ends, for either side."""
        return Ratio(self.base + self.grid * self.slope, self.base)


@dataclass(frozen=True)
class CoinSampler(CellSampler):
    """One word, two reports."""

    form = "coin"
    coin: Slope
    outputs = 2

    @classmethod
    def read(cls, fields: Fields) -> Self:
        coin = Slope.read(fields)
        fields.require(coin.total == WORD, "2 * base + grid * slope is not 2**64")
        return cls(coin)

    @property
    def places(self) -> tuple[int, ...]:
        return (self.coin.grid + 1,)

    def ratio(self) -> Ratio:
        return self.coin.ratio

    def cell(self, place: int, take: Take) -> int:
        return int(self.coin.side(u64(take), place))


@dataclass(frozen=True)
class HybridSampler(CellSampler):
    """The first words are a coin's, the others a sliding window's; a report says which."""

    form = "hybrid"
    coin: Slope
    width: int
    inside: int
    outside: int

    @classmethod
    def read(cls, fields: Fields) -> Self:
        coin, width = Slope.read(fields), fields.number("width", 1, LARGEST_GRID)
        made = cls(coin, width, *read_levels(fields))
        total = coin.total + width * made.inside + coin.grid * made.outside
        fields.require(total == WORD, "the weights of all reports do not sum to 2**64")
        fields.require(made.cells <= MOST_CELLS, "there are more than 2**32 cells")
        return made

    @property
    def cells(self) -> int:
        """How many cells the window moves over."""
        return self.coin.grid + self.width

    @property
    def outputs(self) -> int:
        return self.cells + 2

    @property
    def places(self) -> tuple[int, ...]:
        return (self.coin.grid + 1,)

    def ratio(self) -> Ratio:
        return larger(self.coin.ratio, Ratio(self.inside, self.outside))

    def cell(self, place: int, take: Take) -> int:
        word = u64(take)
        if word < self.coin.total:
            return self.cells + self.coin.side(word, place)
        return window_cell(word - self.coin.total, place, self.width, self.inside, self.outside)
