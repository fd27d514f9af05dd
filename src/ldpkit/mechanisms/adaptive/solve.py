"""From a descriptor to an exact table: the program solved, repaired and kept for the next time.

Where the range of outputs is not given, it is widened until no output outside it would
help, as judged by the prices of the solution. A solver that does not come to an end still
gives a valid mechanism, because its iterates are valid; a warning says how good it is.
"""

from __future__ import annotations

import hashlib
import json
import math
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Literal

import numpy as np

from ldpkit.core.errors import FileFormatError, InvalidParameterError
from ldpkit.core.parameters import check_epsilon
from ldpkit.core.typing import Floats
from ldpkit.core.wholefile import whole_file
from ldpkit.mechanisms.adaptive import TIME_LIMIT
from ldpkit.mechanisms.adaptive.descriptor import check_descriptor, is_symmetric
from ldpkit.mechanisms.adaptive.interior import Solution, minimise
from ldpkit.mechanisms.adaptive.lattice import Lattice
from ldpkit.mechanisms.adaptive.program import solve_with_highs
from ldpkit.mechanisms.adaptive.repair import repair
from ldpkit.mechanisms.adaptive.table import NoiseTable

__all__ = ["UnfinishedWarning", "fitted_table", "solve"]

_GOOD = 1e-4  # a proven gap that needs no warning
_WIDENINGS = 3
_MOST_KEPT = 256

_kept: dict[str, NoiseTable] = {}


class UnfinishedWarning(UserWarning):
    """A solver was stopped before the optimum; the mechanism is valid but not the best."""


def solve(
    descriptor: object,
    epsilon: float,
    *,
    noise_range: int | None = None,
    solver: Literal["interior", "highs"] = "interior",
    time_limit: float = TIME_LIMIT,
) -> Solution:
    """Return the unbiased epsilon-LDP mechanism of least expected variance for a descriptor.

    Parameters
    ----------
    descriptor : array
        The shares of the N + 1 grid points.
    epsilon : float
        The privacy parameter.
    noise_range : int, optional
        M: outputs are the N-M..M. Chosen if not given.
    solver : {"interior", "highs"}
        The method of this package, or HiGHS on the same program.
    time_limit : float
        Seconds after which the best table so far is taken, with a warning.

    Examples
    --------
    >>> solution = solve([0.25, 0.5, 0.25], 2.0)
    >>> round(solution.value, 6), solution.gap < 1e-8
    (0.832599, True)
    """
    shares, epsilon = check_descriptor(descriptor), check_epsilon(epsilon)
    lattice = Lattice.choose(len(shares) - 1, epsilon, noise_range)
    if solver == "highs":
        found = solve_with_highs(lattice, shares, epsilon, time_limit=time_limit)
        if found is not None:
            return found
        warnings.warn(
            f"HiGHS did not solve the program of {lattice.bins} bins within {time_limit:g} s: "
            "the interior-point method takes its place",
            UnfinishedWarning,
            stacklevel=2,
        )
    elif solver != "interior":
        raise InvalidParameterError(f"solver must be 'interior' or 'highs', got {solver!r}")
    solution = minimise(lattice, shares, epsilon, time_limit=time_limit)
    for _ in range(_WIDENINGS if noise_range is None else 0):
        if not _wants_more(solution, shares, epsilon):
            break
        solution = minimise(solution.lattice.wider(1.5), shares, epsilon, time_limit=time_limit)
    if solution.gap > _GOOD:
        solution = min(solution, _duchi(solution, shares, epsilon), key=lambda each: each.value)
        warnings.warn(
            f"the solver stopped at a variance of {solution.value:.4g}, while the least is at least "
            f"{max(solution.bound, 0):.4g}: the mechanism is private and unbiased, but give more than "
            f"{time_limit:g} s or fewer than {lattice.bins} bins for the best one",
            UnfinishedWarning,
            stacklevel=2,
        )
    return solution


