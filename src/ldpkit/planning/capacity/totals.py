"""Simulated collections of which only the total is wanted: many draws in little time.

A collection is drawn from the exact law of its support counts, as `simulate` does, and
compared with the capacity in integers where amounts allow it, so that a tie is a tie.
What is faster than `simulate` is that thousands of draws of one binomial come from a
table of its law: how often each number occurs among them is one multinomial draw, and
shuffling them makes the draws of different values independent.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import numpy as np

from ldpkit.core.random import RandomSource, resolve
from ldpkit.core.typing import Counts, Floats
from ldpkit.mechanisms.base import Mechanism
from ldpkit.mechanisms.categorical.oracle import FrequencyOracle
from ldpkit.mechanisms.kinds import frequency_class, is_frequency, is_numeric, single_epsilon_class
from ldpkit.mechanisms.numeric.mechanism import NumericMechanism
from ldpkit.planning.capacity.question import CapacityQuestion, as_exact
from ldpkit.planning.laws.totals import law_at, mechanism_at
from ldpkit.simulation.sums import sample_means

__all__ = ["Sampler", "check_frequency_oracle", "from_collections", "from_law", "right_decisions"]

Sampler = Callable[[float, int], int]
"""From an epsilon and a number of collections to how many of them decide rightly."""

_BATCH = 1 << 21  # support counts that are drawn at a time
_WIDTH = 9.0  # a table reaches so many standard deviations to either side, and a little more


def from_collections(question: CapacityQuestion, protocol: str, rng: RandomSource | None = None) -> Sampler:
    """Return a sampler that draws every collection.

    Examples
    --------
    >>> import ldpkit
    >>> question = CapacityQuestion([0, 1], [400, 600], 500, "fn", at_most=0.05)
    >>> draw = from_collections(question, "grr", ldpkit.random.seeded(1))
    >>> draw(0.8, 10_000)                            # a right decision has probability 0.99476
    9943
    """
    source, make = resolve(rng), mechanism_at(protocol, question)
    generator = source.generator()

    def draw(epsilon: float, runs: int) -> int:
        made = make(epsilon)
        if is_frequency(made) and _is_quick(made, question):
            limit, _ = _limit(made, question)
            below = sum(
                int((_sums(made, question, size, generator) <= limit).sum())
                for size in _batches(runs, len(question.amounts))
            )
            return runs - below if question.exceeds else below
        return right_decisions(made, question, runs, source)

    return draw


def from_law(question: CapacityQuestion, protocol: str, rng: RandomSource | None = None) -> Sampler:
    """Return a sampler that draws how many decide rightly: binomial, with the exact probability."""
    generator, law = resolve(rng).generator(), law_at(protocol, question)

    def draw(epsilon: float, runs: int) -> int:
        right = question.right(law(epsilon).at_most(question.capacity))
        return int(generator.binomial(runs, right))

    return draw


def right_decisions(
    mechanism: Mechanism,
    question: CapacityQuestion,
    runs: int,
    rng: RandomSource | None = None,
) -> int:
    """Simulate collections with the oracle's own `simulate`, and return how many decide rightly.

    It shares nothing with the search but the mechanism: for checking a plan. Of a numeric
    mechanism the sum of all reports is drawn.
    """
    source = resolve(rng)
    if is_frequency(mechanism):
        below = _oracle_below(mechanism, question, runs, source)
    else:
        assert is_numeric(mechanism)
        below = int((_mean_totals(mechanism, question, runs, source) <= question.capacity).sum())
    return runs - below if question.exceeds else below


def _mean_totals(
    mechanism: NumericMechanism, question: CapacityQuestion, runs: int, source: RandomSource
) -> Floats:
    """Return totals that are estimated as n times the mean."""
    places = mechanism.domain.encode(question.amounts, steps=mechanism.grid).astype(np.int64)
    means = sample_means(mechanism, places, question.counts, repeats=runs, rng=source)
    return question.n * (mechanism.domain.low + mechanism.domain.width * means)


def _oracle_below(
    oracle: FrequencyOracle, question: CapacityQuestion, runs: int, source: RandomSource
) -> int:
    """Return how many totals do not exceed the capacity."""
    limit, is_exact = _limit(oracle, question)
    below = 0
    for size in _batches(runs, oracle.size):
        supports = oracle.simulate(question.counts, rng=source, repeats=size)
        if is_exact and question.lattice is not None:
            below += int((supports @ question.lattice.points <= limit).sum())
        else:
            totals = question.n * (oracle.unbiased(supports, question.n) @ question.amounts)
            below += int((totals <= limit).sum())
    return below


def check_frequency_oracle(protocol: str) -> None:
    """Refuse a mechanism that does not tell how many people hold each value."""
    single_epsilon_class(protocol)
    frequency_class(protocol)


def _batches(runs: int, values: int) -> Iterator[int]:
    batch = max(1, _BATCH // values)
    return (min(batch, runs - done) for done in range(0, runs, batch))


def _limit(oracle: FrequencyOracle, question: CapacityQuestion) -> tuple[float, bool]:
    """Return what the sum of the supported points must not exceed, in integers; else the capacity."""
    if question.lattice is None or not oracle.can("pure"):
        return question.capacity, False
    law = oracle.joint_law
    capacity, whole = as_exact(question.capacity) / question.lattice.step, int(question.lattice.points.sum())
    return math.floor(capacity * (law.own - law.other) + question.n * law.other * whole), True


def _is_quick(oracle: FrequencyOracle, question: CapacityQuestion) -> bool:
    """Return whether `_sums` knows how to draw the sums of supported points, and they are integers."""
    if not _limit(oracle, question)[1]:
        return False
    evenly_spaced = len(np.unique(np.diff(question.lattice.points))) == 1 if question.lattice else False
    size = oracle.joint_law.size
    return size is None or (size == 1 and evenly_spaced)


def _sums(
    oracle: FrequencyOracle, question: CapacityQuestion, runs: int, generator: np.random.Generator
) -> Counts:
    """Return the sums of supported points of some collections."""
    assert question.lattice is not None
    points, counts, law = question.lattice.points, question.counts, oracle.joint_law
    own, other = float(law.own), float(law.other)
    if law.size is None:
        return _independent_sums(points, counts, own, other, runs, generator)
    kept, people = _kept(points, counts, own - other, runs, generator)
    rest = question.n - people
    spread = _uniform_sums(rest, len(points), generator)
    return np.asarray(kept + points[0] * rest + (points[1] - points[0]) * spread)


def _independent_sums(
    points: Counts, counts: Counts, p: float, q: float, runs: int, generator: np.random.Generator
) -> Counts:
    total, people = np.zeros(runs, np.int64), int(counts.sum())
    for point, own in zip(points.tolist(), counts.tolist(), strict=True):
        if point:
            first, mine = _binomial(own, p)
            second, theirs = _binomial(people - own, q)
            total += point * _draws(first + second, np.convolve(mine, theirs), runs, generator)
    return total


def _kept(
    points: Counts, counts: Counts, keep: float, runs: int, generator: np.random.Generator
) -> tuple[Counts, Counts]:
    """Draw who tells the truth beyond chance: the sum of their points, and how many they are."""
    total, people = np.zeros(runs, np.int64), np.zeros(runs, np.int64)
    for point, own in zip(points.tolist(), counts.tolist(), strict=True):
        drawn = _draws(*_binomial(own, keep), runs, generator)
        total += point * drawn
        people += drawn
    return total, people


def _uniform_sums(people: Counts, values: int, generator: np.random.Generator) -> Counts:
    """Draw the sums of uniform numbers from 0..values-1, one for each of some people.

    The numbers fall into blocks whose lengths are the powers of two in `values`; within
    a block, each binary digit of a number is a fair coin of its own.
    """
    total, start, left = np.zeros_like(people), 0, people
    for bit in reversed(range(values.bit_length())):
        length = 1 << bit
        if not values & length:
            continue
        inside = left if start + length == values else generator.binomial(left, length / (values - start))
        total += start * inside
        for digit in range(bit):
            total += generator.binomial(inside, 0.5) << digit
        start, left = start + length, left - inside
    return total


def _binomial(size: int, chance: float) -> tuple[int, Floats]:
    """Return the first number of a table of a binomial law, and the probabilities from there on."""
    from scipy.special import gammaln

    reach = _WIDTH * math.sqrt(size * chance * (1 - chance)) + 2 * _WIDTH
    first = max(0, math.floor(size * chance - reach))
    numbers = np.arange(first, min(size, math.ceil(size * chance + reach)) + 1)
    if not 0 < chance < 1:
        return round(size * chance), np.ones(1)
    logs = numbers * math.log(chance) + (size - numbers) * math.log1p(-chance)
    logs -= gammaln(numbers + 1.0) + gammaln(size - numbers + 1.0)
    weights = np.exp(logs - logs.max())
    return first, weights / weights.sum()


def _draws(first: int, law: Floats, runs: int, generator: np.random.Generator) -> Counts:
    often = generator.multinomial(runs, law / law.sum())
    draws = np.repeat(np.arange(first, first + len(law)), often)
    generator.shuffle(draws)
    return draws
