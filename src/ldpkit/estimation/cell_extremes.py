"""The least and largest chance of sets of bins, in the cell that a set is for and in all others: proven.

A mechanism says which of its places bound the others (`bends`). For windows these are where an end
of the window meets the edge of a bin: in between, the chance of a set is linear along each
coordinate, so it is least and largest where the bends of both cross. For sites they are all that a
location of the cell can have.

The crossings of the whole map are the same for all cells, and nearly all of them lie in some cell other
than that of a set, so they are looked at once for a set. The ends of another cell add to them only
where they lie beside a crossing that its own cell alone has. So the work grows with the number of cells,
not with its square.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from ldpkit.core.domains.cellgrid import CellGrid
from ldpkit.core.typing import Counts, Floats
from ldpkit.core.watching import Watch, unwatched, watching
from ldpkit.estimation.cell_places import bin_sizes
from ldpkit.mechanisms.spatial.mechanism import SpatialMechanism

__all__ = ["BOUNDING", "grouped", "set_extremes"]

BOUNDING = "bounding the cells"

_AT_A_TIME = 512  # places whose laws are in memory together
_CELLS = 8  # cells whose sets are looked at together


def set_extremes(
    mechanism: SpatialMechanism,
    grid: CellGrid,
    sets: Any,
    groups: Counts,
    edges: tuple[Counts, ...],
    held: Any,
    watch: Watch = unwatched,
) -> tuple[Floats, Floats] | None:
    """Return the least and the largest chance of each set, for locations of its cell and of all others.

    Parameters
    ----------
    mechanism : SpatialMechanism
        What makes the reports.
    grid : CellGrid
        The cells.
    sets : array of bool, shape (cells, kinds, groups)
        Sets of groups of bins, some for each cell.
    groups : array of int
        The group of each joint bin.
    edges : tuple of array
        The edges of the groups along each coordinate, in cells of the mechanism.
    held : array of bool
        The cells that the region has a part of; nobody is in the others.
    watch : Watch
        Shows progress.

    Returns
    -------
    tuple of array, or None
        Inside and outside, of shape (2, cells, kinds), and 0 for cells that are not held; None where the
        mechanism does not know which places bound the others.
    """
    corners = np.stack(np.divmod(np.flatnonzero(held), grid.rows), axis=1)
    places = list[Any]()
    for corner in corners:
        found = mechanism.bends(corner / grid.shape, (corner + 1) / grid.shape, edges)
        if found is None:
            return None
        places.append(found)
    inside, outside = np.zeros((2, 2, *sets.shape[:2]))
    some = sets[held]
    if isinstance(places[0], tuple):
        crossings = mechanism.bends(np.zeros(2), np.ones(2), edges)
        inside[:, held], outside[:, held] = _Crossed(mechanism, edges, crossings, places).extremes(
            some, watch
        )
    else:
        inside[:, held], outside[:, held] = _listed(mechanism, places, some, groups, watch)
    return inside, outside


class _Crossed:
    """The extremes of sets where places along both coordinates cross."""

    def __init__(
        self, mechanism: SpatialMechanism, edges: tuple[Counts, ...], crossings: Any, places: list[Any]
    ) -> None:
        along = np.unique(crossings[0]), np.unique(crossings[1])
        self._shape = tuple(len(each) - 1 for each in edges)
        self._sizes = bin_sizes(edges)
        self._factors = mechanism.factors(along, edges)
        self._own = [mechanism.factors(each, edges) for each in places]
        # Which crossings each cell has, and which ones are beside its places.
        self._has, self._near = (
            [np.array([of(one, each[axis]) for each in places]) for axis, one in enumerate(along)]
            for of in (np.isin, _beside)
        )
        first, second = (each.astype(float) for each in self._has)
        self._cover = np.rint(first.T @ second).astype(np.int64)  # how many cells have a crossing
        # Beside a crossing that no cell has: at the rim of a region that does not fill its frame.
        self._at_rim = ((self._near[0] @ (self._cover == 0).astype(float)) * self._near[1]).any(axis=1)

    def extremes(self, sets: Any, watch: Watch) -> tuple[Floats, Floats]:
        """Return the least and largest chances of the sets of each cell, in it and in all others."""
        inside, outside = np.zeros((2, 2, *sets.shape[:2]))
        kinds = sets.shape[1]
        starts = range(0, len(sets), _CELLS)
        with watching(starts, len(starts), BOUNDING, watch) as watched:
            for start in watched:
                chosen = sets[start : start + _CELLS].astype(float)
                folded = chosen.reshape(-1, *self._shape)
                chances = self._factors[0] @ folded @ self._factors[1].T
                added = self._factors[2] * (chosen @ self._sizes)
                for place, cell in enumerate(range(start, start + len(chosen))):
                    some = slice(place * kinds, (place + 1) * kinds)
                    inside[:, cell] = self._ends(cell, folded[some]) + added[place]
                    if len(sets) > 1:
                        outside[:, cell] = self._elsewhere(cell, chances[some], folded[some]) + added[place]
        return inside, outside

    def _elsewhere(self, cell: int, chances: Floats, sets: Floats) -> Floats:
        own = [each[cell] for each in self._has]
        alone = np.logical_and.outer(*own) & (self._cover == 1)
        shared = (self._cover > 0) & ~alone
        if shared.all():
            return np.stack([chances.min(axis=(1, 2)), chances.max(axis=(1, 2))])
        kept = chances[:, shared]
        found = [np.stack([kept.min(axis=1, initial=np.inf), kept.max(axis=1, initial=-np.inf)])]
        near = [each[:, alone.any(axis=1 - axis)].any(axis=1) for axis, each in enumerate(self._near)]
        looked_at = self._at_rim | (near[0] & near[1])
        looked_at[cell] = False
        found += [self._ends(other, sets) for other in np.flatnonzero(looked_at).tolist()]
        ends = np.array(found)
        return np.stack([ends[:, 0].min(axis=0), ends[:, 1].max(axis=0)])

    def _ends(self, cell: int, sets: Floats) -> Floats:
        """Return the extremes of sets in a cell, without what every bin has in addition."""
        first, second, _ = self._own[cell]
        chances = first @ sets @ second.T
        return np.stack([chances.min(axis=(1, 2)), chances.max(axis=(1, 2))])


def _beside(along: Counts, own: Counts) -> Any:
    """Return which crossings are an end of the gaps between crossings that some places lie in, or on.

    The last and the first are beside each other, as they are on a circle; on a line that only means a cell
    more to look at.
    """
    found = np.zeros(len(along), bool)
    after = np.searchsorted(along, own)
    found[after % len(along)] = True
    found[after - 1] = True
    found[np.searchsorted(along, own, "right") % len(along)] = True
    return found


def _listed(
    mechanism: SpatialMechanism, places: Iterable[Counts], sets: Any, groups: Counts, watch: Watch
) -> tuple[Floats, Floats]:
    """Return the extremes where each cell has a list of places."""
    cells = list(places)
    whole = np.concatenate(cells)
    unique, which = np.unique(whole, axis=0, return_inverse=True)
    parts = np.split(which.ravel(), np.cumsum([len(each) for each in cells])[:-1])
    own = [np.unique(each) for each in parts]
    cover = np.bincount(np.concatenate(own), minlength=len(unique))
    law = np.concatenate(
        [
            grouped(mechanism._bin_masses(unique[start : start + _AT_A_TIME].astype(np.uint32)), groups)
            for start in range(0, len(unique), _AT_A_TIME)
        ]
    )
    inside, outside = np.zeros((2, 2, *sets.shape[:2]))
    with watching(own, len(own), BOUNDING, watch) as watched:
        for cell, mine in enumerate(watched):
            chances = law @ sets[cell].T.astype(float)
            inside[:, cell] = chances[mine].min(axis=0), chances[mine].max(axis=0)
            left = cover.copy()
            left[mine] -= 1
            if left.any():
                rest = chances[left > 0]
                outside[:, cell] = rest.min(axis=0), rest.max(axis=0)
    return inside, outside


def grouped(masses: Floats, groups: Counts) -> Floats:
    """Return chances of groups of bins from those of bins."""
    order = np.argsort(groups, kind="stable")
    starts = np.searchsorted(groups[order], np.arange(groups.max() + 1))
    return np.add.reduceat(masses[:, order], starts, axis=1)
