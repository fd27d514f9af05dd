"""How far reported trajectories are from the true ones: distances, range queries and hotspots.

Not in the registry of metrics, which compares frequencies: these compare points in their order.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ldpkit.core.domains.plane import as_points
from ldpkit.core.domains.trajectories import Trajectories
from ldpkit.core.errors import InvalidInputError, InvalidParameterError
from ldpkit.core.parameters import check_whole
from ldpkit.core.typing import Floats

__all__ = [
    "average_error",
    "coded_hotspot_difference",
    "errors_of_points",
    "hotspot_difference",
    "hotspots_of",
    "range_query",
    "trajectory_errors",
]


def errors_of_points(truth: Any, answers: Any) -> Floats:
    """Return the distance from each point to its answer.

    Examples
    --------
    >>> errors_of_points([(0, 0), (1, 1)], [(3, 4), (1, 1)]).tolist()
    [5.0, 0.0]
    """
    known, found = as_points(truth), as_points(answers)
    if known.shape != found.shape:
        raise InvalidInputError(f"there are {len(found)} answers for {len(known)} points")
    return np.asarray(np.hypot(*(found - known).T))


def average_error(truth: Any, answers: Any) -> float:
    """Return the mean distance over all points."""
    return float(errors_of_points(truth, answers).mean())


def _by_trajectory(trajectories: Trajectories, values: Any) -> Floats:
    sums = np.add.reduceat(np.asarray(values, float), trajectories.offsets[:-1])
    return np.asarray(sums)


def trajectory_errors(trajectories: Trajectories, answers: Any) -> Floats:
    """Return the mean distance over the points of each trajectory: AE of the thesis.

    Its mean over trajectories gives a short trajectory as much weight as a long one, unlike
    `average_error`.

    Examples
    --------
    >>> walks = Trajectories.from_list([[(0, 0), (0, 0)], [(1, 1)]])
    >>> trajectory_errors(walks, [(0, 1), (0, 3), (1, 1)]).tolist()
    [2.0, 0.0]
    """
    return _by_trajectory(trajectories, errors_of_points(trajectories.points, answers)) / trajectories.lengths


def range_query(trajectories: Trajectories, answers: Any, radius: float) -> Floats:
    """Return the share of points of each trajectory whose answer is at most a radius away.

    Examples
    --------
    >>> walks = Trajectories.from_list([[(0, 0), (0, 0)], [(1, 1)]])
    >>> range_query(walks, [(0, 1), (0, 3), (1, 1)], 1).tolist()
    [0.5, 1.0]
    """
    if not radius > 0:
        raise InvalidParameterError(f"the radius must be positive, got {radius!r}")
    near = errors_of_points(trajectories.points, answers) <= radius
    return _by_trajectory(trajectories, near) / trajectories.lengths


def hotspots_of(points: Any, share: float = 0.2) -> Floats:
    """Return the most frequent locations, this share of all different ones; ties as they come first."""
    rows, first, counts = np.unique(as_points(points), axis=0, return_index=True, return_counts=True)
    count = check_whole(int(len(rows) * share), "the number of hotspots", least=1)
    return np.asarray(rows[np.lexsort((first, -counts))[:count]])


def _is_hot(points: Any, hotspots: Any) -> Any:
    every = {tuple(each) for each in as_points(hotspots).tolist()}
    return np.array([tuple(each) in every for each in as_points(points).tolist()])


def hotspot_difference(trajectories: Trajectories, answers: Any, hotspots: Any) -> Floats:
    """Return for each trajectory how many points in hotspots have an answer outside: CD by its formula.

    Examples
    --------
    >>> walks = Trajectories.from_list([[(0, 0), (1, 1)]])
    >>> swapped = [(1, 1), (0, 0)]
    >>> hotspot_difference(walks, swapped, [(0, 0)]).tolist()
    [1.0]
    >>> coded_hotspot_difference(walks, swapped, [(0, 0)]).tolist()
    [0.0]
    """
    before, after = _is_hot(trajectories.points, hotspots), _is_hot(answers, hotspots)
    return _by_trajectory(trajectories, before & ~after)


def coded_hotspot_difference(trajectories: Trajectories, answers: Any, hotspots: Any) -> Floats:
    """Return for each trajectory the difference of two counts of hotspots, as the published code computes CD.

    A point that leaves the hotspots is made up for by another that enters them, so this is never more
    than what is lost or gained, and may be none at all.
    """
    before, after = _is_hot(trajectories.points, hotspots), _is_hot(answers, hotspots)
    return np.abs(_by_trajectory(trajectories, before) - _by_trajectory(trajectories, after))
