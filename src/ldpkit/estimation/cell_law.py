"""What a report says about the cell that its location lies in: the exact law of a mechanism, cell by cell."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from ldpkit.core.domains.cellgrid import CellGrid
from ldpkit.core.typing import Counts, Floats
from ldpkit.core.watching import Onlooker, Watch, watching
from ldpkit.estimation.cell_extremes import BOUNDING, grouped, set_extremes
from ldpkit.estimation.cell_places import axis_laws, bin_sizes, laws_within
from ldpkit.mechanisms.spatial.mechanism import SpatialMechanism

__all__ = ["Detectors", "bins_of", "cell_law", "detectors"]

_WITHIN = 4  # places along each edge of a cell, at least, over which the law is averaged
_ACROSS = 64  # and along each edge of the map
_MOST_WITHIN = 4096  # points along an edge, where a law has steps
_SIZES = (1, 3, 10, 30, 100, 300)  # bins of a detector
_POSTERIORS = (0.02, 0.2, 0.5, 0.9)  # how likely a bin of a further detector comes from the cell, at least
_NINE = (np.array([1e-6, 0.5, 1 - 1e-6]),) * 2  # points of a cell, surely within it
_FEW_BINS = 32  # along each coordinate, for detectors
_LARGEST = 2.0**63 - 1024  # of the doubles that are 64-bit integers


@lru_cache(maxsize=2)  # up to 134 MB each
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
    counts = [_points_along(*each) for each in zip(grid.shape, _bin_edges(mechanism), strict=True)]
    steps = [(np.arange(count) + 0.5) / count for count in counts]
    law = np.zeros((len(grid), mechanism.tally_size))
    factors = axis_laws(mechanism, grid, steps, mechanism.bin_edges)
    if factors is not None:
        first, second, even = factors[0].mean(axis=1), factors[1].mean(axis=1), factors[2]
        _multiplied(first, second, law)
        law += even * bin_sizes(mechanism.bin_edges)
    else:
        for masses, cells in laws_within(mechanism, grid, steps):
            starts = np.flatnonzero(np.diff(cells, prepend=-1))
            law[cells[starts]] = np.add.reduceat(masses, starts, axis=0)
    total = law.sum(axis=1, keepdims=True)
    np.divide(law, total, out=law, where=total > 0)
    law.setflags(write=False)
    return law


def _bin_edges(mechanism: SpatialMechanism) -> tuple[Counts | None, ...]:
    """Return where laws change along the frame, if they change in steps and the region has all of it."""
    is_stepped = mechanism.has_steps and mechanism.domain.region.fills_frame
    return mechanism.bin_edges if is_stepped else (None, None)


def _points_along(size: int, edges: Counts | None) -> int:
    """Return how many points of a cell stand for it along an edge; none of their parts holds a step.

    Examples
    --------
    >>> _points_along(16, None), _points_along(16, np.array([0, 1, 2, 3]))
    (4, 6)
    """
    least = max(_WITHIN, -(-_ACROSS // size))
    if edges is None:
        return least
    parts = int(edges[-1]) // int(np.gcd.reduce(np.diff(edges)))
    each = math.lcm(size, parts) // size
    return min(-(-least // each) * each, _MOST_WITHIN)


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
    coarse : array of bool, shape (cells, sizes, groups)
        The sets, as groups of bins.
    groups : array of int
        The group of each joint bin.
    inside, outside : arrays, shape (2, cells, sizes)
        The least and the largest chance of a set, for locations in the cell and for all others;
        0 for cells outside the region.
    typical : array, shape (cells, sizes)
        The chance of a set for people who are equally likely everywhere.
    is_proven : bool
        Whether the least and largest chances are those over all locations, or over nine points of each
        cell.
    """

    coarse: Any
    groups: Counts
    inside: Floats
    outside: Floats
    typical: Floats
    is_proven: bool = False

    def sets(self, which: Any) -> Any:
        """Return one set for each cell, the one of that number, as bins: shape (cells, bins)."""
        return self.coarse[np.arange(len(self.coarse)), which][:, self.groups]

    def hits(self, which: Any, counts: Counts) -> Counts:
        """Return how many reports lie in one set for each cell."""
        grouped_counts = np.bincount(self.groups, counts, self.coarse.shape[2])
        found: Floats = self.coarse[np.arange(len(self.coarse)), which] @ grouped_counts
        whole = np.minimum(np.rint(found), _LARGEST).astype(np.int64)
        return np.asarray(np.minimum(whole, counts.sum()))  # sums of doubles may pass it from 2^53 on


