"""Randomised response among sites: the cells of a grid, each standing for its centre, or public places.

A location is answered by its own site or, with a chance that is e^eps times smaller, by any
other one. More sites are nearer when the answer is right, and fewer are right more often; how
many there are is chosen from epsilon.
"""

from __future__ import annotations

import abc
import math
from fractions import Fraction
from functools import lru_cache
from typing import Any, ClassVar, Self

import numpy as np

from ldpkit.core.cached import cached_property
from ldpkit.core.checks import check_whole
from ldpkit.core.domains.plane import Locations, PlaneDomain, PlaneLike, as_plane
from ldpkit.core.errors import InvalidParameterError
from ldpkit.core.exact import exp_bounds
from ldpkit.core.parameters import EPSILON, Parameter, ParameterValue
from ldpkit.core.random import RandomSource
from ldpkit.core.typing import Floats, Indices, Reports
from ldpkit.mechanisms.base import Mechanism, register
from ldpkit.mechanisms.categorical.response import RandomisedResponse
from ldpkit.mechanisms.spatial.clusters import check_weights, medoids, nearest
from ldpkit.mechanisms.spatial.integrals import over_rectangle, panels
from ldpkit.mechanisms.spatial.mechanism import SpatialMechanism, list_cells

__all__ = ["GridResponse", "PlaceResponse", "SiteResponse"]

_MOST = 4096
_HELP = "; by default the best for locations that are equally likely everywhere"
_COLUMNS = Parameter(
    "columns", int, f"the cells along the first edge{_HELP}", default=None, least=1, most=_MOST
)
_ROWS = Parameter("rows", int, f"the cells along the second edge{_HELP}", default=None, least=1, most=_MOST)
_LISTED = 1 << 16  # sites whose distances are added up one by one
_NODES = 40
_BLOCK = 1 << 22  # distances at a time


