"""The best location for each report, given where people are: post-processing that costs nothing.

A report of a far-away corner is more likely from somebody in the middle who was unlucky than
from one of the few at that corner. With an estimated map every bin of a tally has a law of where
its people are, and a point with the least expected distance to them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ldpkit.core.cached import cached_property
from ldpkit.core.domains.plane import Locations
from ldpkit.core.errors import InvalidInputError
from ldpkit.core.typing import Floats, Reports
from ldpkit.estimation.cell_law import bins_of, cell_law
from ldpkit.estimation.heatmap import HeatMap
from ldpkit.mechanisms.kinds import is_spatial
from ldpkit.mechanisms.spatial.mechanism import SpatialMechanism

__all__ = ["Remap", "remap"]

_AT_A_TIME = 512  # places


@dataclass(frozen=True, eq=False)
class Remap:
    """A table from the bins of a tally to the best location for a report there.

    Parameters
    ----------
    mechanism : SpatialMechanism
        What makes the reports.
    density : HeatMap
        Where people are: estimated from reports, or otherwise public.
    places : array, optional
        The locations to answer with; by default the middles of the cells.
    """

    mechanism: SpatialMechanism
    density: HeatMap
    places: Locations | None = None

    @cached_property
    def table(self) -> Floats:
        """The location for each joint bin of a tally."""
        grid = self.density.grid
        region = grid.domain.region
        posterior = self.density.masses[:, None] * cell_law(self.mechanism, grid)
        points = grid.middles if self.places is None else grid.domain.take(self.places)
        best, least = np.zeros(posterior.shape[1], np.int64), np.full(posterior.shape[1], np.inf)
        for start in range(0, len(points), _AT_A_TIME):
            some = points[start : start + _AT_A_TIME]
            costs = region.distance(some[:, None, :], grid.middles[None]) @ posterior
            found = costs.argmin(axis=0)
            lowest = costs[found, np.arange(costs.shape[1])]
            better = lowest < least
            best[better], least[better] = start + found[better], lowest[better]
        return grid.domain.locations(points[best])

    def __call__(self, reports: Reports) -> Floats:
        """Return the best location for each report."""
        return np.asarray(self.table[bins_of(self.mechanism, reports)])


def remap(density: HeatMap, reports: Reports, *, places: Locations | None = None) -> Floats:
    """Return the best location for each report under an estimated map, instead of the middle of its cell.

    Parameters
    ----------
    density : HeatMap
        A map that was estimated from reports of the same mechanism, these or others.
    reports : array
        Reports of that mechanism.
    places : array, columns or shapely points, optional
        Public places to answer with; by default the middles of the cells of the map.

    Examples
    --------
    >>> import ldpkit
    >>> from ldpkit.core.random import seeded
    >>> mechanism = ldpkit.get("tracs_c", ((0, 0), (1, 1)), epsilon=2)
    >>> people = np.tile([0.3, 0.3], (4_000, 1))
    >>> reports = mechanism.privatize(people, rng=seeded(1))
    >>> found = remap(mechanism.tally(reports).estimate(), reports)
    >>> errors = (np.hypot(*(each - people).T).mean() for each in (mechanism.points_of(reports), found))
    >>> [round(float(error), 1) for error in errors]
    [0.3, 0.0]
    """
    mechanism: Any = density.mechanism
    if not is_spatial(mechanism):
        raise InvalidInputError(
            f"the map was made from reports of {mechanism!r}, which have no location: estimate it from "
            "reports of a spatial mechanism"
        )
    return Remap(mechanism, density, places)(reports)
