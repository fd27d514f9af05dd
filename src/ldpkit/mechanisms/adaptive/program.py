"""The linear program in its compact form, for HiGHS.

The unknowns are a floor f[t] for each output and r[t, i] = P[t, i] - f[t] for each output
and input, with r <= (e^eps - 1) f: one inequality an entry, where the definition of
epsilon-LDP has one for every two inputs. A symmetric descriptor has a symmetric optimum,
P[-t, N-i] = P[t, i], which halves the program.

`interior` solves the same program many times faster; this is the independent check, and
what is tried when the other does not come to an end.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from ldpkit.core.typing import Floats
from ldpkit.mechanisms.adaptive.descriptor import is_symmetric
from ldpkit.mechanisms.adaptive.interior import Solution
from ldpkit.mechanisms.adaptive.lattice import Lattice

__all__ = ["solve_with_highs"]


def solve_with_highs(
    lattice: Lattice, descriptor: Floats, epsilon: float, *, time_limit: float = math.inf
) -> Solution | None:
    """Return the optimum of the program, or None if HiGHS does not find it in time.

    Examples
    --------
    >>> solution = solve_with_highs(Lattice(2, 4), np.array([0.25, 0.5, 0.25]), 1.0)
    >>> solution.table.shape
    (7, 3)
    """
    from scipy.optimize import linprog

    symmetric = is_symmetric(descriptor)
    entries = _Entries.of(lattice, symmetric=symmetric)
    count, outputs = len(entries.output), len(lattice.outputs)
    number = np.arange(count)
    # A column for each floor, then one for each entry. What an entry costs or adds to a
    # sum, the floor below it costs and adds as well.
    cost = entries.copies * lattice.costs(descriptor)[entries.output, entries.input]
    floor_of = _sparse(np.ones(count), number, entries.output, (count, outputs))
    sums = [
        _sparse(weight, entries.row, number, (entries.row.max() + 1, count))
        for weight in (entries.mass, entries.sign * lattice.places[entries.output])
    ]
    equal = _blocks([[each @ floor_of, each] for each in sums])
    target = np.concatenate([np.ones(sums[0].shape[0]), lattice.inputs[: sums[0].shape[0]]])
    used = np.flatnonzero(np.diff(equal.indptr))  # the centre has mean zero by symmetry, without an equation
    found = linprog(
        np.concatenate([cost @ floor_of, cost]),
        A_ub=_blocks(
            [[-math.expm1(epsilon) * floor_of, _sparse(np.ones(count), number, number, (count, count))]]
        ),
        b_ub=np.zeros(count),
        A_eq=equal[used],
        b_eq=target[used],
        method="highs",
        options={} if math.isinf(time_limit) else {"time_limit": time_limit},
    )
    if found.status != 0:
        return None
    floor, table = found.x[:outputs], np.zeros((outputs, lattice.bins + 1))
    table[entries.output, entries.input] = found.x[:outputs][entries.output] + found.x[outputs:]
    if symmetric:
        floor, table = np.maximum(floor, floor[::-1]), np.maximum(table, table[::-1, ::-1])
    return Solution(lattice, table, floor, float(found.fun), float(found.fun), int(found.nit))


def _sparse(values: Floats, rows: Any, columns: Any, shape: tuple[int, int]) -> Any:
    from scipy.sparse import csr_array

    return csr_array((values, (rows, columns)), shape=shape)


def _blocks(blocks: list[list[Any]]) -> Any:
    from scipy.sparse import block_array

    return block_array(blocks, format="csr")


@dataclass(frozen=True)
class _Entries:
    """The entries (output, input) that are unknowns; under symmetry, one of each mirrored two.

    `row` is the input in whose sums an entry counts, `mass` times and with the `sign` of
    its place; `copies` is how many entries of the whole table it stands for.
    """

    output: Any
    input: Any
    row: Any
    mass: Floats
    sign: Floats
    copies: Floats

    @classmethod
    def of(cls, lattice: Lattice, *, symmetric: bool) -> _Entries:
        bins, last = lattice.bins, len(lattice.outputs) - 1
        output, inputs = (axis.ravel() for axis in np.indices((last + 1, bins + 1)))
        if not symmetric:
            ones = np.ones(len(output))
            return cls(output, inputs, inputs, ones, ones, ones)
        kept = (2 * output > last) | ((2 * output == last) & (2 * inputs <= bins))
        output, inputs = output[kept], inputs[kept]
        central, middle = 2 * output == last, 2 * inputs == bins
        return cls(
            output,
            inputs,
            row=np.minimum(inputs, bins - inputs),
            # For the middle input, an entry and its mirror image are both of the same row.
            mass=np.where(middle & ~central, 2.0, 1.0),
            sign=np.where(middle, 0.0, np.where(2 * inputs < bins, 1.0, -1.0)),
            copies=np.where(middle & central, 1.0, 2.0),
        )