def _duchi(unfinished: Solution, descriptor: Floats, epsilon: float) -> Solution:
    """Return Duchi's mechanism on a lattice: two outputs, as near as they may be."""
    lattice = unfinished.lattice
    upper = int(np.searchsorted(lattice.places, 1 / math.tanh(epsilon / 2)))
    table, floor = np.zeros_like(unfinished.table), np.zeros_like(unfinished.floor)
    table[upper] = (1 + lattice.inputs / lattice.places[upper]) / 2
    table[-1 - upper] = 1 - table[upper]
    floor[[upper, -1 - upper]] = table[upper].min()
    value = float((lattice.costs(descriptor) * table).sum())
    return replace(unfinished, table=table, floor=floor, value=value)


def _wants_more(solution: Solution, descriptor: Floats, epsilon: float) -> bool:
    """Whether an output farther out has a negative price, so that a wider range would do better."""
    if solution.multipliers is None or solution.gap > _GOOD:
        return False
    lattice = solution.lattice
    beyond = np.linspace(1, 3, 65)[1:] * lattice.reach
    mass, mean = solution.multipliers
    for places in (-beyond, beyond):
        price = descriptor * (places[:, None] - lattice.inputs) ** 2 - mass - np.outer(places, mean)
        # The worst probabilities between a floor and e^eps times it.
        worst = np.minimum(price, math.exp(epsilon) * price).sum(axis=1)
        if (worst < -1e-6 * np.abs(price).sum(axis=1)).any():
            return True
    return False


def fitted_table(
    descriptor: object,
    epsilon: float,
    *,
    noise_range: int | None = None,
    time_limit: float = TIME_LIMIT,
    cache: str | Path | None = None,
) -> NoiseTable:
    """Return the exact integer table for a descriptor, from memory or a cache directory if it is there.

    Parameters
    ----------
    descriptor, epsilon, noise_range, time_limit
        As in `solve`.
    cache : path, optional
        A directory in which tables are kept between runs. What is found there is checked
        like any other table before it is used.
    """
    shares, epsilon = check_descriptor(descriptor), check_epsilon(epsilon)
    key = _key(shares, epsilon, noise_range)
    if key in _kept:
        return _kept[key]
    file = None if cache is None else Path(cache) / f"aaa-{key[:32]}.json"
    table = None if file is None else _read(file, epsilon)
    if table is None or table.bins != len(shares) - 1:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", UnfinishedWarning)
            solution = solve(shares, epsilon, noise_range=noise_range, time_limit=time_limit)
        table = repair(_mirrored(solution) if is_symmetric(shares) else solution, epsilon)
        for warning in caught:
            warnings.warn(warning.message, stacklevel=2)
        if caught:  # another time there may be more time
            return table
        if file is not None:
            _write(file, table)
    while len(_kept) >= _MOST_KEPT:
        _kept.pop(next(iter(_kept)))
    _kept[key] = table
    return table


def _mirrored(solution: Solution) -> Solution:
    """Return the mean of a solution and its mirror image: as good, and symmetric."""
    table, floor = solution.table, solution.floor
    return replace(solution, table=(table + table[::-1, ::-1]) / 2, floor=(floor + floor[::-1]) / 2)


def _key(shares: Floats, epsilon: float, noise_range: int | None) -> str:
    return hashlib.sha256(json.dumps([shares.tolist(), epsilon, noise_range]).encode()).hexdigest()


def _read(file: Path, epsilon: float) -> NoiseTable | None:
    """Return the table of a cache file, or None if there is none; refuse a damaged one."""
    try:
        record = json.loads(file.read_bytes())
        table = NoiseTable.from_text(record["outputs"], record["weights"])
        table.check(epsilon)
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise FileFormatError(f"the cached table {str(file)!r} cannot be used: {error}: remove it") from error
    return table


def _write(file: Path, table: NoiseTable) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    with whole_file(file) as stream:
        stream.write(json.dumps({"outputs": table.outputs, "weights": table.to_text()}).encode())
