"""NGram, L-SRR and ATP on the same walks: as coded, and with the epsilon that they state."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ldpkit.core.domains.trajectories import Trajectories
from ldpkit.core.parameters import LARGEST_EPSILON
from ldpkit.core.random import RandomSource
from ldpkit.core.typing import Floats
from ldpkit.mechanisms.kinds import is_whole_trajectory, walk_class
from ldpkit.mechanisms.spatial.places import few_places
from ldpkit.papers.tracs.published_rivals import published_atp, published_ngram, published_srr
from ldpkit.papers.tracs.runs import SQUARE

__all__ = ["DIAGONAL", "EDGE", "RADII", "RIVALS", "calibrated", "grid_points", "published"]

RIVALS = {"NGram": "ngram", "L-SRR": "srr", "ATP": "atp"}
"""What the thesis compares with, and the mechanism of the house."""

RADII = (0.3, 0.6)
EDGE, DIAGONAL = 0.75, 0.75 * math.sqrt(2)
"""The reach of NGram: three quarters of an edge in figure 6.9 of CHI, of the diagonal elsewhere."""

_GROUPS = {"srr": 128}  # the others say how many places they are suited to


def grid_points(side: int) -> Floats:
    """Return the points of the unit square that figure 6.8 takes for its places: both ends included.

    Examples
    --------
    >>> len(grid_points(10))
    121
    """
    line = np.arange(side + 1) / side
    return np.stack(np.meshgrid(line, line, indexing="ij"), axis=-1).reshape(-1, 2)


def published(
    name: str,
    walks: Trajectories,
    places: Floats,
    epsilon: Any,
    source: RandomSource,
    reach: float = DIAGONAL,
) -> Floats:
    """Return the reported points of a rival as coded; epsilon is for each location, or one for all."""
    budgets = np.broadcast_to(np.asarray(epsilon, float), len(walks.points))
    if name == "NGram":
        return published_ngram(walks, places, budgets, source, reach)
    if name == "L-SRR":
        return published_srr(walks, places, budgets, source, RADII)
    return published_atp(walks, places, budgets, source)


def calibrated(name: str, walks: Trajectories, places: Floats, epsilon: Any, source: RandomSource) -> Floats:
    """Return the reported points of a rival that keeps epsilon, among the middles of groups of places.

    Epsilon is for all locations, or an array with one for each trajectory; more than 20 is taken for 20.
    """
    kind: Any = walk_class(RIVALS[name])
    plane = few_places(SQUARE, places, _GROUPS.get(kind.name) or kind.few_places)
    budgets = np.minimum(np.broadcast_to(np.asarray(epsilon, float), len(walks)), LARGEST_EPSILON)
    answers = np.empty_like(walks.points)
    for budget in np.unique(budgets).tolist():
        members = np.flatnonzero(budgets == budget)
        rows = np.flatnonzero(np.isin(walks.owners, members))
        some, mechanism = walks.select(members), kind(plane, budget)
        reports = mechanism.privatize(some if is_whole_trajectory(kind) else some.points, rng=source)
        answers[rows] = mechanism.points_of(reports)
    return answers