@lru_cache(maxsize=2)
def detectors(
    mechanism: SpatialMechanism,
    grid: CellGrid,
    onlooker: Onlooker = Onlooker(),  # noqa: B008 - frozen
) -> Detectors:
    """Return sets of bins that tell each cell from the rest, the same whatever people report.

    They are chosen by the chances at nine points of each cell. The least and largest chances are those
    over all locations, where the mechanism knows which places bound the others; else those at the nine
    points.
    """
    groups, edges = _coarse(mechanism), _coarse_edges(mechanism)
    least, typical, held = _nine_points(mechanism, grid, groups, edges)
    bins = least.shape[1]
    sizes = sorted({min(size, bins - 1) for size in _SIZES if size < 2 * bins})
    chosen = np.zeros((len(grid), len(sizes) + len(_POSTERIORS), bins), bool)
    for cell in np.flatnonzero(held).tolist():
        order = np.argsort(-least[cell] / typical, kind="stable")
        for each, size in enumerate(sizes):
            chosen[cell, each, order[:size]] = True
    # Bins that most likely come from the cell, and those that rarely come from elsewhere.
    posterior = grouped(cell_law(mechanism, grid), groups)
    total = posterior.sum(axis=0)
    np.divide(posterior, total, out=posterior, where=total > 0)
    for each, least_share in enumerate(_POSTERIORS):
        np.greater(posterior, least_share, out=chosen[:, len(sizes) + each])
    bounds = set_extremes(mechanism, grid, chosen, groups, edges, held, onlooker.watch)
    is_proven = bounds is not None
    inside, outside = bounds or _at_nine_points(mechanism, grid, groups, chosen, onlooker.watch)
    typical_chances = np.stack([each @ typical for each in chosen])
    return Detectors(chosen, groups, inside, outside, typical_chances, is_proven)


def _nine_points(
    mechanism: SpatialMechanism, grid: CellGrid, groups: Counts, edges: tuple[Counts, ...]
) -> tuple[Any, Floats, Any]:
    """Return the least chances of groups in each cell, the mean ones of all, and which cells there are."""
    held, count = np.zeros(len(grid), bool), int(groups.max()) + 1
    least = np.zeros((len(grid), count), np.float32)
    factors = axis_laws(mechanism, grid, _NINE, edges)
    if factors is not None:  # factors are not negative, so the least product is that of the least ones
        sizes = factors[2] * bin_sizes(edges)
        _multiplied(factors[0].min(axis=1), factors[1].min(axis=1), least)
        least += sizes.astype(np.float32)
        typical = np.outer(*(each.mean(axis=(0, 1)) for each in factors[:2])).ravel() + sizes
        held[:] = True
        return least, typical, held
    typical, points = np.zeros(count), 0
    for masses, cells in laws_within(mechanism, grid, _NINE):
        law, starts = grouped(masses, groups), np.flatnonzero(np.diff(cells, prepend=-1))
        least[cells[starts]] = np.minimum.reduceat(law, starts, axis=0)
        held[cells] = True
        typical += law.sum(axis=0)
        points += len(law)
    return least, typical / max(points, 1), held


def _at_nine_points(
    mechanism: SpatialMechanism, grid: CellGrid, groups: Counts, chosen: Any, watch: Watch
) -> tuple[Floats, Floats]:
    """Return the least and largest chances of sets at nine points of their cell, and of all others."""
    some = [(grouped(each, groups), cells) for each, cells in laws_within(mechanism, grid, _NINE)]
    law = np.concatenate([each.astype(np.float32) for each, _ in some])
    owners = np.concatenate([cells for _, cells in some])
    inside, outside = np.zeros((2, 2, *chosen.shape[:2]))
    cells = np.unique(owners).tolist()
    with watching(cells, len(cells), BOUNDING, watch) as watched:
        for cell in watched:
            chances = law @ chosen[cell].T.astype(np.float32)
            first, last = np.searchsorted(owners, [cell, cell + 1])
            inside[:, cell] = chances[first:last].min(axis=0), chances[first:last].max(axis=0)
            if last - first < len(law):
                rest = chances[:first], chances[last:]
                outside[0, cell] = np.minimum(*(each.min(axis=0, initial=np.inf) for each in rest))
                outside[1, cell] = np.maximum(*(each.max(axis=0, initial=-np.inf) for each in rest))
    return inside, outside


def _multiplied(first: Floats, second: Floats, into: Any) -> None:
    """Write the products of the factors of columns and rows, one row for each cell."""
    shape = (len(first), len(second), first.shape[1], second.shape[1])
    np.multiply(
        first[:, None, :, None], second[None, :, None, :], out=into.reshape(shape), casting="same_kind"
    )


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
