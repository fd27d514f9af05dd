"""Trajectories under local differential privacy: a budget for each location, or for each person.

Every location of a trajectory is a report of its own, and a person pays for all of them. How
many locations there are, and when they were recorded, is not protected: that is said with
every result, and so is what each person pays.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ldpkit.client.store import DeviceStore
from ldpkit.core.domains.plane import Locations, PlaneDomain, PlaneLike, as_plane, as_points
from ldpkit.core.domains.trajectories import Trajectories
from ldpkit.core.errors import InvalidParameterError
from ldpkit.core.parameters import SMALLEST_EPSILON
from ldpkit.core.random import RandomSource, resolve
from ldpkit.core.typing import Floats, Reports
from ldpkit.mechanisms.kinds import is_whole_trajectory, walk_class
from ldpkit.mechanisms.spatial.chain import chain
from ldpkit.protocols.ledger import allot
from ldpkit.protocols.people import person_keys
from ldpkit.protocols.place_memo import PlaceMemo
from ldpkit.protocols.private_trajectories import (
    NOT_PROTECTED,
    Per,
    PrivateTrajectories,
    Reference,
    WalkMechanism,
)

__all__ = ["NOT_PROTECTED", "Per", "PrivateTrajectories", "Reference", "privatize_trajectories"]


def privatize_trajectories(
    trajectories: Trajectories,
    domain: PlaneLike,
    mechanism: str = "planar_window",
    *,
    epsilon: float,
    per: Per = "location",
    reference: Reference = "fixed",
    repeat: bool = False,
    memo: DeviceStore | None = None,
    places: Locations | None = None,
    starts: Floats | None = None,
    clip: bool = False,
    rng: RandomSource | None = None,
    **parameters: Any,
) -> PrivateTrajectories:
    """Return the reports of every location of some trajectories.

    Parameters
    ----------
    trajectories : Trajectories
        Whose locations are reported, each on its own.
    domain : PlaneDomain, PlaneRegion or pair of corners
        The region of locations.
    mechanism : str
        The name of a spatial mechanism, or of one for whole trajectories, such as ngram.
    epsilon : float
        The budget of a location, or of all locations of a trajectory together.
    per : {"location", "trajectory"}
        What epsilon is for. For a trajectory it is shared evenly, so longer ones are noisier.
    reference : {"fixed", "previous"}
        "previous" is Algorithm 1 of TraCS-D: each report is the reference of the next. Such reports
        do not tally.
    repeat : bool
        Whether a place that is visited again, the very same location, repeats its report. It is
        paid for once, and it shows which visits are to the same place.
    memo : DeviceStore, optional
        Where the reports of places are kept, so that a place repeats its report in later calls too,
        by the id of the person. It comes with repeat=True, and with a budget for each location.
    places : array, columns or shapely points, optional
        Public locations, where people are likely to be: the mechanism is chosen to be its best for them,
        with groups of them where it answers with places. Never those of the people who report.
    starts : array, shape (m, 2), optional
        The references of first locations for "previous", on the map; that of the mechanism by default.
    clip : bool
        True moves locations outside to the nearest point of the region; a warning says how many.
    rng : RandomSource, optional
        Secure randomness by default; `ldpkit.random.seeded` for a repeatable run.
    parameters
        What the mechanism takes beyond that.

    Examples
    --------
    >>> from ldpkit.core.random import seeded
    >>> walks = Trajectories.from_list([[(0.1, 0.2), (0.3, 0.2), (0.1, 0.2)], [(0.9, 0.9)]])
    >>> private = privatize_trajectories(walks, ((0, 0), (1, 1)), epsilon=2, rng=seeded(1))
    >>> private.epsilons.round(6).tolist()
    [6.0, 2.0]
    >>> together = privatize_trajectories(walks, ((0, 0), (1, 1)), epsilon=2, per="trajectory", repeat=True)
    >>> together.paid.tolist(), together.epsilons.round(6).tolist()
    ([2, 1], [2.0, 2.0])
    """
    plane, kind = as_plane(domain), walk_class(mechanism)
    _refuse_at_odds(kind, per, reference, repeat=repeat, memo=memo, starts=starts)
    if places is not None and parameters:
        raise InvalidParameterError(
            f"{mechanism} is chosen for the places: leave out {', '.join(parameters)}, or the places"
        )
    memory = None if memo is None else PlaceMemo(memo)
    if memory is not None:
        person_keys(list(trajectories.ids))  # refuses ids that one person shares with another
    begun = None if starts is None else _check_starts(starts, plane, len(trajectories))
    points = plane.take(trajectories.points, clip=clip)
    first, again = _visits(trajectories, repeat)
    owners = trajectories.owners[first]
    paid = np.bincount(owners, minlength=len(trajectories)).astype(np.int64)

    def make(budget: float) -> WalkMechanism:
        if places is None:
            return kind.make(plane, epsilon=budget, **parameters)
        return kind.suited(plane, budget, places)

    made = _mechanisms(make, epsilon, per, paid)
    source, history = resolve(rng), None
    if reference == "previous" or is_whole_trajectory(kind):
        reports, answers = _in_order(made, paid, points, trajectories, begun, source)
    else:
        reports, answers = _independent(made, paid, points[first], owners, source)
        if memory is not None:
            only: Any = next(iter(made.values()))
            reports, is_new, known = memory.recall(
                only, trajectories.ids, owners, trajectories.points[first], reports, secure=source.is_secure
            )
            answers, history = only.on_map(reports), tuple(known)
            paid = np.bincount(owners[is_new], minlength=len(trajectories)).astype(np.int64)
        reports, answers = reports[again], answers[again]
    return PrivateTrajectories(
        trajectories=trajectories.with_points(plane.locations(answers)),
        reports=reports,
        mechanisms=made,
        paid=paid,
        per=per,
        reference=reference,
        repeated=repeat,
        is_secure=source.is_secure,
        history=history,
    )


def _refuse_at_odds(
    kind: Any, per: str, reference: str, *, repeat: bool, memo: object, starts: object
) -> None:
    """Refuse what is no choice, and choices that do not go together."""
    if per not in ("location", "trajectory"):
        raise InvalidParameterError(f"per must be location or trajectory, got {per!r}")
    if reference not in ("fixed", "previous"):
        raise InvalidParameterError(f"reference must be fixed or previous, got {reference!r}")
    if is_whole_trajectory(kind) and (reference == "previous" or repeat or starts is not None):
        raise InvalidParameterError(
            f"{kind.name} chooses itself which reports a location depends on: leave out reference, repeat "
            "and starts"
        )
    if reference == "previous" and not kind.can("chained"):
        raise InvalidParameterError(f"{kind.name} has no reference: take tracs_d, or reference='fixed'")
    if reference == "previous" and repeat:
        raise InvalidParameterError(
            "a repeated report means another place once its reference has moved: take repeat=False, or "
            "reference='fixed'"
        )
    if starts is not None and reference != "previous":
        raise InvalidParameterError("starts are first references: give reference='previous' with them")
    if memo is not None and not repeat:
        raise InvalidParameterError("a memo keeps reports that are repeated: give repeat=True with it")
    if memo is not None and per == "trajectory":
        raise InvalidParameterError(
            "a memo outlives a trajectory, so a budget cannot be shared out among its locations: use "
            "per='location'"
        )


def _check_starts(starts: Any, plane: PlaneDomain, count: int) -> Floats:
    """Return the first references of trajectories on the map, or refuse them."""
    found = as_points(starts)
    if len(found) != count:
        raise InvalidParameterError(f"there is one start for each of {count} trajectories, got {len(found)}")
    inside: Any = np.isfinite(found).all(axis=1)
    inside[inside] = plane.region.contains(found[inside])
    if not inside.all():
        position = int(np.argmin(inside))
        raise InvalidParameterError(
            f"start {position}, {found[position].tolist()}, is not in {plane.region}: choose a point inside"
        )
    return found


def _visits(trajectories: Trajectories, repeat: bool) -> tuple[Any, Any]:
    """Return the visits that are paid for, and for every visit which of these it repeats."""
    if not repeat:
        every = np.arange(len(trajectories.points))
        return every, every
    visits = np.column_stack([trajectories.owners, trajectories.points])
    _, first, again = np.unique(visits, axis=0, return_index=True, return_inverse=True)
    order = np.argsort(first, kind="stable")  # in the order of visits, whatever the coordinates
    rank = np.argsort(order, kind="stable")
    return first[order], rank[again.ravel()]


def _mechanisms(
    make: Callable[[float], WalkMechanism], epsilon: float, per: Per, paid: Any
) -> dict[int, WalkMechanism]:
    """Return what reports the locations of trajectories, by the number of locations that are paid for."""
    if per == "location":
        return {1: make(epsilon)}
    counts = np.unique(paid).tolist()
    if isinstance(epsilon, bool | str) or not (0 < epsilon < math.inf):
        raise InvalidParameterError(f"epsilon must be positive and finite, got {epsilon!r}")
    least = allot(epsilon, max(counts))
    if not least >= SMALLEST_EPSILON:
        raise InvalidParameterError(
            f"epsilon={epsilon:g} for {max(counts)} locations leaves {least:.2g} for each, less than "
            f"{SMALLEST_EPSILON}: give more, cut the trajectory, or repeat reports of places visited again"
        )
    return {count: make(epsilon if count == 1 else allot(epsilon, count)) for count in counts}


def _groups(made: dict[int, WalkMechanism], paid: Any) -> list[tuple[Any, Any]]:
    """Return each mechanism with the trajectories that use it."""
    if len(made) == 1:
        return [(next(iter(made.values())), np.arange(len(paid)))]
    return [(mechanism, np.flatnonzero(paid == count)) for count, mechanism in made.items()]


def _independent(
    made: dict[int, WalkMechanism], paid: Any, points: Floats, owners: Any, source: RandomSource
) -> tuple[Reports, Floats]:
    parts = []
    for mechanism, members in _groups(made, paid):
        rows = np.flatnonzero(np.isin(owners, members))
        drawn = mechanism.report_points(points[rows], source)
        parts.append((rows, drawn, mechanism.on_map(drawn)))
    widest = max((drawn for _, drawn, _ in parts), key=lambda each: each.dtype.itemsize)
    reports = np.empty((len(points), *widest.shape[1:]), widest.dtype)
    answers = np.empty((len(points), 2))
    for rows, drawn, there in parts:
        reports[rows], answers[rows] = drawn, there
    return reports, answers


def _in_order(
    made: dict[int, WalkMechanism],
    paid: Any,
    points: Floats,
    trajectories: Trajectories,
    starts: Floats | None,
    source: RandomSource,
) -> tuple[Reports, Floats]:
    """Return reports that depend on other reports, and the points of the map they stand for."""
    any_of: Any = next(iter(made.values()))
    base, shape = any_of._layout
    reports, answers = np.empty((len(points), *shape), base), np.empty((len(points), 2))
    for mechanism, members in _groups(made, paid):
        some = trajectories.select(members)
        rows = np.flatnonzero(np.isin(trajectories.owners, members))
        if is_whole_trajectory(mechanism):
            reports[rows] = mechanism.report_points(points[rows], some.offsets, source)
            answers[rows] = mechanism.on_map(reports[rows])
            continue
        begun = None if starts is None else starts[members]
        reports[rows], answers[rows] = chain(mechanism, points[rows], some.offsets, starts=begun, rng=source)
    return reports, answers
