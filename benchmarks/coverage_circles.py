"""The coverage of the arcs of mean directions, of values on a circle of 360 degrees."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import lru_cache

import numpy as np

from coverage_cells import LEVEL, Cell, Row
from ldpkit.estimation.arc import DirectionMargin
from ldpkit.estimation.direction import direction
from ldpkit.mechanisms.circular.mechanism import CircularMechanism
from ldpkit.mechanisms.lookup import get
from ldpkit.mechanisms.tally import Tally

__all__ = ["CIRCLES"]

_CASES = {
    "point": ([77.0], [1.0]),
    "around": ([340.0, 0.0, 30.0], [0.5, 0.25, 0.25]),
    "faint": ([10.0, 190.0], [0.52, 0.48]),
}
_ARCS = 40  # whose ends are searched, which takes two hundred times as long as asking for one direction


@lru_cache(maxsize=8)
def _mechanism(name: str, epsilon: float) -> CircularMechanism:
    made = get(name, 360, epsilon=epsilon)
    assert isinstance(made, CircularMechanism)
    return made


def _tallies(cell: Cell, runs: int) -> Iterator[tuple[Tally, float]]:
    """Yield tallies from their exact law, and the direction to be found, in radians."""
    mechanism, generator = _mechanism(cell.mechanism, cell.epsilon), cell.rng.generator()
    values, shares = (np.array(part) for part in _CASES[cell.case])
    law = np.maximum(mechanism.bin_masses(values), 0)
    law /= law.sum(axis=1, keepdims=True)
    fixed = np.floor(shares * cell.n).astype(np.int64)
    fixed[0] += cell.n - fixed.sum()
    population = cell.about == "population"
    weights = shares if population else fixed / cell.n
    truth = float(np.angle(weights @ np.exp(1j * mechanism.domain.radians(values))))
    for _ in range(runs):
        people = generator.multinomial(cell.n, shares) if population else fixed
        counts = np.zeros(mechanism.tally_size, np.int64)
        counts[:-1] = sum(generator.multinomial(each, row) for each, row in zip(people, law, strict=True))
        yield Tally(mechanism, cell.n, counts), truth


def _direction(cell: Cell, runs: int, wald: bool) -> list[Row]:
    """Ask in every collection whether the true direction is admitted, and in some where the arc ends."""
    held, widths = 0, list[float]()
    for run, (tally, truth) in enumerate(_tallies(cell, runs)):
        margin = DirectionMargin(tally, cell.about == "population")
        domain = margin.mechanism.domain
        if wald:
            estimate = direction(tally, population=margin.population)
            reach = 1.959964 * estimate.stderr
            away = domain.difference(estimate.direction, domain.from_radians(truth))
            held += bool(np.abs(away) <= reach)
            widths.append(2 * reach)
            continue
        admitted = margin.admits(truth, LEVEL)
        held += admitted
        if run < _ARCS:
            arc = margin.arc(LEVEL)
            widths.append(arc.length)
            if admitted and domain.from_radians(truth) not in arc:
                raise RuntimeError(f"{math.degrees(truth):g} degrees are admitted and not in the arc {arc}")
    return [Row(cell, "direction", runs, held / runs, float(np.mean(widths)) / 360)]


CIRCLES: dict[str, Callable[[Cell, int, bool], list[Row]]] = {"direction": _direction}
"""How the cells of each estimator are measured: from a cell, runs, and whether to be the negative control."""
