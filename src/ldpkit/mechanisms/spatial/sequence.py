"""Mechanisms for a trajectory as a whole: what a location is reported as depends on other reports.

A location is still reported with epsilon, given the reports that are public by then, and a person
pays for all of them. But a report only has a meaning together with those around it, so reports do
not tally, and there is no error of a location by itself: `ldpkit trajectory evaluate` measures it.
"""

from __future__ import annotations

import abc
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, TypeAlias

import numpy as np

from ldpkit.core.cached import cached_property
from ldpkit.core.domains.plane import PlaneDomain, PlaneLike, as_plane
from ldpkit.core.domains.trajectories import Trajectories
from ldpkit.core.errors import InvalidInputError, InvalidParameterError
from ldpkit.core.parameters import EPSILON, Parameter, check_epsilon
from ldpkit.core.random import RandomSource, resolve
from ldpkit.core.typing import Counts, Floats, Reports, Values, Words
from ldpkit.mechanisms.spatial.places import FewPlaces
from ldpkit.mechanisms.spatial.scaled_table import least_words, table_ratio
from ldpkit.mechanisms.tally import Tally

__all__ = ["Sites", "StepTable", "TrajectoryMechanism"]

Sites: TypeAlias = np.ndarray[Any, np.dtype[Any]]
"""Places by their position in the list of places."""


@dataclass(frozen=True, eq=False)
class StepTable:
    """What a location is reported as, given other reports: a row for each own place.

    Parameters
    ----------
    sites : array of int
        The places that it may be reported as, one a column.
    weights : array of int
        The chance of each for every own place, over 2**64; one column alone is certain.
    """

    sites: Sites
    weights: Any

    @cached_property
    def bounds(self) -> Words:
        """For each own place the least random word of every column."""
        return least_words(self.weights)

    @property
    def ratio(self) -> Fraction:
        """The largest ratio of the chances of a report under two places, exactly."""
        return Fraction(1) if len(self.sites) == 1 else table_ratio(self.weights)

    def draw(self, own: Sites, words: Words) -> Sites:
        """Return the place that each own one is reported as."""
        from ldpkit.mechanisms.kernels.planar import rows_of_sites

        columns = np.empty(len(own), np.uint32)
        rows_of_sites(words, np.ascontiguousarray(own), self.bounds, columns)
        return np.asarray(self.sites[columns])


class TrajectoryMechanism(FewPlaces):
    """A mechanism that reports the locations of a trajectory as public places, each from other reports.

    A subclass says how many places it can have, how a trajectory is reported (`_along`), what the
    exact epsilon of a location is, whatever was reported before it, and what a report stands for.

    Parameters
    ----------
    domain : PlaneDomain
        The region of locations, with its places.
    epsilon : float
        The privacy budget of one location.

    Examples
    --------
    >>> import ldpkit
    >>> "ngram" in ldpkit.list_mechanisms("trajectory")
    True
    """

    not_for_devices = "a location is reported from other reports of its trajectory"
    kind = "trajectory"
    domain_type = PlaneDomain
    capabilities: ClassVar[frozenset[str]] = frozenset()  # not "tallied": reports do not add up
    declared: ClassVar[tuple[Parameter, ...]] = (EPSILON,)
    depends: ClassVar[str]
    """What a report was made from besides its location, as a sentence for whoever reads the reports."""

    def _settle(self, domain: PlaneLike, epsilon: float) -> None:
        """Store the region and the budget, or refuse them."""
        self._freeze(domain=as_plane(domain), epsilon=check_epsilon(epsilon))
        self._check_places()
        if self.domain.region.wraps:
            raise InvalidParameterError(f"{self.name} is for a flat region, not for {self.domain}")

    # --- what a subclass gives ---------------------------------------------------------

    @property
    @abc.abstractmethod
    def coordinates(self) -> int:
        """How many places a report names."""

    @abc.abstractmethod
    def _along(self, own: Sites, offsets: Counts, source: RandomSource) -> Sites:
        """Return the reports of trajectories from the own places of their locations, a row each."""

    @abc.abstractmethod
    def _answers(self, reports: Sites) -> Sites:
        """Return the place that each report stands for."""

    # --- the device --------------------------------------------------------------------

    def privatize(
        self, values: Values | Trajectories, *, rng: RandomSource | None = None, clip: bool = False
    ) -> Reports:
        """Return one report for each location of some trajectories.

        Parameters
        ----------
        values : Trajectories
            Whose locations are reported, in their order.
        rng : RandomSource, optional
            Secure randomness by default; `ldpkit.random.seeded` for a repeatable run.
        clip : bool
            True moves locations outside to the nearest point of the region; a warning says how many.
        """
        if not isinstance(values, Trajectories):
            raise InvalidInputError(
                f"{self.name} reports whole trajectories, got {type(values).__name__}: make "
                "ldpkit.Trajectories"
            )
        points = self.domain.take(values.points, clip=clip)
        return self.report_points(points, values.offsets, resolve(rng))

    def report_points(self, points: Floats, offsets: Counts, source: RandomSource) -> Reports:
        """Return one report for each point of the map, which the domain has let through."""
        own = np.asarray(self._find(points)).astype(np.uint32)
        base, shape = self._layout
        return self._along(own, offsets, source).astype(base).reshape(len(points), *shape)

    def on_map(self, reports: Reports) -> Floats:
        """Return the point of the map for each report."""
        named = self.check_reports(reports).reshape(len(reports), -1)
        return np.asarray(self.sites[self._answers(named)])

    def points_of(self, reports: Reports) -> Floats:
        """Return the location that each report stands for."""
        return self.domain.locations(self.on_map(reports))

    @property
    def _layout(self) -> tuple[np.dtype[Any], tuple[int, ...]]:
        base = np.dtype("<u1" if len(self.sites) <= 1 << 8 else "<u2")
        return base, (() if self.coordinates == 1 else (self.coordinates,))

    @property
    def report_dtype(self) -> np.dtype[Any]:
        base, shape = self._layout
        return np.dtype((base, shape)) if shape else base

    def _is_valid(self, reports: Reports) -> np.ndarray[Any, np.dtype[np.bool_]]:
        within = reports < len(self.sites)
        return np.asarray(within.all(axis=1) if within.ndim > 1 else within)

    def promise(self) -> str:
        return f"{super().promise()} for each location of a trajectory, whatever was reported around it"

    def tally(self, reports: Reports) -> Tally:
        """Refuse: reports do not add up."""
        raise self._no_tally()

    @property
    def tally_size(self) -> int:
        """Refuse: there is no tally."""
        raise self._no_tally()

    def _no_tally(self) -> InvalidInputError:
        return InvalidInputError(
            f"reports of {self.name} do not tally: {self.depends} Take place_exponential or place_response"
        )
