"""Preparation: one value for each person, from transactions or from points.

These are the steps of the LDP3 evaluation (section IV-A): Kosarak and BMS-POS keep the
most frequent items, Porto keeps the cell of a grid.
"""

from __future__ import annotations

from collections import defaultdict
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np

from ldpkit.core.domains.categorical import CategoricalDomain
from ldpkit.core.errors import InvalidInputError, InvalidParameterError
from ldpkit.core.parameters import check_whole
from ldpkit.simulation.datasets.dataset import Dataset

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import ArrayLike

    from ldpkit.core.typing import Counts, Indices, Label

__all__ = ["grid_cells", "top_items"]


def top_items(transactions: Iterable[Iterable[Label]], k: int, *, name: str = "top items") -> Dataset:
    """Return each person's most frequent item among the k most frequent of all.

    Parameters
    ----------
    transactions : iterable of iterables
        The items of each person, in order.
    k : int
        How many items to keep. Where frequencies tie, here and below, the item seen
        first wins.
    name : str
        The name of the data set.

    Returns
    -------
    Dataset
        The kept items, the most frequent first, and one of them for each person who has
        any; the others are dropped.

    Examples
    --------
    >>> clicks = [["news", "sport", "sport"], ["news"], ["art"], ["news", "sport"]]
    >>> data = top_items(clicks, 2)
    >>> list(data.domain.labels), data.values().tolist()
    (['news', 'sport'], [1, 0, 0])
    """
    size = check_whole(k, "k", least=2)
    labels, items, owners = _flatten(transactions)
    if len(labels) < size:
        raise InvalidInputError(
            f"there are {len(labels)} distinct items: ask for at most that many, not {size}"
        )
    frequency = np.bincount(items, minlength=len(labels))
    kept = np.argsort(-frequency, kind="stable")[:size]
    rank = np.full(len(labels), size)
    rank[kept] = np.arange(size)
    ranks = rank[items]
    inside = ranks < size
    choices = _favourites(owners[inside], ranks[inside], size)
    counts = np.bincount(choices, minlength=size)
    return Dataset(name, CategoricalDomain([labels[item] for item in kept]), counts, indices=choices)


def grid_cells(
    points: ArrayLike,
    rows: int,
    columns: int,
    *,
    bounds: tuple[float, float, float, float] | None = None,
    drop_outside: bool = False,
    name: str = "grid",
) -> Dataset:
    """Return the cell of a grid in which each point lies.

    Parameters
    ----------
    points : array
        One point (x, y) on each row.
    rows, columns : int
        The size of the grid. Cell row * columns + column; row 0 has the smallest y,
        column 0 the smallest x.
    bounds : (x_min, y_min, x_max, y_max), optional
        The corners of the grid, by default the extremes of the points.
    drop_outside : bool
        Whether to leave out points beyond the bounds; by default they are refused.
    name : str
        The name of the data set.

    Examples
    --------
    >>> grid_cells([[0, 0], [9, 1], [10, 10]], 2, 2).values().tolist()
    [0, 1, 3]
    """
    shape = np.array([check_whole(columns, "columns"), check_whole(rows, "rows")])
    if shape.prod() < 2:
        raise InvalidParameterError(f"a grid needs at least 2 cells, got {rows} x {columns}")
    array = np.asarray(points, float)
    if array.ndim != 2 or array.shape[1] != 2 or len(array) == 0:
        raise InvalidInputError(f"points must be rows of x and y, got shape {array.shape}")
    if not np.isfinite(array).all():
        row = int(np.argmin(np.isfinite(array).all(axis=1)))
        raise InvalidInputError(
            f"point {row} is {tuple(array[row].tolist())}: remove points that are not finite"
        )
    box = (*array.min(axis=0).tolist(), *array.max(axis=0).tolist()) if bounds is None else bounds
    low, high = np.array(box[:2], float), np.array(box[2:], float)
    if low.shape != high.shape or not (np.isfinite([low, high]).all() and (low < high).all()):
        raise InvalidParameterError(f"bounds are x_min, y_min, x_max, y_max with room between, got {box}")
    outside = ((array < low) | (array > high)).any(axis=1)
    if outside.any() and not drop_outside:
        row = int(np.argmax(outside))
        raise InvalidInputError(
            f"{int(outside.sum())} points lie outside the bounds, first {tuple(array[row].tolist())}: "
            "widen the bounds or drop the points"
        )
    place = (array[~outside] - low) / (high - low) * shape
    column, row_index = np.minimum(
        place.astype(np.int64), shape - 1
    ).T  # the far edges belong to the last cells
    cells = (row_index * shape[0] + column).astype(np.uint32)
    domain = CategoricalDomain(int(shape.prod()))
    return Dataset(name, domain, np.bincount(cells, minlength=len(domain)), indices=cells)


def _flatten(transactions: Iterable[Iterable[Label]]) -> tuple[list[Label], Counts, Counts]:
    """Return the distinct items as first seen, and for each occurrence its item and its owner."""
    number: defaultdict[Label, int] = defaultdict()
    number.default_factory = number.__len__  # a new item gets the next number
    lengths: list[int] = []

    def measured() -> Iterable[list[Label]]:
        for transaction in transactions:
            items = list(transaction)
            lengths.append(len(items))
            yield items

    stream = chain.from_iterable(measured())
    items = np.fromiter(map(number.__getitem__, stream), np.int64)
    return list(number), items, np.repeat(np.arange(len(lengths)), lengths)


def _favourites(owners: Counts, ranks: Counts, size: int) -> Indices:
    """Return for each owner, in order, the most frequent rank; the first seen wins a tie."""
    pairs, first, times = np.unique(owners * size + ranks, return_index=True, return_counts=True)
    order = np.lexsort((first, -times, pairs // size))
    _, best = np.unique((pairs // size)[order], return_index=True)
    return np.asarray(pairs[order][best] % size, np.uint32)
