"""The coverage of intervals from reports that are made together: in pairs, and in groups."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from coverage_cells import LEVEL, Cell, Row, holders, row_of, summed_row, wald_ends
from coverage_frequencies import people_of
from ldpkit.core.typing import Counts, Floats
from ldpkit.estimation.consistency import CONSISTENCY, Noise
from ldpkit.estimation.groups import GroupRegion
from ldpkit.estimation.pair_law import PairCountLaw
from ldpkit.mechanisms.joint.group_count import GroupCount
from ldpkit.mechanisms.joint.oracle import PairedOracle
from ldpkit.mechanisms.lookup import get

__all__ = ["JOINT"]


def _oracle(cell: Cell) -> PairedOracle:
    """Return the oracle of a cell: half of the budget is what a report on its own may cost."""
    name, _, sign = cell.mechanism.partition(" ")
    made = get(
        name,
        cell.k or 2,
        epsilon_alone=cell.epsilon / 2,
        epsilon=cell.epsilon,
        correlation=sign or "negative",
    )
    assert isinstance(made, PairedOracle)
    return made


def _pairs(cell: Cell, runs: int, wald: bool) -> list[Row]:
    """Sum over the law of the count."""
    del runs
    oracle, share = _oracle(cell), holders(cell) / cell.n
    law = PairCountLaw(oracle, cell.n, cell.about == "population")
    counts, chances = law.chances(share)
    if wald:
        values = oracle.unbiased(counts, cell.n)
        errors = np.sqrt(oracle.variance(np.clip(values, 0, 1), cell.n))
        return [row_of(cell, "pairs", share, wald_ends(values, errors), chances)]
    return [summed_row(cell, "pairs", share, counts, chances, lambda count: _ends(law, count))]


def _ends(law: PairCountLaw, count: int) -> tuple[float, float]:
    low, high = law.intervals(np.array([count]), 1 - LEVEL)
    return float(low[0]), float(high[0])


def _consistent_pairs(cell: Cell, runs: int, wald: bool) -> list[Row]:
    """Show what every consistency method does to the interval on the same counts."""
    del wald
    oracle, share = _oracle(cell), holders(cell) / cell.n
    counts = oracle.simulate(people_of(cell, cell.n, holders(cell)), rng=cell.rng, repeats=runs)
    low, high = PairCountLaw(oracle, cell.n, population=False).intervals(counts[:, 0], 1 - LEVEL)
    unbiased, noise = oracle.unbiased(counts, cell.n), Noise.of(oracle, cell.n)
    rows = []
    for name in CONSISTENCY:
        values = CONSISTENCY.get(name)(unbiased, noise)[:, 0]
        ends = np.stack([np.minimum(low, values), np.maximum(high, values)], axis=1)
        rows.append(row_of(cell, f"pairs + {name}", share, ends))
    return rows


def _groups(cell: Cell, runs: int, wald: bool) -> list[Row]:
    """Draw collections; an interval depends on the statistic alone, and its ends grow with it."""
    mechanism = GroupCount(int(cell.mechanism.split()[1]), cell.epsilon)
    population, rng = cell.about == "population", cell.rng
    share, groups = holders(cell) / cell.n, cell.n // mechanism.size
    drawn = rng.generator().binomial(cell.n, share, runs) if population else None
    counts = (
        mechanism.simulate([cell.n - holders(cell), holders(cell)], rng=rng, repeats=runs)
        if drawn is None
        else np.concatenate([mechanism.simulate([cell.n - each, each], rng=rng) for each in drawn.tolist()])
    )
    if wald:
        values = mechanism.unbiased(counts, groups)
        errors = [mechanism.variance(min(max(each, 0.0), 1.0), cell.n) ** 0.5 for each in values]
        return [row_of(cell, "groups", share, wald_ends(values, np.array(errors)))]
    seen, places, times = np.unique(
        GroupRegion(mechanism, counts[0]).statistic(counts), return_index=True, return_counts=True
    )

    def ends(place: int) -> tuple[float, float]:
        low, high = GroupRegion(mechanism, counts[places[place]]).ends(1 - LEVEL, population=population)
        return float(low[1]), float(high[1])

    every: Counts = np.arange(len(seen))
    shares: Floats = times / runs
    return [summed_row(cell, "groups", share, every, shares, ends, runs=runs)]


JOINT: dict[str, Callable[[Cell, int, bool], list[Row]]] = {
    "pairs": _pairs,
    "pairs consistency": _consistent_pairs,
    "groups": _groups,
}
"""How the cells of each estimator are measured: from a cell, runs, and whether to be the negative control."""
