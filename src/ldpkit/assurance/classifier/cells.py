"""The cells in which a rectified network is linear, for one or two sensitive columns.

Cells are segments or convex polygons of the sensitive columns, those of many records
together. Each unit whose sign is not the same in a whole cell splits it. A cell in which
bounds already show that the label is kept, or lost, is not split further, so only cells along
the boundary become many. In the end every cell has linear scores: where they exceed what
rounding can change the label is kept, and a thin strip along the boundary is left open.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ldpkit.assurance.classifier.bounding import corner_extremes, least_scores
from ldpkit.assurance.classifier.networks import Network
from ldpkit.core.typing import Counts, Floats

__all__ = ["CellList", "TooManyCells", "kept_cells"]

_MOST_CELLS = 400_000
_OFTEN = 12  # units of the last hidden layer, after which decided cells are taken out
_AT_ONCE = 20_000  # cells whose bounds are computed together


class TooManyCells(Exception):  # noqa: N818 (another method takes over)
    """A network that is cut into more cells than can be held."""


@dataclass(frozen=True, eq=False)
class CellList:
    """Some cells: whose record each belongs to, and its corners; a corner may stand repeatedly."""

    owner: Counts
    corners: Floats

    @classmethod
    def joined(cls, parts: list[CellList], columns: int) -> CellList:
        """Return all cells as one list."""
        parts = [part for part in parts if len(part.owner)]
        if not parts:
            return cls(np.zeros(0, np.int64), np.zeros((0, 2, columns)))
        width = max(part.corners.shape[1] for part in parts)
        return cls(
            np.concatenate([part.owner for part in parts]),
            np.concatenate([_widened(part.corners, width) for part in parts]),
        )


def kept_cells(
    network: Network, rows: Floats, label: int, sensitive: tuple[int, ...], low: Floats, high: Floats
) -> tuple[CellList, CellList]:
    """Return the cells in which records keep one label, and those that rounding leaves open.

    Parameters
    ----------
    network : Network
        The model.
    rows : array
        The records, all with the same label.
    label : int
        Its index.
    sensitive : tuple of int
        One or two columns.
    low, high : arrays
        The box of the sensitive columns in which the cells lie, one for all records.

    Examples
    --------
    >>> network = Network((np.array([[1.0, -1.0]]), np.array([[1.0], [1.0]])), (np.zeros(2), np.zeros(1) - 1),
    ...     np.array([0, 1]))
    >>> kept, _ = kept_cells(network, np.array([[3.0]]), 1, (0,), np.array([-4.0]), np.array([4.0]))
    >>> sorted(kept.corners[:, :, 0].round(9).tolist())
    [[-4.0, -1.0], [1.0, 4.0]]
    """
    chosen = list(sensitive)
    owner = np.arange(len(rows))
    rest = rows.copy()
    rest[:, chosen] = 0.0
    first = network.weights[0] if len(network.weights) > 1 else network.differences(label)[0]
    bias = network.biases[0] if len(network.weights) > 1 else network.differences(label)[1]
    slopes = np.broadcast_to(first[chosen].T, (len(rows), first.shape[1], len(chosen)))
    levels = rest @ first + bias
    corners = np.broadcast_to(_box_corners(low, high), (len(rows), 2 ** len(chosen), len(chosen)))
    kept, sizes = list[CellList](), np.abs(rows)
    for layer in range(len(network.weights) - 1):
        corners, parent = _split_layer(
            network, layer, corners, slopes, levels, owner, label, kept, sizes, chosen
        )
        owner, slopes, levels = owner[parent], slopes[parent], levels[parent]
        active = np.einsum("cud,cd->cu", slopes, corners.mean(axis=1)) + levels > 0
        final = layer == len(network.weights) - 2
        weight, bias = (
            network.differences(label)
            if final
            else (
                network.weights[layer + 1],
                network.biases[layer + 1],
            )
        )
        slopes = np.einsum("cud,uk->ckd", slopes * active[:, :, None], weight, optimize=True)
        levels = (levels * active) @ weight + bias
    reach = sizes[owner]
    reach[:, chosen] = np.abs(corners).max(axis=1)
    inside, strips = _cut(corners, slopes, levels, network.rounding(reach), owner)
    return CellList.joined([*kept, inside], len(chosen)), strips


def _box_corners(low: Floats, high: Floats) -> Floats:
    if len(low) == 1:
        return np.array([[low[0]], [high[0]]])
    return np.array([[low[0], low[1]], [high[0], low[1]], [high[0], high[1]], [low[0], high[1]]])


def _split_layer(
    network: Network,
    layer: int,
    corners: Floats,
    slopes: Floats,
    levels: Floats,
    owner: Counts,
    label: int,
    kept: list[CellList],
    sizes: Floats,
    chosen: list[int],
) -> tuple[Floats, Counts]:
    """Return the cells in which all units of a layer have one sign, and from which cell each comes."""
    parent = np.arange(len(owner))
    last = layer == len(network.weights) - 2
    for unit in range(slopes.shape[1]):
        if unit == 0 or (last and unit % _OFTEN == 0):
            corners, parent = _undecided(
                network, layer, corners, slopes, levels, parent, owner, label, kept, sizes, chosen
            )
        value = _values(corners, slopes[parent, unit], levels[parent, unit])
        tiny = 2.0**-48 * np.abs(value).max(axis=1, initial=0.0)
        mixed = (value.min(axis=1, initial=0.0) < -tiny) & (value.max(axis=1, initial=0.0) > tiny)
        if not mixed.any():
            continue
        above, below = _clipped(corners[mixed], value[mixed]), _clipped(corners[mixed], -value[mixed])
        width = max(above.shape[1], below.shape[1], corners.shape[1])
        corners = np.concatenate([_widened(part, width) for part in (corners[~mixed], above, below)])
        parent = np.concatenate([parent[~mixed], parent[mixed], parent[mixed]])
        if len(parent) > _MOST_CELLS:
            raise TooManyCells
    return corners, parent


def _undecided(
    network: Network,
    layer: int,
    corners: Floats,
    slopes: Floats,
    levels: Floats,
    parent: Counts,
    owner: Counts,
    label: int,
    kept: list[CellList],
    sizes: Floats,
    chosen: list[int],
) -> tuple[Floats, Counts]:
    """Return the cells in which bounds do not decide; those that keep the label go to `kept`."""
    stays = np.ones(len(parent), bool)
    for start in range(0, len(parent), _AT_ONCE):
        some = slice(start, start + _AT_ONCE)
        mine = parent[some]
        extremes = corner_extremes(corners[some])
        low, high = least_scores(network, layer, slopes[mine], levels[mine], extremes, label)
        reach = sizes[owner[mine]]
        reach[:, chosen] = np.abs(corners[some]).max(axis=1)
        margin = network.rounding(reach)[:, None]
        safe = (low > margin).all(axis=1)
        lost = (high < -margin).any(axis=1)
        kept.append(CellList(owner[mine[safe]], corners[some][safe]))
        stays[some] = ~(safe | lost)
    return corners[stays], parent[stays]


def _values(corners: Floats, slope: Floats, level: Floats) -> Floats:
    """Return a linear function at the corners of each cell."""
    return np.asarray((corners * slope[:, None, :]).sum(axis=2) + level[:, None])


def _cut(
    corners: Floats, slopes: Floats, levels: Floats, off: Floats, owner: Counts
) -> tuple[CellList, CellList]:
    """Return the part of cells where all scores exceed the rounding, and the strips where one may not."""
    open_ = list[CellList]()
    columns = corners.shape[2]
    for score in range(slopes.shape[1]):
        value = _values(corners, slopes[:, score], levels[:, score])
        above = value - off[:, None]
        near = (value.min(axis=1, initial=np.inf) <= off) & (value.max(axis=1, initial=-np.inf) >= -off)
        strip = _clipped(corners[near], -above[near])
        rest = _values(strip, slopes[near, score], levels[near, score]) + off[near, None]
        open_.append(CellList(owner[near], _clipped(strip, rest)))
        alive = above.max(axis=1, initial=-np.inf) > 0
        corners, owner, off = _clipped(corners[alive], above[alive]), owner[alive], off[alive]
        slopes, levels = slopes[alive], levels[alive]
    return CellList(owner, corners), CellList.joined(open_, columns)


def _clipped(corners: Floats, value: Floats) -> Floats:
    """Return the part of each cell where a linear function, given at its corners, is not negative."""
    cells, width, columns = corners.shape
    if not cells:
        return corners
    after, value_after = np.roll(corners, -1, axis=1), np.roll(value, -1, axis=1)
    crosses = ((value > 0) & (value_after < 0)) | ((value < 0) & (value_after > 0))
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.where(crosses, value / (value - value_after), 0.0)
    both: Any = np.empty((cells, 2 * width, columns))
    both[:, 0::2] = corners
    both[:, 1::2] = corners + share[:, :, None] * (after - corners)
    used = np.empty((cells, 2 * width), bool)
    used[:, 0::2], used[:, 1::2] = value >= 0, crosses
    counts = used.sum(axis=1)
    if columns == 1:
        low = np.where(used, both[:, :, 0], np.inf).min(axis=1)
        high = np.where(used, both[:, :, 0], -np.inf).max(axis=1)
        empty = counts == 0
        return np.stack([np.where(empty, 0.0, low), np.where(empty, 0.0, high)], axis=1)[:, :, None]
    order = np.argsort(~used, axis=1, kind="stable")[:, : max(int(counts.max()), 1)]
    # An empty part becomes a point, which has no mass.
    place = np.minimum(np.arange(order.shape[1]), np.maximum(counts - 1, 0)[:, None])
    return np.asarray(np.take_along_axis(both, np.take_along_axis(order, place, 1)[:, :, None], 1))


def _widened(corners: Floats, width: int) -> Floats:
    """Return cells with a larger number of corners: the last one is repeated."""
    missing = width - corners.shape[1]
    return (
        np.concatenate([corners, np.repeat(corners[:, -1:], missing, axis=1)], axis=1) if missing else corners
    )
