"""The coverage of intervals of frequencies.

All estimators show the same region of the counts, extended to their value: so the exact
coverage of the region, which `mi` shows, is a lower bound for all of them. Some cells are
simulated for each, to see that it is.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from coverage_cells import LEVEL, SIZES, Cell, Row, holders, oracle_parameters, row_of, wald_ends
from ldpkit.core.typing import Counts, Floats
from ldpkit.estimation.bayes.ibu import update
from ldpkit.estimation.bayes.limit import limit
from ldpkit.estimation.consistency import CONSISTENCY, Noise
from ldpkit.estimation.evidence import Evidence
from ldpkit.estimation.intervals import count_law, exact_coverage, share_intervals, weighted_counts, worth
from ldpkit.estimation.tails import CountLaw
from ldpkit.mechanisms.categorical.oracle import FrequencyOracle
from ldpkit.mechanisms.categorical.report_law import ReportLaw
from ldpkit.mechanisms.lookup import get
from ldpkit.mechanisms.tally import Tally

__all__ = ["FREQUENCIES", "people_of"]

_BLOCK = 256  # counts of which each has an interval of its own; of more, neighbours share the wider one


@lru_cache(maxsize=64)
def _oracle(name: str, k: int, epsilon: float) -> FrequencyOracle:
    made = get(name, k, **oracle_parameters(name, epsilon))
    assert isinstance(made, FrequencyOracle)
    return made


def people_of(cell: Cell, n: int, holding: int) -> Counts:
    """Return how many hold each value: value 0 is in question, the others follow Zipf's law."""
    size = cell.k or 2
    others = 1 / np.arange(1, size)
    counts = np.floor((n - holding) * others / others.sum()).astype(np.int64)
    counts[0] += n - holding - counts.sum()
    return np.concatenate([[holding], counts])


def _extended(law: CountLaw, counts: Counts, values: Floats) -> Floats:
    """Return the intervals that `Estimate.interval` shows for one value, a row for each collection."""
    blocks = [counts[start : start + _BLOCK] for start in range(0, len(counts), _BLOCK)]
    ends = np.concatenate([np.stack(share_intervals(law, block, 1 - LEVEL), axis=1) for block in blocks])
    return np.stack([np.minimum(ends[:, 0], values), np.maximum(ends[:, 1], values)], axis=1)


def _inversion(cell: Cell, runs: int, wald: bool) -> list[Row]:
    """Sum over the law of the count."""
    del runs
    oracle, share = _oracle(cell.mechanism, cell.k or 2, cell.epsilon), holders(cell) / cell.n
    law = CountLaw([oracle.report_law], [cell.n], cell.about == "population")
    if wald:
        counts, chances = law.chances(share)
        values = oracle.unbiased(counts, cell.n)
        errors = np.sqrt(oracle.variance(np.clip(values, 0, 1), cell.n))
        return [row_of(cell, "mi", share, wald_ends(values, errors), chances)]
    parts = law.laws[0]
    coverage, width = _summed(
        parts.outcomes.tobytes(), parts.own.tobytes(), parts.other.tobytes(), cell.n, law.population, share
    )
    return [Row(cell, "mi", 0, coverage, width)]


@lru_cache(maxsize=1024)  # with many oracles the law does not depend on k
def _summed(
    outcomes: bytes, own: bytes, other: bytes, n: int, population: bool, share: float
) -> tuple[float, float]:
    law = ReportLaw(np.frombuffer(outcomes, np.int64), np.frombuffer(own), np.frombuffer(other))
    return exact_coverage(CountLaw([law], [n], population), share, 1 - LEVEL)


def _drawn(cell: Cell, runs: int) -> tuple[FrequencyOracle, Counts]:
    oracle = _oracle(cell.mechanism, cell.k or 2, cell.epsilon)
    return oracle, oracle.simulate(people_of(cell, cell.n, holders(cell)), rng=cell.rng, repeats=runs)


def _consistent(cell: Cell, runs: int, wald: bool) -> list[Row]:
    """Show what every consistency method, and the limit of IBU, do to the interval on the same counts."""
    del wald
    oracle, counts = _drawn(cell, runs)
    law, _ = count_law([Tally(oracle, cell.n, counts[0])], population=False)
    unbiased, noise = oracle.unbiased(counts, cell.n), Noise.of(oracle, cell.n)
    found: dict[str, Floats] = {}
    for name in CONSISTENCY:
        if name.startswith("power") and oracle.size > SIZES[1]:
            continue  # ten milliseconds a collection
        found[f"mi + {name}"] = CONSISTENCY.get(name)(unbiased, noise)[:, 0]
        first = Tally(oracle, cell.n, counts[0]).estimate("mi", consistency=name)
        _check_same(first, float(found[f"mi + {name}"][0]), law, counts[:1, 0])
    supported = counts.sum(axis=1) > 0  # IBU refuses counts that support nothing
    rows = [
        row_of(cell, name, holders(cell) / cell.n, _extended(law, counts[:, 0], values))
        for name, values in found.items()
    ]
    values = limit(counts[supported], oracle.p, oracle.q)[:, 0]
    ends = _extended(law, counts[supported, 0], values)
    return [*rows, row_of(cell, "ibu_limit", holders(cell) / cell.n, ends)]


