"""What every spatial mechanism is: a location goes in, cells of an integer grid come out.

A location stands on a grid of places; a report is one of a finite number of cells, and the
chance of every cell is an integer over a power of two. Geometry only chooses the place of
a location and draws a cell on the map: epsilon is that of the integers, whatever rounds.
"""

from __future__ import annotations

import abc
import math
from collections.abc import Iterable, Iterator
from fractions import Fraction
from typing import Any, ClassVar, Self, TypeAlias

import numpy as np

from ldpkit.core.cached import cached_property
from ldpkit.core.domains.interval import GRID
from ldpkit.core.domains.plane import Locations, PlaneDomain, PlaneLike, as_plane
from ldpkit.core.errors import InvalidParameterError
from ldpkit.core.parameters import ParameterValue, check_epsilon, check_whole
from ldpkit.core.random import RandomSource, resolve, streams
from ldpkit.core.typing import Counts, Floats, Indices, Reports
from ldpkit.mechanisms.channel import Channel, check_enumerable
from ldpkit.mechanisms.spatial.bins import JointBins
from ldpkit.mechanisms.spatial.integrals import check_power

__all__ = ["Bends", "SpatialMechanism", "list_cells"]

Bends: TypeAlias = "tuple[Counts, Counts] | Counts | None"
"""Places whose laws bound those of others: along both coordinates, in a list, or not known."""

_CHUNK_BYTES = 1 << 20  # randomness for one chunk, as on a line
_MEAN_ORDER = 12


def list_cells(shape: tuple[int, ...]) -> Counts:
    """Return the coordinates of all cells, the first changing slowest.

    Examples
    --------
    >>> list_cells((2, 2)).tolist()
    [[0, 0], [0, 1], [1, 0], [1, 1]]
    """
    return np.moveaxis(np.indices(shape, np.int64), 0, -1).reshape(-1, len(shape))