class SiteResponse(SpatialMechanism):
    """A spatial mechanism that answers with the site of a location, or with any other."""

    @property
    @abc.abstractmethod
    def sites(self) -> Floats:
        """The points of the map that reports stand for, the first coordinate changing slowest."""

    @abc.abstractmethod
    def _site(self, points: Floats) -> Indices:
        """Return the index of the own site of each point of the map."""

    @property
    def place_shape(self) -> tuple[int, ...]:
        return self.shape

    @cached_property
    def response(self) -> RandomisedResponse:
        """The sampler's integers."""
        return RandomisedResponse(math.prod(self.shape), self.epsilon)

    def exact_epsilon(self) -> float:
        return self.response.epsilon()

    def details(self) -> dict[str, float]:
        return {"p": float(self.response.p), "sites": math.prod(self.shape)}

    def _place(self, points: Floats) -> Indices:
        places: Indices = self._folded(self._site(points))
        return places

    def _folded(self, sites: Any) -> Any:
        """Return indices of sites as coordinates of cells."""
        return sites

    def _flat(self, places: Any) -> Any:
        """Return coordinates of cells as indices of sites."""
        return places

    def _place_points(self, places: Indices) -> Floats:
        return np.asarray(self.sites[self._flat(places)])

    def row(self, place: tuple[int, ...]) -> list[Fraction]:
        return self.response.row(int(np.ravel_multi_index(place, self.shape)))

    def _chance(self, place: tuple[int, ...], cell: tuple[int, ...]) -> Fraction:
        return self.response.p if place == cell else self.response.q

    def _randomise(self, places: Indices, source: RandomSource) -> Reports:
        from ldpkit.mechanisms.kernels.response import respond

        own = np.ascontiguousarray(self._flat(places))
        sites = np.empty(len(own), np.uint32)
        keep, width = np.uint64(self.response.keep), np.uint64(self.response.width)
        respond(source.words(len(own)), own, keep, width, np.uint64(self.response.size - 2), sites)
        base, _ = self._layout
        made: Reports = self._folded(sites).astype(base, copy=False)
        return made

    def _errors(self, points: Floats, power: int) -> Floats:
        p, q = float(self.response.p), float(self.response.q)
        answers = self._answers_of_sites
        own = answers[self._site(points)]
        errors = (p - q) * np.hypot(*(points - own).T) ** power
        for start in range(0, len(points), max(1, _BLOCK // len(answers))):
            some = points[start : start + max(1, _BLOCK // len(answers))]
            far = np.hypot(*(some[:, None, :] - answers).transpose(2, 0, 1)) ** power
            errors[start : start + len(some)] += q * far.sum(axis=1)
        return np.asarray(errors)

    def _mean_error(self, power: int) -> float:
        points, weights = self.domain.region.nodes(_NODES)  # many: where sites meet, errors have kinks
        return float(weights @ self._errors(points, power))

    @cached_property
    def _answers_of_sites(self) -> Floats:
        region = self.domain.region
        return self.sites if region.fills_frame else region.project(self.sites)

    def _bin_masses(self, places: Indices) -> Floats:
        p, q = float(self.response.p), float(self.response.q)
        sizes = [np.diff(edges) for edges in self.bin_edges]
        even = sizes[0] if len(sizes) == 1 else np.outer(*sizes).ravel()
        found = np.repeat(q * even[None].astype(float), len(places), axis=0)
        columns = places[:, None] if places.ndim == 1 else places
        own = tuple(column >> shift for column, shift in zip(columns.T, self.bin_shifts, strict=True))
        found[np.arange(len(places)), np.ravel_multi_index(own, self.bin_shape)] += p - q
        return found


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
            columns, rows = _chosen_grid(self.epsilon, second / first)
        wide, high = _COLUMNS.check(columns), _ROWS.check(rows)
        if wide * high < 2:
            raise InvalidParameterError("a grid of one cell tells nothing: give at least two cells")
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
        return _grid_error(self.epsilon, self.shape, np.diag(region.matrix), power)


def _is_diagonal(matrix: Floats) -> bool:
    return bool(matrix[0, 1] == 0 == matrix[1, 0])


def _grid_error(
    epsilon: float, shape: tuple[int, ...], edges: Floats, power: int = 1, most: int = 128
) -> float:
    """Return the mean error of randomised response on the cells of a rectangle, in closed form."""
    gain = float(exp_bounds(epsilon)[0]) - 1
    cell = edges / shape
    own = float(over_rectangle(-cell / 2, cell / 2, np.zeros(2), power)) / cell.prod()
    listed = tuple(min(each, most) for each in shape)  # beyond, neighbouring centres have all but one mean
    centres = (list_cells(listed) + 0.5) / listed * edges
    others = over_rectangle(np.zeros(2), edges, centres, power).mean() / edges.prod()
    return float((gain * own + math.prod(shape) * others) / (gain + math.prod(shape)))


@lru_cache(maxsize=256)
def _chosen_grid(epsilon: float, ratio: float) -> tuple[int, int]:
    """Return the best numbers of cells for a rectangle of width 1 and some height."""
    edges = np.array([1.0, ratio])
    most = max(2.0, 2 * math.exp(epsilon / 3))  # cells along an edge of a square, beyond what can be best
    found: dict[tuple[int, int], float] = {}
    columns = 1
    while columns <= min(_MOST, most * max(1.0, ratio**-0.5) + 1):
        middle = columns * ratio
        for rows in {max(1, math.floor(middle) + step) for step in (-1, 0, 1, 2)}:
            if rows <= _MOST and columns * rows >= 2:
                found[columns, rows] = _grid_error(epsilon, (columns, rows), edges, most=16)
        columns += 1 + columns // 32
    if not found:  # far higher than wide
        found = {(1, rows): _grid_error(epsilon, (1, rows), edges) for rows in range(2, 65)}
    # For a few cells the mean over so many centres is not yet good enough: look again, closely.
    near = sorted(found, key=found.__getitem__)[:12]
    found = {shape: _grid_error(epsilon, shape, edges) for shape in near}
    return min(found, key=lambda shape: (found[shape], shape))


@register
class PlaceResponse(SiteResponse):
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
                f"{self.name} needs public places: see PlaneDomain.with_places, and for_places here"
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
        most = min(len(np.unique(points, axis=0)), _MOST)

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

    def parameters(self) -> dict[str, ParameterValue]:
        return Mechanism.parameters(self)

    def sibling(self, size: int) -> Self:
        if size > len(self.sites):
            raise InvalidParameterError(f"{self!r} has no {size} places")
        fewer = PlaneDomain(self.domain.region, self.domain.projection, self.sites[:size])
        made: Self = type(self)(fewer, self.epsilon)
        return made

    @property
    def shape(self) -> tuple[int, ...]:
        return (len(self.sites),)

    @property
    def sites(self) -> Floats:
        assert self.domain.places is not None
        return self.domain.places

    @cached_property
    def _find(self) -> Any:
        return nearest(self.sites)

    def _site(self, points: Floats) -> Indices:
        found: Indices = self._find(points).astype(np.uint32)
        return found

    def _drawn(self, cells: Floats) -> Floats:
        return self.sites[cells.astype(np.int64)]

    def _answers(self, cells: Floats) -> Floats:
        return self._drawn(cells)

    @cached_property
    def _answers_of_sites(self) -> Floats:
        return self.sites


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
