"""The least and largest chance of sets of bins, over all locations of each cell of a map: proven.

A mechanism says which of its places bound the others (`bends`). For windows these are where an end
of the window meets the edge of a bin: in between, the chance of a set is linear along each
coordinate, so it is least and largest where the bends of both cross. For sites they are all that a
location of the cell can have.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ldpkit.core.domains.cellgrid import CellGrid
from ldpkit.core.typing import Counts, Floats
from ldpkit.mechanisms.spatial.mechanism import SpatialMechanism

__all__ = ["set_extremes"]

_AT_A_TIME = 512  # places whose laws are in memory together
_SETS = 128  # sets that are looked at together


def set_extremes(
    mechanism: SpatialMechanism, grid: CellGrid, sets: Any, groups: Counts, edges: tuple[Counts, ...]
) -> tuple[Floats, Floats] | None:
    """Return the least and the largest chance of each set, for locations of each cell: a row a cell.

    Parameters
    ----------
    mechanism : SpatialMechanism
        What makes the reports.
    grid : CellGrid
        The cells.
    sets : array of bool, shape (sets, groups)
        Sets of groups of bins.
    groups : array of int
        The group of each joint bin.
    edges : tuple of array
        The edges of the groups along each coordinate, in cells of the mechanism.

    Returns
    -------
    tuple of array, or None
        None where the mechanism does not know which places bound the others.
    """
    least, most = np.zeros((2, len(grid), len(sets)))
    columns, rows = np.divmod(np.arange(len(grid)), grid.rows)
    for cell, corner in enumerate(np.stack([columns, rows], axis=1)):
        low, high = corner / grid.shape, (corner + 1) / grid.shape
        places = mechanism.bends(low, high, edges)
        if places is None:
            return None
        if isinstance(places, tuple):
            least[cell], most[cell] = _crossed(mechanism, places, sets, edges)
        else:
            least[cell], most[cell] = _listed(mechanism, places, sets, groups)
    return least, most


def _crossed(
    mechanism: SpatialMechanism, places: tuple[Counts, Counts], sets: Any, edges: tuple[Counts, ...]
) -> tuple[Floats, Floats]:
    first, second, even = mechanism.factors(places, edges)
    sizes = np.outer(*(np.diff(each).astype(float) for each in edges))
    shape = (-1, len(edges[0]) - 1, len(edges[1]) - 1)
    least, most = np.empty((2, len(sets)))
    for start in range(0, len(sets), _SETS):
        some = slice(start, start + _SETS)
        chosen = sets[some].reshape(shape).astype(float)
        chances = first @ chosen @ second.T
        added = even * (chosen * sizes).sum(axis=(1, 2))
        least[some] = chances.min(axis=(1, 2)) + added
        most[some] = chances.max(axis=(1, 2)) + added
    return least, most


def _listed(mechanism: SpatialMechanism, places: Counts, sets: Any, groups: Counts) -> tuple[Floats, Floats]:
    members = np.zeros((len(groups), len(sets)))
    members[:] = sets[:, groups].T
    least, most = np.full(len(sets), np.inf), np.full(len(sets), -np.inf)
    for start in range(0, len(places), _AT_A_TIME):
        law = mechanism._bin_masses(places[start : start + _AT_A_TIME].astype(np.uint32))
        chances = law @ members
        least, most = np.minimum(least, chances.min(axis=0)), np.maximum(most, chances.max(axis=0))
    return least, most
