"""Randomised response among sites: the cells of a grid, each standing for its centre, or public places.

A location is answered by its own site or, with a chance that is e^eps times smaller, by any
other one. More sites are nearer when the answer is right, and fewer are right more often; how
many there are is chosen from epsilon.
"""

from __future__ import annotations

import math
from typing import Any, ClassVar, Self

import numpy as np

from ldpkit.core.cached import cached_property
from ldpkit.core.domains.plane import Locations, PlaneDomain, PlaneLike, as_plane
from ldpkit.core.errors import InvalidParameterError
from ldpkit.core.parameters import EPSILON, Parameter, ParameterValue, check_whole
from ldpkit.core.typing import Counts, Floats, Indices
from ldpkit.mechanisms.base import Mechanism, register
from ldpkit.mechanisms.spatial.clusters import (
    cells_between,
    check_weights,
    medoids,
)
from ldpkit.mechanisms.spatial.grid_choice import MOST_CELLS, chosen_grid, grid_error
from ldpkit.mechanisms.spatial.integrals import over_rectangle, panels
from ldpkit.mechanisms.spatial.mechanism import Bends, list_cells
from ldpkit.mechanisms.spatial.places import AmongPlaces
from ldpkit.mechanisms.spatial.sites import SiteResponse

__all__ = ["GridResponse", "PlaceResponse", "SiteResponse"]

_HELP = "; by default the best for locations that are equally likely everywhere"
_COLUMNS = Parameter(
    "columns", int, f"the cells along the first edge{_HELP}", default=None, least=1, most=MOST_CELLS
)
_ROWS = Parameter(
    "rows", int, f"the cells along the second edge{_HELP}", default=None, least=1, most=MOST_CELLS
)
_LISTED = 1 << 16  # sites whose distances are added up one by one


