"""The coverage of intervals of means, variances and medians, of numbers from 0 to 1."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any

import numpy as np

from coverage_cells import LEVEL, Cell, Row, row_of, wald_ends
from ldpkit.core.random import RandomSource
from ldpkit.core.typing import Counts, Floats
from ldpkit.estimation.numeric import NumericEstimate
from ldpkit.estimation.quantile import quantile_bounds
from ldpkit.mechanisms.base import MECHANISMS
from ldpkit.mechanisms.lookup import get
from ldpkit.mechanisms.numeric.mechanism import NumericMechanism
from ldpkit.mechanisms.tally import NumericTally
from ldpkit.protocols.adaptive_mean import AdaptiveMean
from ldpkit.protocols.attributes import SampledAttributes

__all__ = ["NUMBERS"]

_ATTRIBUTES = 4
_TABLES = 20  # first phases of the adaptive mean, each before a twentieth of the second phases


@lru_cache(maxsize=8)
def _number_mechanism(name: str, epsilon: float) -> NumericMechanism:
    others = {each.name: each.example for each in MECHANISMS.get(name).declared if each.example is not None}
    made = get(name, (0, 1), epsilon=epsilon, **({"intervals": 16} if name == "aaa" else others))
    assert isinstance(made, NumericMechanism)
    return made


def _groups(case: str, n: int) -> tuple[Floats, Counts]:
    """Return some values, and how many people hold each."""
    few = {"ends": n // 2, "rare": max(1, n // 100)}
    if case == "point":
        return np.array([1 / 256]), np.array([n])
    if case == "skewed":  # the middle of seven groups holds the median
        counts = np.full(7, n // 7)
        counts[3] += n - counts.sum()
        return ((np.arange(7) + 0.5) / 7) ** 4, counts
    return np.array([0.0, 1.0]), np.array([n - few[case], few[case]])


def _tallies(
    mechanism: NumericMechanism, values: Floats, counts: Any, rng: RandomSource
) -> Iterator[NumericTally]:
    """Yield a tally for each row of counts: how many people hold each value.

    Where no estimate looks beyond the bins they are drawn as one; else every report is drawn.
    """
    if mechanism.line is not None:
        for row in counts:
            reports = mechanism.privatize(np.repeat(values, row), rng=rng)
            yield mechanism.tally(reports)
        return
    yield from _binned(mechanism, values, counts, rng.generator())


def _binned(
    mechanism: NumericMechanism, values: Floats, counts: Any, generator: np.random.Generator
) -> Iterator[NumericTally]:
    chances = mechanism.bin_masses(values)
    chances = np.maximum(chances, 0) / np.maximum(chances, 0).sum(axis=1, keepdims=True)
    for row in counts:
        bins = sum(generator.multinomial(each, chance) for each, chance in zip(row, chances, strict=True))
        yield NumericTally(mechanism, int(np.sum(row)), np.append(bins, 0))


def _ends_of(estimate: NumericEstimate, wald: bool) -> Any:
    if wald:
        return wald_ends(np.array(estimate.mean), np.array(estimate.stderr))
    return estimate.interval(LEVEL)


def _mean(cell: Cell, runs: int, wald: bool) -> list[Row]:
    mechanism, rng = _number_mechanism(cell.mechanism, cell.epsilon), cell.rng
    values, counts = _groups(cell.case, cell.n)
    truth, population = float(values @ counts / cell.n), cell.about == "population"
    if mechanism.cells == 0 and len(mechanism.atom_points) == 2 and len(values) == 1:
        return [_coin(cell, mechanism, float(values[0]), wald)]
    rows = rng.generator().multinomial(cell.n, counts / cell.n, runs) if population else [counts] * runs
    made = (
        tally.estimate(population=population) if population else tally.estimate()
        for tally in _tallies(mechanism, values, rows, rng)
    )
    return [row_of(cell, "mean", truth, [_ends_of(estimate, wald) for estimate in made])]


def _variance(cell: Cell, runs: int, wald: bool) -> list[Row]:
    del wald
    mechanism = _number_mechanism(cell.mechanism, cell.epsilon)
    values, counts = _groups(cell.case, cell.n)
    truth = float(np.repeat(values, counts).var())
    made = (tally.estimate() for tally in _tallies(mechanism, values, [counts] * runs, cell.rng))
    return [row_of(cell, "variance", truth, [estimate.variance_interval(LEVEL) for estimate in made])]


def _coin(cell: Cell, mechanism: NumericMechanism, value: float, wald: bool) -> Row:
    """Sum over how many of the reports, each of which is one of two, are the upper one."""
    from scipy.stats import binom

    upper = np.arange(cell.n + 1)
    chances = binom.pmf(upper, cell.n, mechanism.bin_masses(np.array([value]))[0, 1])
    upper, chances = upper[chances > 1e-13], chances[chances > 1e-13]
    made = (NumericTally(mechanism, cell.n, np.array([cell.n - each, each, 0])).estimate() for each in upper)
    return row_of(cell, "mean", value, [_ends_of(estimate, wald) for estimate in made], chances)


def _attributes(cell: Cell, runs: int, wald: bool) -> list[Row]:
    """Look at one of four attributes: who reports it is a matter of chance."""
    survey = SampledAttributes(cell.mechanism, [(0, 1)] * _ATTRIBUTES, cell.epsilon)
    mechanism, rng = survey.mechanisms[0], cell.rng
    values, counts = _groups(cell.case, cell.n)
    generator = rng.generator()
    reported = np.maximum(generator.binomial(cell.n, survey.sample / _ATTRIBUTES, runs), 1)
    upper = generator.hypergeometric(counts[1], counts[0], reported)
    made = (
        tally.estimate(people=cell.n)
        for tally in _tallies(mechanism, values, np.stack([reported - upper, upper], axis=1), rng)
    )
    truth = float(values @ counts / cell.n)
    return [row_of(cell, "attributes", truth, [_ends_of(estimate, wald) for estimate in made])]


def _adaptive(cell: Cell, runs: int, wald: bool) -> list[Row]:
    """Draw some first phases, and after each many second phases of people who are drawn anew."""
    protocol, rng = AdaptiveMean((0, 1), cell.epsilon, bins=4), cell.rng
    values, counts = _groups(cell.case, cell.n)
    generator, people = rng.generator(), np.repeat(values, counts)
    ends: list[Any] = []
    for _ in range(_TABLES):
        describes = protocol.split(cell.n, rng=rng)
        first = protocol.oracle.tally(protocol.describe(people[describes], rng=rng))
        second = protocol.mechanism(first)
        rest = int((~describes).sum())
        upper = generator.hypergeometric(counts[1], counts[0], rest, max(1, runs // _TABLES))
        tallies = _tallies(second, values, np.stack([rest - upper, upper], axis=1), rng)
        ends.extend(_ends_of(tally.estimate(people=cell.n), wald) for tally in tallies)
    return [row_of(cell, "adaptive", float(values @ counts / cell.n), ends)]


def _quantile(cell: Cell, runs: int, wald: bool) -> list[Row]:
    """Look at the median's interval before it is extended to the value, which takes a density each time."""
    del wald
    mechanism, generator = _number_mechanism(cell.mechanism, cell.epsilon), cell.rng.generator()
    values, counts = _groups(cell.case, cell.n)
    truth = float(values[len(values) // 2])
    tallies = _binned(mechanism, values, [counts] * runs, generator)
    return [row_of(cell, "quantile", truth, [quantile_bounds(tally, 0.5, LEVEL) for tally in tallies])]


NUMBERS: dict[str, Callable[[Cell, int, bool], list[Row]]] = {
    "mean": _mean,
    "variance": _variance,
    "attributes": _attributes,
    "adaptive": _adaptive,
    "quantile": _quantile,
}
"""How the cells of each estimator are measured: from a cell, runs, and whether to be the negative control."""
