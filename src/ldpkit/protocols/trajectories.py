"""Trajectories under local differential privacy: a budget for each location, or for each person.

Every location of a trajectory is a report of its own, and a person pays for all of them. How
many locations there are, and when they were recorded, is not protected: that is said with
every result, and so is what each person pays.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from ldpkit.core.cached import cached_property
from ldpkit.core.domains.plane import PlaneLike, as_plane
from ldpkit.core.domains.trajectories import Trajectories
from ldpkit.core.errors import InvalidInputError, InvalidParameterError
from ldpkit.core.parameters import SMALLEST_EPSILON
from ldpkit.core.random import RandomSource, resolve
from ldpkit.core.results import Result
from ldpkit.core.typing import Floats, Reports
from ldpkit.mechanisms.kinds import spatial_class
from ldpkit.mechanisms.spatial.chain import chain
from ldpkit.mechanisms.spatial.mechanism import SpatialMechanism
from ldpkit.mechanisms.tally import Tally
from ldpkit.protocols.ledger import Ledger, Report, Rounds, allot

__all__ = ["Per", "PrivateTrajectories", "Reference", "privatize_trajectories"]

Per = Literal["location", "trajectory"]
Reference = Literal["fixed", "previous"]

NOT_PROTECTED = (
    "How many locations a person reports, and when, is not protected: cut trajectories to one length, and "
    "round or drop the times, if that says too much."
)
_REPEATED = (
    "A place that a person visited again repeats its report: it is paid for once, and everybody sees which "
    "reports of a trajectory are of the same place."
)
_CHAINED = (
    "Each report was made from the one before it as the reference: reports of different people do not "
    "compare, and do not tally."
)


@dataclass(frozen=True, eq=False)
class PrivateTrajectories(Result):
    """The reports of trajectories, where they lie, and what they cost each person.

    Parameters
    ----------
    trajectories : Trajectories
        The reported locations, with the lengths, ids and times that the reports have.
    reports : array
        A report for each location.
    mechanisms : dict
        What made the reports of trajectories: one mechanism, or one for each number of locations that
        are paid for.
    paid : array of int
        How many locations each person pays for.
    per : {"location", "trajectory"}
        What epsilon was for.
    reference : {"fixed", "previous"}
        Where directions were taken from.
    repeated : bool
        Whether a place that was visited again repeated its report.
    is_secure : bool
        Whether the randomness was secure.
    """

    trajectories: Trajectories
    reports: Reports
    mechanisms: dict[int, SpatialMechanism]
    paid: np.ndarray[Any, np.dtype[np.int64]]
    per: Per
    reference: Reference
    repeated: bool
    is_secure: bool

    kind: ClassVar[str] = "private trajectories"

    @property
    def mechanism(self) -> SpatialMechanism:
        """What made the reports, where it is one and the same for all."""
        if len(self.mechanisms) > 1:
            raise InvalidInputError(
                "people with longer trajectories used smaller epsilons, so there is more than one mechanism: "
                "see `mechanisms`"
            )
        return next(iter(self.mechanisms.values()))

    def mechanism_of(self, position: int) -> SpatialMechanism:
        """Return what made the reports of a trajectory."""
        return self.mechanisms.get(int(self.paid[position]), next(iter(self.mechanisms.values())))

    @cached_property
    def epsilons(self) -> Floats:
        """What each person pays for all locations together: exact, and rounded up once."""
        totals: dict[int, float] = {}
        for position, count in enumerate(self.paid.tolist()):
            if count not in totals:
                cost = Ledger((Rounds(Report(self.mechanism_of(position)), count),)).cost()
                assert cost is not None  # a report of a mechanism has a cost
                totals[count] = cost.epsilon
        return np.array([totals[count] for count in self.paid.tolist()])

    def tally(self) -> Tally:
        """Return the joint counts of all reports, for an estimate of where people are."""
        if self.reference == "previous":
            raise InvalidInputError(f"{_CHAINED} Use a fixed reference")
        return self.mechanism.tally(self.reports)

    @property
    def title(self) -> str:
        """What stands above the table."""
        first = next(iter(self.mechanisms.values()))
        return f"{len(self.trajectories)} trajectories by {first.name}, {self.per} budget"

    @property
    def caption(self) -> str:
        """What the columns mean."""
        return (
            f"epsilon: what all reports of a person cost together, from {self.epsilons.min():.4g} to "
            f"{self.epsilons.max():.4g}; paid: for how many locations"
        )

    def rows(self, top: int | None = None) -> list[dict[str, Any]]:
        """Return a record for each trajectory: id, locations, paid, epsilon; those that pay most first."""
        order = range(len(self.trajectories))
        if top is not None:
            order = np.argsort(-self.epsilons, kind="stable")[:top].tolist()
        lengths = self.trajectories.lengths
        return [
            {
                "id": self.trajectories.ids[each],
                "locations": int(lengths[each]),
                "paid": int(self.paid[each]),
                "epsilon": float(self.epsilons[each]),
            }
            for each in order
        ]

    def about(self) -> dict[str, Any]:
        """Return what holds for all trajectories."""
        made = {str(count): each.spec() for count, each in list(self.mechanisms.items())[:20]}
        return {
            "mechanisms": made,
            "per": self.per,
            "reference": self.reference,
            "repeated": self.repeated,
            "tallies": self.reference == "fixed" and len(self.mechanisms) == 1,
            "trajectories": len(self.trajectories),
            "locations": len(self.reports),
            "largest_epsilon": float(self.epsilons.max()),
            "randomness": "secure" if self.is_secure else "seeded",
        }

    def notes(self) -> list[str]:
        """Return what is not protected, and what more the reports show."""
        more = [(_REPEATED, self.repeated), (_CHAINED, self.reference == "previous")]
        return [NOT_PROTECTED, *(text for text, holds in more if holds)]

    @property
    def warnings(self) -> tuple[str, ...]:
        """What a reader must know first."""
        return () if self.is_secure else ("made with a seed: who knows it can undo the reports",)

    def __repr__(self) -> str:
        return f"<{self.title}; a person pays up to epsilon {self.epsilons.max():.4g}>"


def privatize_trajectories(
    trajectories: Trajectories,
    domain: PlaneLike,
    mechanism: str = "planar_window",
    *,
    epsilon: float,
    per: Per = "location",
    reference: Reference = "fixed",
    repeat: bool = False,
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
        The name of a spatial mechanism.
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
    plane, kind = as_plane(domain), spatial_class(mechanism)
    if per not in ("location", "trajectory"):
        raise InvalidParameterError(f"per must be location or trajectory, got {per!r}")
    if reference not in ("fixed", "previous"):
        raise InvalidParameterError(f"reference must be fixed or previous, got {reference!r}")
    if reference == "previous" and not kind.can("chained"):
        raise InvalidParameterError(f"{mechanism} has no reference: take tracs_d, or reference='fixed'")
    if reference == "previous" and repeat:
        raise InvalidParameterError(
            "a repeated report means another place once its reference has moved: take repeat=False, or "
            "reference='fixed'"
        )
    points = plane.take(trajectories.points, clip=clip)
    first, again = _visits(trajectories, repeat)
    paid = np.bincount(trajectories.owners[first], minlength=len(trajectories)).astype(np.int64)
    made = _mechanisms(lambda budget: kind.make(plane, epsilon=budget, **parameters), epsilon, per, paid)
    source = resolve(rng)
    if reference == "previous":
        reports, answers = _chained(made, paid, points, trajectories, starts, source)
    else:
        reports, answers = _independent(made, paid, points[first], trajectories.owners[first], source)
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
    )


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
    make: Callable[[float], SpatialMechanism], epsilon: float, per: Per, paid: Any
) -> dict[int, SpatialMechanism]:
    """Return what reports the locations of trajectories, by the number of locations that are paid for."""
    counts = [1] if per == "location" else np.unique(paid).tolist()
    least = allot(epsilon, max(counts)) if epsilon > 0 else epsilon
    if per == "trajectory" and not least >= SMALLEST_EPSILON:
        raise InvalidParameterError(
            f"epsilon={epsilon:g} for {max(counts)} locations leaves {least:.2g} for each, less than "
            f"{SMALLEST_EPSILON}: give more, cut the trajectory, or repeat reports of places visited again"
        )
    return {count: make(epsilon if count == 1 else allot(epsilon, count)) for count in counts}


def _groups(made: dict[int, SpatialMechanism], paid: Any) -> list[tuple[SpatialMechanism, Any]]:
    """Return each mechanism with the trajectories that use it."""
    if len(made) == 1:
        return [(next(iter(made.values())), np.arange(len(paid)))]
    return [(mechanism, np.flatnonzero(paid == count)) for count, mechanism in made.items()]


def _independent(
    made: dict[int, SpatialMechanism], paid: Any, points: Floats, owners: Any, source: RandomSource
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


def _chained(
    made: dict[int, SpatialMechanism],
    paid: Any,
    points: Floats,
    trajectories: Trajectories,
    starts: Floats | None,
    source: RandomSource,
) -> tuple[Reports, Floats]:
    any_of: Any = next(iter(made.values()))
    base, shape = any_of._layout
    reports, answers = np.empty((len(points), *shape), base), np.empty((len(points), 2))
    for each, members in _groups(made, paid):
        mechanism: Any = each
        some = trajectories.select(members)
        rows = np.flatnonzero(np.isin(trajectories.owners, members))
        begun = None if starts is None else np.asarray(starts, float)[members]
        reports[rows], answers[rows] = chain(mechanism, points[rows], some.offsets, starts=begun, rng=source)
    return reports, answers
