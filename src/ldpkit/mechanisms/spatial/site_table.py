"""Baselines: the exponential mechanism on a grid and among places, and clipped planar Laplace noise."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np

from ldpkit.core.cached import cached_property
from ldpkit.core.domains.plane import Locations, PlaneDomain, PlaneLike, as_plane
from ldpkit.core.errors import InvalidParameterError
from ldpkit.core.parameters import EPSILON, Parameter, ParameterValue
from ldpkit.core.typing import Floats, Indices
from ldpkit.mechanisms.base import Mechanism, register
from ldpkit.mechanisms.spatial.clusters import medoids, nearest
from ldpkit.mechanisms.spatial.laplace_mass import clipped_masses
from ldpkit.mechanisms.spatial.mechanism import list_cells
from ldpkit.mechanisms.spatial.scaled_table import SiteTable

__all__ = ["GridExponential", "PlaceExponential", "PlanarLaplace", "SiteTable"]

_MOST_SITES = 1024
_FEW_SITES = 128  # groups of public places
_SIDES = Parameter("cells", int, "the cells along each edge of the region", default=10, least=2, most=32)


class GridTable(SiteTable):
    """A table on the cells of a grid over the region."""

    declared: ClassVar[tuple[Parameter, ...]] = (EPSILON, _SIDES)
    cells: int

    def __init__(self, domain: PlaneLike, epsilon: float, *, cells: int = 10) -> None:
        self._settle(domain, epsilon)
        self._freeze(cells=_SIDES.check(cells))

    def parameters(self) -> dict[str, ParameterValue]:
        return Mechanism.parameters(self)

    def sibling(self, size: int) -> Self:
        made: Self = type(self)(self.domain, self.epsilon, cells=size)
        return made

    @property
    def shape(self) -> tuple[int, ...]:
        return self.cells, self.cells

    @cached_property
    def sites(self) -> Floats:
        return self._drawn(list_cells(self.shape).astype(np.float64) + 0.5)

    def _drawn(self, cells: Floats) -> Floats:
        return self.domain.region.from_shares(cells / self.cells)

    def _site(self, points: Floats) -> Indices:
        shares = self.domain.region.to_shares(points) * self.cells
        with np.errstate(invalid="ignore"):
            cells = np.clip(np.floor(shares), 0, self.cells - 1).astype(np.int64)
        cells = np.clip(cells, 0, self.cells - 1)
        return (cells[:, 0] * self.cells + cells[:, 1]).astype(np.uint32)


@register
class GridExponential(GridTable):
    """The exponential mechanism on the cells of a grid: chances fall with the distance of their centres.

    Utility: at epsilon 4 on the unit square worse than `grid_response` with cells as few as are best.
    Runtime: O(log of the cells) a location; memory 8 bytes for each pair of cells.
    Citation: McSherry, Talwar (2007); on a grid in the appendix of Zheng's dissertation, there with a
    sensitivity for which no proof is given.

    Examples
    --------
    >>> import ldpkit
    >>> mechanism = ldpkit.get("grid_exponential", ((0, 0), (1, 1)), epsilon=4)
    >>> round(mechanism.scale, 2), round(mechanism.mean_error(), 3), mechanism.exact_epsilon() <= 4
    (3.14, 0.357, True)
    """

    name = "grid_exponential"
    title = "Exponential mechanism on a grid"
    citation = "McSherry, Talwar: Mechanism design via differential privacy. FOCS 2007"

    @cached_property
    def _distances(self) -> Floats:
        return _distances(self.sites)

    def _chances(self, scale: float) -> Floats:
        return np.exp(-scale * self._distances)


@register
class PlanarLaplace(GridTable):
    """Planar Laplace noise, clipped to the region: made for another promise, and scaled to this one.

    With `scale` it is geo-indistinguishable: two locations a distance d apart are told apart by at
    most e^(scale d). That is another promise than epsilon-LDP, which holds for all of the region
    alike. Here the scale is the largest for which the integers keep epsilon for the whole region.
    What leaves the region goes to the nearest cell.

    Utility: worse than `planar_window` for this promise at every epsilon.
    Runtime: O(log of the cells) a location; memory 8 bytes for each pair of cells.
    Citation: Andrés et al. (CCS 2013).

    Examples
    --------
    >>> import ldpkit
    >>> mechanism = ldpkit.get("planar_laplace", ((0, 0), (1, 1)), epsilon=4)
    >>> mechanism.exact_epsilon() <= 4, mechanism.promise()
    (True, 'exact epsilon 3.9999...; scale 3.2708...: geo-indistinguishability, another promise, with that \
much for each unit of distance')
    """

    name = "planar_laplace"
    title = "Planar Laplace mechanism, clipped"
    citation = "Andrés et al.: Geo-indistinguishability. CCS 2013"

    def promise(self) -> str:
        return (
            f"{super().promise()}; scale {self.scale:.6g}: geo-indistinguishability, another promise, with "
            "that much for each unit of distance"
        )

    def _chances(self, scale: float) -> Floats:
        edges = np.hypot(*self.domain.region.matrix)
        return clipped_masses(scale, (self.cells, self.cells), edges)


@register
class PlaceExponential(SiteTable):
    """The exponential mechanism among public places: chances fall with their distance.

    Utility: depends on how many places there are and how they lie.
    Runtime: O(log of the places) a location; memory 8 bytes for each pair of places.
    Citation: McSherry, Talwar (2007).

    Examples
    --------
    >>> import ldpkit
    >>> stops = PlaneDomain.rectangle((0, 0), (1, 1), places=[(0.1, 0.1), (0.5, 0.6), (0.9, 0.2)])
    >>> mechanism = ldpkit.get("place_exponential", stops, epsilon=4)
    >>> round(mechanism.scale, 3), mechanism.exact_epsilon() <= 4
    (4.94, True)
    """

    name = "place_exponential"
    title = "Exponential mechanism among places"
    citation = GridExponential.citation
    declared: ClassVar[tuple[Parameter, ...]] = (EPSILON,)

    def __init__(self, domain: PlaneLike, epsilon: float) -> None:
        self._settle(domain, epsilon)
        places = self.domain.places
        if places is None or len(places) > _MOST_SITES:
            raise InvalidParameterError(
                f"{self.name} needs public places, at most {_MOST_SITES}: see PlaneDomain.with_places"
            )

    @classmethod
    def suited(cls, domain: PlaneLike, epsilon: float, places: Locations | None = None) -> Self:
        """Return the mechanism among at most some hundred middles of groups of public places."""
        plane = as_plane(domain)
        if places is None:
            return super().suited(plane, epsilon)
        points = np.unique(plane.take(places), axis=0)
        if len(points) > _FEW_SITES:
            points = points[medoids(points, np.ones(len(points)), _FEW_SITES)]
        return cls(PlaneDomain(plane.region, plane.projection, points), epsilon)

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
        return np.asarray(self.sites[cells.astype(np.int64)])

    def _answers(self, cells: Floats) -> Floats:
        return self._drawn(cells)

    @cached_property
    def _answers_of_sites(self) -> Floats:
        return self.sites

    @cached_property
    def _distances(self) -> Floats:
        return _distances(self.sites)

    def _chances(self, scale: float) -> Floats:
        return np.exp(-scale * self._distances)


def _distances(sites: Floats) -> Floats:
    return np.asarray(np.hypot(*(sites[:, None, :] - sites).transpose(2, 0, 1)))
