"""TraCS-D: the direction from a public reference, then the distance as a part of what there is room for."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any, ClassVar, Self

import numpy as np

from ldpkit.core.cached import cached_property
from ldpkit.core.domains.plane import Locations, PlaneLike, as_plane
from ldpkit.core.domains.region import RELATIVE, Convex, PlaneRegion, Point, as_pair
from ldpkit.core.domains.regions import Rectangle
from ldpkit.core.errors import InvalidParameterError
from ldpkit.core.parameters import EPSILON, Parameter, ParameterValue
from ldpkit.core.typing import Floats, Indices
from ldpkit.mechanisms.base import register
from ldpkit.mechanisms.cells.mechanism import GRID_STEPS
from ldpkit.mechanisms.cells.sharing import budgets
from ldpkit.mechanisms.cells.widths import POWER
from ldpkit.mechanisms.spatial.clusters import check_weights, medoids, nearest
from ldpkit.mechanisms.spatial.directions import TURN, from_reference, seen_from
from ldpkit.mechanisms.spatial.integrals import along_rays, mean_over_boxes, panels
from ldpkit.mechanisms.spatial.pair import SHARE, TwoParts, best_share
from ldpkit.mechanisms.spatial.parts import ALONG, AROUND, Coordinate
from ldpkit.mechanisms.spatial.sectors import SectorCoordinate, Sectors
from ldpkit.mechanisms.spatial.tracs_c import _ZHENG

__all__ = ["THESIS_SHARE", "TracsD"]

THESIS_SHARE = math.pi / (math.pi + 1)
"""What the direction gets of the budget in the thesis, whatever epsilon and the region."""

_HAIR = 1e-9  # what floating point may take from a coordinate, and add to it
_X = Parameter(
    "x", float, "the reference along the first axis; by default the centre of the region", default=None
)
_Y = Parameter("y", float, "the reference along the second axis; by default the centre", default=None)
_SECTORS = Parameter(
    "sectors",
    int,
    "how many sectors there are, where the direction is a sector",
    default=6,
    least=2,
    most=1000,
)
_TRIED, _STEPS = 64, 7  # places, and references along each edge, to choose a reference by
_ORDER, _ROUGH = 10, 4


@register
class TracsD(TwoParts):
    """TraCS-D: the direction from a reference by circular OGPM, then the distance by OGPM.

    The distance is a share of the way from the reference to the boundary, the gauge of the
    region, so every region that the reference sees all of will do: rectangles, discs,
    polygons. A location at the reference goes through both like any other, as direction 0 at
    distance 0. The reference is public and the same for everybody, so reports are independent
    and tallies add; Algorithm 1 of the thesis, with the previous report as the reference, is
    `reference="previous"` of `ldpkit.privatize_trajectories`.

    Utility: on the unit square, from its centre, the mean distance is 0.2472 at epsilon 4 and
    0.1222 at 8, less than TraCS-C's; `planar_window` has 0.1952 and 0.0549.
    Runtime: O(1) a location and edge of the region; memory O(1).
    Citation: Zheng, Algorithm 1, Theorem 12, with the share of the direction chosen and the
    cases of a location at the reference and of a reference on an edge mended.

    Parameters
    ----------
    domain : PlaneDomain, PlaneRegion or pair of corners
        The region of locations.
    epsilon : float
        The privacy budget of one location.
    share : float, optional
        What the direction gets of it; `THESIS_SHARE` is pi / (pi + 1).
    x, y : float, optional
        The reference, on the map: public, by default the centre of the region.
    power : float
        The power of the errors that OGPM makes small.
    direction : {"ogpm", "sw", "purkayastha", "sectors"}
        What reports the direction; "sectors" is k-RR with a uniform direction within the sector.
    distance : {"ogpm", "sw"}
        What reports the distance.
    sectors : int
        How many sectors there are, for "sectors".
    grid : int
        The steps of the grid along each coordinate, a power of two.

    Examples
    --------
    >>> import ldpkit
    >>> mechanism = ldpkit.get("tracs_d", ((0, 0), (1, 1)), epsilon=4, share=THESIS_SHARE)
    >>> mechanism.reference, round(mechanism.mean_error(), 4)
    ((0.5, 0.5), 0.2562)
    >>> ldpkit.get("tracs_d", ((0, 0), (1, 1)), epsilon=4, x=0, y=0)
    Traceback (most recent call last):
    ...
    ldpkit.core.errors.InvalidParameterError: the reference (0, 0) is a corner of [0, 1] x [0, 1], from \
