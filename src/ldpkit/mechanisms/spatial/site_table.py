"""Baselines with a table: every site for every other, less likely the farther it is.

Sites are the cells of a grid or public places. Chances are made from distances in floating point,
then turned into integers over 2**64, and the scale of the distances is chosen so that the
*integers* have the epsilon that is stated: not a sensitivity, which promises more than it
needs, or less than it keeps.
"""

from __future__ import annotations

import abc
from fractions import Fraction
from functools import lru_cache
from typing import Any, ClassVar, Self

import numpy as np

from ldpkit.core.cached import cached_property
from ldpkit.core.domains.plane import PlaneDomain, PlaneLike
from ldpkit.core.errors import InvalidParameterError
from ldpkit.core.exact import WORD, exp_bounds, log_up
from ldpkit.core.parameters import EPSILON, Parameter, ParameterValue
from ldpkit.core.random import RandomSource
from ldpkit.core.typing import Floats, Indices, Reports, Words
from ldpkit.mechanisms.base import Mechanism, register
from ldpkit.mechanisms.spatial.clusters import nearest
from ldpkit.mechanisms.spatial.laplace_mass import clipped_masses
from ldpkit.mechanisms.spatial.mechanism import SpatialMechanism, list_cells

__all__ = ["GridExponential", "PlaceExponential", "PlanarLaplace", "SiteTable"]

_MOST_SITES = 1024
_SIDES = Parameter("cells", int, "the cells along each edge of the region", default=10, least=2, most=32)
_SHRINK = 1 - 2.0**-36  # of the scale, where rounding to integers went too far


class SiteTable(SpatialMechanism):
    """A spatial mechanism that is a table: for each site the chance of every site."""

    @property
    @abc.abstractmethod
    def sites(self) -> Floats:
        """The points of the map that reports stand for."""

    @abc.abstractmethod
    def _site(self, points: Floats) -> Indices:
        """Return the index of the own site of each point of the map."""

    @abc.abstractmethod
    def _chances(self, scale: float) -> Floats:
        """Return the chance of every site for every own one, positive, for a scale of distances."""

    @cached_property
    def _solved(self) -> tuple[float, Any]:
        """The scale, and the integers that it leads to."""
        return _solve(self)

    @property
    def _unit(self) -> float:
        """The distance by which scales are judged: the diagonal of the region."""
        return float(np.hypot(*np.diff(self.domain.region.box, axis=0)[0]))

    @property
    def scale(self) -> float:
        """How fast chances fall: by e^-scale for each unit of distance on the map."""
        return self._solved[0]

    @property
    def weights(self) -> Any:
        """The integer weight of every site for every own one, over 2**64."""
        return self._solved[1]

    def details(self) -> dict[str, float]:
        return {"scale": self.scale, "sites": len(self.sites)}

    def exact_epsilon(self) -> float:
        return log_up(_ratio(self.weights))

    @property
    def place_shape(self) -> tuple[int, ...]:
        return self.shape

    def _flat(self, places: Any) -> Any:
        return places if len(self.shape) == 1 else places[:, 0] * np.uint32(self.shape[1]) + places[:, 1]

    def _folded(self, sites: Any) -> Any:
        if len(self.shape) == 1:
            return sites
        return np.stack(np.divmod(sites, np.uint32(self.shape[1])), axis=1)

    def _place(self, points: Floats) -> Indices:
        found: Indices = self._folded(self._site(points))
        return found

    def _place_points(self, places: Indices) -> Floats:
        return np.asarray(self.sites[self._flat(places)])

    def row(self, place: tuple[int, ...]) -> list[Fraction]:
        own = int(np.ravel_multi_index(place, self.shape))
        return [Fraction(int(weight), WORD) for weight in self.weights[own]]

    def _chance(self, place: tuple[int, ...], cell: tuple[int, ...]) -> Fraction:
        own, other = (int(np.ravel_multi_index(each, self.shape)) for each in (place, cell))
        return Fraction(int(self.weights[own, other]), WORD)

    @cached_property
    def _bounds(self) -> Words:
        """For each own site the least random word of every site."""
        below = np.zeros(self.weights.shape, np.uint64)
        np.cumsum(self.weights[:, :-1], axis=1, out=below[:, 1:])
        return below

    def _randomise(self, places: Indices, source: RandomSource) -> Reports:
        from ldpkit.mechanisms.kernels.planar import rows_of_sites

        own = np.ascontiguousarray(self._flat(places))
        sites = np.empty(len(own), np.uint32)
        rows_of_sites(source.words(len(own)), own, self._bounds, sites)
        base, _ = self._layout
        made: Reports = self._folded(sites).astype(base, copy=False)
        return made

    @cached_property
    def _shares(self) -> Floats:
        return np.asarray(self.weights.astype(np.float64) / float(WORD))

    @cached_property
    def _answers_of_sites(self) -> Floats:
        region = self.domain.region
        return self.sites if region.fills_frame else region.project(self.sites)

    def _errors(self, points: Floats, power: int) -> Floats:
        own, answers = self._site(points), self._answers_of_sites
        errors = np.empty(len(points))
        for start in range(0, len(points), 1024):
            some = slice(start, start + 1024)
            far = np.hypot(*(points[some, None, :] - answers).transpose(2, 0, 1)) ** power
            errors[some] = (self._shares[own[some]] * far).sum(axis=1)
        return errors

    def _mean_error(self, power: int) -> float:
        points, weights = self.domain.region.nodes(40)
        return float(weights @ self._errors(points, power))

    def _bin_masses(self, places: Indices) -> Floats:
        return np.asarray(self._shares[self._flat(places)])


@lru_cache(maxsize=64)
def _solve(mechanism: SiteTable) -> tuple[float, Any]:
    """Return the largest scale whose integers keep epsilon, and these."""
    from scipy.optimize import brentq

    def excess(scale: float) -> float:
        return _spread(mechanism._chances(scale)) - mechanism.epsilon * (1 - 2.0**-42)

    high = mechanism.epsilon / mechanism._unit
    while excess(high) < 0:
        high *= 2
    low = high / 2
    while excess(low) >= 0:
        low /= 2
    scale = float(brentq(excess, low, high, xtol=1e-14 * high, rtol=1e-14))
    bound = exp_bounds(mechanism.epsilon)[0]
    weights = _integers(mechanism._chances(scale))
    while _ratio(weights) > bound:
        scale *= _SHRINK
        weights = _integers(mechanism._chances(scale))
    return scale, weights


def _spread(chances: Floats) -> float:
    """Return the epsilon of a table of chances, in floating point."""
    logs = np.log(chances / chances.sum(axis=1, keepdims=True))
    return float((logs.max(axis=0) - logs.min(axis=0)).max())


def _integers(chances: Floats) -> Any:
    """Return rows of positive integers that sum to 2**64."""
    whole = chances / chances.sum(axis=1, keepdims=True)
    weights = np.maximum(np.floor(whole * float(WORD - (1 << 20))), 1).astype(np.uint64)
    # What is left over goes to the likeliest site of each row, one part in 2**44 of everything.
    left = np.uint64(0) - weights.sum(axis=1, dtype=np.uint64)  # modulo 2**64
    weights[np.arange(len(weights)), weights.argmax(axis=1)] += left
    return weights


def _ratio(weights: Any) -> Fraction:
    """Return the largest ratio of two rows over all columns, exactly."""
    return max(
        Fraction(int(high), int(low))
        for high, low in zip(weights.max(axis=0).tolist(), weights.min(axis=0).tolist(), strict=True)
    )


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
