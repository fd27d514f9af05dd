"""Symmetric noise in integers: blocks as wide as the domain, each e^eps less likely than the last.

The distance of the noise from zero is a block and a cell within the block, drawn
independently: weight A[m] of block m times weight F[f] of cell f. Moving the value over
the whole domain moves a cell by one block, so the fine weights cancel, and the realised
epsilon is that of the blocks: max A[m] / A[m+1]. As both A and F do not increase, no
other pair of values is worse, but for pairs within a block, whose ratio is at most
F[first] / F[last].

Outputs beyond a declared reach are merged into an atom at either end. That is
post-processing; the last block holds all the mass from there on, and its weight is
rounded up so that the atoms keep epsilon too.
"""

from __future__ import annotations

import abc
import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from ldpkit.core.cached import cached_property
from ldpkit.core.exact import WORD, exp_bounds, log_up
from ldpkit.core.random import RandomSource
from ldpkit.core.typing import Floats, Indices, Reports
from ldpkit.mechanisms.cells.law import Law, Placement
from ldpkit.mechanisms.forms import check_table, words
from ldpkit.mechanisms.numeric.mechanism import NumericMechanism

__all__ = ["BlockNoise", "NoiseMechanism"]

_REACH = 44.5  # e^-44.5 is below 2**-64: what lies so many scales away is less than a word


