"""ATP: places in the sectors that were reported for the directions from both neighbours."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import combinations_with_replacement
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
from ldpkit.mechanisms.spatial.scaled_table import solve_table
from ldpkit.mechanisms.spatial.sequence import Sites, StepTable, TrajectoryMechanism

__all__ = ["ATP", "sectors_between"]

_SECTORS = Parameter(
    "sectors", int, "how many sectors directions are reported as", default=6, least=2, most=64
)
_DIRECTIONS = 3 / 8  # of the budget of a copy, for each of two directions; the rest is for the place
_PLACE = 1 / 4


def sectors_between(sites: Floats, sectors: int) -> Sites:
    """Return the sector in which each place is seen from each other, a row a place it is seen from.

    A place is seen from itself in the first sector, as good as any: it is the same for everybody.

    Examples
    --------
    >>> sectors_between(np.array([[0.0, 0], [1, 0], [0, 1]]), 4).tolist()
    [[0, 0, 1], [2, 0, 1], [3, 3, 0]]
    """
    steps = sites[None, :, :] - sites[:, None, :]
    turns = np.arctan2(steps[..., 1], steps[..., 0]) / (2 * np.pi) % 1.0
    return np.asarray(np.minimum(np.floor(turns * sectors), sectors - 1).astype(np.int64))


def _together(one: StepTable, other: StepTable, least: Fraction) -> Fraction:
    """Return the largest ratio of two places over reports of both tables, if it may exceed the least."""
    both = _ratios(one) * _ratios(other)
    worst = least
    for first, second in np.argwhere(both > float(least) * (1 - 1e-9)).tolist():
        worst = max(worst, _ratio(one, first, second) * _ratio(other, first, second))
    return worst


def _ratios(table: StepTable) -> Floats:
    """Return the largest ratio of the chances of a report for each pair of places, in floating point."""
    weights = table.weights.astype(np.float64)
    return np.asarray((weights[:, None, :] / weights[None, :, :]).max(axis=2))


def _ratio(table: StepTable, first: int, second: int) -> Fraction:
    return max(
        Fraction(int(one), int(other))
        for one, other in zip(table.weights[first], table.weights[second], strict=True)
    )


@register
class ATP(TrajectoryMechanism):
    """Two copies of a trajectory; in each, every other location is reported from its neighbours' reports.

    In one copy odd locations are reported among all places, in the other even ones. Each of the rest
    is seen from both neighbours' reports in two sectors; these are answered by randomised response,
    and a place in both of the answers by the exponential mechanism, or any place if there is none.
    Ends are reported among all places in both copies. A report is the pair of places, and stands for
    the place nearest to both. Sectors are fixed, not turned towards the true location, and the chances
    of each copy are scaled until the integers have half of epsilon, whatever the neighbours reported.

    Utility: worse than `place_response` wherever it was tried.
    Runtime: O(log of the places) a location, after a table for each pair of neighbours' reports.
    Citation: Zhang et al. (2023).

    Parameters
    ----------
    domain : PlaneDomain
        The region of locations, with at most 64 places.
    epsilon : float
        The privacy budget of one location.
    sectors : int
        How many sectors directions are reported as.

    Examples
    --------
    >>> import ldpkit
    >>> corners = [(x / 2, y / 2) for x in range(3) for y in range(3)]
    >>> plane = ldpkit.PlaneDomain.rectangle((0, 0), (1, 1), places=corners)
    >>> mechanism = ldpkit.get("atp", plane, epsilon=4)
    >>> walks = ldpkit.Trajectories.from_list([[(0.1, 0.2), (0.3, 0.2), (0.9, 0.9)]])
    >>> mechanism.privatize(walks).shape, mechanism.exact_epsilon() <= 4
    ((3, 2), True)
    """

    name = "atp"
    title = "ATP: directions from both neighbours, then a place"
    citation = "Zhang, Ye, Chen, Hu, Han: Trajectory data collection with local differential privacy. \
VLDB 2023"
    declared: ClassVar[tuple[Parameter, ...]] = (EPSILON, _SECTORS)
    most_places = 64
    few_places = 36
    depends = "Each report is drawn from the reports of the locations before and behind it."
    sectors: int

    def __init__(self, domain: PlaneLike, epsilon: float, *, sectors: int = 6) -> None:
        self._settle(domain, epsilon)
        self._freeze(sectors=_SECTORS.check(sectors))

    @property
    def coordinates(self) -> int:
        return 2

    @cached_property
    def _unit(self) -> float:
        return float(self._distances.max())

    @cached_property
    def table_alone(self) -> StepTable:
        """What a copy reports a location as on its own: ends, and those that are neighbours of others."""

        def chances(scale: float) -> Floats:
            return np.exp(-scale * self._distances)

        weights = solve_table(chances, self.epsilon / 2, self.epsilon / self._unit)[1]
        return StepTable(np.arange(len(self.sites)), weights)

    @cached_property
    def _tables(self) -> dict[tuple[int, int], StepTable]:
        return {}

    def table_between(self, one: int, other: int) -> StepTable:
        """Return what a copy reports a location as between the reports of two places, in any order."""
        key = (min(one, other), max(one, other))
        known = self._tables.get(key)
        if known is None:
            weights = solve_table(self._chances_between(*key), self.epsilon / 2, 1.0)[1]
            known = self._tables[key] = StepTable(np.arange(len(self.sites)), weights)
        return known

    @cached_property
    def _seen(self) -> Sites:
        return sectors_between(self.sites, self.sectors)

    def _chances_between(self, one: int, other: int) -> Callable[[float], Floats]:
        """Return the chances by the scale of all budgets, which is one where budgets simply add up."""
        first, second = self._seen[one], self._seen[other]
        cells, cell = np.unique(first * self.sectors + second, return_inverse=True)
        columns = np.equal.outer(cell, np.arange(len(cells))).astype(float)
        same = [np.equal.outer(each, each) for each in (first, second)]
        to_cells = [
            np.equal.outer(each, split)
            for each, split in zip((first, second), np.divmod(cells, self.sectors), strict=True)
        ]
        half = self.epsilon / 2

        def chances(scale: float) -> Floats:
            least = np.exp(-scale * half * _DIRECTIONS)
            kept = 1 / (1 + (self.sectors - 1) * least)

            def answered(is_own: Sites) -> Floats:
                return np.asarray(np.where(is_own, kept, least * kept))

            near = np.exp(-scale * half * _PLACE * self._distances / (2 * self._unit))
            within = near / (near @ columns)[:, cell]
            no_place = 1 - (answered(to_cells[0]) * answered(to_cells[1])).sum(axis=1, keepdims=True)
            anywhere = np.maximum(no_place, 0) * near / near.sum(axis=1, keepdims=True)
            return np.asarray(answered(same[0]) * answered(same[1]) * within + anywhere)

        return chances

    def exact_epsilon(self) -> float:
        pairs = combinations_with_replacement(range(len(self.sites)), 2)
        worst = self.table_alone.ratio**2  # of the ends
        for pair in pairs:
            worst = max(worst, _together(self.table_alone, self.table_between(*pair), worst))
        return log_up(worst)

    def channel(self, rng: RandomSource | None = None) -> Channel:
        """Return every report of a trajectory of one location with its exact chance under each place."""
        count = len(self.sites)
        check_enumerable(count**3, f"the channel of {self!r}")
        rows = rows_of_weights(self.table_alone.weights, WORD)
        both: list[list[Fraction]] = [[one * other for one in row for other in row] for row in rows]
        named = np.stack(np.divmod(np.arange(count**2), count), axis=1)
        return Channel(named.astype(self._layout[0]), both)

    def _along(self, own: Sites, offsets: Counts, source: RandomSource) -> Sites:
        found = np.empty((len(own), 2), np.int64)
        lengths = np.diff(offsets)
        position = np.arange(len(own)) - np.repeat(offsets[:-1], lengths)
        is_end = (position == 0) | (position == np.repeat(lengths, lengths) - 1)
        for copy, parity in enumerate((1, 0)):
            alone = np.flatnonzero(is_end | (position % 2 == parity))
            words = source.spawn(1)[0].words(len(alone))
            found[alone, copy] = self.table_alone.draw(own[alone], words)
            rest = np.flatnonzero(~is_end & (position % 2 != parity))
            self._between(own, rest, found[:, copy], source)
        return found

    def _between(self, own: Sites, rest: Sites, reports: Sites, source: RandomSource) -> None:
        """Write the reports of locations whose neighbours have reported."""
        words = source.spawn(1)[0].words(len(rest))
        sides = np.sort(np.stack([reports[rest - 1], reports[rest + 1]], axis=1), axis=1)
        pair = sides @ (len(self.sites), 1)
        order = np.argsort(pair, kind="stable")
        for members in np.split(order, np.flatnonzero(np.diff(pair[order])) + 1):
            if len(members):
                at = rest[members]
                table = self.table_between(*sides[members[0]].tolist())
                reports[at] = table.draw(own[at], words[members])

    @cached_property
    def _nearest_to_both(self) -> Sites:
        far = self._distances / self._unit
        total = far[:, None, :] + far[None, :, :]
        # Among places that are as near to both, on the line between them, the one in the middle.
        spread = far[:, None, :] ** 2 + far[None, :, :] ** 2
        return np.asarray((total + 1e-6 * spread).argmin(axis=2))

    def _answers(self, reports: Sites) -> Sites:
        return np.asarray(self._nearest_to_both[reports[:, 0], reports[:, 1]])
