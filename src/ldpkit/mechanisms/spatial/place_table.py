"""Baselines among public places: the exponential mechanism, and the staircase of L-SRR."""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np

from ldpkit.core.cached import cached_property
from ldpkit.core.domains.plane import PlaneLike
from ldpkit.core.errors import InvalidParameterError
from ldpkit.core.parameters import EPSILON, Parameter
from ldpkit.core.typing import Floats, Indices
from ldpkit.mechanisms.base import register
from ldpkit.mechanisms.spatial.places import AmongPlaces, FewPlaces
from ldpkit.mechanisms.spatial.scaled_table import SiteTable

__all__ = ["SRR", "PlaceExponential", "PlaceTable"]

_NEAR = Parameter(
    "near", float, "how far the likeliest places are, over the longest edge", default=0.3, above=0, most=2
)
_MIDDLE = Parameter(
    "middle", float, "how far the next likely places are, over the longest edge", default=0.6, above=0, most=2
)


class PlaceTable(FewPlaces, AmongPlaces, SiteTable):
    """A table on public places."""

    declared: ClassVar[tuple[Parameter, ...]] = (EPSILON,)
    most_places: ClassVar[int] = 1024
    few_places: ClassVar[int] = 128

    def __init__(self, domain: PlaneLike, epsilon: float) -> None:
        self._settle(domain, epsilon)
        self._check_places()


@register
class PlaceExponential(PlaceTable):
    """The exponential mechanism among public places: chances fall with their distance.

    Utility: depends on how many places there are and how they lie.
    Runtime: O(log of the places) a location; memory 8 bytes for each pair of places.
    Citation: McSherry, Talwar (2007).

    Examples
    --------
    >>> import ldpkit
    >>> stops = ldpkit.PlaneDomain.rectangle((0, 0), (1, 1), places=[(0.1, 0.1), (0.5, 0.6), (0.9, 0.2)])
    >>> mechanism = ldpkit.get("place_exponential", stops, epsilon=4)
    >>> round(mechanism.scale, 3), mechanism.exact_epsilon() <= 4
    (4.94, True)
    """

    name = "place_exponential"
    title = "Exponential mechanism among places"
    citation = "McSherry, Talwar: Mechanism design via differential privacy. FOCS 2007"

    def _chances(self, scale: float) -> Floats:
        return np.exp(-scale * self._distances)


@register
class SRR(PlaceTable):
    """Staircase randomised response among public places: near ones likeliest, far ones least.

    Places are in three groups by their distance from the own one, and the chances of a place of each
    are in the ratios e^s, (e^s + 1) / 2 and 1. Places in the middle have more near ones than those at
    the edge, so s is not epsilon: it is the largest for which the integers keep epsilon. Where the
    steps end before that, the exact epsilon is smaller than the stated one.

    Utility: all near places are alike, so errors stay at the radius of the first group.
    Runtime: O(log of the places) a location; memory 8 bytes for each pair of places.
    Citation: Wang et al. (CCS 2022); the code that TraCS was compared with takes epsilon for e^epsilon.

    Parameters
    ----------
    domain : PlaneDomain
        The region of locations, with at most 1,024 places.
    epsilon : float
        The privacy budget of one location.
    near, middle : float
        The radii of the first two groups, over the longest edge of the region.

    Examples
    --------
    >>> import ldpkit
    >>> corners = [(x / 9, y / 9) for x in range(10) for y in range(10)]
    >>> square = ldpkit.PlaneDomain.rectangle((0, 0), (1, 1), places=corners)
    >>> mechanism = ldpkit.get("srr", square, epsilon=4)
    >>> round(mechanism.scale, 3), round(mechanism.mean_error(), 3), mechanism.exact_epsilon() <= 4
    (3.094, 0.355, True)
    """

    name = "srr"
    aliases = ("l_srr",)
    title = "Staircase randomised response (L-SRR)"
    citation = "Wang, Hong, Xiong, Qin, Hong: L-SRR: Local differential privacy for location-based services \
with staircase randomized response. CCS 2022"
    declared: ClassVar[tuple[Parameter, ...]] = (EPSILON, _NEAR, _MIDDLE)
    near: float
    middle: float

    def __init__(self, domain: PlaneLike, epsilon: float, *, near: float = 0.3, middle: float = 0.6) -> None:
        super().__init__(domain, epsilon)
        self._freeze(near=_NEAR.check(near), middle=_MIDDLE.check(middle))
        if self.middle < self.near:
            raise InvalidParameterError(
                f"the second group reaches farther than the first, got near={near:g} and middle={middle:g}"
            )
        if not self._groups.any():
            raise InvalidParameterError(
                f"all places are within {self.near:g} of the longest edge from each other, so a report would "
                "say nothing: give a smaller near"
            )

    @cached_property
    def _groups(self) -> Indices:
        longest = float(np.diff(self.domain.region.box, axis=0).max())
        edges = np.array([self.near, self.middle]) * longest
        return np.searchsorted(edges, self._distances).astype(np.uint8)

    @property
    def _unit(self) -> float:
        return 1.0

    @property
    def scale(self) -> float:
        """The logarithm of the ratio of the chances of a near place and a far one."""
        return self._solved[0]

    def _chances(self, scale: float) -> Floats:
        least = math.exp(-scale)
        return np.array([1.0, (1 + least) / 2, least])[self._groups]
