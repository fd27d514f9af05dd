"""Public places as the sites of a mechanism: a location stands for the nearest, and one is the answer."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np

from ldpkit.core.cached import cached_property
from ldpkit.core.domains.plane import Locations, PlaneDomain, PlaneLike, as_plane
from ldpkit.core.errors import InvalidParameterError
from ldpkit.core.parameters import ParameterValue
from ldpkit.core.typing import Counts, Floats, Indices
from ldpkit.mechanisms.base import Mechanism
from ldpkit.mechanisms.spatial.clusters import medoids, nearest, surely_nearest
from ldpkit.mechanisms.spatial.distances import between
from ldpkit.mechanisms.spatial.mechanism import Bends, SpatialMechanism

__all__ = ["AmongPlaces", "FewPlaces", "PublicPlaces", "few_places"]


def few_places(domain: PlaneLike, places: Locations | None, most: int) -> PlaneDomain:
    """Return a region with at most so many places, the middles of groups of those that are given."""
    plane = as_plane(domain)
    if places is None:
        return plane
    points = np.unique(plane.take(places), axis=0)
    if len(points) > most:
        points = points[medoids(points, np.ones(len(points)), most)]
    return PlaneDomain(plane.region, plane.projection, points)


class PublicPlaces(Mechanism):
    """A mechanism for a region with public places."""

    domain: PlaneDomain

    def sibling(self, size: int) -> Self:
        if size > len(self.sites):
            raise InvalidParameterError(f"{self!r} has no {size} places")
        fewer = PlaneDomain(self.domain.region, self.domain.projection, self.sites[:size])
        made: Self = type(self).make(fewer, **self.parameters())
        return made

    @property
    def sites(self) -> Floats:
        """The places, on the map."""
        assert self.domain.places is not None
        return self.domain.places

    @cached_property
    def _find(self) -> Any:
        return nearest(self.sites)

    @cached_property
    def _distances(self) -> Floats:
        return between(self.sites, self.sites)


class FewPlaces(PublicPlaces):
    """A mechanism with a table of all pairs of places, so that there cannot be many."""

    most_places: ClassVar[int]
    few_places: ClassVar[int]

    def _check_places(self) -> None:
        """Refuse a region that has no places, or too many for a table."""
        if self.domain.places is None or len(self.domain.places) > self.most_places:
            raise InvalidParameterError(
                f"{self.name} needs public places, at most {self.most_places}: see PlaneDomain.with_places"
            )

    @classmethod
    def suited(cls, domain: PlaneLike, epsilon: float, places: Locations | None = None) -> Self:
        """Return the mechanism among the middles of a few groups of public places.

        Parameters
        ----------
        domain : PlaneDomain, PlaneRegion or pair of corners
            The region of locations.
        epsilon : float
            The privacy budget of one location.
        places : optional
            Public locations, where people are likely to be; by default the places of the region.
        """
        made: Self = cls.make(few_places(domain, places, cls.few_places), epsilon=epsilon)
        return made


class AmongPlaces(PublicPlaces, SpatialMechanism):
    """A mechanism whose sites are the public places of its region."""

    def parameters(self) -> dict[str, ParameterValue]:
        return Mechanism.parameters(self)

    @property
    def shape(self) -> tuple[int, ...]:
        return (len(self.sites),)

    def bends(self, low: Floats, high: Floats, edges: tuple[Counts, ...]) -> Bends:
        ends = np.array([low, (low[0], high[1]), high, (high[0], low[1])])
        found: Counts = surely_nearest(self.sites, self.domain.region.from_shares(ends))
        return found

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
