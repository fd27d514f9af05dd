"""What TraCS was compared with, as coded: L-SRR, NGram and ATP, none with the epsilon that it states.

For reproduction alone: floating point on whole trajectories. `srr`, `ngram` and `atp` are the
mechanisms that keep epsilon.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from ldpkit.core.domains.trajectories import Trajectories
from ldpkit.core.random import RandomSource
from ldpkit.core.typing import Counts, Floats
from ldpkit.mechanisms.spatial.distances import between

__all__ = ["published_atp", "published_atp_epsilon", "published_ngram", "published_srr", "published_tables"]

_BLOCK = 1 << 21  # distances at a time
_SECTORS = 6


def _blocks(count: int, places: int) -> Iterator[slice]:
    step = max(1, _BLOCK // places)
    return (slice(start, start + step) for start in range(0, count, step))


def _pick(chances: Floats, generator: np.random.Generator) -> Counts:
    """Return a column for each row, with chances up to a factor of the row."""
    sums = np.cumsum(chances, axis=1)
    drawn = generator.random((len(chances), 1)) * sums[:, -1:]
    return np.asarray((sums <= drawn).sum(axis=1).clip(max=chances.shape[1] - 1))


def _exponential(far: Floats, epsilon: Floats, candidates: Any = None) -> Floats:
    """Return chances that fall with distance, scaled by the greatest among the candidates of each row."""
    if candidates is None:
        least, most = far.min(axis=1, keepdims=True), far.max(axis=1, keepdims=True)
    else:
        least = np.where(candidates, far, np.inf).min(axis=1, keepdims=True)
        most = np.where(candidates, far, -np.inf).max(axis=1, keepdims=True)
    spread = np.where(most > least, most - least, 1.0)
    chances = np.exp(-epsilon[:, None] * np.maximum(far - least, 0) / (2 * spread))
    return chances if candidates is None else np.where(candidates, chances, 0.0)


def _by_exponential(
    points: Floats, places: Floats, epsilon: Floats, generator: np.random.Generator
) -> Floats:
    found = np.empty_like(points)
    for some in _blocks(len(points), len(places)):
        far = between(points[some], places)
        found[some] = places[_pick(_exponential(far, epsilon[some]), generator)]
    return found


def published_srr(
    walks: Trajectories, places: Floats, epsilon: Floats, source: RandomSource, radii: tuple[float, float]
) -> Floats:
    """Return the reported points of L-SRR, where chances are in the ratio of epsilon and not of its power."""
    generator, found = source.generator(), np.empty_like(walks.points)
    for some in _blocks(len(walks.points), len(places)):
        group = np.searchsorted(radii, between(walks.points[some], places))
        high = epsilon[some][:, None]
        chances = np.where(group == 0, high, np.where(group == 1, (high + 1) / 2, 1.0))
        found[some] = places[_pick(np.maximum(chances, 0), generator)]
    return found


def published_ngram(
    walks: Trajectories, places: Floats, epsilon: Floats, source: RandomSource, reach: float
) -> Floats:
    """Return the reported points of NGram, where the places in reach are those of the true location."""
    generator, found = source.generator(), np.empty_like(walks.points)
    for some in _blocks(len(walks.points), len(places)):
        far = between(walks.points[some], places)
        chances = _exponential(far, epsilon[some], far <= reach)
        found[some] = places[_pick(chances, generator)]
    return found


def published_atp(walks: Trajectories, places: Floats, epsilon: Floats, source: RandomSource) -> Floats:
    """Return the reported points of ATP, where sectors are turned towards the true location.

    The last location stands in one of both copies as it is.
    """
    generator, own = source.generator(), walks.points
    lengths = np.repeat(walks.lengths, walks.lengths)
    position, last = walks.positions, walks.positions == lengths - 1
    copies = []
    for parity in (1, 0):
        alone = (position % 2 == parity) | ((position == 0) & (parity == 1))
        copy = own.copy()
        copy[alone] = _by_exponential(own[alone], places, epsilon[alone] / 2, generator)
        pivots = np.flatnonzero(~alone & (position > 0) & ~last)
        copy[pivots] = _between(own, copy, pivots, places, epsilon, generator)
        again = np.flatnonzero(last & alone & (position > 0))  # the last is reported twice over
        copy[again] = _by_exponential(copy[again], places, epsilon[again] / 2, generator)
        copies.append(copy)
    merged = np.empty_like(own)
    for some in _blocks(len(own), len(places)):
        total = between(copies[0][some], places) + between(copies[1][some], places)
        merged[some] = places[total.argmin(axis=1)]
    return merged


def _between(
    own: Floats, copy: Floats, pivots: Counts, places: Floats, epsilon: Floats, generator: np.random.Generator
) -> Floats:
    found = np.empty((len(pivots), 2))
    for some in _blocks(len(pivots), len(places)):
        at = pivots[some]
        budget = 0.375 * epsilon[at]
        fits = np.ones((len(at), len(places)), bool)
        for side in (copy[at - 1], copy[at + 1]):
            redrawn = generator.random(len(at)) < 1 / (_SECTORS - 1 + np.exp(budget / 2))
            sector = np.where(redrawn, generator.integers(1, _SECTORS + 1, len(at)), 0)
            fits &= _turned(own[at], side, places) == (sector % _SECTORS)[:, None]
        fits[~fits.any(axis=1)] = True
        far = between(own[at], places)
        found[some] = places[_pick(_exponential(far, budget / 3, fits), generator)]
    return found


def _turned(own: Floats, side: Floats, places: Floats) -> Counts:
    """Return in which sector each place is seen, the first being centred on the own location."""
    ahead = np.arctan2(*(own - side).T[::-1])
    steps = places - side[:, None, :]
    turns = (np.arctan2(steps[..., 1], steps[..., 0]) - ahead[:, None]) / (2 * math.pi)
    return np.asarray(np.floor((turns * _SECTORS + 0.5) % _SECTORS).astype(np.int64))


def published_tables(
    places: Floats, epsilon: float, reach: float, radii: tuple[float, float]
) -> dict[str, Floats]:
    """Return the chances of every report for every place by L-SRR and NGram as coded: a row each.

    Examples
    --------
    >>> row = np.array([[0.0, 0], [0.5, 0], [1, 0]])
    >>> tables = published_tables(row, 4.0, 0.75, (0.3, 0.6))
    >>> {name: bool((table > 0).all()) for name, table in tables.items()}
    {'L-SRR': True, 'NGram': False}
    """
    far = between(places, places)
    steps = np.array([epsilon, (epsilon + 1) / 2, 1.0])[np.searchsorted(radii, far)]
    within = _exponential(far, np.full(len(places), epsilon), far <= reach)
    return {
        name: table / table.sum(axis=1, keepdims=True)
        for name, table in (("L-SRR", steps), ("NGram", within))
    }


def published_atp_epsilon(places: Floats, before: int, behind: int, epsilon: float) -> float:
    """Return the epsilon that ATP as coded has in one copy for a location between two reports.

    It states half of epsilon for it.
    """
    count = len(places)
    budget = 0.375 * epsilon
    redrawn = 1 / (_SECTORS - 1 + math.exp(budget / 2))
    answered = np.full(_SECTORS, redrawn / _SECTORS)
    answered[0] += 1 - redrawn
    far = between(places, places)
    first, second = (_turned(places, np.tile(places[each], (count, 1)), places) for each in (before, behind))
    table = np.zeros((count, count))
    for one in range(_SECTORS):
        for other in range(_SECTORS):
            fits = (first == one) & (second == other)
            fits[~fits.any(axis=1)] = True
            chances = _exponential(far, np.full(count, budget / 3), fits)
            table += answered[one] * answered[other] * chances / chances.sum(axis=1, keepdims=True)
    logs = np.log(table)
    return float((logs.max(axis=0) - logs.min(axis=0)).max())
