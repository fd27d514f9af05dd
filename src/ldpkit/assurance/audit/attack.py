"""An attack on the real sampler: the epsilon that reports show which anybody can draw.

The attacker sees the mechanism as a black box. Reports of pairs of values are drawn
through the public path; on some of them the attacker learns which reports speak for one
value, and on fresh ones counts how often such reports occur under either. The ratio of
the two counts, each taken to the unfavourable end of its exact confidence interval, is a
lower bound on epsilon that holds whatever the attacker looked at.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ldpkit.core.domain import CategoricalDomain
from ldpkit.core.errors import InvalidInputError
from ldpkit.core.random import RandomSource, resolve
from ldpkit.core.typing import Floats, Label, Reports
from ldpkit.mechanisms.base import Mechanism
from ldpkit.mechanisms.categorical.longitudinal.memoized import MemoizedOracle
from ldpkit.mechanisms.categorical.oracle import FrequencyOracle

__all__ = ["FALSE_ALARM", "REPORTS", "Attack", "attack", "lower_bound"]

REPORTS = 4_000_000
"""How many reports of each value of the final pair are counted."""
FALSE_ALARM = 1e-6
"""The chance that the bound is above the true epsilon."""

_CANDIDATES = 32  # values among which the attacker looks for the pair that shows most
_LEARNED = 50_000  # reports of each candidate to learn from
_MOST_BITS = 1 << 33  # of supports looked at in all: fewer reports for very large domains
_LEVELS = 64  # a column is cut into at most so many levels
_CHUNK = 1 << 16

Scores = Callable[[Floats], Floats]


@dataclass(frozen=True)
class Attack:
    """What the attack has shown.

    Parameters
    ----------
    first, second : label or number
        The pair of values that was told apart best.
    reports : int
        How many reports of each were counted.
    hits : tuple of int
        How many of them spoke for the first value.
    epsilon : float
        The lower bound on epsilon that these counts prove.
    false_alarm : float
        The chance that an honest mechanism gets a bound above its epsilon.
    """

    first: Label
    second: Label
    reports: int
    hits: tuple[int, int]
    epsilon: float
    false_alarm: float

    def sentence(self) -> str:
        """Return the finding in words."""
        shares = [100 * hits / self.reports for hits in self.hits]
        return (
            f"Reports that speak for {self.first!r} came {shares[0]:.4g}% of the time from it and "
            f"{shares[1]:.4g}% from {self.second!r}, among {self.reports:,} reports of each: "
            f"epsilon is at least {self.epsilon:.4f} (wrong with probability {self.false_alarm:g})."
        )


def lower_bound(hits: tuple[int, int], reports: int, false_alarm: float = FALSE_ALARM) -> float:
    """Return the epsilon that two counts prove: exact (Clopper-Pearson) ends, half the error each.

    Examples
    --------
    >>> round(lower_bound((731_000, 269_000), 1_000_000), 3), lower_bound((5, 5), 10)
    (0.989, 0.0)
    """
    from scipy.special import betaincinv

    own, other = hits
    low = float(betaincinv(own, reports - own + 1, false_alarm / 2)) if own else 0.0
    high = 1.0 if other == reports else float(betaincinv(other + 1, reports - other, 1 - false_alarm / 2))
    return max(0.0, math.log(low / high)) if low > 0 else 0.0


def attack(
    mechanism: Mechanism,
    *,
    reports: int = REPORTS,
    false_alarm: float = FALSE_ALARM,
    rng: RandomSource | None = None,
) -> Attack:
    """Attack a mechanism through its public path.

    Parameters
    ----------
    mechanism : Mechanism
        Any registered mechanism, or one of a plugin.
    reports : int
        How many reports of each value to count in the end; fewer for very large domains.
    false_alarm : float
        The chance that an honest mechanism gets a bound above its epsilon.
    rng : RandomSource, optional
        The randomness of the reports; secure by default, as on a device.

    Examples
    --------
    >>> import ldpkit
    >>> found = attack(ldpkit.GRR(4, epsilon=1.0), reports=400_000, rng=ldpkit.random.seeded(1))
    >>> 0.95 < found.epsilon < 1
    True
    """
    source = resolve(rng)
    count = _affordable(mechanism, reports)
    values = _candidates(mechanism, source)
    learned = [_draw(mechanism, value, min(_LEARNED, count), source) for value in values]
    best: tuple[float, int, int, Scores, float] | None = None
    for one, other in _pairs(len(values)):
        for first, second in ((one, other), (other, one)):
            scores, threshold, shown = _learn(mechanism, values, first, second, learned)
            if best is None or shown > best[0]:
                best = shown, first, second, scores, threshold
    assert best is not None
    _, first, second, scores, threshold = best
    pair = values[first], values[second]
    hits = tuple(
        sum(
            int((scores(_columns(mechanism, drawn, pair)) >= threshold).sum())
            for drawn in _chunks(mechanism, value, count, source)
        )
        for value in pair
    )
    both = (hits[0], hits[1])
    return Attack(*_names(mechanism, pair), count, both, lower_bound(both, count, false_alarm), false_alarm)


def _affordable(mechanism: Mechanism, reports: int) -> int:
    size = len(mechanism.domain) if isinstance(mechanism.domain, CategoricalDomain) else 1
    return max(1000, min(reports, _MOST_BITS // size))


def _candidates(mechanism: Mechanism, source: RandomSource) -> list[Any]:
    """Return values to try: all of a small domain, else both ends and some at random."""
    domain = mechanism.domain
    if not isinstance(domain, CategoricalDomain):
        inner = np.sort(source.generator().random(_CANDIDATES // 4))
        shares = np.unique([0.0, 0.25, 0.5, 0.75, 1.0, *inner])
        return [float(domain.low + share * domain.width) for share in shares]
    if len(domain) <= _CANDIDATES:
        return list(range(len(domain)))
    others = source.generator().choice(len(domain) - 2, _CANDIDATES // 4, replace=False) + 1
    return sorted({0, len(domain) - 1, *map(int, others)})


def _names(mechanism: Mechanism, pair: tuple[Any, Any]) -> tuple[Label, Label]:
    domain = mechanism.domain
    if isinstance(domain, CategoricalDomain):
        return domain.labels[pair[0]], domain.labels[pair[1]]
    return pair


def _pairs(count: int) -> Iterator[tuple[int, int]]:
    """Neighbours, so that every candidate meets two others, and the ends."""
    yield from itertools.pairwise(range(count))
    if count > 2:
        yield 0, count - 1


def _draw(mechanism: Mechanism, value: Any, count: int, source: RandomSource) -> Reports:
    if isinstance(mechanism, FrequencyOracle):
        indices = np.full(count, value, np.uint32)
        labels = indices if not mechanism.domain.has_labels else [mechanism.domain.labels[value]] * count
        return mechanism.first_reports(labels, rng=source)
    return mechanism.first_reports(np.full(count, value), rng=source)


def _chunks(mechanism: Mechanism, value: Any, count: int, source: RandomSource) -> Iterator[Reports]:
    for start in range(0, count, _CHUNK):
        yield _draw(mechanism, value, min(_CHUNK, count - start), source)


def _columns(mechanism: Mechanism, reports: Reports, pair: tuple[Any, Any]) -> Floats:
    """Return what the attacker looks at in each report, as columns of numbers.

    Whether it supports the two values, where a report does that; else how likely the two
    values make it, where the mechanism says so; else everything that stands in it.
    """
    if isinstance(mechanism, FrequencyOracle) and mechanism.pure:
        try:
            packed = mechanism.packed_supports(reports)
        except InvalidInputError:  # a mechanism without _pack
            packed = None
        if packed is not None:
            return np.stack([packed[:, value >> 3] >> (value & 7) & 1 for value in pair], axis=1).astype(
                float
            )
    if isinstance(mechanism, MemoizedOracle):
        so_far = mechanism.log_likelihood(reports, memoized=False)[:, list(pair)]
        each = np.diff(so_far, axis=0, prepend=np.zeros((1, 2)))
        return np.round(each[:, :1] - each[:, 1:], 6)
    names = reports.dtype.names
    parts = [reports[name] for name in names] if names else [reports]
    return np.concatenate([part.reshape(len(reports), -1).astype(float) for part in parts], axis=1)


def _learn(
    mechanism: Mechanism, values: Sequence[Any], first: int, second: int, learned: Sequence[Reports]
) -> tuple[Scores, float, float]:
    """Return a score, the threshold from which a report speaks for the first value, and what that shows."""
    pair = values[first], values[second]
    own, other = (_columns(mechanism, learned[each], pair) for each in (first, second))
    scores = _naive_bayes(own, other)
    mine, theirs = np.sort(scores(own)), np.sort(scores(other))
    thresholds = np.unique(mine)
    hits = len(mine) - np.searchsorted(mine, thresholds)
    false = len(theirs) - np.searchsorted(theirs, thresholds)
    # Five standard errors off: what shines among few reports must not win by chance.
    spread = np.sqrt(1 / hits + 1 / np.maximum(false, 1))
    shown = np.log(hits / np.maximum(false, 1)) - 5 * spread
    place = int(np.argmax(shown))
    return scores, float(thresholds[place]), float(shown[place])


def _naive_bayes(own: Floats, other: Floats) -> Scores:
    """Return the sum over columns of how much likelier their level is under the first value."""
    edges, weights = [], []
    for column in range(own.shape[1]):
        pooled = np.unique(np.concatenate([own[:, column], other[:, column]]))
        if len(pooled) > _LEVELS:
            both = np.concatenate([own[:, column], other[:, column]])
            pooled = np.unique(np.quantile(both, np.linspace(0, 1, _LEVELS + 1)[:-1]))
        levels = [np.searchsorted(pooled, part[:, column], "right") for part in (own, other)]
        counts = [np.bincount(level, minlength=len(pooled) + 1) + 0.5 for level in levels]
        edges.append(pooled)
        weights.append(np.log(counts[0] / counts[1]))

    def scores(columns: Floats) -> Floats:
        total = np.zeros(len(columns))
        for column, (edge, weight) in enumerate(zip(edges, weights, strict=True)):
            total += weight[np.searchsorted(edge, columns[:, column], "right")]
        return total

    return scores
