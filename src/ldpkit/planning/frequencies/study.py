"""One protocol on some people: the metric of every estimator and method, by simulated collections.

All estimators and methods see the same collections, so that their differences are not
luck. Where an accuracy is wanted, a few budgets of a fixed list are tried for each
combination. Between two budgets the law of the metric is interpolated over the noise,
quantile by quantile, so that epsilon, error and range belong together.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache, partial
from typing import NamedTuple

import numpy as np

from ldpkit.core.random import RandomSource
from ldpkit.core.typing import Counts, Floats
from ldpkit.estimation.bayes.limit import limit
from ldpkit.estimation.consistency import CONSISTENCY, NO_METHOD, batch_estimates
from ldpkit.mechanisms.categorical.oracle import FrequencyOracle
from ldpkit.planning.constraint import Constraint
from ldpkit.simulation.metrics import Metric

__all__ = ["BUDGETS", "NO_METHOD", "Combination", "StudyOutcome", "OracleStudy"]

BUDGETS = tuple(np.geomspace(0.05, 12, 28).round(4).tolist())
"""The budgets that are tried where an accuracy is wanted."""

_GUIDE_RUNS = 32
_STEPS = 9
_KEPT_BYTES = 1 << 28  # of simulated collections: with very many values, some are simulated again


class Combination(NamedTuple):
    """An estimator, "mi" or "ibu_limit", and a post-processing method or "none"."""

    estimator: str
    method: str


class StudyOutcome(NamedTuple):
    """What a combination gives: its budget, and the metric of simulated collections.

    At a given epsilon the values are in the order of the collections, which all
    combinations share; at one that was looked for they ascend. The epsilon is None where
    no budget was enough; then the values are those of the largest. `stderr` is how far
    chance moves an epsilon that was looked for.
    """

    combination: Combination
    epsilon: float | None
    values: Floats
    stderr: float = 0.0


@dataclass(frozen=True)
class _Collections:
    """Simulated collections at one epsilon."""

    oracle: FrequencyOracle
    counts: Counts
    supports: Counts

    def measure(self, combination: Combination, metric: Metric) -> Floats:
        """Return the metric of every collection."""
        n = int(self.counts.sum())
        if combination.estimator == "ibu_limit":
            # Of a few people it may be that no report supports anything: then every value is as likely.
            told = np.where(self.supports.any(axis=1, keepdims=True), self.supports, 1)
            estimates = limit(told, self.oracle.p, self.oracle.q)
        else:
            estimates = batch_estimates(self.oracle, self.supports, n, combination.method)
        return metric(self.counts / n, estimates)


class OracleStudy:
    """One protocol on some people.

    Parameters
    ----------
    make : callable
        Makes the protocol, given `epsilon`.
    counts : array of int
        How many people hold each value.
    metric : Metric
        What is measured.
    repeats : int
        Simulated collections for each epsilon.
    source : RandomSource
        What they are simulated with.

    Examples
    --------
    >>> import ldpkit
    >>> from ldpkit.simulation.metrics import metric_for
    >>> people, rng = np.array([600, 300, 100]), ldpkit.random.seeded(1)
    >>> study = OracleStudy(partial(ldpkit.GRR, 3), people, metric_for("mae"), 50, rng)
    >>> plain = next(study.smallest(Constraint("mae", "at most", 0.05, probability=0.9)))
    >>> plain.combination.estimator, 0.5 < plain.epsilon < 1.5
    ('mi', True)
    """

    def __init__(
        self,
        make: Callable[..., FrequencyOracle],
        counts: Counts,
        metric: Metric,
        repeats: int,
        source: RandomSource,
    ) -> None:
        self.make = make
        self.counts = counts
        self.metric = metric
        self.repeats = repeats
        self.source = source
        kept = max(2, _KEPT_BYTES // (8 * repeats * len(counts)))
        self._collections = lru_cache(kept)(self._simulate)
        self._log_noises = cache(self._noises)

    def _simulate(self, epsilon: float) -> _Collections:
        oracle, rng = self.make(epsilon=epsilon), self.source.derive(repr(epsilon))
        return _Collections(oracle, self.counts, oracle.simulate(self.counts, rng=rng, repeats=self.repeats))

    def combinations(self) -> list[Combination]:
        """Return what can follow the protocol, the unbiased estimate first."""
        ways = [Combination("mi", method) for method in (NO_METHOD, *CONSISTENCY)]
        return [*ways, Combination("ibu_limit", NO_METHOD)] if self.make(epsilon=1.0).can("pure") else ways

    def at(self, epsilon: float, ways: Sequence[Combination] | None = None) -> Iterator[StudyOutcome]:
        """Yield what each combination gives at one epsilon, or some of them."""
        for each in self.combinations() if ways is None else ways:
            yield StudyOutcome(each, epsilon, self._values(each, epsilon))

    def smallest(self, wanted: Constraint) -> Iterator[StudyOutcome]:
        """Yield what each combination gives at the smallest epsilon that does what is wanted."""
        place = self._guess(wanted)
        for each in self.combinations():
            values = cache(partial(self._ascending, each))
            found = _first_good(partial(_is_enough, wanted, values), place)
            if found == len(BUDGETS):
                yield StudyOutcome(each, None, values(BUDGETS[-1]))
            elif found == 0:
                yield StudyOutcome(each, BUDGETS[0], values(BUDGETS[0]))
            else:
                worse, good = BUDGETS[found - 1], BUDGETS[found]
                part, between = _crossing(wanted, values(worse), values(good))
                epsilon = self._between(worse, good, part)
                luck = _part_stderr(wanted, values(worse), values(good))
                yield StudyOutcome(each, epsilon, between, epsilon * luck * math.log(good / worse))
            place = min(found, len(BUDGETS) - 1)  # the next one is often near

    def _values(self, combination: Combination, epsilon: float) -> Floats:
        return self._collections(epsilon).measure(combination, self.metric)

    def _ascending(self, combination: Combination, epsilon: float) -> Floats:
        return np.sort(self._values(combination, epsilon))

    def _between(self, worse: float, good: float, part: float) -> float:
        """Return the epsilon whose noise is a part of the way between two budgets' on the log scale.

        What comes out depends on the noise that goes in, nearly evenly on this scale.
        """
        epsilons = np.geomspace(worse, good, _STEPS)
        noise = self._log_noises(worse, good)
        wanted = noise[0] + part * (noise[-1] - noise[0])
        falling = np.minimum.accumulate(noise)
        return float(np.exp(np.interp(-wanted, -falling, np.log(epsilons))))

    def _noises(self, worse: float, good: float) -> Floats:
        """Return the log of the noise on the way from one budget to another."""
        share = 1 / len(self.counts)
        made = (self.make(epsilon=epsilon) for epsilon in np.geomspace(worse, good, _STEPS))
        return np.log([oracle.variance(share, 1) for oracle in made])

    def _guess(self, wanted: Constraint) -> int:
        """Return near which budget the unbiased estimate is good enough, if errors were normal and apart."""
        n = int(self.counts.sum())
        truth, generator = self.counts / n, self.source.derive("guess").generator()
        noise = generator.standard_normal((_GUIDE_RUNS, len(truth)))

        def is_enough(epsilon: float) -> bool:
            estimates = truth + noise * np.sqrt(self.make(epsilon=epsilon).variance(truth, n))
            return bool(wanted.holds(self.metric(truth, estimates)).mean() >= wanted.probability)

        return bisect_left(BUDGETS[:-1], True, key=is_enough)


def _is_enough(wanted: Constraint, values: Callable[[float], Floats], epsilon: float) -> bool:
    return bool(wanted.holds(values(epsilon)).mean() >= wanted.probability)


def _first_good(is_good: Callable[[float], bool], guess: int) -> int:
    """Return the first place of a budget that is good, looking around a guess first; its end if none is."""
    bad, good, step = -1, len(BUDGETS), 1
    if is_good(BUDGETS[guess]):
        good = guess
        while good - step >= 0 and is_good(BUDGETS[good - step]):
            good, step = good - step, 2 * step
        bad = max(good - step, -1)
    else:
        bad = guess
        while bad + step < len(BUDGETS) and not is_good(BUDGETS[bad + step]):
            bad, step = bad + step, 2 * step
        good = min(bad + step, len(BUDGETS))
    return bisect_left(BUDGETS, True, lo=bad + 1, hi=good, key=is_good)


def _crossing(wanted: Constraint, worse: Floats, good: Floats) -> tuple[float, Floats]:
    """Return how far it is from a budget that is not enough to one that is, and the metric there.

    Quantiles move evenly, those of an error on the log scale.
    """
    logs = wanted.direction == "at most" and bool(worse[0] > 0 and good[0] > 0 and wanted.omega > 0)
    scale, back = (np.log, np.exp) if logs else (np.positive, np.positive)
    start, end, goal = (scale(each) for each in (wanted.quantile(worse), wanted.quantile(good), wanted.omega))
    part = float((goal - start) / (end - start))
    if not (math.isfinite(part) and np.isfinite(worse).all()):
        return 1.0, good
    return part, back((1 - part) * scale(worse) + part * scale(good))


def _part_stderr(wanted: Constraint, worse: Floats, good: Floats) -> float:
    """Return how far chance moves the crossing: as far as a share of collections moves by one deviation."""
    share = wanted.probability
    luck = min(math.sqrt(share * (1 - share) / len(good)), share / 2, (1 - share) / 2)
    less, more = (
        _crossing(replace(wanted, probability=share + shift), worse, good)[0] for shift in (-luck, luck)
    )
    return abs(more - less) / 2
