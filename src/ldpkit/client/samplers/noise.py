"""Symmetric noise: a block and a side from one word, a cell of the block from the next.

Blocks are as wide as the grid. Moving the value over the whole grid moves a report by one block, so
the worst ratio is that of neighbouring blocks, of the first and the last weight within a block, or
of the ends, in which all that lies beyond is one report. That is true only if neither blocks nor
weights increase, and if blocks are even: the last bit of a word is the side.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from typing import Self

from ldpkit.client.epsilon import Ratio, larger
from ldpkit.client.randomness import Take
from ldpkit.client.samplers.base import choose_range, ends_of, u64
from ldpkit.client.samplers.fields import WORD, Fields
from ldpkit.client.samplers.window import LARGEST_GRID, CellSampler

__all__ = ["NoiseSampler", "TurnedSampler"]


@dataclass(frozen=True)
class NoiseSampler(CellSampler):
    """Two words: block and side, then the cell."""

    form = "noise"
    grid: int
    reach: int
    blocks: tuple[int, ...]
    lengths: tuple[int, ...]
    weights: tuple[int, ...]
    _block_ends: list[int] = field(repr=False, compare=False)
    _run_ends: list[int] = field(repr=False, compare=False)
    _starts: list[int] = field(repr=False, compare=False)

    @classmethod
    def read(cls, fields: Fields) -> Self:
        grid, blocks = fields.power_of_two("grid", 2, LARGEST_GRID), fields.words("blocks")
        fields.require(len(blocks) >= 2, f"there must be at least two blocks, got {len(blocks)}")
        reach = fields.number("reach", 0, len(blocks) - 2)
        lengths, weights = fields.numbers("lengths", 1, grid), fields.words("weights")
        even = all(block >= 2 and block % 2 == 0 for block in blocks)
        fields.require(even, "blocks must be even and at least 2, because the last bit of a word is the side")
        fields.require(sum(blocks) == WORD, "blocks do not sum to 2**64")
        near = blocks[: reach + 1]
        fields.require(all(one >= two for one, two in pairwise(near)), "blocks must not increase up to reach")
        if len(lengths) == 1:
            lengths *= len(weights)
        fields.require(len(lengths) == len(weights), "there must be one length, or one for each weight")
        fields.require(sum(lengths) == grid, "lengths do not sum to the grid")
        fields.require(weights[-1] >= 1, "weights must be at least 1, or some reports give others away")
        fields.require(all(one >= two for one, two in pairwise(weights)), "weights must not increase")
        runs = [length * weight for length, weight in zip(lengths, weights, strict=True)]
        fields.require(sum(runs) == WORD, "the weights of all cells of a block do not sum to 2**64")
        starts = [0, *ends_of(lengths)]
        made = cls(grid, reach, blocks, lengths, weights, ends_of(blocks), ends_of(runs), starts)
        fields.require(made.outputs < 1 << 53, "there are more than 2**53 cells")
        return made

    @property
    def cells(self) -> int:
        """How many cells are told apart."""
        return self.grid * (1 + 2 * self.reach)

    @property
    def outputs(self) -> int:
        return self.cells + 2

    @property
    def places(self) -> tuple[int, ...]:
        return (self.grid + 1,)

    def ratio(self) -> Ratio:
        near = self.blocks[: self.reach + 1]
        beyond = sum(self.blocks[self.reach + 1 :])
        ends = Ratio(beyond + self.blocks[self.reach], beyond)
        return larger(
            Ratio(self.weights[0], self.weights[-1]), ends, *(Ratio(*each) for each in pairwise(near))
        )

    def cell(self, place: int, take: Take) -> int:
        first, second = u64(take), u64(take)
        block, _ = choose_range(self._block_ends, first)
        run, rest = choose_range(self._run_ends, second)
        distance = block * self.grid + self._starts[run] + rest // self.weights[run]
        zero = place + self.reach * self.grid
        cell = zero + distance if first & 1 else zero - 1 - distance
        if cell < 0:
            return self.cells
        return cell if cell < self.cells else self.cells + 1


@dataclass(frozen=True)
class TurnedSampler(CellSampler):
    """A distance from the place by one word, to a side by its last bit, around a circle."""

    form = "turned"
    grid: int
    weights: tuple[int, ...]
    _ends: list[int] = field(repr=False, compare=False)

    @classmethod
    def read(cls, fields: Fields) -> Self:
        grid, weights = fields.power_of_two("grid", 2, LARGEST_GRID), fields.words("weights")
        fields.require(len(weights) == grid, f"there must be {grid} weights, got {len(weights)}")
        fields.require(min(weights) >= 1, "weights must be at least 1, or some reports give others away")
        fields.require(sum(weights) == WORD // 2, "weights do not sum to 2**63")
        return cls(grid, weights, ends_of([2 * weight for weight in weights]))

    @property
    def outputs(self) -> int:
        return 2 * self.grid

    @property
    def cells(self) -> int:
        """How many cells there are around the circle."""
        return 2 * self.grid

    @property
    def places(self) -> tuple[int, ...]:
        return (self.grid,)

    def ratio(self) -> Ratio:
        return Ratio(max(self.weights), min(self.weights))

    def cell(self, place: int, take: Take) -> int:
        word = u64(take)
        distance, _ = choose_range(self._ends, word)
        return (2 * place + distance if word & 1 else 2 * place - 1 - distance) % self.cells
