"""The bootstrap: the spread of estimates from collections that might as well have been.

Two ways to make such collections: draw reports with replacement from those at hand, or,
where only a tally is there, draw tallies as if the estimate were the truth. What it finds is
a standard error, and no interval is made from it: for frequencies at or near zero the
bootstrap is too sure of itself.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ldpkit.core.random import resolve
from ldpkit.core.typing import Counts, Floats
from ldpkit.estimation.bayes.errors import ErrorRules
from ldpkit.estimation.evidence import Evidence, Part
from ldpkit.mechanisms.categorical.oracle import FrequencyOracle

__all__ = ["resample", "simulate"]


def resample(evidence: Evidence, again: Callable[[list[Counts]], Floats], rules: ErrorRules) -> Floats:
    """Return estimates from reports drawn with replacement, those of each part among themselves.

    Parameters
    ----------
    evidence : Evidence
        The reports.
    again : callable
        The estimate for how often each row of each part counts.
    rules : ErrorRules
        How often, and with what randomness.
    """
    generator = resolve(rules.rng).generator()
    return np.array(
        [again([_draw(part, generator) for part in evidence.parts]) for _ in range(rules.repeats)]
    )


def _draw(part: Part, generator: np.random.Generator) -> Counts:
    if part.counts is None:
        return np.bincount(generator.integers(0, part.n, part.n), minlength=part.n)
    return generator.multinomial(part.n, part.counts / part.n)


def simulate(oracle: FrequencyOracle, frequencies: Floats, n: int, rules: ErrorRules) -> Counts:
    """Draw support counts of whole collections of n reports as if the frequencies were true.

    The people are the same each time, or drawn anew where the rules speak of a population.
    """
    source = resolve(rules.rng)
    if not rules.population:
        return oracle.simulate(_round(frequencies, n), rng=source, repeats=rules.repeats)
    people = source.generator().multinomial(n, frequencies, rules.repeats)
    return np.concatenate([oracle.simulate(counts, rng=source) for counts in people])


def _round(frequencies: Floats, n: int) -> Counts:
    """Return whole people: round down, and give the rest to the largest remainders."""
    people = np.floor(frequencies * n).astype(np.int64)
    order = np.argsort(people - frequencies * n, kind="stable")
    people[order[: n - people.sum()]] += 1
    return people