@register
class GridResponse(SiteResponse):
    """Randomised response on the cells of a grid, each answering with its centre.

    Utility: on the unit square, equally likely everywhere, the mean distance is 0.1821 at
    epsilon 4 (3 x 3 cells) and 0.0537 at 8 (11 x 11), less than that of either TraCS.
    Runtime: O(1) a location; memory O(1).
    Citation: Kairouz et al. (2016) for the response; the thesis holds that gridding is worse.

    Parameters
    ----------
    domain : PlaneDomain, PlaneRegion or pair of corners
        The region of locations.
    epsilon : float
        The privacy budget of one location.
    columns, rows : int, optional
        How many cells there are along the edges of the region.

    Examples
    --------
    >>> import ldpkit
    >>> mechanism = ldpkit.get("grid_response", ((0, 0), (1, 1)), epsilon=4)
    >>> mechanism
    GridResponse([0, 1] x [0, 1], epsilon=4, columns=3, rows=3)
    >>> round(mechanism.mean_error(), 4)
    0.1821
    >>> mechanism.points_of([[0, 2]]).round(3).tolist()
    [[0.167, 0.833]]
    """

    name = "grid_response"
    title = "Randomised response on a grid"
    citation = "Kairouz, Bonawitz, Ramage: Discrete distribution estimation under local privacy. ICML 2016"
    declared: ClassVar[tuple[Parameter, ...]] = (EPSILON, _COLUMNS, _ROWS)
    columns: int
    rows: int

    def __init__(
        self, domain: PlaneLike, epsilon: float, *, columns: int | None = None, rows: int | None = None
    ) -> None:
        self._settle(domain, epsilon)
        if (columns is None) != (rows is None):
            raise InvalidParameterError(f"give columns and rows, or neither, got {columns} and {rows}")
        if columns is None or rows is None:
            first, second = np.hypot(*self.domain.region.matrix).tolist()
            columns, rows = chosen_grid(self.epsilon, second / first)
        wide, high = _COLUMNS.check(columns), _ROWS.check(rows)
        if wide * high < 2:
            raise InvalidParameterError("a grid of one cell says nothing: give at least two cells")
        self._freeze(columns=wide, rows=high)

    def parameters(self) -> dict[str, ParameterValue]:
        return Mechanism.parameters(self)

    def sibling(self, size: int) -> Self:
        made: Self = type(self)(self.domain, self.epsilon, columns=size, rows=size)
        return made

    @property
    def shape(self) -> tuple[int, ...]:
        return self.columns, self.rows

    @cached_property
    def sites(self) -> Floats:
        return self._drawn(list_cells(self.shape).astype(np.float64) + 0.5)

    def _drawn(self, cells: Floats) -> Floats:
        return self.domain.region.from_shares(cells / self.shape)

    def _site(self, points: Floats) -> Indices:
        shares = self.domain.region.to_shares(points)
        with np.errstate(invalid="ignore"):
            cells = [
                np.floor(shares[:, axis] * size).astype(np.int64) for axis, size in enumerate(self.shape)
            ]
        column, row = (np.clip(cell, 0, size - 1) for cell, size in zip(cells, self.shape, strict=True))
        return (column * self.rows + row).astype(np.uint32)

    @property
    def follows_frame(self) -> bool:
        return True

    @property
    def has_steps(self) -> bool:
        return True

    def bends(self, low: Floats, high: Floats, edges: tuple[Counts, ...]) -> Bends:
        first, second = (
            _begun(cells_between(start, stop, size), each)
            for start, stop, size, each in zip(low.tolist(), high.tolist(), self.shape, edges, strict=True)
        )
        return first, second

    def factors(
        self, places: tuple[Counts, Counts], edges: tuple[Counts, ...]
    ) -> tuple[Floats, Floats, float]:
        first, second = (
            (np.searchsorted(cells, each, "right")[:, None] - 1 == np.arange(len(cells) - 1)).astype(float)
            for each, cells in zip(places, edges, strict=True)
        )
        p, q = float(self.response.p), float(self.response.q)
        return (p - q) * first, second, q

    def _folded(self, sites: Any) -> Any:
        return np.stack(np.divmod(sites, np.uint32(self.rows)), axis=1)

    def _flat(self, places: Any) -> Any:
        return places[:, 0] * np.uint32(self.rows) + places[:, 1]

    def _errors(self, points: Floats, power: int) -> Floats:
        region = self.domain.region
        if self.response.size <= _LISTED or not (region.fills_frame and _is_diagonal(region.matrix)):
            return super()._errors(points, power)
        # So many centres that their sum is an integral.
        p, q = float(self.response.p), float(self.response.q)
        edges = np.diag(region.matrix)
        whole = over_rectangle(region.origin, region.origin + edges, points, power)
        cells = np.stack(np.divmod(self._site(points), self.rows), axis=1) + 0.5
        own = np.hypot(*(points - self._drawn(cells)).T) ** power
        return np.asarray((p - q) * own + q * whole * self.response.size / edges.prod())

    def _mean_error(self, power: int) -> float:
        region = self.domain.region
        if not region.fills_frame:
            return super()._mean_error(power)
        if not _is_diagonal(region.matrix):
            (x, by_x), (y, by_y) = (
                panels(np.linspace(0, 1, 2 * min(cells, 32) + 1), 6) for cells in self.shape
            )
            shares = np.stack(np.meshgrid(x, y, indexing="ij"), axis=-1).reshape(-1, 2)
            errors = self._errors(region.from_shares(shares), power)
            return float(by_x @ errors.reshape(len(x), len(y)) @ by_y)
        return grid_error(self.epsilon, self.shape, np.diag(region.matrix), power)


def _begun(cells: Counts, edges: Counts) -> Counts:
    """Return where the bins begin that neighbouring cells lie in: all cells of a bin have one law."""
    first, last = np.searchsorted(edges, cells[[0, -1]], "right")
    found: Counts = edges[first - 1 : last]
    return found


def _is_diagonal(matrix: Floats) -> bool:
    return bool(matrix[0, 1] == 0 == matrix[1, 0])


