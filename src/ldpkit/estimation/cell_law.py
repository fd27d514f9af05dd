"""What a report says about the cell that its location lies in: the exact law of a mechanism, cell by cell."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from ldpkit.core.domains.cellgrid import CellGrid
from ldpkit.core.typing import Counts, Floats
from ldpkit.estimation.cell_extremes import set_extremes
from ldpkit.mechanisms.spatial.mechanism import SpatialMechanism

__all__ = ["Detectors", "bins_of", "cell_law", "detectors"]

_WITHIN = 4  # places along each edge of a cell, at least, over which the law is averaged
_ACROSS = 64  # and along each edge of the map
_AT_A_TIME = 1024  # places whose laws are in memory together
_SIZES = (1, 3, 10, 30, 100, 300)  # bins of a detector
_POSTERIORS = (0.02, 0.2, 0.5, 0.9)  # how likely a bin of a further detector comes from the cell, at least
_INSIDE = 1e-6  # of a cell: how far from its edge a point is surely within
_FEW_BINS = 32  # along each coordinate, for detectors


@lru_cache(maxsize=8)
def cell_law(mechanism: SpatialMechanism, grid: CellGrid) -> Floats:
    """Return the chance of each joint bin of a tally for locations even within each cell, one row a cell.

    Cells that lie outside the region have a row of zeros: nobody is there.

    Examples
    --------
    >>> import ldpkit
    >>> mechanism = ldpkit.get("grid_response", ((0, 0), (1, 1)), epsilon=4, columns=2, rows=2)
    >>> cell_law(mechanism, CellGrid.of(mechanism.domain, 2, 2)).round(3)[0].tolist()
    [0.948, 0.017, 0.017, 0.017]
    """
    region = grid.domain.region
    column, row = np.divmod(np.arange(len(grid)), grid.rows)
    counts = [max(_WITHIN, -(-_ACROSS // size)) for size in grid.shape]
    steps = [(np.arange(count) + 0.5) / count for count in counts]
    inner = np.stack(np.meshgrid(*steps, indexing="ij"), axis=-1).reshape(-1, 2)
    law = np.zeros((len(grid), mechanism.tally_size))
    for start in range(0, len(grid), max(1, _AT_A_TIME // len(inner))):
        some = slice(start, start + max(1, _AT_A_TIME // len(inner)))
        corner = np.stack([column[some], row[some]], axis=1)[:, None, :]
        points = region.from_shares(((corner + inner) / grid.shape).reshape(-1, 2))
        inside = np.asarray(region.contains(points), bool)
        cells = np.repeat(np.arange(len(grid))[some], len(inner))
        if inside.any():
            masses = mechanism._bin_masses(mechanism._place(points[inside]))
            np.add.at(law, cells[inside], masses)
    total = law.sum(axis=1, keepdims=True)
    shares: Floats = np.divide(law, total, out=np.zeros_like(law), where=total > 0)
    shares.setflags(write=False)
    return shares


def bins_of(mechanism: SpatialMechanism, reports: Any) -> Counts:
    """Return the joint bin of a tally that each report falls in."""
    checked = mechanism.check_reports(reports)
    columns = checked[:, None] if checked.ndim == 1 else checked
    bins = np.zeros(len(checked), np.int64)
    for column, shift, size in zip(columns.T, mechanism.bin_shifts, mechanism.bin_shape, strict=True):
        bins = bins * size + (column >> shift)
    return bins


@dataclass(frozen=True, eq=False)
class Detectors:
    """For each cell of a map some sets of bins, and how likely a report in them is from inside and outside.

    Parameters
    ----------
    sets : array of bool, shape (cells, sizes, bins)
        The sets.
    inside, outside : arrays, shape (2, cells, sizes)
        The least and the largest chance of a set, for locations in the cell and for all others;
        0 for cells outside the region.
    typical : array, shape (cells, sizes)
        The chance of a set for people who are equally likely everywhere.
    is_proven : bool
        Whether the least and largest chances are those over all locations, or over nine points of each
        cell.
    """

    sets: Any
    inside: Floats
    outside: Floats
    typical: Floats
    is_proven: bool = False


@lru_cache(maxsize=4)
def detectors(mechanism: SpatialMechanism, grid: CellGrid) -> Detectors:
    """Return sets of bins that tell each cell from the rest, the same whatever people report.

    They are chosen by the chances at nine points of each cell. The least and largest chances are those
    over all locations, where the mechanism knows which places bound the others; else those at the nine
    points.
    """
    points, owners = _lattice(grid)
    groups = _coarse(mechanism)
    law = np.concatenate(
        [
            _grouped(mechanism._bin_masses(mechanism._place(points[start : start + _AT_A_TIME])), groups)
            for start in range(0, len(points), _AT_A_TIME)
        ]
    ).astype(np.float32)
    typical = law.mean(axis=0)
    bins = law.shape[1]
    sizes = sorted({min(size, bins - 1) for size in _SIZES if size < 2 * bins})
    kinds = len(sizes) + len(_POSTERIORS)
    chosen = np.zeros((len(grid), kinds, bins), bool)
    within = owners[:, None] == np.arange(len(grid))
    for cell in np.unique(owners).tolist():
        order = np.argsort(-law[within[:, cell]].min(axis=0) / typical, kind="stable")
        for each, size in enumerate(sizes):
            chosen[cell, each, order[:size]] = True
    # Bins that most likely come from the cell, and those that rarely come from elsewhere.
    even = _grouped(cell_law(mechanism, grid), groups)
    posterior = np.divide(even, even.sum(axis=0), out=np.zeros_like(even), where=even.sum(axis=0) > 0)
    for each, least_share in enumerate(_POSTERIORS):
        chosen[:, len(sizes) + each] = posterior > least_share
    flat = chosen.reshape(-1, bins)
    chances = (law @ flat.T.astype(np.float32)).reshape(len(law), len(grid), kinds).astype(float)

    def ends(where: Any) -> Floats:
        masked = where[:, :, None]
        least = np.where(masked, chances, np.inf).min(axis=0)
        most = np.where(masked, chances, -np.inf).max(axis=0)
        return np.where(where.any(axis=0)[:, None], np.stack([least, most]), 0.0)

    sets, typical_chances = chosen[:, :, groups], chances.mean(axis=0)
    bounds = set_extremes(mechanism, grid, flat, groups, _coarse_edges(mechanism))
    if bounds is None:
        return Detectors(sets, ends(within), ends(~within), typical_chances)
    least, most = (each.reshape(len(grid), len(grid), kinds) for each in bounds)
    held = np.isin(np.arange(len(grid)), owners)  # cells that the region has a part of
    own, other = _own_and_other(least, most, held)
    return Detectors(sets, own, other, typical_chances, is_proven=True)


def _own_and_other(least: Floats, most: Floats, held: Any) -> tuple[Floats, Floats]:
    """Return the ends of chances in the cell that a set is for, and in all others of the region."""
    cells = np.arange(len(held))
    own = np.where(held[:, None], np.stack([least[cells, cells], most[cells, cells]]), 0.0)
    other = np.zeros_like(own)
    for cell in cells[held].tolist():
        rest = held & (cells != cell)
        if rest.any():
            other[:, cell] = least[rest, cell].min(axis=0), most[rest, cell].max(axis=0)
    return own, other


def _lattice(grid: CellGrid) -> tuple[Floats, Counts]:
    """Return nine points of each cell that lies in the region, and which cell they are of."""
    region = grid.domain.region
    steps = np.array([_INSIDE, 0.5, 1 - _INSIDE])
    inner = np.stack(np.meshgrid(steps, steps, indexing="ij"), axis=-1).reshape(-1, 2)
    corners = np.stack(np.divmod(np.arange(len(grid)), grid.rows), axis=1)
    points = region.from_shares(((corners[:, None, :] + inner) / grid.shape).reshape(-1, 2))
    here = np.asarray(region.contains(points), bool)
    return points[here], np.repeat(np.arange(len(grid)), len(inner))[here]


def _coarse(mechanism: SpatialMechanism) -> Counts:
    """Return the group of each bin: neighbours together where there are very many."""
    shape = mechanism.bin_shape
    if len(shape) == 1:
        return np.arange(shape[0])
    factors = [-(-size // _FEW_BINS) for size in shape]
    first, second = (np.arange(size) // factor for size, factor in zip(shape, factors, strict=True))
    return np.asarray(first[:, None] * (second[-1] + 1) + second).ravel()


def _coarse_edges(mechanism: SpatialMechanism) -> tuple[Counts, ...]:
    """Return the edges of the groups of bins along each coordinate, in cells."""
    edges = mechanism.bin_edges
    if len(edges) == 1:
        return edges
    factors = [-(-size // _FEW_BINS) for size in mechanism.bin_shape]
    return tuple(
        np.unique(np.append(each[::factor], each[-1])) for each, factor in zip(edges, factors, strict=True)
    )


def _grouped(masses: Floats, groups: Counts) -> Floats:
    order = np.argsort(groups, kind="stable")
    starts = np.searchsorted(groups[order], np.arange(groups.max() + 1))
    return np.add.reduceat(masses[:, order], starts, axis=1)