which most directions leave the region at once, so that many reports would be the corner itself: choose a \
point inside, such as (0.5, 0.5)
    """

    name = "tracs_d"
    title = "TraCS with direction and distance"
    citation = _ZHENG
    capabilities = TwoParts.capabilities | {"chained"}
    declared: ClassVar[tuple[Parameter, ...]] = (
        EPSILON,
        SHARE,
        _X,
        _Y,
        POWER,
        AROUND,
        ALONG,
        _SECTORS,
        GRID_STEPS,
    )
    x: float
    y: float
    power: float
    direction: str
    distance: str
    sectors: int

    def __init__(
        self,
        domain: PlaneLike,
        epsilon: float,
        *,
        share: float | None = None,
        x: float | None = None,
        y: float | None = None,
        power: float = 1.0,
        direction: str = "ogpm",
        distance: str = "ogpm",
        sectors: int = 6,
        grid: int | None = None,
    ) -> None:
        self._settle(domain, epsilon, grid)
        self._freeze(sectors=_SECTORS.check(sectors))
        reference = _reference(self.domain.region, x, y)
        self._freeze(x=reference[0], y=reference[1], power=POWER.check(power))
        self._freeze(direction=AROUND.check(direction), distance=ALONG.check(distance))
        if share is None:
            chosen = _chosen_share(
                self._seen,
                reference,
                self.epsilon,
                self.power,
                self.direction,
                self.distance,
                self.sectors,
            )
        else:
            chosen = SHARE.check(share)
        budgets(self.epsilon, chosen)
        self._freeze(share=chosen)

    @classmethod
    def for_places(
        cls, domain: PlaneLike, epsilon: float, places: Locations, weights: Any = None, **parameters: Any
    ) -> Self:
        """Return the mechanism with the reference and the share that are best for public places.

        Parameters
        ----------
        domain : PlaneDomain, PlaneRegion or pair of corners
            The region of locations.
        epsilon : float
            The privacy budget of one location.
        places : array, columns or shapely points
            Where people may be: public, never where those who report have been.
        weights : array, optional
            How likely each is; equally by default. Public as well.
        parameters
            What the constructor takes beyond that.

        Examples
        --------
        >>> west = [(0.1, 0.4), (0.2, 0.5), (0.15, 0.6), (0.3, 0.5)]
        >>> mechanism = TracsD.for_places(((0, 0), (1, 1)), 4.0, west)
        >>> mechanism.x < 0.4, mechanism.mean_error(west) < TracsD(((0, 0), (1, 1)), 4.0).mean_error(west)
        (True, True)
        """
        plane = as_plane(domain)
        points = plane.take(places)
        chances = check_weights(weights, len(points))
        if len(points) > _TRIED:  # few of many will do to choose by
            chosen = medoids(points, chances, _TRIED)
            group = nearest(points[chosen])(points)
            points, chances = points[chosen], np.asarray(np.bincount(group, chances, len(chosen)), float)
        chances = chances / chances.sum()

        def made(x: float, y: float, share: float) -> Any:
            return cls(plane, epsilon, share=share, x=x, y=y, **parameters)

        def error(mechanism: TracsD) -> float:
            return float(chances @ mechanism._integrated(mechanism._place(points), points, 1, _ROUGH))

        first = cls(plane, epsilon, **parameters)
        steps = (np.arange(_STEPS) + 0.5) / _STEPS
        around = plane.region.from_shares(np.stack(np.meshgrid(steps, steps), axis=-1).reshape(-1, 2))
        inside = around[plane.region.contains(around)]
        tried = [made(x, y, first.share) for x, y in [first.reference, *inside.tolist()]]
        best = min(tried, key=error)
        share = best_share(best.epsilon, lambda part: error(made(best.x, best.y, part)))
        found: Self = made(best.x, best.y, share)
        return found

    @property
    def _is_in_sectors(self) -> bool:
        return self.direction == AROUND.choices[-1]

    def parameters(self) -> dict[str, ParameterValue]:
        told = super().parameters()
        return {name: told[name] for name in told if name != _SECTORS.name or self._is_in_sectors}

    @property
    def reference(self) -> tuple[float, float]:
        """From where directions and distances are taken, on the map."""
        return self.x, self.y

    @cached_property
    def _seen(self) -> PlaneRegion:
        """The region, or where its outline hides parts from the reference, the box around it."""
        region = self.domain.region
        return region if region.sees_all_from(self.reference) else Rectangle(*region.box)

    @cached_property
    def parts(self) -> tuple[Coordinate, Coordinate]:
        first, second = budgets(self.epsilon, self.share)
        if self._is_in_sectors:
            around: Coordinate = SectorCoordinate(Sectors(self.sectors, first, self.grid), True)
        else:
            around = Coordinate.circle(self.direction, first, self.power, self.grid)
        return (
            around,
            Coordinate.line(self.distance, second, self.power, self.grid),
        )

    def _form(self) -> dict[str, Any]:
        return {**super()._form(), "reference": list(self.reference)}

    def details(self) -> dict[str, float]:
        return {"distance_width": 2 * self.parts[1].cut[0]}

    def _coordinates(self, points: Floats) -> tuple[Floats, Floats]:
        return seen_from(self._seen, self.reference, points)

    def _spans(self, low: Floats, high: Floats) -> tuple[tuple[float, float], tuple[float, float]] | None:
        seen = self._seen
        if not isinstance(seen, Convex):
            return None
        ends = np.array([low, (low[0], high[1]), high, (high[0], low[1])])
        away = self.domain.region.from_shares(ends) - self.reference
        own = self.domain.region.to_shares(np.array([self.reference]))[0]
        slack = _HAIR * (high - low)
        # The gauge is convex, so largest in a corner; it is the largest of several straight ones, of
        # which none is anywhere less than in its own least corner.
        normals, offsets = seen._sides
        room = offsets - normals @ self.reference
        seen_sides = room > RELATIVE * seen.size
        shares = away @ (normals[seen_sides] / room[seen_sides, None]).T
        far = (max(float(shares.min(axis=0).max()) - _HAIR, 0.0), min(float(shares.max()) + _HAIR, 1.0))
        if (low - slack <= own).all() and (own <= high + slack).all():
            return (0.0, 1.0), (0.0, far[1])
        middle = away.mean(axis=0)
        turns = np.arctan2(away[:, 1], away[:, 0]) / TURN
        ahead = math.atan2(middle[1], middle[0]) / TURN
        off = (turns - ahead + 0.5) % 1.0 - 0.5
        return (ahead + float(off.min()) - _HAIR, ahead + float(off.max()) + _HAIR), far

    def _from_coordinates(self, first: Floats, second: Floats) -> Floats:
        return from_reference(self._seen, self.reference, first, second)

    @cached_property
    def _corner_turns(self) -> Floats:
        """The directions of the corners, where the reach has its kinks, in turns."""
        away = self._seen.corners - self.reference
        return np.sort(np.arctan2(away[:, 1], away[:, 0]) / TURN % 1.0)

    def _errors(self, points: Floats, power: int) -> Floats:
        return self._integrated(self._place(points), points, power, _ORDER)

    def _integrated(self, places: Indices | Floats, points: Floats, power: int, order: int) -> Floats:
        if self._seen is not self.domain.region:
            turns, shares = self._coordinates(points)
            own = np.stack([turns % 1.0, shares], axis=1) * self.shape
            distance = self.domain.region.distance
            return mean_over_boxes(self._boxes(places), own, points, self._answers, distance, power)
        # Along a ray the distance has a closed form, so only directions are left to Gauss.
        turns = self._coordinates(points)[0] % 1.0
        around, along = self.parts
        first, last, chances = around.pieces(places[:, 0])
        first, last = first / around.cells, last / around.cells
        kinks = [
            turns,
            (turns + 0.5) % 1.0,
            *np.broadcast_to(self._corner_turns[:, None], (len(self._corner_turns), len(turns))),
        ]
        ends = first[:, :, None], last[:, :, None]
        inner = np.stack(kinks, axis=1)[:, None, :]
        cuts = np.sort(np.concatenate([ends[0], np.clip(inner, *ends), ends[1]], axis=2), axis=2)
        nodes, weights = panels(cuts, order if first.shape[1] <= 3 else 2)
        angles = TURN * nodes.reshape(len(points), -1)
        ahead = np.stack([np.cos(angles), np.sin(angles)], axis=-1)
        reach = self._seen.reach(self.reference, ahead.reshape(-1, 2)).reshape(angles.shape)
        rays, target = reach[..., None] * ahead, (points - self.reference)[:, None, :]
        start, stop, heights = (each[:, :, None] for each in along.pieces(places[:, 1]))
        inside = sum(
            heights[:, piece]
            * along.cells
            * along_rays(rays, target, start[:, piece] / along.cells, stop[:, piece] / along.cells, power)
            for piece in range(heights.shape[1])
            if (stop[:, piece] > start[:, piece]).any()
        )
        by_node = (chances[:, :, None] * weights).reshape(len(points), -1) * around.cells
        return np.asarray((by_node * inside).sum(axis=1))

    def _mean_error(self, power: int) -> float:
        if self._seen is not self.domain.region:
            return super()._mean_error(power)
        return self._polar_error(power, _ORDER, 8)

    def _polar_error(self, power: int, order: int, around: int) -> float:
        """Return the mean error over all of the region, taken in directions and distances."""
        corners, half = self._corner_turns, self.parts[0].half
        kinks = [
            self.parts[0].kinks,
            corners,
            (corners + half) % 1.0,
            (corners - half) % 1.0,
            (corners + 0.5) % 1.0,
        ]
        cuts = np.unique(
            np.concatenate([np.linspace(0, 1, 5), *kinks])
        )  # the window's ends meet corners there
        turns, by_turn = panels(cuts, around)
        shares, by_share = panels(np.unique([0.0, *self.parts[1].cut, 1.0]), around)
        first, second = (each.ravel() for each in np.meshgrid(turns, shares, indexing="ij"))
        angles = TURN * turns
        reach = self._seen.reach(self.reference, np.stack([np.cos(angles), np.sin(angles)], axis=1))
        weights = np.outer(by_turn * reach**2, by_share * shares).ravel()
        points = self._from_coordinates(first, second)
        errors = self._integrated(self._between(points), points, power, order)
        return float(weights @ errors / weights.sum())


def _reference(region: PlaneRegion, x: float | None, y: float | None) -> tuple[float, float]:
    """Return the reference that was asked for, or the centre; refuse one outside and a corner."""
    if (x is None) != (y is None):
        raise InvalidParameterError(f"a reference has x and y: give both or neither, got x={x} and y={y}")
    centre = region.centre
    point = centre if x is None or y is None else as_pair((_X.check(x), _Y.check(y)), "the reference")
    told = f"({point[0]:.15g}, {point[1]:.15g})"
    if not region.contains(np.array([point]))[0]:
        raise InvalidParameterError(f"the reference {told} is not in {region}: choose a point inside")
    if any(math.dist(point, corner) <= 1e-9 * region.size for corner in region.corners.tolist()):
        raise InvalidParameterError(
            f"the reference {told} is a corner of {region}, from which most directions leave the region at "
            "once, so that many reports would be the corner itself: choose a point inside, such as "
            f"({centre[0]:.15g}, {centre[1]:.15g})"
        )
    return point


@lru_cache(maxsize=256)
def _chosen_share(
    region: PlaneRegion,
    reference: Point,
    epsilon: float,
    power: float,
    direction: str,
    distance: str,
    sectors: int,
) -> float:
    """Return the best share of the direction, by a rough integral: the minimum is flat."""
    x, y = as_pair(reference, "the reference")

    def error(share: float) -> float:
        made = TracsD(
            as_plane(region),
            epsilon,
            share=share,
            x=x,
            y=y,
            power=power,
            direction=direction,
            distance=distance,
            sectors=sectors,
        )
        return made._polar_error(1, _ROUGH, 2)

    return best_share(epsilon, error)
