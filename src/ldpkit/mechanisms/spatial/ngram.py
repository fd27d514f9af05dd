"""NGram: the exponential mechanism among the places within reach of the previous report."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from ldpkit.core.cached import cached_property
from ldpkit.core.domains.plane import PlaneLike
from ldpkit.core.exact import WORD, log_up
from ldpkit.core.parameters import EPSILON, Parameter
from ldpkit.core.random import RandomSource
from ldpkit.core.typing import Counts, Floats
from ldpkit.mechanisms.base import register
from ldpkit.mechanisms.channel import Channel, check_enumerable, rows_of_weights
from ldpkit.mechanisms.spatial.chain import steps_along
from ldpkit.mechanisms.spatial.scaled_table import solve_table
from ldpkit.mechanisms.spatial.sequence import Sites, StepTable, TrajectoryMechanism

__all__ = ["NGram"]

_REACH = Parameter(
    "reach",
    float,
    "how far the next report may be from the last, over the diagonal of the region",
    default=0.75,
    above=0,
    most=1,
)


@register
class NGram(TrajectoryMechanism):
    """The exponential mechanism among the places within reach of the previous report.

    The first location may be reported as any place. Every other is reported as one within reach of
    the report before it, which is public; the true previous location plays no part, or the places
    that are left would tell it. Whatever was reported before, a location's chances are scaled until
    the integers have epsilon.

    Utility: worse than `place_response` wherever it was tried; at small epsilon the public reach helps.
    Runtime: O(log of the places) a location, after a table for each place that was reported.
    Citation: Cunningham et al. (VLDB 2021), without its knowledge of time and kinds of places.

    Parameters
    ----------
    domain : PlaneDomain
        The region of locations, with at most 256 places.
    epsilon : float
        The privacy budget of one location.
    reach : float
        How far the next report may be from the last, over the diagonal of the region.

    Examples
    --------
    >>> import ldpkit
    >>> corners = [(x / 3, y / 3) for x in range(4) for y in range(4)]
    >>> plane = ldpkit.PlaneDomain.rectangle((0, 0), (1, 1), places=corners)
    >>> mechanism = ldpkit.get("ngram", plane, epsilon=4, reach=0.5)
    >>> walks = ldpkit.Trajectories.from_list([[(0.1, 0.2), (0.3, 0.2)]])
    >>> reports = mechanism.privatize(walks)
    >>> len(reports), mechanism.exact_epsilon() <= 4
    (2, True)
    """

    name = "ngram"
    title = "NGram: exponential mechanism within reach"
    citation = "Cunningham, Cormode, Ferhatosmanoglu, Srivastava: Real-world trajectory sharing with local \
differential privacy. VLDB 2021"
    declared: ClassVar[tuple[Parameter, ...]] = (EPSILON, _REACH)
    most_places = 256
    few_places = 64
    depends = "Each report is a place within reach of the report before it."
    reach: float

    def __init__(self, domain: PlaneLike, epsilon: float, *, reach: float = 0.75) -> None:
        self._settle(domain, epsilon)
        self._freeze(reach=_REACH.check(reach))

    @property
    def coordinates(self) -> int:
        return 1

    @cached_property
    def _within(self) -> Sites:
        diagonal = float(np.hypot(*np.diff(self.domain.region.box, axis=0)[0]))
        return np.asarray(self._distances <= self.reach * diagonal)

    @cached_property
    def _tables(self) -> dict[int | None, StepTable]:
        return {}

    def table_after(self, previous: int | None) -> StepTable:
        """Return what a location is reported as after the report of a place; None for the first location."""
        known = self._tables.get(previous)
        if known is None:
            known = self._tables[previous] = self._solved(previous)
        return known

    def _solved(self, previous: int | None) -> StepTable:
        sites = np.arange(len(self.sites)) if previous is None else np.flatnonzero(self._within[previous])
        if len(sites) == 1:
            return StepTable(sites, np.zeros((len(self.sites), 1), np.uint64))
        far = self._distances[:, sites]

        def chances(scale: float) -> Floats:
            return np.exp(-scale * far)

        return StepTable(sites, solve_table(chances, self.epsilon, self.epsilon / float(far.max()))[1])

    def exact_epsilon(self) -> float:
        before: tuple[int | None, ...] = (None, *range(len(self.sites)))
        return log_up(max(self.table_after(each).ratio for each in before))

    def channel(self, rng: RandomSource | None = None) -> Channel:
        """Return every report of a first location with its exact probability under each place."""
        check_enumerable(len(self.sites) ** 2, f"the channel of {self!r}")
        rows = rows_of_weights(self.table_after(None).weights, WORD)
        return Channel(np.arange(len(self.sites), dtype=self.report_dtype), rows)

    def _along(self, own: Sites, offsets: Counts, source: RandomSource) -> Sites:
        found = np.empty((len(own), 1), np.int64)
        for step, (_, at) in enumerate(steps_along(offsets)):
            words = source.spawn(1)[0].words(len(at))
            before = np.full(len(at), -1) if step == 0 else found[at - 1, 0]
            for previous in np.unique(before).tolist():
                members = np.flatnonzero(before == previous)
                table = self.table_after(None if previous < 0 else previous)
                found[at[members], 0] = table.draw(own[at[members]], words[members])
        return found

    def _answers(self, reports: Sites) -> Sites:
        return np.asarray(reports[:, 0])
