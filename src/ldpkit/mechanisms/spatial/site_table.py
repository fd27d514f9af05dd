"""Baselines on a grid: the exponential mechanism, and clipped planar Laplace noise."""

from __future__ import annotations

from typing import ClassVar, Self

import numpy as np

from ldpkit.core.cached import cached_property
from ldpkit.core.domains.plane import PlaneLike
from ldpkit.core.parameters import EPSILON, Parameter, ParameterValue
from ldpkit.core.typing import Counts, Floats, Indices
from ldpkit.mechanisms.base import Mechanism, register
from ldpkit.mechanisms.spatial.clusters import cells_between
from ldpkit.mechanisms.spatial.distances import between
from ldpkit.mechanisms.spatial.laplace_mass import clipped_masses
from ldpkit.mechanisms.spatial.mechanism import Bends, list_cells
from ldpkit.mechanisms.spatial.scaled_table import SiteTable

__all__ = ["GridExponential", "PlanarLaplace"]

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

    def bends(self, low: Floats, high: Floats, edges: tuple[Counts, ...]) -> Bends:
        columns, rows = (
            cells_between(start, stop, self.cells)
            for start, stop in zip(low.tolist(), high.tolist(), strict=True)
        )
        return np.stack(np.meshgrid(columns, rows, indexing="ij"), axis=-1).reshape(-1, 2)

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
        return between(self.sites, self.sites)

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
    (True, 'exact epsilon 4.0; scale 3.2708...: geo-indistinguishability, another promise, with that \
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
