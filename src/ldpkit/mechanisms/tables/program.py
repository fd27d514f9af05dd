"""The linear program over epsilon-LDP tables in its compact form, for HiGHS.

The unknowns are a floor f[t] for each output and r[t, i] = P[t, i] - f[t] for each output
and input, with r <= (e^eps - 1) f: one inequality an entry, where the definition of
epsilon-LDP has one for every two inputs. A problem that is its own mirror image has a
symmetric optimum, P[-t, -i] = P[t, i], which halves the program.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ldpkit.core.typing import Floats

__all__ = ["Optimum", "best_table", "row_sums"]


@dataclass(frozen=True)
class Optimum:
    """A table with the least cost.

    Parameters
    ----------
    table : array, shape (outputs, inputs)
        The probability of each output for each input.
    floor : array
        A number for each output: its probabilities lie between it and e^eps times it.
    value : float
        The cost.
    prices : tuple of arrays
        What a unit of each equation's target adds to the cost.
    weights : array
        How much each row of costs counts: they sum to one.
    steps : int
        Iterations of the solver.
    """

    table: Floats
    floor: Floats
    value: float
    prices: tuple[Floats, ...]
    weights: Floats
    steps: int


def row_sums(coefficients: Floats) -> Any:
    """Return the matrix that sums an (outputs, inputs) table over outputs, an entry times its coefficient.

    Examples
    --------
    >>> (row_sums(np.array([[1.0, 2.0], [3.0, 4.0]])) @ np.ones(4)).tolist()
    [4.0, 6.0]
    """
    outputs, inputs = coefficients.shape
    entry = np.arange(outputs * inputs)
    return _sparse(coefficients.ravel(), entry % inputs, entry, (inputs, outputs * inputs))


def best_table(
    shape: tuple[int, int],
    epsilon: float,
    costs: Any,
    equations: Sequence[tuple[Any, Floats]],
    *,
    symmetric: bool = False,
    time_limit: float = math.inf,
) -> Optimum | None:
    """Return the epsilon-LDP table whose largest cost is least, or None if HiGHS does not find it in time.

    Parameters
    ----------
    shape : (int, int)
        How many outputs and inputs there are. Entries are counted output by output.
    epsilon : float
        The privacy parameter.
    costs : matrix, shape (costs, entries)
        A row for each cost.
    equations : sequence of (matrix, array)
        What the table must fulfil: a row for each equation, and the right-hand sides.
    symmetric : bool
        Whether the problem is its own mirror image, outputs, inputs and rows reversed.
    time_limit : float
        Seconds.

    Examples
    --------
    >>> distance = np.abs(np.array([[0.0], [1.0]]) - np.array([0.0, 1.0]))
    >>> mass = row_sums(np.ones((2, 2))), np.ones(2)
    >>> found = best_table((2, 2), math.log(3), row_sums(distance), [mass])
    >>> found.table.round(6).tolist(), round(found.value, 6)
    ([[0.75, 0.25], [0.25, 0.75]], 0.25)
    """
    from scipy.optimize import linprog

    outputs, inputs = shape
    entries = outputs * inputs
    # Entry e and entry -1-e are mirror images, and so are output t and output -1-t.
    folds = [_fold(count, symmetric=symmetric) for count in (entries, outputs)]
    of_entry, of_floor = folds
    entry = np.arange(entries)
    below = _sparse(np.ones(entries), entry, entry // inputs, (entries, outputs))
    kept = of_entry.shape[1]
    # Columns: the floors, what entries have above them, and the largest cost.
    floor = (below @ of_floor)[:kept]
    table = _blocks([[below @ of_floor, of_entry]])
    cost = _half(costs @ table, symmetric=symmetric)
    equal = [_half(matrix @ table, symmetric=symmetric) for matrix, _ in equations]
    target = np.concatenate([goal[: each.shape[0]] for each, (_, goal) in zip(equal, equations, strict=True)])
    rows = _blocks([[each] for each in equal])
    used = np.flatnonzero(np.diff(rows.indptr))  # by symmetry some equations hold without being asked
    columns = table.shape[1]
    found = linprog(
        np.append(np.zeros(columns), 1.0),
        A_ub=_blocks(
            [
                [_blocks([[-math.expm1(epsilon) * floor, _identity(kept)]]), None],
                [cost, -np.ones((cost.shape[0], 1))],
            ]
        ),
        b_ub=np.zeros(kept + cost.shape[0]),
        A_eq=_blocks([[rows[used], _sparse(np.zeros(0), [], [], (len(used), 1))]]),
        b_eq=target[used],
        bounds=[(0, None)] * columns + [(None, None)],
        method="highs",
        options={} if math.isinf(time_limit) else {"time_limit": time_limit},
    )
    if found.status != 0:
        return None
    multipliers = np.zeros(len(target))
    multipliers[used] = found.eqlin.marginals
    cuts = np.cumsum([each.shape[0] for each in equal])[:-1]
    return Optimum(
        (table @ found.x[:-1]).reshape(shape),
        of_floor @ found.x[: of_floor.shape[1]],
        float(found.fun),
        tuple(
            _unfolded(part, len(goal))
            for part, (_, goal) in zip(np.split(multipliers, cuts), equations, strict=True)
        ),
        _unfolded(-found.ineqlin.marginals[kept:], costs.shape[0]),
        int(found.nit),
    )


def _fold(count: int, *, symmetric: bool) -> Any:
    """Return the matrix that takes the first half of some numbers to all of them, mirrored."""
    if not symmetric:
        return _identity(count)
    every = np.arange(count)
    return _sparse(np.ones(count), every, np.minimum(every, count - 1 - every), (count, (count + 1) // 2))


def _half(rows: Any, *, symmetric: bool) -> Any:
    return rows[: (rows.shape[0] + 1) // 2] if symmetric else rows


def _unfolded(part: Floats, count: int) -> Floats:
    """Return multipliers of all rows from those of the first half, which stand for their mirror images."""
    if len(part) == count:
        return np.asarray(part)
    shared = np.concatenate([part, part[: count // 2][::-1]])
    return np.asarray(np.where(2 * np.arange(count) == count - 1, shared, shared / 2))


def _identity(count: int) -> Any:
    every = np.arange(count)
    return _sparse(np.ones(count), every, every, (count, count))


def _sparse(values: Floats, rows: Any, columns: Any, shape: tuple[int, int]) -> Any:
    from scipy.sparse import csr_array

    return csr_array((values, (rows, columns)), shape=shape)


def _blocks(blocks: list[list[Any]]) -> Any:
    from scipy.sparse import block_array

    return block_array(blocks, format="csr")