@dataclass(frozen=True)
class BlockNoise:
    """The integers of the noise.

    Parameters
    ----------
    steps : int
        The cells of a block, as many as the grid of values has steps.
    target : float
        The epsilon to keep.
    lengths, weights : tuple of int
        The runs of cells of equal weight within a block; weights do not increase, and
        the sum over all cells is 2**64.

    Examples
    --------
    >>> noise = BlockNoise(2, 1.0, (2,), (2**63,))
    >>> sum(noise.blocks) == 2**64
    True
    >>> 1 - 1e-9 < noise.epsilon() <= 1
    True
    """

    steps: int
    target: float
    lengths: tuple[int, ...]
    weights: tuple[int, ...]

    @cached_property
    def blocks(self) -> list[int]:
        """The weight of each block, all even; the last one has the tail."""
        low, high = exp_bounds(self.target)
        blocks = [_even_above(WORD * (1 - 1 / low) / high)]
        above, below = low.as_integer_ratio()
        for _ in range(math.ceil(_REACH / self.target)):  # the same as blocks[-1] / low, in integers
            blocks.append(2 * max(1, -(-blocks[-1] * below // (2 * above))))
        blocks.append(_even_above(blocks[-1] / (low - 1)))
        return [WORD - sum(blocks), *blocks]

    def epsilon(self) -> float:
        """Return the realised epsilon of value plus noise, clamped to `reach`, rounded up."""
        high, low = max(self._fine_ratio, Fraction(sum(self.blocks[-2:]), self.blocks[-1])).as_integer_ratio()
        for nearer, farther in zip(self.blocks[:-2], self.blocks[1:-1], strict=True):
            if nearer * low > high * farther:  # a fraction for each of them would take long
                high, low = nearer, farther
        return log_up(Fraction(high, low))

    def truncated_epsilon(self) -> float:
        """Return the realised epsilon of value plus noise, clamped to the domain, rounded up."""
        return log_up(max(Fraction(WORD, WORD - self.blocks[0]), self._fine_ratio))

    @property
    def _fine_ratio(self) -> Fraction:
        return Fraction(self.weights[0], self.weights[-1])

    @property
    def reach(self) -> int:
        """How many cells beyond either end of the domain are told apart."""
        return self.steps * (len(self.blocks) - 2)

    @cached_property
    def law(self) -> Law:
        """The law of the noise for a value at place 0; negative cells lie below it."""
        runs = np.multiply.outer(np.array(self.blocks[:-1], object), np.array(self.weights, object)).ravel()
        side = np.append(runs, self.blocks[-1] * (WORD // self.steps))
        lengths = np.append(np.tile(self.lengths, len(self.blocks) - 1), self.steps)
        edges = np.concatenate([[0], np.cumsum(lengths)])
        mirrored = np.concatenate([-edges[:0:-1], edges])
        return Law(mirrored.astype(np.int64), np.concatenate([side[::-1], side]), 2 * WORD * WORD)

    @cached_property
    def tables(self) -> tuple[np.ndarray[Any, Any], ...]:
        """What the kernel looks up: bounds and guide of blocks and of runs, and runs' starts and weights."""
        sums = [length * weight for length, weight in zip(self.lengths, self.weights, strict=True)]
        starts = np.cumsum([0, *self.lengths[:-1]]).astype(np.int64)
        return (*_lookup(self.blocks), *_lookup(sums), starts, np.array(self.weights, np.uint64))


class NoiseMechanism(NumericMechanism):
    """The value plus symmetric noise."""

    capabilities: ClassVar[frozenset[str]] = NumericMechanism.capabilities | {
        "linear",
        "unbiased",
        "additive",
        "client",
    }

    words_per_report = 2

    @property
    @abc.abstractmethod
    def noise(self) -> BlockNoise:
        """The sampler's integers."""

    @property
    def reach(self) -> int:
        """How many cells beyond either end of the domain are told apart."""
        return self.noise.reach

    @property
    def cells(self) -> int:
        return self.grid + 2 * self.reach

    @property
    def placement(self) -> Placement:
        return Fraction(-self.reach, self.grid), Fraction(1, self.grid)

    @property
    def atom_points(self) -> tuple[Fraction, ...]:
        return Fraction(-self.reach, self.grid), 1 + Fraction(self.reach, self.grid)

    def law(self, place: int) -> Law:
        return self.noise.law.clamp(-self.reach, self.grid + self.reach, shift=place)

    def bin_masses(self, x: Floats) -> Floats:
        """Return the probability of each bin and atom of a tally for each value x, one row a value.

        The noise has the same law for all values: its many pieces are added up once.
        """
        law, bins = self.noise.law, self.bins
        places = self.domain.encode(x, steps=self.grid)
        masses = np.empty((len(places), self.tally_size - 1))
        for row, place in zip(masses, places, strict=True):
            edges = (self.bin_edges - self.reach - int(place)).astype(np.float64)
            row[:bins] = np.diff(law.below(edges))
            row[bins:] = law.below(np.array([edges[0], -edges[-1]]))  # the law is symmetric
        return masses

    def exact_epsilon(self) -> float:
        return self.noise.epsilon()

    def _form(self) -> dict[str, Any]:
        noise = self.noise
        lengths = [noise.lengths[0]] if len(set(noise.lengths)) == 1 else list(noise.lengths)
        check_table(len(noise.blocks) + len(lengths) + len(noise.weights), self)
        return {
            "form": "noise",
            "grid": self.grid,
            "reach": self.reach // self.grid,
            "blocks": words(noise.blocks),
            "lengths": lengths,
            "weights": words(noise.weights),
        }

    def _randomise(self, places: Indices, source: RandomSource) -> Reports:
        from ldpkit.mechanisms.kernels.pieces import blocks

        reports = np.empty(len(places), self.report_dtype)
        words = source.words(2 * len(places))
        blocks(words, places, self.grid, *self.noise.tables, self.reach, self.cells, reports)
        return reports


def _even_above(number: Fraction) -> int:
    """Return the least even integer that is at least the number, and 2 at the least."""
    half = number / 2
    return 2 * max(1, -(-half.numerator // half.denominator))


def _lookup(weights: Sequence[int]) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Return lower bounds of entries, and for the first 12 bits of a word the first entry they can mean."""
    bounds = [0]
    for weight in weights[:-1]:
        bounds.append(bounds[-1] + weight)
    table = np.array(bounds, np.uint64)
    heads = np.arange(1 << 12, dtype=np.uint64) << np.uint64(52)
    return table, (np.searchsorted(table, heads, "right") - 1).astype(np.int32)
