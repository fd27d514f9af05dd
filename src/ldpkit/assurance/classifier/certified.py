"""The largest box around a record in which a rectified network keeps its label, for any number of columns.

A mixed-integer program finds the nearest point that loses the label: a cube around the
record first, then each side as far as it can go. Solvers work with tolerances, so what they
find is a proposal. It is certified afterwards without one: the box is cut into parts until
linear bounds, with the rounding of the model's own arithmetic on top, show for each part that
the label is kept. A box that cannot be shown is made smaller and tried again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ldpkit.assurance.classifier.bounding import box_extremes, layer_bounds, least_scores
from ldpkit.assurance.classifier.columns import laws_around
from ldpkit.assurance.classifier.networks import Network
from ldpkit.assurance.classifier.program import nearest_change
from ldpkit.assurance.classifier.reading import read_model
from ldpkit.assurance.classifier.table import Unread, private_columns, record_table
from ldpkit.core.errors import InvalidInputError, InvalidParameterError
from ldpkit.core.typing import Floats

__all__ = ["CertifiedBox", "certified_box"]

_SHARES = (1.0, 0.999, 0.99, 0.97, 0.93, 0.85, 0.7, 0.5, 0.25, 0.1)  # of a box that could not be certified
_MOST_PARTS = 60_000
_AT_ONCE = 2048
_WITHIN = 1.0 - 1e-6  # of the way to the nearest change, to stay clear of the solver's tolerance


@dataclass(frozen=True)
class CertifiedBox:
    """A box around a record in which a network keeps its label for certain.

    Parameters
    ----------
    names : tuple
        The sensitive columns.
    low, high : tuple of float
        The ends of the box, which belong to it.
    radius : float
        Of the cube that the program found, as a share of the columns' ranges.
    share : float
        The part of the program's box, in each direction, that was certified; 0 if none was.
    parts : int
        Into how many parts the box was cut to certify it.
    record : tuple of float
        The values of the sensitive columns.

    Examples
    --------
    >>> import ldpkit
    >>> from ldpkit.assurance.classifier.stored import StoredNetwork
    >>> weights = np.array([[1.0, -1.0]]), np.array([[1.0], [1.0]])
    >>> network = Network(weights, (np.zeros(2), np.zeros(1) - 0.5), np.array([0, 1]))  # 1 where |x| > 0.5
    >>> box = certified_box(StoredNetwork(network), [[0.1]], {0: ldpkit.OGPM((-1, 1), epsilon=2)})
    >>> round(box.low[0], 2), round(box.high[0], 2)
    (-0.5, 0.5)
    """

    names: tuple[str | int, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]
    radius: float
    share: float
    parts: int
    record: tuple[float, ...]

    def bound(self, mechanisms: Mapping[Any, Any]) -> float:
        """Return a lower bound on the utility of any mechanisms that holds for certain."""
        found = 1.0
        laws = laws_around(self.names, self.record, mechanisms)
        for law, low, high in zip(laws, self.low, self.high, strict=True):
            inside = float(law.between(np.array([low]), np.array([high]))[0])
            found *= max(inside - 2 * law.slack - 1e-12, 0.0)
        return found


def certified_box(
    model: Any,
    record: Any,
    mechanisms: Mapping[Any, Any],
    *,
    columns: Sequence[str] | None = None,
    seconds: float = 10.0,
) -> CertifiedBox:
    """Return a box around one record in which a dense rectified network keeps its label for certain.

    Parameters
    ----------
    model : classifier
        A network that can be read: `MLPClassifier` with rectified units, also behind scalers, or
        one from an ONNX file.
    record : table of one row
        The record.
    mechanisms : mapping
        For each sensitive column a mechanism; the box stays within what its reports can be.
    columns : sequence of str, optional
        The names of the columns of an array.
    seconds : float
        How long the solver may take for each program; its bound holds also when it is stopped.

    Examples
    --------
    >>> import ldpkit
    >>> from ldpkit.assurance.classifier.stored import StoredNetwork
    >>> network = Network((np.array([[1.0, -1.0]]), np.array([[1.0], [1.0]])),
    ...     (np.zeros(2), np.zeros(1) - 0.5), np.array([0, 1]))     # 1 where |x| > 0.5
    >>> ogpm = ldpkit.OGPM((-1, 1), epsilon=2)
    >>> box = certified_box(StoredNetwork(network), [[0.1]], {0: ogpm})
    >>> round(box.low[0], 3), round(box.high[0], 3), round(box.bound({0: ogpm}), 3)
    (-0.5, 0.5, 0.816)
    """
    if not seconds > 0:
        raise InvalidParameterError(f"seconds must be above 0, got {seconds!r}")
    table = record_table(model, record, columns)
    if table.n != 1:
        raise InvalidInputError(f"a box is around one record, got {table.n}: give one row")
    sensitive = private_columns(table, mechanisms)
    try:
        network = read_model(model)
    except Unread as why:
        raise InvalidParameterError(f"{why}: robust_box takes any model") from None
    if not isinstance(network, Network):
        raise InvalidParameterError(
            f"a certified box is for networks, and {type(model).__name__} is not one: utility computes "
            "it exactly"
        )
    positions = [each.position for each in sensitive]
    label = int(network.indices(table.values)[0])
    centre = table.values[0, positions].copy()
    laws = [each.column.outputs(centre[[place]]) for place, each in enumerate(sensitive)]
    ends = np.array([law.support for law in laws])
    widths = np.maximum(ends[:, 1] - ends[:, 0], 1e-300)
    search = _BoxSearch(network, table.values[0], label, positions, seconds)
    low, high, radius = search.proposal(centre, ends[:, 0], ends[:, 1], widths)
    certified, share, parts = search.certified(centre, low, high)
    return CertifiedBox(
        tuple(each.name for each in sensitive),
        tuple(certified[0].tolist()),
        tuple(certified[1].tolist()),
        radius,
        share,
        parts,
        tuple(centre.tolist()),
    )


class _BoxSearch:
    """The boxes of one record."""

    def __init__(
        self, network: Network, row: Floats, label: int, positions: list[int], seconds: float
    ) -> None:
        self._network, self._row, self._label, self._positions = network, row, label, positions
        self._seconds = seconds
        rest = row.copy()
        rest[positions] = 0.0
        hidden = len(network.weights) > 1
        weight, bias = (network.weights[0], network.biases[0]) if hidden else network.differences(label)
        self._slopes, self._levels = weight[positions].T, rest @ weight + bias

    def proposal(
        self, centre: Floats, least: Floats, most: Floats, widths: Floats
    ) -> tuple[Floats, Floats, float]:
        """Return the box of the programs: a cube, and then each side as far as it goes."""
        least, most = np.minimum(least, centre), np.maximum(most, centre)
        radius = self._nearest(centre, least, most, widths) * _WITHIN
        low, high = np.maximum(centre - radius * widths, least), np.minimum(centre + radius * widths, most)
        for axis in range(len(centre)):
            for side in (0, 1):
                first, last = low.copy(), high.copy()
                # Only this column may leave the box, and only on this side.
                if side == 0:
                    first[axis], last[axis] = least[axis], centre[axis]
                else:
                    first[axis], last[axis] = centre[axis], most[axis]
                weights = np.full(len(centre), np.inf)
                weights[axis] = widths[axis]
                reach = self._nearest(centre, first, last, weights) * _WITHIN * widths[axis]
                if side == 0:
                    low[axis] = min(low[axis], max(centre[axis] - reach, least[axis]))
                else:
                    high[axis] = max(high[axis], min(centre[axis] + reach, most[axis]))
        return low, high, float(min(radius, 1.0))

    def _nearest(self, centre: Floats, low: Floats, high: Floats, widths: Floats) -> float:
        """Return a lower bound on the distance to a point that loses the label; infinity if there is none."""
        bounds = layer_bounds(
            self._network, self._slopes[None], self._levels[None], box_extremes(low[None], high[None])
        )
        return nearest_change(
            self._network,
            self._label,
            self._slopes,
            self._levels,
            bounds,
            centre,
            low,
            high,
            widths,
            self._seconds,
        )

    def certified(
        self, centre: Floats, low: Floats, high: Floats
    ) -> tuple[tuple[Floats, Floats], float, int]:
        """Return the largest part of a box that can be shown to keep the label, its share, and its parts."""
        for share in _SHARES:
            inner = centre + share * (low - centre), centre + share * (high - centre)
            parts = self._parts(*inner)
            if parts:
                return inner, share, parts
        return (centre, centre), 0.0, 0

    def _parts(self, low: Floats, high: Floats) -> int:
        """Return into how many parts a box was cut to show that it keeps the label; 0 if it was not shown."""
        lows, highs, done = low[None], high[None], 0
        while len(lows):
            some_low, some_high = lows[:_AT_ONCE], highs[:_AT_ONCE]
            lows, highs = lows[_AT_ONCE:], highs[_AT_ONCE:]
            count = len(some_low)
            slopes = np.broadcast_to(self._slopes, (count, *self._slopes.shape))
            levels = np.broadcast_to(self._levels, (count, *self._levels.shape))
            extremes = box_extremes(some_low, some_high)
            least, most = least_scores(self._network, 0, slopes, levels, extremes, self._label)
            reach = np.tile(np.abs(self._row), (count, 1))
            reach[:, self._positions] = np.maximum(np.abs(some_low), np.abs(some_high))
            off = self._network.rounding(reach)[:, None]
            if (most <= -off).any():
                return 0
            open_ = ~(least > off).all(axis=1)
            done += int((~open_).sum())
            some_low, some_high = some_low[open_], some_high[open_]
            if done + len(lows) + 2 * len(some_low) > _MOST_PARTS:
                return 0
            axis = self._longest(some_low, some_high)
            row = np.arange(len(axis))
            middle = (some_low[row, axis] + some_high[row, axis]) / 2
            left_high, right_low = some_high.copy(), some_low.copy()
            left_high[row, axis], right_low[row, axis] = middle, middle
            lows = np.concatenate([some_low, right_low, lows])
            highs = np.concatenate([left_high, some_high, highs])
        return max(done, 1)

    def _longest(self, low: Floats, high: Floats) -> Any:
        """Return the column that moves the first layer most, for each part."""
        return ((high - low) * np.linalg.norm(self._slopes, axis=0)).argmax(axis=1)
