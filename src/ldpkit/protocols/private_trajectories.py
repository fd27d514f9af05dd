"""The reports of trajectories as a result: where they lie, what they cost each person, what they show."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal, TypeAlias

import numpy as np

from ldpkit.core.cached import cached_property
from ldpkit.core.domains.trajectories import Trajectories
from ldpkit.core.errors import InvalidInputError
from ldpkit.core.results import Result
from ldpkit.core.typing import Floats, Reports
from ldpkit.mechanisms.kinds import is_whole_trajectory
from ldpkit.mechanisms.spatial.mechanism import SpatialMechanism
from ldpkit.mechanisms.spatial.sequence import TrajectoryMechanism
from ldpkit.mechanisms.tally import Tally
from ldpkit.protocols.ledger import Ledger, Report, Rounds
from ldpkit.protocols.place_memo import Paid

__all__ = ["NOT_PROTECTED", "Per", "PrivateTrajectories", "Reference", "WalkMechanism"]

Per = Literal["location", "trajectory"]
Reference = Literal["fixed", "previous"]
WalkMechanism: TypeAlias = SpatialMechanism | TrajectoryMechanism

NOT_PROTECTED = (
    "How many locations a person reports, and when, is not protected: cut trajectories to one length, and "
    "round or drop the times, if that says too much."
)
_REPEATED = (
    "A place that a person visited again repeats its report and is paid for once: epsilon compares people "
    "who return to their places in the same pattern. The pattern itself is not protected: everybody sees "
    "which reports of a person are of the same place."
)
_KEPT = (
    "The memo repeats the report of a place in later calls as well, so reports of one person on different "
    "days can be linked. It holds the places themselves: it must not leave the device."
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
        How many locations each person pays for: with a memo, those that are new.
    per : {"location", "trajectory"}
        What epsilon was for.
    reference : {"fixed", "previous"}
        Where directions were taken from.
    repeated : bool
        Whether a place that was visited again repeated its report.
    is_secure : bool
        Whether the randomness was secure.
    history : tuple, optional
        With a memo, what each person has paid for by now, in this call and all before: how many places
        by each mechanism.

    Examples
    --------
    >>> import ldpkit
    >>> walks = ldpkit.Trajectories.from_list([[(1, 1), (2, 3)], [(9, 9)]])
    >>> private = ldpkit.privatize_trajectories(walks, ((0, 0), (10, 10)), "planar_window", epsilon=2)
    >>> private.epsilons.round(4).tolist()
    [4.0, 2.0]
    """

    trajectories: Trajectories
    reports: Reports
    mechanisms: dict[int, WalkMechanism]
    paid: np.ndarray[Any, np.dtype[np.int64]]
    per: Per
    reference: Reference
    repeated: bool
    is_secure: bool
    history: tuple[Paid, ...] | None = None

    kind: ClassVar[str] = "private trajectories"

    @property
    def mechanism(self) -> WalkMechanism:
        """What made the reports, where it is one and the same for all."""
        if len(self.mechanisms) > 1:
            raise InvalidInputError(
                "people with longer trajectories used smaller epsilons, so there is more than one mechanism: "
                "see `mechanisms`"
            )
        return next(iter(self.mechanisms.values()))

    def mechanism_of(self, position: int) -> WalkMechanism:
        """Return what made the reports of a trajectory."""
        return self.mechanisms.get(int(self.paid[position]), next(iter(self.mechanisms.values())))

    @cached_property
    def epsilons(self) -> Floats:
        """What each person pays for all locations together: exact, and rounded up once.

        With a memo, for those of earlier calls as well.
        """
        totals: dict[Paid, float] = {}
        every = [self._paid_by(position) for position in range(len(self.trajectories))]
        for paid in every:
            if paid not in totals:
                cost = Ledger(tuple(Rounds(Report(each), count) for each, count in paid)).cost()
                assert cost is not None  # a report of a mechanism has a cost
                totals[paid] = cost.epsilon
        return np.array([totals[paid] for paid in every])

    def _paid_by(self, position: int) -> Paid:
        if self.history is not None:
            return self.history[position]
        return ((self.mechanism_of(position), int(self.paid[position])),)

    @property
    def tallies(self) -> bool:
        """Whether the reports add up to a tally."""
        return self.reference == "fixed" and len(self.mechanisms) == 1 and self.mechanism.can("tallied")

    def tally(self) -> Tally:
        """Return the joint counts of all reports, for an estimate of where people are."""
        if self.reference == "previous":
            raise InvalidInputError(f"{_CHAINED} Use a fixed reference")
        return self.mechanism.tally(self.reports)

    @property
    def title(self) -> str:
        """The title above the table."""
        first = next(iter(self.mechanisms.values()))
        return f"{len(self.trajectories)} trajectories, {first.name}, epsilon for each {self.per}"

    @property
    def caption(self) -> str:
        """What the columns mean."""
        least, most = (f"{each:.4g}" for each in (self.epsilons.min(), self.epsilons.max()))
        between = f"{most} for each" if least == most else f"from {least} to {most}"
        return (
            f"epsilon: what all reports of a person cost together, {between}; "
            "paid: how many locations cost budget"
            + ("" if self.history is None else ", in_all: including those already in the memo")
        )

    def answer(self, unit: str = "") -> str:
        """Return what was reported, and what the most costly trajectory pays in all."""
        first = next(iter(self.mechanisms.values()))
        who = "1 trajectory" if len(self.trajectories) == 1 else f"{len(self.trajectories):,} trajectories"
        return (
            f"{len(self.reports):,} locations of {who} were reported by {first.name}; all reports of a "
            f"person together cost at most epsilon {self.epsilons.max():.4g}."
        )

    def rows(self, top: int | None = None) -> list[dict[str, Any]]:
        """Return a record for each trajectory: id, locations, paid, epsilon; those that pay most first."""
        order = range(len(self.trajectories))
        if top is not None:
            order = np.argsort(-self.epsilons, kind="stable")[:top].tolist()
        return [self._row(each) for each in order]

    def _row(self, each: int) -> dict[str, Any]:
        row = {
            "id": self.trajectories.ids[each],
            "locations": int(self.trajectories.lengths[each]),
            "paid": int(self.paid[each]),
        }
        if self.history is not None:
            row["in_all"] = sum(count for _, count in self.history[each])
        return {**row, "epsilon": float(self.epsilons[each])}

    def about(self) -> dict[str, Any]:
        """Return what holds for all trajectories."""
        made = {str(count): each.spec() for count, each in list(self.mechanisms.items())[:20]}
        return {
            "mechanisms": made,
            "per": self.per,
            "reference": self.reference,
            "repeated": self.repeated,
            "memo": self.history is not None,
            "tallies": self.tallies,
            "trajectories": len(self.trajectories),
            "locations": len(self.reports),
            "largest_epsilon": float(self.epsilons.max()),
            "randomness": "secure" if self.is_secure else "seeded",
        }

    def notes(self) -> list[str]:
        """Return what is not protected, and what more the reports show."""
        more = [
            (_REPEATED, self.repeated),
            (_KEPT, self.history is not None),
            (_CHAINED, self.reference == "previous"),
        ]
        made = next(iter(self.mechanisms.values()))
        depends = [f"{made.depends} Reports cannot be tallied."] if is_whole_trajectory(made) else []
        return [NOT_PROTECTED, *(text for text, holds in more if holds), *depends]

    @property
    def warnings(self) -> tuple[str, ...]:
        """What a reader must know first."""
        return () if self.is_secure else ("made with a seed: whoever knows the seed can undo the noise",)

    def __repr__(self) -> str:
        return f"<{self.title}; a person pays up to epsilon {self.epsilons.max():.4g}>"
