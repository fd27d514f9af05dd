"""Directions by randomised response on sectors, uniform within: what TraCS-D is compared with.

The sectors are fixed, so a report is half a sector wrong on average even where it is right, however
large epsilon is. The published code flips the sector with another probability than it states;
here it is that of k-RR.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from ldpkit.core.cached import cached_property
from ldpkit.core.exact import WORD, two_levels
from ldpkit.core.random import RandomSource
from ldpkit.core.typing import Counts, Floats, Indices, Reports
from ldpkit.mechanisms.cells.law import Law
from ldpkit.mechanisms.forms import words
from ldpkit.mechanisms.spatial.parts import Coordinate

__all__ = ["SectorCoordinate", "Sectors"]


class Sectors:
    """The integers of randomised response on sectors of a circle.

    Parameters
    ----------
    count : int
        How many sectors there are.
    epsilon : float
        The budget.
    grid : int
        About half as many cells there are around the circle.

    Examples
    --------
    >>> sectors = Sectors(6, 2.0, 1024)
    >>> sectors.cells, sectors.own
    (1536, 256)
    """

    def __init__(self, count: int, epsilon: float, grid: int) -> None:
        self.place_count, self.epsilon = count, epsilon
        # A power of two in each sector, so that the weights of cells are whole numbers over 2**64.
        self.own = 1 << max(0, (2 * grid // count).bit_length() - 1)
        self.cells = count * self.own

    @property
    def grid(self) -> int:
        """How many places a direction can stand at: one for each sector."""
        return self.place_count

    @cached_property
    def weights(self) -> tuple[int, int]:
        """The weight of a cell of the own sector and of another."""
        return two_levels(self.own, self.cells - self.own, self.epsilon)

    def law(self, place: int) -> Law:
        """Return the law over cells for a sector."""
        inside, outside = self.weights
        start = place * self.own
        edges = np.array([0, start, start + self.own, self.cells], np.int64)
        return Law(edges, np.array([outside, inside, outside], object), WORD)

    def sampler(self) -> dict[str, Any]:
        """Return the form of the sampler: a window that is the sector of the place."""
        inside, outside = words(self.weights)
        return {
            "form": "window",
            "stand": "sector",
            "grid": self.place_count,
            "width": self.own,
            "inside": inside,
            "outside": outside,
        }

    def _randomise(self, places: Indices, source: RandomSource) -> Reports:
        from ldpkit.mechanisms.kernels.pieces import window

        cells = np.empty(len(places), np.uint32)
        width, inside, outside = map(np.uint64, (self.own, *self.weights))
        last = self.cells - self.own
        window(source.words(len(places)), places, self.own, 0, last, width, inside, outside, cells)
        return cells


class SectorCoordinate(Coordinate):
    """A direction that stands for its sector."""

    @property
    def kinks(self) -> Floats:
        """Where one sector ends and the next begins, from 0 to 1."""
        return np.arange(self.places) / self.places

    def place(self, shares: Floats) -> Indices:
        """Return the sector of each direction in turns."""
        with np.errstate(invalid="ignore"):
            found = np.floor((shares % 1.0) * self.places).astype(np.int32).view(np.uint32)
        return np.minimum(found, np.uint32(self.places - 1))

    def bends(self, low: float, high: float, edges: Any) -> Counts | None:
        """Return the sectors from one direction to another: the law does not move within them."""
        first, last = (int(np.floor(each * self.places)) for each in (low, high))
        return np.unique(np.arange(first, min(last, first + self.places) + 1) % self.places)

    def shares(self, places: Indices) -> Floats:
        """Return the middle of each sector."""
        return np.asarray((places + 0.5) / self.places)

    def between(self, shares: Floats) -> Floats:
        """Return the sector: the law does not move within it."""
        return self.place(shares).astype(np.float64)

    def pieces(self, places: Indices | Floats) -> tuple[Floats, Floats, Floats]:
        """Return all cells, and those of the own sector, which have so much more."""
        inside, outside = (float(Fraction(weight, WORD)) for weight in self.mechanism.weights)
        first = np.asarray(places, float) * self.mechanism.own
        start = np.stack([np.zeros_like(first), first], axis=1)
        stop = np.stack([np.full_like(first, self.cells), first + self.mechanism.own], axis=1)
        return start, stop, np.broadcast_to([outside, inside - outside], start.shape)
