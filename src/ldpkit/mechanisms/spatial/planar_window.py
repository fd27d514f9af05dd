"""One window for both coordinates: a square or a disc around the location, e^eps times as likely."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from ldpkit.core.cached import cached_property
from ldpkit.core.domains.plane import PlaneLike
from ldpkit.core.errors import InvalidParameterError
from ldpkit.core.exact import WORD, exp_bounds, log_up, two_levels
from ldpkit.core.parameters import EPSILON, Parameter
from ldpkit.core.random import RandomSource
from ldpkit.core.typing import Counts, Floats, Indices, Reports
from ldpkit.mechanisms.base import register
from ldpkit.mechanisms.cells.mechanism import GRID_STEPS
from ldpkit.mechanisms.forms import check_table
from ldpkit.mechanisms.spatial.integrals import mean_over_boxes, over_rectangle, panels
from ldpkit.mechanisms.spatial.mechanism import Bends, SpatialMechanism
from ldpkit.mechanisms.spatial.parts import window_bends
from ldpkit.mechanisms.spatial.side_choice import chosen_side

__all__ = ["PlanarWindow"]

_SIDE = Parameter(
    "side",
    float,
    "the side of the window, or the diameter of a disc, on the map; by default the best for locations that "
    "are equally likely everywhere",
    default=None,
    above=0,
)
_SHAPE = Parameter("window", str, "what the window is", default="square", choices=("square", "disc"))
_WASTED = Fraction(1, 1 << 22)  # of epsilon, by the distance between two solutions for the weights
_ORDER = 12
_COMMON = 1 << 12
_TOGETHER = 1 << 19  # pairs of a column of a disc and a bin that are in memory together


@register
class PlanarWindow(SpatialMechanism):
    """One window of the plane: reports in a square or disc around the location are e^eps times as likely.

    TraCS shares the budget between two coordinates, and both must be right for a report to be
    near; one window spends all of it on being near. The window is pushed inside where it
    would leave the region, and its side is the best for epsilon.

    Utility: on the unit square, equally likely everywhere, the mean distance is 0.1952 at
    epsilon 4 and 0.0549 at 8, two thirds and less than a half of TraCS-C's.
    Runtime: O(1) a location; a disc O(log of its width in cells). Memory O(1), or that width.
    Citation: none: the plane's counterpart of OGPM.

    Parameters
    ----------
    domain : PlaneDomain, PlaneRegion or pair of corners
        The region of locations.
    epsilon : float
        The privacy budget of one location.
    side : float, optional
        The side of the window on the map.
    window : {"square", "disc"}
        What the window is. A disc is a little better inside, a square in the corners.
    grid : int
        The steps of the grid along each edge, a power of two.

    Examples
    --------
    >>> import ldpkit
    >>> mechanism = ldpkit.get("planar_window", ((0, 0), (1, 1)), epsilon=4)
    >>> round(mechanism.side, 2), round(mechanism.mean_error(), 4)
    (0.3, 0.1952)
    >>> round(ldpkit.get("planar_window", ((0, 0), (1, 1)), epsilon=8).mean_error(), 4)
    0.0549
    """

    name = "planar_window"
    title = "Window in the plane"
    citation = "after OGPM (Zheng, dissertation, chapter 5), for two coordinates at once"
    declared: ClassVar[tuple[Parameter, ...]] = (EPSILON, _SIDE, _SHAPE, GRID_STEPS)
    capabilities: ClassVar[frozenset[str]] = SpatialMechanism.capabilities | {"client"}
    default_grid: ClassVar[int] = 1 << 12
    side: float
    window: str

    def __init__(
        self,
        domain: PlaneLike,
        epsilon: float,
        *,
        side: float | None = None,
        window: str = "square",
        grid: int | None = None,
    ) -> None:
        self._settle(domain, epsilon, grid)
        self._freeze(window=_SHAPE.check(window))
        edges = self._edge_lengths
        if side is None:
            short = float(min(edges))
            best = chosen_side(self.epsilon, float(max(edges)) / short, self._is_disc)
            self._freeze(side=best * short)
        else:
            self._freeze(side=_SIDE.check(side))
        if not self.side < max(edges):
            raise InvalidParameterError(
                f"side must be less than the longer edge of the region, {max(edges):g}, got {self.side:g}: "
                "otherwise every report would be equally likely"
            )

    @property
    def _is_disc(self) -> bool:
        return self.window != _SHAPE.default

    @property
    def _edge_lengths(self) -> Floats:
        return np.asarray(np.hypot(*self.domain.region.matrix))

    # --- integers ----------------------------------------------------------------------

    @property
    def cells(self) -> int:
        """How many cells there are along each edge: two for each step of the grid."""
        return 2 * self.grid

    @property
    def shape(self) -> tuple[int, ...]:
        return self.cells, self.cells

    @property
    def place_shape(self) -> tuple[int, ...]:
        return self.grid + 1, self.grid + 1

    @cached_property
    def widths(self) -> tuple[int, int]:
        """How many cells the window is wide and high: even numbers, so that it has a middle.

        They are multiples of a larger power of two where weights would otherwise be too far from
        each other, as on a line.
        """
        ideal = [min(self.side / edge, 1.0) * self.cells for edge in self._edge_lengths.tolist()]
        area, power = Fraction(ideal[0] * ideal[1]), exp_bounds(self.epsilon)[1]
        apart = area * (area * power + self.cells**2) / WORD
        unit = 2
        while apart / unit**2 > _WASTED and unit <= self.cells >> 6:
            unit *= 2
        found = [unit * min(max(1, round(each / unit)), self.cells // unit) for each in ideal]
        if min(found) == self.cells:  # else the window is all there is
            found[int(np.argmin(ideal))] -= unit
        return found[0], found[1]

    @cached_property
    def reaches(self) -> Any:
        """How far each column of the window reaches above and below its middle, in cells."""
        width, height = (each // 2 for each in self.widths)
        if not self._is_disc:
            return np.full(2 * width, height, np.int64)
        half = [
            (math.isqrt(((2 * width) ** 2 - (2 * column + 1) ** 2) * height**2 // width**2) + 1) // 2
            for column in range(width)
        ]
        # A few cells less at the rim, so that the window has a multiple of a power of two.
        spare, unit = 4 * sum(half), 1
        while unit * 64 <= spare and unit < _COMMON:
            unit *= 2
        for column in range(spare % unit // 4):
            half[column % width] -= 1
        return np.array([*half[::-1], *half], np.int64)

    @cached_property
    def _sums(self) -> Any:
        return np.concatenate([[0], np.cumsum(2 * self.reaches)])

    @property
    def window_cells(self) -> int:
        """How many cells the window has."""
        return int(self._sums[-1])

    @cached_property
    def weights(self) -> tuple[int, int]:
        """The weight of a cell inside and outside the window, over 2**64."""
        return two_levels(self.window_cells, self.cells**2 - self.window_cells, self.epsilon)

    def exact_epsilon(self) -> float:
        return log_up(Fraction(*self.weights))

    def details(self) -> dict[str, float]:
        return {"window_share": self.window_cells / self.cells**2}

    def _starts(self, places: Indices | Floats) -> Any:
        """Return the lower left cell of the window for each place, which may lie between two."""
        widths = np.array(self.widths)
        return np.clip(2.0 * places - widths // 2, 0, self.cells - widths)

    def row(self, place: tuple[int, ...]) -> list[Fraction]:
        inside, outside = self.weights
        chances = [Fraction(outside, WORD)] * self.cells**2
        x, y = self._starts(np.array([place]))[0].astype(int).tolist()
        for column, reach in enumerate(self.reaches.tolist()):
            start = (x + column) * self.cells + y + self.widths[1] // 2 - reach
            chances[start : start + 2 * reach] = [Fraction(inside, WORD)] * (2 * reach)
        return chances

    def _chance(self, place: tuple[int, ...], cell: tuple[int, ...]) -> Fraction:
        inside, outside = self.weights
        x, y = self._starts(np.array([place]))[0].astype(int).tolist()
        column, height = cell[0] - x, cell[1] - y - self.widths[1] // 2
        is_in = 0 <= column < self.widths[0] and -self.reaches[column] <= height < self.reaches[column]
        return Fraction(inside if is_in else outside, WORD)

    # --- the device --------------------------------------------------------------------

    def _place(self, points: Floats) -> Indices:
        shares = np.clip(self.domain.region.to_shares(points), 0.0, 1.0)
        shares *= self.grid
        with np.errstate(invalid="ignore"):
            return np.rint(shares, out=shares).astype(np.int32).view(np.uint32)

    def _place_points(self, places: Indices) -> Floats:
        return self.domain.region.from_shares(places / self.grid)

    def _form(self) -> dict[str, Any]:
        inside, outside = self.weights
        reaches = {"reaches": self.reaches.tolist()} if self._is_disc else {}
        check_table(len(reaches.get("reaches", ())), self)
        return {
            "form": "planar",
            "grid": self.grid,
            "widths": list(self.widths),
            "inside": str(inside),
            "outside": str(outside),
            **reaches,
        }

    def _randomise(self, places: Indices, source: RandomSource) -> Reports:
        from ldpkit.mechanisms.kernels.planar import planar, planar_rows

        base, shape = self._layout
        reports = np.empty((len(places), *shape), base)
        words, (inside, outside) = source.words(len(places)), self.weights
        widths = np.array(self.widths, np.int64)
        lasts, more, less = self.cells - widths, np.uint64(inside - outside), np.uint64(outside)
        shift = np.uint64(self.cells.bit_length() - 1)
        if self._is_disc:
            planar_rows(
                words, places, widths // 2, lasts, self._sums, self.reaches, more, less, shift, reports
            )
        else:
            planar(words, places, widths, lasts, more, less, shift, reports)
        return reports

    def _drawn(self, cells: Floats) -> Floats:
        return self.domain.region.from_shares(cells / self.cells)

    # --- the law -----------------------------------------------------------------------

    def _boxes(self, places: Indices | Floats) -> tuple[Floats, Floats, Floats]:
        """Return all cells and the window's, as boxes whose chances add up; a disc in strips."""
        inside, outside = (weight / WORD for weight in self.weights)
        start = self._starts(places)
        strips = min(len(self.reaches), 128) if self._is_disc else 1
        columns = np.linspace(0, len(self.reaches), strips + 1)
        filled = np.diff(np.interp(columns, np.arange(len(self.reaches) + 1), self._sums))
        wide = np.diff(columns)
        reach = filled / wide / 2
        low, high = (np.zeros((len(places), strips + 1, 2)) for _ in range(2))
        high[:, 0] = self.cells
        middle = start[:, 1:] + self.widths[1] / 2
        low[:, 1:, 0], high[:, 1:, 0] = start[:, :1] + columns[:-1], start[:, :1] + columns[1:]
        low[:, 1:, 1], high[:, 1:, 1] = middle - reach, middle + reach
        heights = np.full((len(places), strips + 1), inside - outside)
        heights[:, 0] = outside
        return low, high, heights

    def _errors(self, points: Floats, power: int) -> Floats:
        return self._errors_at(self._place(points), points, power)

    def _errors_at(self, places: Indices | Floats, points: Floats, power: int) -> Floats:
        region = self.domain.region
        low, high, heights = boxes = self._boxes(places)
        if region.fills_frame and (region.matrix == np.diag(np.diag(region.matrix))).all():
            edges = np.diag(region.matrix)
            low, high = (region.origin + ends / self.cells * edges for ends in (low, high))
            whole = over_rectangle(low, high, points[:, None, :], power)
            return np.asarray((heights * whole).sum(axis=1) * self.cells**2 / edges.prod())
        return mean_over_boxes(
            boxes, region.to_shares(points) * self.cells, points, self._answers, region.distance, power
        )

    def _mean_error(self, power: int) -> float:
        if not self.domain.region.fills_frame:
            return super()._mean_error(power)
        return self._framed_error(power, _ORDER)

    def _framed_error(self, power: int, order: int) -> float:
        """Return the mean error over all of the frame, panel by panel between the kinks of the law."""
        half = np.array(self.widths) / (2 * self.cells)
        rules = [panels(np.unique([0.0, near, 1 - near, 1.0]), order) for near in half.tolist()]
        (x, wx), (y, wy) = rules
        shares = np.stack(np.meshgrid(x, y, indexing="ij"), axis=-1).reshape(-1, 2)
        errors = self._errors_at(shares * self.grid, self.domain.region.from_shares(shares), power)
        return float(wx @ errors.reshape(len(x), len(y)) @ wy)

    @property
    def follows_frame(self) -> bool:
        return not self._is_disc

    def bends(self, low: Floats, high: Floats, edges: tuple[Counts, ...]) -> Bends:
        if self._is_disc:
            return None
        first, second = (
            np.clip(window_bends(start * self.grid, stop * self.grid, each, width), 0, self.grid)
            for start, stop, each, width in zip(low.tolist(), high.tolist(), edges, self.widths, strict=True)
        )
        return first, second

    def factors(
        self, places: tuple[Counts, Counts], edges: tuple[Counts, ...]
    ) -> tuple[Floats, Floats, float]:
        inside, outside = (weight / WORD for weight in self.weights)
        starts = [
            np.clip(2.0 * each - width // 2, 0, self.cells - width)
            for each, width in zip(places, self.widths, strict=True)
        ]
        first, second = (
            _overlaps(cells.astype(float), start, start + width)
            for cells, start, width in zip(edges, starts, self.widths, strict=True)
        )
        return (inside - outside) * first, second, outside

    def _bin_masses(self, places: Indices) -> Floats:
        inside, outside = (weight / WORD for weight in self.weights)
        first, second = (edges.astype(float) for edges in self.bin_edges)
        even = np.outer(np.diff(first), np.diff(second)).ravel() * outside
        starts = self._starts(places)
        if self._is_disc:
            return even + (inside - outside) * self._disc_cells(starts, first, second)
        wide, high = (
            _overlaps(edges, start, start + width)
            for edges, start, width in zip((first, second), starts.T, self.widths, strict=True)
        )
        return even + ((inside - outside) * wide[:, :, None] * high[:, None, :]).reshape(len(places), -1)

    def _disc_cells(self, starts: Floats, first: Floats, second: Floats) -> Floats:
        """Return how many cells of a disc each joint bin has, for windows that start at some cells.

        Discs at the same height share the cells that their columns have in each bin of the second
        coordinate; what a bin of the first has of these is a difference of two sums.
        """
        found = np.empty((len(starts), len(first) - 1, len(second) - 1))
        width, half = self.widths[0], self.widths[1] // 2
        heights, which = np.unique(starts[:, 1], return_inverse=True)
        together = max(1, _TOGETHER // (width + 1))
        for place, height in enumerate(heights.tolist()):
            some = np.flatnonzero(which == place)
            cuts = np.clip(first - starts[some, :1], 0, width).astype(np.int64)
            for begin in range(0, len(second) - 1, together):
                bins = slice(begin, begin + together)
                middle = height + half
                shared = _overlaps(
                    second[begin : begin + together + 1], middle - self.reaches, middle + self.reaches
                )
                sums = np.concatenate([np.zeros((1, shared.shape[1])), np.cumsum(shared, axis=0)])
                found[some, :, bins] = np.diff(sums[cuts], axis=1)
        return found.reshape(len(starts), -1)


def _overlaps(edges: Floats, start: Any, stop: Any) -> Floats:
    """Return how many cells each bin shares with each run of cells."""
    within = np.minimum(edges[1:], stop[:, None]) - np.maximum(edges[:-1], start[:, None])
    return np.asarray(np.maximum(within, 0.0))