class SpatialMechanism(JointBins):
    """A mechanism that reports a noisy location.

    A new one is a file with a subclass that says how many places and cells there are, gives
    `_place`, `row`, `exact_epsilon` and `_randomise`, puts cells on the map (`_drawn`), and
    integrates its error.

    Parameters
    ----------
    domain : PlaneDomain, PlaneRegion or pair of corners
        The region of locations.
    epsilon : float
        The privacy budget of one location.

    Examples
    --------
    >>> import ldpkit
    >>> mechanism = ldpkit.get("planar_window", ((0, 0), (10, 10)), epsilon=4)
    >>> isinstance(mechanism, SpatialMechanism), round(mechanism.mean_error(), 3)
    (True, 1.952)
    """

    kind = "spatial"
    domain_type = PlaneDomain
    domain: PlaneDomain
    default_estimator: ClassVar[str] = "heatmap"
    words_per_report: ClassVar[int] = 1
    default_grid: ClassVar[int] = GRID
    grid: int

    def _settle(self, domain: PlaneLike, epsilon: float, grid: int | None = None) -> None:
        """Store the domain, the budget and the grid, or refuse them."""
        steps = self.default_grid if grid is None else check_whole(grid, "grid", least=2)
        if steps & (steps - 1) or steps > self.default_grid:
            raise InvalidParameterError(
                f"grid must be a power of two and at most {self.default_grid}, got {grid}: leave it out"
            )
        plane = as_plane(domain)
        if plane.region.wraps and not self.can("spherical"):
            raise InvalidParameterError(
                f"{self.name} is for a flat region, not for {plane}: take tracs_c, or "
                "PlaneDomain.degrees for a part of it"
            )
        self._freeze(domain=plane, epsilon=check_epsilon(epsilon), grid=steps)

    def parameters(self) -> dict[str, ParameterValue]:
        told = super().parameters()
        return {name: told[name] for name in told if name != "grid" or self.grid != self.default_grid}

    def sibling(self, size: int) -> Self:
        kind: Any = type(self)
        made: Self = kind(self.domain, **{**self.parameters(), "grid": size})
        return made

    @classmethod
    def suited(cls, domain: PlaneLike, epsilon: float, places: Locations | None = None) -> Self:
        """Return the mechanism at its best for a region and, if it answers with places, for these.

        Parameters
        ----------
        domain : PlaneDomain, PlaneRegion or pair of corners
            The region of locations.
        epsilon : float
            The privacy budget of one location.
        places : optional
            Public locations, where people are likely to be.
        """
        made: Self = cls.make(as_plane(domain), epsilon=epsilon)
        return made

    # --- what a subclass gives ---------------------------------------------------------

    @property
    @abc.abstractmethod
    def place_shape(self) -> tuple[int, ...]:
        """How many places there are along each coordinate of a location."""

    @abc.abstractmethod
    def _place(self, points: Floats) -> Indices:
        """Return the place of each point of the map, shape (n,) or (n, 2)."""

    @abc.abstractmethod
    def _place_points(self, places: Indices) -> Floats:
        """Return a point of the map that stands at each place."""

    @abc.abstractmethod
    def row(self, place: tuple[int, ...]) -> list[Fraction]:
        """Return the exact chance of every cell for a place, the first coordinate changing slowest."""

    @abc.abstractmethod
    def _chance(self, place: tuple[int, ...], cell: tuple[int, ...]) -> Fraction:
        """Return the exact chance of a cell for a place."""

    @abc.abstractmethod
    def _randomise(self, places: Indices, source: RandomSource) -> Reports:
        """Return a report for each place."""

    @abc.abstractmethod
    def _drawn(self, cells: Floats) -> Floats:
        """Return the points of the map for places among the cells, a cell's middle being at one half."""

    @abc.abstractmethod
    def _errors(self, points: Floats, power: int) -> Floats:
        """Return the expected power of the distance from each point of the map to its report."""

    @abc.abstractmethod
    def _bin_masses(self, places: Indices) -> Floats:
        """Return the chance of each joint bin for each place, shape (n, bins)."""

    @property
    def follows_frame(self) -> bool:
        """Whether a coordinate of a place depends on that of the frame alone, and `factors` exist."""
        return False

    @property
    def has_steps(self) -> bool:
        """Whether the law is the same for all places of a bin, along each coordinate of the frame."""
        return False

    def bends(self, low: Floats, high: Floats, edges: tuple[Counts, ...]) -> Bends:
        """Return places whose laws bound those of all locations of a box, for any set of bins.

        Parameters
        ----------
        low, high : array, shape (2,)
            The box, as parts of the frame of the region.
        edges : tuple of array
            The edges of the bins along each coordinate, in cells.

        Returns
        -------
        tuple of array, array or None
            Places along both coordinates, all pairs of which are meant; or an array of places. None if it
            is not known which bound the others.
        """
        return None

    def factors(
        self, places: tuple[Counts, Counts], edges: tuple[Counts, ...]
    ) -> tuple[Floats, Floats, float]:
        """Return the laws of all pairs of places as products, and what every cell has in addition.

        The chance of a bin is the product of an entry of each factor, and for each of its cells so much
        more. Only for mechanisms with two coordinates that have `bends` or follow the frame.
        """
        raise NotImplementedError(f"{self.name} has no factors")

    # --- the device --------------------------------------------------------------------

    def privatize(self, values: Locations, *, rng: RandomSource | None = None, clip: bool = False) -> Reports:
        """Return one report for each location.

        Parameters
        ----------
        values : array, shape (n, 2), a tuple of two columns, or shapely points
            Locations of the region. Anything else is refused before any randomness is drawn.
        rng : RandomSource, optional
            Secure randomness by default; `ldpkit.random.seeded` for a repeatable run.
        clip : bool
            True moves locations outside to the nearest point of the region; a warning says how many.

        Returns
        -------
        array
            Cells; `points_of` turns them into locations.
        """
        return self.report_points(self.domain.take(values, clip=clip), resolve(rng))

    def report_points(self, points: Floats, source: RandomSource) -> Reports:
        """Return one report for each point of the map, which the domain has let through."""
        base, shape = self._layout
        reports = np.empty((len(points), *shape), base)
        start = 0
        for made in self._chunks(points, source):
            reports[start : start + len(made)] = made
            start += len(made)
        return reports

    def privatize_chunks(
        self, values: Locations, *, rng: RandomSource | None = None, clip: bool = False
    ) -> Iterator[Reports]:
        """Yield the reports of `privatize` in chunks, so that they never fill the memory."""
        points = self.domain.take(values, clip=clip)
        return self._chunks(points, resolve(rng))

    def privatize_stream(
        self, pieces: Iterable[Locations], *, rng: RandomSource | None = None, clip: bool = False
    ) -> Iterator[Reports]:
        """Yield the reports of `privatize` for locations that come piece by piece, in any number."""
        points = (self.domain.take(piece, clip=clip) for piece in pieces)
        for chunk, stream in streams(points, self.chunk_size, resolve(rng)):
            yield self._randomise(self._place(chunk), stream)

    def _chunks(self, points: Floats, source: RandomSource) -> Iterator[Reports]:
        for start in range(0, len(points), self.chunk_size):
            places = self._place(points[start : start + self.chunk_size])
            yield self._randomise(places, source.spawn(1)[0])

    @property
    def chunk_size(self) -> int:
        """How many reports are made at a time; each chunk has a random stream of its own."""
        return _CHUNK_BYTES // (8 * self.words_per_report)

    @cached_property
    def _layout(self) -> tuple[np.dtype[Any], tuple[int, ...]]:
        """The type of one coordinate of a report, and the shape of all of them."""
        size = next(size for size in (1, 2, 4) if max(self.shape) <= 1 << 8 * size)
        return np.dtype(f"<u{size}"), (() if len(self.shape) == 1 else (len(self.shape),))

    @property
    def report_dtype(self) -> np.dtype[Any]:
        base, shape = self._layout
        return np.dtype((base, shape)) if shape else base

    def _is_valid(self, reports: Reports) -> np.ndarray[Any, np.dtype[np.bool_]]:
        within = reports < np.array(self.shape)
        return np.asarray(within.all(axis=1) if within.ndim > 1 else within)

    def points_of(self, reports: Reports) -> Floats:
        """Return the location that each report stands for: the middle of its cell, within the region."""
        return self.domain.locations(self.on_map(reports))

    def on_map(self, reports: Reports) -> Floats:
        """Return the point of the map for each report: in metres, where locations are degrees."""
        return self._answers(self.check_reports(reports).astype(np.float64) + 0.5)

    def _answers(self, cells: Floats) -> Floats:
        """Return the points of the region that places among the cells stand for."""
        points = self._drawn(cells)
        return points if self.domain.region.fills_frame else self.domain.region.project(points)

    # --- the law -----------------------------------------------------------------------

    @property
    def place_count(self) -> int:
        """How many places the grid of locations has."""
        return math.prod(self.place_shape)

    def place_of(self, values: Locations) -> Indices:
        """Return the place of each location on the grid, as the device computes it."""
        return self._place(self.domain.take(values))

    def place_locations(self) -> Floats:
        """Return a location for each place, in the order of the rows of `channel`.

        Places that no location has, as the directions of the reference itself, are given the
        location nearest to them.
        """
        places = list_cells(self.place_shape)
        flat = places if len(self.place_shape) > 1 else places[:, 0]
        return self.domain.locations(self._place_points(flat.astype(np.uint32)))

    def probability(self, location: Locations, report: Any) -> Fraction:
        """Return the exact chance of a report for a location, from the sampler's integers.

        Examples
        --------
        >>> import ldpkit
        >>> mechanism = ldpkit.get("grid_response", ((0, 0), (1, 1)), epsilon=4, columns=2, rows=2)
        >>> near, far = (mechanism.probability((0.1, 0.1), cell) for cell in ([0, 0], [1, 1]))
        >>> round(float(near / far), 4)
        54.5982
        """
        place = np.atleast_1d(self.place_of([location])[0])
        cell = np.atleast_1d(self.check_reports(np.asarray([report]))[0])
        return self._chance(tuple(place.tolist()), tuple(cell.tolist()))

    def channel(self, rng: RandomSource | None = None) -> Channel:
        """Return every report with its exact probability under each place, for small grids."""
        check_enumerable(math.prod(self.shape) * self.place_count, f"the channel of {self!r}")
        rows = [self.row(place) for place in np.ndindex(*self.place_shape)]
        base, shape = self._layout
        return Channel(list_cells(self.shape).reshape(-1, *shape).astype(base), rows)

    def error(self, location: Locations, power: float = 1) -> Any:
        """Return the expected distance between a report and a location, by integration.

        Parameters
        ----------
        location : pair of float, or locations
            One location, for which a number is returned, or several.
        power : {1, 2}
            2 for squared distances.
        """
        single = np.ndim(location) == 1 and not isinstance(location, tuple | list)
        single = single or (isinstance(location, tuple | list) and np.ndim(location[0]) == 0)
        points = self.domain.take([location] if single else location)
        errors = self._errors(points, check_power(power))
        return float(errors[0]) if single else errors

    def mean_error(self, locations: Locations | None = None, power: float = 1) -> float:
        """Return the expected distance between report and location, averaged over locations.

        Parameters
        ----------
        locations : optional
            Public locations to average over; by default all of the region alike.
        power : {1, 2}
            2 for squared distances.
        """
        order = check_power(power)
        if locations is None:
            return self._mean_error(order)
        return float(self._errors(self.domain.take(locations), order).mean())

    def _mean_error(self, power: int) -> float:
        points, weights = self.domain.region.nodes(_MEAN_ORDER)
        return float(weights @ self._errors(points, power))

    def bin_masses(self, locations: Locations) -> Floats:
        """Return the chance of each joint bin of a tally for each location, one row a location."""
        return self._bin_masses(self._place(self.domain.take(locations)))