def _check_same(estimate: Any, value: float, law: CountLaw, count: Counts) -> None:
    """Refuse to go on if the public way gives another interval than is measured here."""
    public = [float(end[0]) for end in estimate.interval(LEVEL)]
    ours = _extended(law, count, np.array([value]))[0]
    if len(estimate) <= _BLOCK and not np.allclose(public, ours, atol=1e-9):
        raise RuntimeError(f"the interval of {estimate.made_by} is {public}, measured is {ours.tolist()}")


def _ibu(cell: Cell, runs: int, wald: bool) -> list[Row]:
    del wald
    oracle, counts = _drawn(cell, runs)
    counts = counts[counts.sum(axis=1) > 0]
    law, _ = count_law([Tally(oracle, cell.n, counts[0])], population=False)
    values = np.array([climb.frequencies[0] for climb in update(counts, oracle.p, oracle.q)])
    _check_same(Tally(oracle, cell.n, counts[0]).estimate("ibu"), float(values[0]), law, counts[:1, 0])
    return [row_of(cell, "ibu", holders(cell) / cell.n, _extended(law, counts[:, 0], values))]


def _likelihood(cell: Cell, runs: int, wald: bool) -> list[Row]:
    """Go the public way, from people to reports to an interval."""
    del wald
    oracle, rng = _oracle(cell.mechanism, cell.k or 2, cell.epsilon), cell.rng
    values = np.repeat(np.arange(oracle.size), people_of(cell, cell.n, holders(cell)))
    made = (Evidence.of(oracle, oracle.privatize(values, rng=rng)).estimate("mle") for _ in range(runs))
    ends = [[end[0] for end in estimate.interval(LEVEL)] for estimate in made]
    return [row_of(cell, "mle", holders(cell) / cell.n, ends)]


def _pooled_oracles(cell: Cell) -> list[FrequencyOracle]:
    """Return two mechanisms: half of the people give the one with half of the budget."""
    size = cell.k or 2
    return [_oracle("grr", size, cell.epsilon), _oracle("oue", size, cell.epsilon / 2)]


def _pooled(cell: Cell, runs: int, wald: bool) -> list[Row]:
    """Draw people from the population and their reports; the region alone, without the value."""
    del wald
    oracles, generator, share = _pooled_oracles(cell), cell.rng.generator(), holders(cell) / cell.n
    people = [cell.n // 2] * 2
    chances = [oracle.q + share * (oracle.p - oracle.q) for oracle in oracles]
    counts = [generator.binomial(people[0], chance, runs) for chance in chances]
    laws = [oracle.report_law for oracle in oracles]
    law, sums = weighted_counts(laws, people, counts, worth(oracles))
    return [row_of(cell, "pooled", share, _extended(law, sums, law.estimates(sums)))]


def _pooled_likelihood(cell: Cell, runs: int, wald: bool) -> list[Row]:
    """Go the public way, with the homogeneity test and the maximum that the interval is extended to."""
    del wald
    oracles, rng, share = _pooled_oracles(cell), cell.rng, holders(cell) / cell.n
    people, generator = people_of(cell, cell.n, holders(cell)) / cell.n, rng.generator()
    ends = []
    for _ in range(runs):
        drawn = [generator.choice(len(people), cell.n // 2, p=people) for _ in oracles]
        parts = [
            Evidence.of(oracle, oracle.privatize(each, rng=rng))
            for oracle, each in zip(oracles, drawn, strict=True)
        ]
        ends.append(
            [end[0] for end in Evidence.merge(parts).estimate("mle", population=True).interval(LEVEL)]
        )
    return [row_of(cell, "pooled mle", share, ends)]


FREQUENCIES: dict[str, Callable[[Cell, int, bool], list[Row]]] = {
    "mi": _inversion,
    "consistency": _consistent,
    "ibu": _ibu,
    "mle": _likelihood,
    "pooled": _pooled,
    "pooled mle": _pooled_likelihood,
}
"""How the cells of each estimator are measured: from a cell, runs, and whether to be the negative control."""
