"""Two reports for one location: each coordinate by a mechanism of a line or a circle.

Which mechanisms can be a part, and what each tells of its integers. Direction and distance, and
two axes, are both this.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from ldpkit.core.cached import cached_property
from ldpkit.core.domains.interval import GRID
from ldpkit.core.parameters import Parameter
from ldpkit.core.random import RandomSource
from ldpkit.core.typing import Counts, Floats, Indices, Reports
from ldpkit.mechanisms.cells.widths import most_informative_width
from ldpkit.mechanisms.circular.circulant import Purkayastha
from ldpkit.mechanisms.circular.window import CircularOGPM, CircularSW
from ldpkit.mechanisms.numeric.ogpm import OGPM, OGPMPrior

__all__ = ["ALONG", "AROUND", "Coordinate", "window_bends"]

_COARSE = 256  # pieces by which a smooth law is integrated


def _square_wave(epsilon: float, grid: int) -> OGPMPrior:
    """Return the square wave redesigned for an interval: its width, and nothing outside."""
    return OGPMPrior((0.0, 1.0), epsilon, width=float(most_informative_width(epsilon)), grid=grid)


_LINES: dict[str, Callable[[float, float, int], Any]] = {
    "ogpm": lambda epsilon, power, grid: OGPM((0.0, 1.0), epsilon, power=power, grid=grid),
    "sw": lambda epsilon, _, grid: _square_wave(epsilon, grid),
}
_CIRCLES: dict[str, Callable[[float, float, int], Any]] = {
    "ogpm": lambda epsilon, power, grid: CircularOGPM(1.0, epsilon, power=power, grid=grid),
    "sw": lambda epsilon, _, grid: CircularSW(1.0, epsilon, grid=grid),
    "purkayastha": lambda epsilon, _, grid: Purkayastha(
        1.0, epsilon, grid=min(grid, Purkayastha.default_grid)
    ),
}
ALONG = Parameter(
    "distance", str, "what reports the distance, or a coordinate", default="ogpm", choices=tuple(_LINES)
)
AROUND = Parameter(
    "direction", str, "what reports the direction", default="ogpm", choices=(*_CIRCLES, "sectors")
)


def window_bends(low: float, high: float, edges: Any, width: int, period: int | None = None) -> Counts:
    """Return the places from `low` to `high` at which a window's overlap with bins bends, and both ends.

    A place is two cells, and a window so many cells wide lies around it.

    Examples
    --------
    >>> window_bends(0, 8, np.array([0, 4, 16]), 4).tolist()
    [0, 1, 3, 7, 8]
    """
    starts = np.concatenate([edges, edges - width])
    bends = (starts + width // 2) / 2
    if period is not None:
        bends = np.concatenate([bends + turn * period for turn in (-1, 0, 1, 2)])
    inner = bends[(bends > low) & (bends < high)]
    # Up to a place beyond both ends, since a location is rounded to the nearest.
    between = np.concatenate([inner, [low, high]])
    return np.unique(np.concatenate([np.floor(between), np.ceil(between)])).astype(np.int64)


@dataclass(frozen=True)
class Coordinate:
    """A mechanism that reports one coordinate, on [0, 1] or once around a circle.

    Examples
    --------
    >>> part = Coordinate.line("ogpm", 1.0, grid=8)
    >>> part.cells, part.places
    (16, 9)
    >>> start, stop, heights = part.pieces(np.array([0, 4]))
    >>> float((heights * (stop - start)).sum(axis=1)[0])
    1.0
    """

    mechanism: Any
    is_circle: bool

    @classmethod
    def line(cls, name: str, epsilon: float, power: float = 1.0, grid: int = GRID) -> Coordinate:
        """Return the part for a coordinate of [0, 1]."""
        return cls(_LINES[name](epsilon, power, grid), False)

    @classmethod
    def circle(cls, name: str, epsilon: float, power: float = 1.0, grid: int = GRID) -> Coordinate:
        """Return the part for a coordinate that goes once around."""
        return cls(_CIRCLES[name](epsilon, power, grid), True)

    @property
    def cells(self) -> int:
        """How many cells it reports."""
        found: int = self.mechanism.cells
        return found

    @property
    def places(self) -> int:
        """How many places a coordinate can stand at."""
        found: int = self.mechanism.place_count
        return found

    def place(self, shares: Floats) -> Indices:
        """Return the nearest place of coordinates from 0 to 1; a circle ends where it begins."""
        steps = self.mechanism.grid
        with np.errstate(invalid="ignore"):
            places = np.rint(shares * steps).astype(np.int32).view(np.uint32)
        last = np.uint32(steps)
        return np.asarray(places & (last - np.uint32(1)) if self.is_circle else np.minimum(places, last))

    def between(self, shares: Floats) -> Floats:
        """Return where coordinates lie between the places, for means over all of them."""
        return np.asarray(shares * self.mechanism.grid)

    @property
    def kinks(self) -> Floats:
        """Where, from 0 to 1, the law jumps when the coordinate moves."""
        return np.empty(0)

    def shares(self, places: Indices) -> Floats:
        """Return the coordinates of places."""
        return np.asarray(places / self.mechanism.grid)

    def randomise(self, places: Indices, source: RandomSource) -> Reports:
        """Return a cell for each place."""
        made: Reports = self.mechanism._randomise(places, source)
        return made

    def form(self) -> dict[str, Any]:
        """Return the form of the sampler."""
        found: dict[str, Any] = self.mechanism.sampler()
        return found

    def row(self, place: int) -> list[Fraction]:
        """Return the exact chance of every cell."""
        found: list[Fraction] = self.mechanism.law(place).row(self.cells)
        return found

    def chance(self, place: int, cell: int) -> Fraction:
        """Return the exact chance of one cell."""
        law = self.mechanism.law(place)
        piece = int(np.searchsorted(law.edges, cell, "right")) - 1
        return Fraction(int(law.weights[piece]), law.total)

    @cached_property
    def ratio(self) -> Fraction:
        """The largest ratio of two chances of one cell."""
        first = self.row_weights
        return Fraction(max(first), min(first))

    @cached_property
    def row_weights(self) -> tuple[int, ...]:
        """The different integer weights that a cell can have: whichever place, they are the same."""
        return tuple({int(weight) for weight in self.mechanism.law(0).weights})

    @property
    def half(self) -> float:
        """Half of the window, as a part of the line or circle; half of all where there is none."""
        window = getattr(self.mechanism, "window", None)
        return 0.5 if window is None else window.width / (2 * self.cells)

    @cached_property
    def cut(self) -> tuple[float, float]:
        """Where, from 0 to 1, the law stops and begins again to move with the coordinate."""
        if self.is_circle:
            return 0.0, 1.0
        return self.half, 1 - self.half

    def pieces(self, places: Indices | Floats) -> tuple[Floats, Floats, Floats]:
        """Return for each place the starts, the stops and the chances of a cell of pieces that add up.

        A window is one piece of all cells, and one of the cells within, which have so much more.
        """
        window = getattr(self.mechanism, "window", None)
        if window is None:
            return self._smooth_pieces(places)
        inside, outside = (weight / window.total for weight in window.weights)
        first = 2.0 * places - window.width // 2  # also for places between those of the grid
        first = first % self.cells if self.is_circle else np.clip(first, 0, self.cells - window.width)
        stop = first + window.width
        none = np.zeros_like(first)
        start = np.stack([none, first, none], axis=1)
        ends = np.stack([none + self.cells, np.minimum(stop, self.cells), np.maximum(stop - self.cells, 0)])
        heights = np.broadcast_to([outside, inside - outside, inside - outside], start.shape)
        return start, ends.T, np.asarray(heights)

    def _smooth_pieces(self, places: Indices | Floats) -> tuple[Floats, Floats, Floats]:
        count = min(_COARSE, self.cells)
        edges = np.linspace(0, self.cells, count + 1)
        below = np.array(
            [self.mechanism.law(int(place) % self.places).below(edges) for place in np.rint(places)]
        )
        start = np.broadcast_to(edges[:-1], (len(places), count))
        stop = np.broadcast_to(edges[1:], (len(places), count))
        return start, stop, np.diff(below, axis=1) / (self.cells / count)

    def bends(self, low: float, high: float, edges: Any) -> Counts | None:
        """Return the places from one coordinate to another between which the chances of bins are linear.

        The window of a place moves with it, so the chance of a bin only bends where an end of the window
        meets an edge of a bin. On a circle `high` may be beyond 1, and `low` below 0. None where the law
        is no window.
        """
        window, steps = getattr(self.mechanism, "window", None), self.mechanism.grid
        if window is None:
            return None
        period = steps if self.is_circle else None
        found = window_bends(low * steps, high * steps, edges, window.width, period)
        return found % steps if self.is_circle else np.clip(found, 0, steps)

    def masses(self, places: Indices, edges: Any) -> Floats:
        """Return the chance of each bin between edges, for each place."""
        start, stop, heights = self.pieces(places)
        low, high = edges[:-1].astype(float), edges[1:].astype(float)
        chances = np.zeros((len(places), len(low)))
        for piece in range(start.shape[1]):
            first, last = start[:, piece, None], stop[:, piece, None]
            within = np.minimum(high, last) - np.maximum(low, first)
            chances += heights[:, piece, None] * np.maximum(within, 0.0)
        return chances
