"""A window of likely cells that stands near the value: PM, Square Wave and OGPM are all this.

There are three ways for a window to stand on a grid of N steps:

- `slide`: cells are as wide as a step. For a value at place i the W cells from i on are
  likely, and the other N of the N + W cells are not. PM and Square Wave slide; cells that
  no window ever reaches can be added at both ends, an idle margin.
- `clamp`: 2N cells of half a step, of which the W nearest to the value are likely: its
  window is centred on the value and pushed back where it would pass an end. OGPM clamps.
- `wrap`: 2N cells around a circle, the window centred on the value.

Edges fall on cells for every value, and one random word chooses a cell with nothing left
over. Mechanisms differ only in W, in how they stand, and in what cells stand for.
"""

from __future__ import annotations

import abc
from dataclasses import dataclass
from fractions import Fraction
from math import gcd
from typing import Any, ClassVar, Literal, TypeAlias

import numpy as np

from ldpkit.core.cached import cached_property
from ldpkit.core.exact import WORD, exp_bounds, log_up, two_levels
from ldpkit.core.random import RandomSource
from ldpkit.core.typing import Indices, Reports, Words
from ldpkit.mechanisms.cells.law import Law, Placement
from ldpkit.mechanisms.cells.mechanism import CellMechanism

__all__ = ["Stand", "Window", "Windowed"]

_WASTED = Fraction(1, 1 << 21)  # of epsilon, by the distance between two solutions for the weights
_FINENESS = 12  # a width is known to so many bits of the domain, at least

Stand: TypeAlias = Literal["slide", "clamp", "wrap"]


@dataclass(frozen=True)
class Window:
    """The integers of a window.

    Parameters
    ----------
    steps : int
        The steps N of the grid of values, a power of two.
    ratio : Fraction
        What the width should be, in units of the domain.
    target : float
        The epsilon to keep.
    total : int
        What all weights sum to.
    stand : {"slide", "clamp", "wrap"}
        How the window follows the value.
    idle : Fraction
        How wide the margin at each end should be, in units of the domain; only where it slides.

    Examples
    --------
    >>> window = Window(8, Fraction(3, 4), 1.0)
    >>> window.width, window.cells
    (6, 14)
    >>> 1 - 1e-15 < window.epsilon() <= 1
    True
    >>> clamped = Window(8, Fraction(3, 8), 1.0, stand="clamp")
    >>> clamped.width, clamped.cells, [clamped.start(place) for place in range(9)]
    (6, 16, [0, 0, 1, 3, 5, 7, 9, 10, 10])
    >>> Window(8, Fraction(3, 8), 1.0, stand="wrap").law(0).edges.tolist()
    [0, 3, 13, 16]
    """

    steps: int
    ratio: Fraction
    target: float
    total: int = WORD
    stand: Stand = "slide"
    idle: Fraction = Fraction(0)

    @cached_property
    def width(self) -> int:
        """The cells W of the window, an even number, so that it has a middle.

        A window that slides has twice an odd number, so that weights are exact: there the
        number of all cells is not a power of two. Elsewhere a wide window at a large
        epsilon has a multiple of a larger power of two: solutions for its weights are
        closer to each other, and less of epsilon is lost.
        """
        if self.stand == "slide":
            return 2 + 4 * max(0, round((self.steps * self.ratio - 2) / 4))
        ideal, unit = self.cells * self.ratio, 2
        apart = ideal * (ideal * exp_bounds(self.target)[1] + self.cells) / self.total
        while apart / unit > _WASTED and unit <= self.cells >> _FINENESS:
            unit *= 2
        return unit * min(max(1, round(ideal / unit)), self.cells // unit - 1)

    @cached_property
    def margin(self) -> int:
        """The cells at each end that no window reaches: about as many as asked, so that weights are exact."""
        margin = round(self.steps * self.idle)
        while not _is_power_of_two(gcd(self.width, self.steps + 2 * margin)):
            margin += 1
        return margin

    @property
    def cells(self) -> int:
        """The number of cells."""
        return self.steps + self.width + 2 * self.margin if self.stand == "slide" else 2 * self.steps

    @cached_property
    def weights(self) -> tuple[int, int]:
        """The weight of a cell inside and outside the window."""
        return two_levels(self.width, self.cells - self.width, self.target, self.total)

    def form(self) -> dict[str, Any]:
        """Return the form of the sampler; its weights must sum to 2**64."""
        inside, outside = self.weights
        margin = {"margin": self.margin} if self.stand == "slide" else {}
        return {
            "form": "window",
            "stand": self.stand,
            "grid": self.steps,
            "width": self.width,
            **margin,
            "inside": str(inside),
            "outside": str(outside),
        }

    def epsilon(self) -> float:
        """Return the realised epsilon, rounded up."""
        return log_up(Fraction(*self.weights))

    @cached_property
    def gain(self) -> Fraction:
        """How far the mean cell moves when the value moves one step, where the window slides."""
        inside, outside = self.weights
        return Fraction((inside - outside) * self.width, self.total)

    def start(self, place: int) -> int:
        """Return the first cell of the window for a place."""
        if self.stand == "slide":
            return place + self.margin
        centred = 2 * place - self.width // 2
        last = self.cells - self.width
        return centred % self.cells if self.stand == "wrap" else min(max(centred, 0), last)

    def law(self, place: int) -> Law:
        """Return the law over cells for a place."""
        inside, outside = self.weights
        start, cells = self.start(place), self.cells
        stop = start + self.width
        if stop <= cells:
            edges, weights = [0, start, stop, cells], [outside, inside, outside]
        else:
            edges, weights = [0, stop - cells, start, cells], [inside, outside, inside]
        return Law(np.array(edges, np.int64), np.array(weights, object), self.total)

    def draw(self, words: Words, places: Indices, out: Reports) -> None:
        """Write a cell for each place, by a random word below the total."""
        from ldpkit.mechanisms.kernels.pieces import window, wrapped

        width, inside, outside = map(np.uint64, (self.width, *self.weights))
        if self.stand == "wrap":
            wrapped(words, places, self.width // 2, self.cells - 1, width, inside, outside, out)
            return
        scale, offset = (1, self.margin) if self.stand == "slide" else (2, -self.width // 2)
        window(words, places, scale, offset, self.cells - self.width, width, inside, outside, out)

    @cached_property
    def unbiased(self) -> Placement:
        """The placement of cells in which the mean report is the value, where the window slides."""
        step = 1 / (self.gain * self.steps)
        return Fraction(1, 2) - self.cells * step / 2, step


def _is_power_of_two(number: int) -> bool:
    return number & (number - 1) == 0


class Windowed(CellMechanism):
    """A mechanism whose report is e^eps times as likely in a window as elsewhere."""

    stand: ClassVar[Stand] = "slide"
    """How the window stands to the value, as in `Window`."""

    @property
    @abc.abstractmethod
    def width_ratio(self) -> Fraction:
        """The ideal width of the window, in units of the grid of values or as a part of the circle."""

    @cached_property
    def window(self) -> Window:
        """The sampler's integers."""
        return Window(self.grid, self.width_ratio, self.epsilon, stand=self.stand)

    @property
    def cells(self) -> int:
        return self.window.cells

    def law(self, place: int) -> Law:
        return self.window.law(place)

    def exact_epsilon(self) -> float:
        return self.window.epsilon()

    def _form(self) -> dict[str, Any]:
        return self.window.form()

    def _randomise(self, places: Indices, source: RandomSource) -> Reports:
        reports = np.empty(len(places), self.report_dtype)
        self.window.draw(source.words(len(places)), places, reports)
        return reports