@register
class PlaceResponse(AmongPlaces, SiteResponse):
    """Randomised response among public places: a location is answered by the nearest, or any other.

    The places are those of the domain. `for_places` makes few of many: it groups public places
    and answers with the middle one of each group, as many groups as are best for epsilon.

    Utility: where people are only where places are, less error than any mechanism for all of
    the region.
    Runtime: O(log k) a location; memory O(k).
    Citation: Kairouz et al. (2016) for the response.

    Parameters
    ----------
    domain : PlaneDomain
        The region of locations, with its places.
    epsilon : float
        The privacy budget of one location.

    Examples
    --------
    >>> import ldpkit
    >>> stops = PlaneDomain.rectangle((0, 0), (1, 1), places=[(0.1, 0.1), (0.5, 0.6), (0.9, 0.2)])
    >>> mechanism = ldpkit.get("place_response", stops, epsilon=4)
    >>> mechanism.points_of([1]).tolist(), round(mechanism.error((0.5, 0.5)), 3)
    ([[0.5, 0.6]], 0.115)
    """

    name = "place_response"
    title = "Randomised response among places"
    citation = GridResponse.citation
    declared: ClassVar[tuple[Parameter, ...]] = (EPSILON,)

    def __init__(self, domain: PlaneLike, epsilon: float) -> None:
        self._settle(domain, epsilon)
        if self.domain.places is None:
            raise InvalidParameterError(
                f"{self.name} needs public places: see PlaneDomain.with_places, and use for_places"
            )

    @classmethod
    def for_places(
        cls,
        domain: PlaneLike,
        epsilon: float,
        places: Locations,
        weights: Any = None,
        *,
        clusters: int | None = None,
    ) -> Self:
        """Return the mechanism that answers with the middle places of groups of public places.

        Parameters
        ----------
        domain : PlaneDomain, PlaneRegion or pair of corners
            The region of locations.
        epsilon : float
            The privacy budget of one location.
        places : array, columns or shapely points
            Where people may be: public, never where those who report have been.
        weights : array, optional
            How likely each is; equally by default. Public as well.
        clusters : int, optional
            How many groups; by default the number with the least error over the places.

        Examples
        --------
        >>> corners = [(x / 9, y / 9) for x in range(10) for y in range(10)]
        >>> len(PlaceResponse.for_places(((0, 0), (1, 1)), 4.0, corners).sites)
        11
        """
        plane = as_plane(domain)
        points = plane.take(places)
        chances = check_weights(weights, len(points))
        if len(np.unique(points, axis=0)) < 2:
            raise InvalidParameterError("there must be at least two different places")
        most = min(len(np.unique(points, axis=0)), MOST_CELLS)

        def made(count: int) -> Any:
            middles = np.unique(points[medoids(points, chances, count)], axis=0)
            return cls(PlaneDomain(plane.region, plane.projection, middles), epsilon)

        if clusters is not None:
            wanted = check_whole(clusters, "clusters", least=2)
            if wanted > most:
                raise InvalidParameterError(
                    f"there are {most} different places, too few for {wanted} clusters"
                )
            few: Self = made(wanted)
            return few
        ladder = sorted({min(most, max(2, round(2 ** (step / 2)))) for step in range(2, 25)})
        best: Self = _least(made, points, chances / chances.sum(), ladder)
        return best

    @classmethod
    def suited(cls, domain: PlaneLike, epsilon: float, places: Locations | None = None) -> Self:
        if places is None:
            return super().suited(domain, epsilon)
        return cls.for_places(domain, epsilon, places)


def _least(made: Any, points: Floats, chances: Floats, ladder: list[int]) -> Any:
    """Return the mechanism with the least mean error, climbing a ladder of numbers until it only grows."""
    best, least, worse = None, math.inf, 0
    for count in ladder:
        each = made(count)
        error = float(chances @ each._errors(points, 1))
        if error < least:
            best, least, worse = each, error, 0
        else:
            worse += 1
            if worse == 3:
                break
    return best
