"""Intervals for the share of people in a cell, which cover whatever the distribution within and around it.

Some bins are a detector of a cell: a report lies in them with a chance of at least a if its
location is in the cell, and of at least b if it is not. So the chance of the detector is at
least a m + b (1 - m) for a share of m, which bounds m from above; the largest chances bound it
from below. The chance itself is bounded by the exact binomial law of its count. Which bins they
are depends on the mechanism and the number of reports, never on the reports.

The least and largest chances are those over all locations of a cell, where the mechanism knows which of
its places bound the others: all but disc windows, smooth laws and round regions seen from a reference. For
these they are the ones at nine points of each cell, and the map says so.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from ldpkit.core.binomial import highest_chance, lowest_chance
from ldpkit.core.domains.cellgrid import CellGrid
from ldpkit.core.typing import Counts, Floats
from ldpkit.core.watching import Onlooker
from ldpkit.estimation.cell_law import Detectors, detectors
from ldpkit.mechanisms.spatial.mechanism import SpatialMechanism

__all__ = ["chosen_detectors", "chance_ends", "share_bounds", "solved"]

_MOST_REPORTS = 1 << 36  # beyond them the exact quantiles take milliseconds each, and tell nothing more
_BUSY = 0.2  # the share of a cell for which lower bounds are made good


def chance_ends(hits: Any, n: int, error: float) -> tuple[Floats, Floats]:
    """Return the ends of the exact binomial intervals of chances, each missed with half of `error` at most.

    Examples
    --------
    >>> low, high = chance_ends(np.array([0, 5]), 10, 0.05)
    >>> low.round(3).tolist(), high.round(3).tolist()
    ([0.0, 0.187], [0.308, 0.813])
    """
    # The same shares of fewer reports have wider intervals, which cover as well.
    fewer = max(1.0, n / _MOST_REPORTS)
    counts, runs = np.asarray(hits, float) / fewer, n / fewer
    return lowest_chance(counts, runs, error / 2), highest_chance(counts, runs, error / 2)


def solved(
    low: Floats, high: Floats, inside: tuple[Any, Any], outside: tuple[Any, Any]
) -> tuple[Floats, Floats]:
    """Return the ends of shares from those of chances, given the least and largest chances in and out.

    Examples
    --------
    >>> from_low, to_high = solved(np.array(0.4), np.array(0.5), (0.9, 0.9), (0.1, 0.1))
    >>> from_low.round(3).tolist(), to_high.round(3).tolist()
    (0.375, 0.5)
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        least = np.where(inside[1] > outside[1], (low - outside[1]) / (inside[1] - outside[1]), 0.0)
        most = np.where(inside[0] > outside[0], (high - outside[0]) / (inside[0] - outside[0]), 1.0)
    return np.clip(least, 0.0, 1.0), np.clip(most, 0.0, 1.0)


@lru_cache(maxsize=2)  # they hold detectors, up to 45 MB each
def chosen_detectors(
    mechanism: SpatialMechanism,
    grid: CellGrid,
    n: int,
    error: float,
    onlooker: Onlooker = Onlooker(),  # noqa: B008 - frozen
) -> tuple[Detectors, Counts, Counts]:
    """Return the detectors of a map and which of each cell is best for its lower and its upper bound."""
    found = detectors(mechanism, grid, onlooker)
    even = found.typical
    _, high = chance_ends(n * even, n, error)
    _, most = solved(even, high, tuple(found.inside), tuple(found.outside))
    busy = _BUSY * found.inside.mean(axis=0) + (1 - _BUSY) * even
    low, _ = chance_ends(n * busy, n, error)
    least, _ = solved(low, low, tuple(found.inside), tuple(found.outside))
    return found, np.argmax(least, axis=1), np.argmin(most, axis=1)


def share_bounds(
    mechanism: SpatialMechanism,
    grid: CellGrid,
    counts: Counts,
    level: float,
    onlooker: Onlooker = Onlooker(),  # noqa: B008 - frozen
) -> tuple[Floats, Floats]:
    """Return for each cell an interval of the share of people in it.

    Parameters
    ----------
    mechanism : SpatialMechanism
        What made the reports.
    grid : CellGrid
        The cells.
    counts : array of int
        How many reports lie in each joint bin of a tally.
    level : float
        With which probability, at least, the interval of a cell contains its share.
    onlooker : Onlooker
        Shows progress.

    Examples
    --------
    >>> import ldpkit
    >>> mechanism = ldpkit.get("grid_response", ((0, 0), (1, 1)), epsilon=4, columns=2, rows=2)
    >>> grid = CellGrid.of(mechanism.domain, 2, 2)
    >>> low, high = share_bounds(mechanism, grid, np.array([70, 10, 10, 10]), 0.95)
    >>> low.round(2).tolist(), high.round(2).tolist()
    ([0.63, 0.03, 0.03, 0.03], [0.83, 0.17, 0.17, 0.17])
    """
    n, error = int(counts.sum()), 1 - level
    found, lower, upper = chosen_detectors(mechanism, grid, n, error, onlooker)
    cells = np.arange(len(grid))
    ends = []
    for which in (lower, upper):
        low, high = chance_ends(found.hits(which, counts), n, error)
        inside, outside = (tuple(each[:, cells, which]) for each in (found.inside, found.outside))
        ends.append(solved(low, high, inside, outside))
    empty = found.inside[1, :, 0] == 0  # outside the region: every report is possible from all within
    return np.where(empty, 0.0, ends[0][0]), np.where(empty, 0.0, ends[1][1])
