"""TraCS-C: two coordinates along the edges of the region, each in a window of its own."""

from __future__ import annotations

from functools import lru_cache
from typing import ClassVar

import numpy as np

from ldpkit.core.cached import cached_property
from ldpkit.core.domains.plane import PlaneLike
from ldpkit.core.parameters import EPSILON, Parameter
from ldpkit.core.typing import Floats, Indices
from ldpkit.mechanisms.base import register
from ldpkit.mechanisms.cells.mechanism import GRID_STEPS
from ldpkit.mechanisms.cells.sharing import budgets
from ldpkit.mechanisms.cells.widths import POWER
from ldpkit.mechanisms.spatial.integrals import mean_over_boxes, over_rectangle, panels
from ldpkit.mechanisms.spatial.pair import SHARE, TwoParts, best_share
from ldpkit.mechanisms.spatial.parts import ALONG, Coordinate

__all__ = ["TracsC"]

_ZHENG = "Zheng: collecting trajectories in continuous space, dissertation, chapter 6"
_AXES = Parameter("axes", str, "what reports each coordinate", default=ALONG.default, choices=ALONG.choices)
_ORDER, _ROUGH = 12, 4  # nodes of Gauss's rule: for an answer, and to choose a share


@register
class TracsC(TwoParts):
    """TraCS-C: each coordinate of a location by OGPM, with the budget shared as is best.

    On a rectangle the coordinates are x and y, on a parallelogram those along its edges. Within
    another region they are those of the box around it, and a report outside is moved to the
    nearest point of the region, which is public and costs nothing. On the globe the longitude
    goes round (circular OGPM), and distances are those along great circles, in kilometres.

    Utility: on the unit square, equally likely everywhere, the mean distance is 0.2794 at
    epsilon 4 and 0.1242 at 8; `planar_window` has 0.1952 and 0.0549. On a rectangle of 2 x 10
    sharing the budget as is best has 0.535 at epsilon 8, half each 0.788.
    Runtime: O(1) a location; memory O(1).
    Citation: Zheng, Algorithm 2, Theorem 14; there the share is one half.

    Parameters
    ----------
    domain : PlaneDomain, PlaneRegion or pair of corners
        The region of locations.
    epsilon : float
        The privacy budget of one location.
    share : float, optional
        What the first coordinate gets of it.
    power : float
        The power of the errors that OGPM makes small.
    axes : {"ogpm", "sw"}
        What reports each coordinate.
    grid : int
        The steps of the grid along each coordinate, a power of two.

    Examples
    --------
    >>> import ldpkit
    >>> mechanism = ldpkit.get("tracs_c", ((0, 0), (1, 1)), epsilon=4)
    >>> mechanism
    TracsC([0, 1] x [0, 1], epsilon=4, share=0.5, power=1, axes='ogpm')
    >>> round(mechanism.mean_error(), 6), round(mechanism.error((0.5, 0.5)), 4)
    (0.27945, 0.2171)
    >>> reports = mechanism.privatize([(0.2, 0.7), (0.9, 0.1)])
    >>> mechanism.points_of(reports).shape
    (2, 2)
    """

    name = "tracs_c"
    title = "TraCS with Cartesian coordinates"
    citation = _ZHENG
    capabilities = TwoParts.capabilities | {"spherical"}
    declared: ClassVar[tuple[Parameter, ...]] = (EPSILON, SHARE, POWER, _AXES, GRID_STEPS)
    power: float
    axes: str

    def __init__(
        self,
        domain: PlaneLike,
        epsilon: float,
        *,
        share: float | None = None,
        power: float = 1.0,
        axes: str = "ogpm",
        grid: int | None = None,
    ) -> None:
        self._settle(domain, epsilon, grid)
        self._freeze(power=POWER.check(power), axes=_AXES.check(axes))
        if share is None:
            edges = np.hypot(*self.domain.region.matrix)
            chosen = _chosen_share(self.epsilon, float(edges[1] / edges[0]), self.power, self.axes)
        else:
            chosen = SHARE.check(share)
        budgets(self.epsilon, chosen)  # refuses a share that leaves one too little
        self._freeze(share=chosen)

    @cached_property
    def parts(self) -> tuple[Coordinate, Coordinate]:
        first, second = budgets(self.epsilon, self.share)
        around = Coordinate.circle if self.domain.region.wraps else Coordinate.line
        return (
            around(self.axes, first, self.power, self.grid),
            Coordinate.line(self.axes, second, self.power, self.grid),
        )

    def _spans(self, low: Floats, high: Floats) -> tuple[tuple[float, float], tuple[float, float]] | None:
        return (float(low[0]), float(high[0])), (float(low[1]), float(high[1]))

    @property
    def follows_frame(self) -> bool:
        return True

    def details(self) -> dict[str, float]:
        return {f"width_{axis}": 2 * part.cut[0] for axis, part in zip("xy", self.parts, strict=True)}

    def _coordinates(self, points: Floats) -> tuple[Floats, Floats]:
        first, second = np.clip(self.domain.region.to_shares(points), 0.0, 1.0).T
        return first, second

    def _from_coordinates(self, first: Floats, second: Floats) -> Floats:
        return self.domain.region.from_shares(np.stack([first, second], axis=1))

    def _errors(self, points: Floats, power: int) -> Floats:
        return self._errors_at(self._place(points), points, power)

    def _errors_at(self, places: Indices | Floats, points: Floats, power: int) -> Floats:
        region = self.domain.region
        low, high, heights = boxes = self._boxes(places)
        if self._is_upright and not region.wraps:
            edges, cells = np.diag(region.matrix), np.array(self.shape)
            low, high = (region.origin + ends / cells * edges for ends in (low, high))
            whole = over_rectangle(low, high, points[:, None, :], power)
            return np.asarray((heights * whole).sum(axis=1) * cells.prod() / edges.prod())
        return mean_over_boxes(
            boxes, region.to_shares(points) * self.shape, points, self._answers, region.distance, power
        )

    @property
    def _is_upright(self) -> bool:
        matrix = self.domain.region.matrix
        return bool(self.domain.region.fills_frame and matrix[0, 1] == 0 == matrix[1, 0])

    def _mean_error(self, power: int) -> float:
        if self.domain.region.wraps or not self.domain.region.fills_frame:
            return super()._mean_error(power)
        return self._framed_error(power, _ORDER)

    def _framed_error(self, power: int, order: int) -> float:
        """Return the mean error over all of the frame, panel by panel between the kinks of the law."""
        rules = [panels(np.unique([0.0, *part.cut, 1.0]), order) for part in self.parts]
        (x, wx), (y, wy) = rules
        shares = np.stack(np.meshgrid(x, y, indexing="ij"), axis=-1).reshape(-1, 2)
        points = self.domain.region.from_shares(shares)
        errors = self._errors_at(self._between(points), points, power)
        return float(wx @ errors.reshape(len(x), len(y)) @ wy)


@lru_cache(maxsize=256)
def _chosen_share(epsilon: float, ratio: float, power: float, axes: str) -> float:
    """Return the best share for a rectangle of width 1 and some height."""
    if ratio == 1:
        return 0.5  # by symmetry, and the error has one minimum

    def error(share: float) -> float:
        made = TracsC(((0, 0), (1, ratio)), epsilon, share=share, power=power, axes=axes)
        return made._framed_error(1, _ROUGH)

    return best_share(epsilon, error)
