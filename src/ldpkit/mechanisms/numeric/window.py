"""A window of likely cells that moves with the value: PM and Square Wave are both this.

For a value at place i of a grid of N steps, the W cells from i on are likely, and the
other N of the N + W cells are not. One step of the value moves the window by one cell,
so edges fall on cells for every value, and one random word chooses a cell with nothing
left over. Mechanisms differ only in W, and in the numbers that cells stand for.
"""

from __future__ import annotations

import abc
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from ldpkit.core.cached import cached_property
from ldpkit.core.exact import WORD, log_up
from ldpkit.core.random import RandomSource
from ldpkit.core.typing import Indices, Reports
from ldpkit.mechanisms.numeric.law import Law, Placement
from ldpkit.mechanisms.numeric.levels import two_levels
from ldpkit.mechanisms.numeric.mechanism import NumericMechanism

__all__ = ["Truncated", "Window", "WindowMechanism"]


@dataclass(frozen=True)
class Window:
    """The integers of a window.

    Parameters
    ----------
    steps : int
        The steps N of the grid of values.
    ratio : Fraction
        What the width should be, in units of N.
    target : float
        The epsilon to keep.
    total : int
        What all weights sum to.

    Examples
    --------
    >>> window = Window(8, Fraction(3, 4), 1.0)
    >>> window.width, window.cells
    (6, 14)
    >>> 1 - 1e-15 < window.epsilon() <= 1
    True
    """

    steps: int
    ratio: Fraction
    target: float
    total: int = WORD

    @cached_property
    def width(self) -> int:
        """The cells W of the window: twice an odd number, so that weights are exact and it has a middle."""
        return 2 + 4 * max(0, round((self.steps * self.ratio - 2) / 4))

    @property
    def cells(self) -> int:
        """The number of cells."""
        return self.steps + self.width

    @cached_property
    def weights(self) -> tuple[int, int]:
        """The weight of a cell inside and outside the window."""
        return two_levels(self.width, self.steps, self.target, self.total)

    def epsilon(self) -> float:
        """Return the realised epsilon, rounded up."""
        return log_up(Fraction(*self.weights))

    @cached_property
    def gain(self) -> Fraction:
        """How far the mean cell moves when the value moves one step, given that the window is used."""
        inside, outside = self.weights
        return Fraction((inside - outside) * self.width, self.total)

    def law(self, place: int) -> Law:
        """Return the law over cells for a place."""
        inside, outside = self.weights
        edges = np.array([0, place, place + self.width, self.cells], np.int64)
        return Law(edges, np.array([outside, inside, outside], object), self.total)

    @cached_property
    def unbiased(self) -> Placement:
        """The placement of cells in which the mean report is the value."""
        step = 1 / (self.gain * self.steps)
        return Fraction(1, 2) - self.cells * step / 2, step


class WindowMechanism(NumericMechanism):
    """A mechanism that is a window and nothing else."""

    capabilities: ClassVar[frozenset[str]] = NumericMechanism.capabilities | {"linear"}

    @property
    @abc.abstractmethod
    def width_ratio(self) -> Fraction:
        """The ideal width of the window, in units of the grid of values."""

    @cached_property
    def window(self) -> Window:
        """The sampler's integers."""
        return Window(self.grid, self.width_ratio, self.epsilon)

    @property
    def cells(self) -> int:
        return self.window.cells

    @property
    def line(self) -> tuple[Fraction, Fraction] | None:
        origin, step = self.placement
        slope = step * self.window.gain * self.grid
        return origin + step * self.cells / 2 - slope / 2, slope

    def law(self, place: int) -> Law:
        return self.window.law(place)

    def exact_epsilon(self) -> float:
        return self.window.epsilon()

    def _randomise(self, places: Indices, source: RandomSource) -> Reports:
        from ldpkit.mechanisms.kernels.pieces import window

        reports = np.empty(len(places), self.report_dtype)
        width, inside, outside = map(np.uint64, (self.window.width, *self.window.weights))
        window(source.words(len(places)), places, width, inside, outside, reports)
        return reports


class Truncated(WindowMechanism):
    """A window whose report is moved to the nearest end of the domain if it lies outside.

    Cells that reach beyond an end go to an atom there. This is post-processing, and the
    cells that stay still tell a value inside the window from one outside, so the
    realised epsilon is that of the window. Only on a grid so small that no cell stays,
    the atoms alone decide.
    """

    capabilities = NumericMechanism.capabilities

    @property
    @abc.abstractmethod
    def inner_placement(self) -> Placement:
        """Where the cells stand before truncation."""

    @cached_property
    def kept(self) -> tuple[int, int]:
        """The first cell that stays and the one after the last."""
        origin, step = self.inner_placement
        first, last = -origin / step, (1 - origin) / step
        return -(-first.numerator // first.denominator), last.numerator // last.denominator

    @property
    def cells(self) -> int:
        first, last = self.kept
        return last - first

    @property
    def placement(self) -> Placement:
        origin, step = self.inner_placement
        return origin + self.kept[0] * step, step

    @property
    def atom_points(self) -> tuple[Fraction, ...]:
        return Fraction(0), Fraction(1)

    @property
    def line(self) -> None:
        return None

    def law(self, place: int) -> Law:
        return self.window.law(place).clamp(*self.kept)

    def exact_epsilon(self) -> float:
        if self.cells:
            return self.window.epsilon()
        lowest, highest = self.law(0).atoms, self.law(self.grid).atoms
        return log_up(max(Fraction(lowest[0], highest[0]), Fraction(highest[1], lowest[1])))

    def _randomise(self, places: Indices, source: RandomSource) -> Reports:
        from ldpkit.mechanisms.kernels.pieces import truncate, window

        cells = np.empty(len(places), np.uint32)
        width, inside, outside = map(np.uint64, (self.window.width, *self.window.weights))
        window(source.words(len(places)), places, width, inside, outside, cells)
        truncate(cells, self.kept[0], self.cells)
        return cells.astype(self.report_dtype, copy=False)
