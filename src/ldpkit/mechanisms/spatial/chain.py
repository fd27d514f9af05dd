"""Algorithm 1: TraCS-D along a trajectory, with the previous report as the reference of the next.

Every location is reported with epsilon, given the reports before it, which are public: the cost
of a trajectory is the sum, as with any reference. But a report only has a meaning together
with the one before it, so reports do not tally, and one that went astray leads the next astray.
"""

from __future__ import annotations

import numpy as np

from ldpkit.core.domains.region import PlaneRegion
from ldpkit.core.domains.regions import Rectangle
from ldpkit.core.errors import InvalidInputError
from ldpkit.core.random import RandomSource, resolve
from ldpkit.core.typing import Counts, Floats, Reports
from ldpkit.mechanisms.spatial.directions import from_reference, seen_from
from ldpkit.mechanisms.spatial.tracs_d import TracsD

__all__ = ["chain", "chained_points", "steps_along"]


def steps_along(offsets: Counts) -> list[tuple[Counts, Counts]]:
    """Return for each step along the trajectories which still go on, and where their points are."""
    lengths = np.diff(offsets)
    order = np.argsort(-lengths, kind="stable")  # those that go on longest come first
    left = np.searchsorted(-lengths[order], -np.arange(1, lengths.max(initial=0) + 1), "right")
    return [(order[:count], offsets[:-1][order[:count]] + step) for step, count in enumerate(left.tolist())]


def _surely_seen(region: PlaneRegion) -> PlaneRegion:
    """Return a region that is seen from every point within: the region itself where it is convex."""
    return region if region.is_convex else Rectangle(*region.box)


def chain(
    mechanism: TracsD,
    points: Floats,
    offsets: Counts,
    *,
    starts: Floats | None = None,
    rng: RandomSource | None = None,
) -> tuple[Reports, Floats]:
    """Return the reports of trajectories and the points of the map they stand for.

    Parameters
    ----------
    mechanism : TracsD
        What reports a location; its own reference is that of every first location.
    points : array, shape (n, 2)
        Points of the map, checked by the domain.
    offsets : array of int
        Where each trajectory begins, and at last n.
    starts : array, shape (m, 2), optional
        Other references for the first locations, one a trajectory: public.
    rng : RandomSource, optional
        Secure randomness by default.
    """
    source, region = resolve(rng), _surely_seen(mechanism.domain.region)
    around, along = mechanism.parts
    references = _starts(mechanism, len(offsets) - 1, starts)
    base, shape = mechanism._layout
    reports, answers = np.empty((len(points), *shape), base), np.empty((len(points), 2))
    for going, at in steps_along(offsets):
        turns, shares = seen_from(region, references[going], points[at])
        stream = source.spawn(1)[0]
        reports[at, 0] = around.randomise(around.place(turns), stream)
        reports[at, 1] = along.randomise(along.place(shares), stream)
        answers[at] = references[going] = _next(mechanism, region, references[going], reports[at])
    return reports, answers


def chained_points(
    mechanism: TracsD, reports: Reports, offsets: Counts, *, starts: Floats | None = None
) -> Floats:
    """Return the points of the map that the reports of trajectories stand for, in their order."""
    region, checked = _surely_seen(mechanism.domain.region), mechanism.check_reports(reports)
    if len(checked) != offsets[-1]:
        raise InvalidInputError(f"there are {len(checked)} reports for {offsets[-1]} points")
    references = _starts(mechanism, len(offsets) - 1, starts)
    answers = np.empty((len(checked), 2))
    for going, at in steps_along(offsets):
        answers[at] = references[going] = _next(mechanism, region, references[going], checked[at])
    return answers


def _starts(mechanism: TracsD, count: int, starts: Floats | None) -> Floats:
    if starts is None:
        return np.tile(mechanism.reference, (count, 1))
    if np.shape(starts) != (count, 2):
        raise InvalidInputError(
            f"there is one start for each of {count} trajectories, got {np.shape(starts)}"
        )
    return mechanism.domain.region.project(np.array(starts, float))


def _next(mechanism: TracsD, region: PlaneRegion, references: Floats, reports: Reports) -> Floats:
    cells = (reports.astype(np.float64) + 0.5) / mechanism.shape
    points = from_reference(region, references, cells[:, 0], cells[:, 1])
    return mechanism.domain.region.project(points)  # rounding may have left it by a hair
