"""Trajectories under several mechanisms: what is left of them, point by point and in whole."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ldpkit.core.domains.plane import Locations, PlaneDomain, PlaneLike, as_plane
from ldpkit.core.domains.trajectories import Trajectories
from ldpkit.core.errors import InvalidParameterError
from ldpkit.core.random import RandomSource, resolve
from ldpkit.core.results import Result
from ldpkit.core.typing import Floats
from ldpkit.mechanisms.kinds import is_spatial
from ldpkit.protocols.trajectories import NOT_PROTECTED, Per, PrivateTrajectories, privatize_trajectories
from ldpkit.simulation.metrics.trajectories import average_error, range_query, trajectory_errors

__all__ = ["TrajectoryEvaluation", "evaluate_trajectories"]


@dataclass(frozen=True, eq=False, repr=False)
class TrajectoryEvaluation(Result):
    """How far reported trajectories are from the true ones, for several mechanisms.

    Parameters
    ----------
    truth : Trajectories
        The true ones.
    domain : PlaneDomain
        The region.
    private : tuple of PrivateTrajectories
        The reported ones, by each mechanism.
    radius : float
        What counts as near, for range queries.

    Examples
    --------
    >>> import ldpkit
    >>> walks = ldpkit.Trajectories.from_list([[(1, 1), (2, 3)], [(9, 9)]])
    >>> town = ldpkit.PlaneDomain.rectangle((0, 0), (10, 10))
    >>> found = ldpkit.evaluate_trajectories(walks, town, ["tracs_c", "tracs_d"], epsilon=4)
    >>> sorted(row["mechanism"] for row in found.rows())
    ['tracs_c', 'tracs_d']
    """

    truth: Trajectories
    domain: PlaneDomain
    private: tuple[PrivateTrajectories, ...]
    radius: float

    kind: ClassVar[str] = "trajectory evaluation"

    def answer(self, unit: str = "") -> str:
        """Return which mechanism reports nearest to the truth, as a sentence."""
        first = self.rows(1)[0]
        measure = unit or ("metres" if self.domain.projection is not None else "")
        named = f" {measure}" if measure else ""
        among = (
            f"Of {len(self.private)} mechanisms, {first['mechanism']}"
            if len(self.private) > 1
            else first["mechanism"]
        )
        far = f"{first['per_point']:.4g}{named} off on average over {len(self.truth.points):,} points"
        return f"{among} is nearest to the truth in this simulation: {far}."

    @property
    def title(self) -> str:
        """The title above the table."""
        return f"{len(self.truth)} trajectories with {len(self.truth.points)} points in {self.domain}"

    @property
    def caption(self) -> str:
        """What the columns mean."""
        unit = " in metres" if self.domain.projection is not None else ""
        return (
            f"per_point: the mean distance{unit} between a report and the location; per_trajectory: the mean "
            "over trajectories, short ones counting as much as long ones; expected: per_point before "
            f"reporting, by integration; near: the share of reports within {self.radius:g}; epsilon: what "
            "the longest trajectory pays in all"
        )

    def answers(self, position: int) -> Floats:
        """Return the reported points of a mechanism on the map."""
        found: Floats = self.domain.take(self.private[position].trajectories.points, clip=True)
        return found

    def rows(self, top: int | None = None) -> list[dict[str, Any]]:
        """Return one record for each mechanism, least error first."""
        known = self.truth.with_points(self.domain.take(self.truth.points))
        found = []
        for position, each in enumerate(self.private):
            answers = self.answers(position)
            found.append(
                {
                    "mechanism": next(iter(each.mechanisms.values())).name,
                    "per_point": average_error(known.points, answers),
                    "per_trajectory": float(trajectory_errors(known, answers).mean()),
                    "expected": self._expected(each),
                    "near": float((range_query(known, answers, self.radius) * known.lengths).sum())
                    / len(known.points),
                    "epsilon": float(each.epsilons.max()),
                }
            )
        return sorted(found, key=lambda row: float(str(row["per_point"])))[:top]

    def _expected(self, private: PrivateTrajectories) -> float | None:
        """Return the mean error by integration, where that of a location does not depend on others."""
        mechanism = private.mechanism if private.tallies else None
        return mechanism.mean_error(self.truth.points) if is_spatial(mechanism) else None

    def about(self) -> dict[str, Any]:
        """Return what holds for all mechanisms."""
        first = self.private[0]
        return {
            "space": self.domain.to_json(),
            "trajectories": len(self.truth),
            "points": len(self.truth.points),
            "per": first.per,
            "radius": self.radius,
        }

    def notes(self) -> list[str]:
        """Return what is not protected."""
        return [NOT_PROTECTED]


def evaluate_trajectories(
    trajectories: Trajectories,
    domain: PlaneLike,
    mechanisms: Sequence[str],
    *,
    epsilon: float,
    per: Per = "location",
    radius: float | None = None,
    places: Locations | None = None,
    clip: bool = False,
    rng: RandomSource | None = None,
) -> TrajectoryEvaluation:
    """Report trajectories by several mechanisms, and measure how far the reports are off.

    Parameters
    ----------
    trajectories : Trajectories
        The true ones.
    domain : PlaneDomain, PlaneRegion or pair of corners
        The region.
    mechanisms : sequence of str
        Names of mechanisms for locations, or for whole trajectories.
    epsilon : float
        The budget of a location, or of a trajectory.
    per : {"location", "trajectory"}
        What epsilon is for.
    radius : float, optional
        What counts as near, on the map; by default a tenth of the width of the region.
    places : array, columns or shapely points, optional
        Public locations, where people are likely to be: mechanisms are chosen to be their best for them.
    clip : bool
        True moves locations outside to the nearest point of the region.
    rng : RandomSource, optional
        Secure randomness by default.

    Examples
    --------
    >>> from ldpkit.core.random import seeded
    >>> walks = Trajectories.from_list([np.full((500, 2), 0.4), np.full((500, 2), 0.7)])
    >>> square = ((0, 0), (1, 1))
    >>> found = evaluate_trajectories(walks, square, ["tracs_c", "planar_window"], epsilon=6, rng=seeded(1))
    >>> [row["mechanism"] for row in found.rows()]
    ['planar_window', 'tracs_c']
    """
    plane, source = as_plane(domain), resolve(rng)
    if not mechanisms:
        raise InvalidParameterError("there is no mechanism to evaluate: name at least one")
    near = float(np.diff(plane.region.box, axis=0)[0, 0] / 10) if radius is None else float(radius)
    private = tuple(
        privatize_trajectories(
            trajectories,
            plane,
            name,
            epsilon=epsilon,
            per=per,
            places=places,
            clip=clip,
            rng=source.spawn(1)[0],
        )
        for name in mechanisms
    )
    return TrajectoryEvaluation(trajectories, plane, private, near)
