"""An attack on the real sampler: the epsilon that reports show which anybody can draw.

The attacker sees the mechanism as a black box. Reports of pairs of values are drawn
through the public path; on some of them the attacker learns which reports point to one
value, and on fresh ones counts how often such reports occur under either. The ratio of
the two counts, each taken to the unfavourable end of its exact confidence interval, is a
lower bound on epsilon that holds whatever the attacker looked at.
"""

from __future__ import annotations

import contextlib
import itertools
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from ldpkit.core.binomial import highest_chance, lowest_chance
from ldpkit.core.errors import InvalidInputError, InvalidParameterError
from ldpkit.core.random import RandomSource, resolve
from ldpkit.core.typing import Floats, Label, Reports
from ldpkit.mechanisms.base import Mechanism
from ldpkit.mechanisms.categorical.oracle import FrequencyOracle
from ldpkit.mechanisms.joint.oracle import PairedOracle
from ldpkit.mechanisms.kinds import is_frequency, is_group, is_memoized, is_paired

__all__ = ["FALSE_ALARM", "MEMORY", "REPORTS", "Attack", "attack", "least_memory", "lower_bound"]

MEMORY = 3 << 30
"""How many bytes an attack may take at most."""
REPORTS = 4_000_000
"""How many reports of each value of the final pair are counted."""
FALSE_ALARM = 1e-6
"""The chance that the bound is above the true epsilon."""

_FEW = 4  # candidates where reports are expensive
_CANDIDATES = 32  # values among which the attacker looks for the pair that shows most
_ODD = 4  # more of them, of a large domain: those whose own reports stand out
_SCREENED = 2_000_000  # reports drawn to find these,
_EACH = 500  # and at most so many for each that is counted in the end
_MOST_SCREENED = 1 << 16
_WIRE_BYTES = 32  # of a report whose bits are looked at one by one
_LEARNED = 50_000  # reports of each candidate to learn from
_MOST_BITS = 1 << 33  # of supports looked at in all: fewer reports for very large domains
_LEVELS = 64  # a column is cut into at most so many levels
_CHUNK = 1 << 16
_COPIES = 3  # of the reports at hand: as they are drawn, in their order, and with what is made of them
_FEWEST = 100  # reports of a value from which something can be learned
_KEPT = 10_000  # devices with memory for each value of the final pair; each is asked by itself

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
        How many of them pointed to the first value.
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
            f"Reports that point to {self.first!r} came in {shares[0]:.4g}% of cases when the value was "
            f"{self.first!r}, and in {shares[1]:.4g}% when it was {self.second!r}, among {self.reports:,} "
            "reports of each: "
            f"epsilon is at least {self.epsilon:.4f} (wrong with probability {self.false_alarm:g})."
        )


def lower_bound(hits: tuple[int, int], reports: int, false_alarm: float = FALSE_ALARM) -> float:
    """Return the epsilon that two counts prove: exact (Clopper-Pearson) ends, half the error each.

    Examples
    --------
    >>> round(lower_bound((731_000, 269_000), 1_000_000), 3), lower_bound((5, 5), 10)
    (0.989, 0.0)
    """
    own, other = hits
    low = lowest_chance(own, reports, false_alarm / 2)
    high = highest_chance(other, reports, false_alarm / 2)
    return max(0.0, math.log(low / high)) if low > 0 else 0.0


def attack(
    mechanism: Mechanism,
    *,
    reports: int = REPORTS,
    false_alarm: float = FALSE_ALARM,
    rng: RandomSource | None = None,
    kept: bool = False,
    partner: bool = False,
    memory: int = MEMORY,
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
    kept : bool
        Attack the first reports of devices that derive their permanent reports from a
        secret, for mechanisms with memory. They are made one at a time, so there are
        10,000 of each value at most.
    partner : bool
        Attack the reports of pairs as the partner does, who knows the pairing, the own
        value and both reports; for mechanisms whose people report in pairs.
    memory : int
        How many bytes the attack may take; where that is little, it looks at fewer values.

    Examples
    --------
    >>> import ldpkit
    >>> found = attack(ldpkit.GRR(4, epsilon=1.0), reports=400_000, rng=ldpkit.random.seeded(1))
    >>> 0.95 < found.epsilon < 1
    True
    """
    source = resolve(rng)
    count = _affordable(mechanism, reports)
    bytes_at_once = min(memory, MEMORY) // _COPIES
    room = bytes_at_once // _looked_at(mechanism)
    values = _candidates(mechanism, source, room, _EACH * count, few=kept)
    if not is_group(mechanism):  # its values are neighbours
        most = min(len(values), max(2, room // _FEWEST))
        values = [values[place] for place in np.linspace(0, len(values) - 1, most).astype(int)]
    if kept:
        count = min(count, max(250, min(reports // 100, _KEPT)))
    sampled = min(_LEARNED, max(250, count // 4) if kept else count, room // len(values))
    if sampled < _FEWEST:
        raise InvalidParameterError(
            f"an attack on {mechanism!r} looks at {_FEWEST * len(values)} reports at once, which takes "
            f"more than {bytes_at_once >> 20} MiB: audit the mechanism on fewer values"
        )
    draw: Callable[[Any], Reports] = partial(_draw, mechanism, source)
    look: Callable[[Reports, tuple[Any, Any]], list[Floats]] = partial(_views, mechanism)
    if kept:
        draw = _from_memory(mechanism, source)
    elif partner and is_paired(mechanism):
        draw, look = partial(_with_partners, mechanism, source), partial(_partner_views, mechanism)
    learned = draw(np.repeat(values, sampled, axis=0))
    by_value = [learned[start : start + sampled] for start in range(0, len(learned), sampled)]
    best: tuple[float, tuple[Any, Any], tuple[Any, Any], int, Scores, float] | None = None
    for one, other in _pairs(len(values), neighbours=is_group(mechanism)):
        seen = values[one], values[other]
        views = [look(by_value[each], seen) for each in (one, other)]
        for view, (mine, theirs) in enumerate(zip(*views, strict=True)):
            for pair, own, opposite in ((seen, mine, theirs), (seen[::-1], theirs, mine)):
                scores, threshold, shown = _learn(own, opposite)
                if best is None or shown > best[0]:
                    best = shown, pair, seen, view, scores, threshold
    assert best is not None
    _, pair, seen, view, scores, threshold = best
    hits = [0, 0]
    step = min(_CHUNK, max(1, room // 4))
    for start in range(0, count, step):
        some = min(step, count - start)
        drawn = draw(np.repeat(pair, some, axis=0))  # both in one batch, as people come
        for place, part in enumerate((drawn[:some], drawn[some:])):
            hits[place] += int((scores(look(part, seen)[view]) >= threshold).sum())
    both = (hits[0], hits[1])
    return Attack(*_names(mechanism, pair), count, both, lower_bound(both, count, false_alarm), false_alarm)


def _affordable(mechanism: Mechanism, reports: int) -> int:
    return max(1000, min(reports, _MOST_BITS // (mechanism.domain.size or 1)))


def least_memory(mechanism: Mechanism) -> int:
    """Return how many bytes an attack takes at least: for reports of two values.

    Examples
    --------
    >>> import ldpkit
    >>> least_memory(ldpkit.OUE(1 << 22, epsilon=1.0)) >> 20
    300
    """
    return _COPIES * 2 * _FEWEST * _looked_at(mechanism)


def _looked_at(mechanism: Mechanism) -> int:
    """Return the bytes that the attacker looks at in a report."""
    length = mechanism.report_bytes
    if is_frequency(mechanism):  # supports are bits, likelihoods are numbers
        length = max(length, mechanism.size // 8 if mechanism.can("pure") else 8 * mechanism.size)
    return max(length, 1)


def _candidates(
    mechanism: Mechanism, source: RandomSource, room: int, screened: int, *, few: bool = False
) -> list[Any]:
    """Return values to try: all of a small domain, else both ends, some at random, and what looks odd.

    Of a group these are all sums: a person moves it by one. There is room for so many reports at once.
    """
    if is_group(mechanism):
        return list(range(mechanism.size + 1))
    size = mechanism.domain.size or 0
    if few and size > _FEW:
        return sorted({0, size - 1, *source.generator().integers(size, size=_FEW - 2).tolist()})
    found = mechanism.domain.examples(_CANDIDATES, source)
    if is_frequency(mechanism) and mechanism.size > _CANDIDATES:
        return sorted({*found, *_odd_values(mechanism, source, room, screened)})
    return found


def _odd_values(oracle: FrequencyOracle, source: RandomSource, room: int, screened: int) -> list[int]:
    """Return the values whose own reports support them more or less often than those of others do."""
    if not (oracle.can("pure") and oracle.size <= _MOST_SCREENED):
        return []
    times = max(1, min(_SCREENED, screened, _MOST_BITS // 4 // oracle.size) // oracle.size)
    own = np.zeros(oracle.size)
    step = max(1, min(_CHUNK, room) // times)
    for start in range(0, oracle.size, step):
        values = np.repeat(np.arange(start, min(start + step, oracle.size)), times)
        try:
            supports = oracle.supported(_draw(oracle, source, values), values[:, None])[:, 0]
        except InvalidInputError:  # a mechanism without _pack
            return []
        own += np.bincount(values, supports, oracle.size)
    return [int(value) for value in np.argsort(np.abs(own - np.median(own)))[-_ODD:]]


def _names(mechanism: Mechanism, pair: tuple[Any, Any]) -> tuple[Label, Label]:
    if is_group(mechanism):
        return f"a sum of {pair[0]}", f"a sum of {pair[1]}"
    first, second = mechanism.domain.values(pair)
    return first, second


def _pairs(count: int, *, neighbours: bool) -> Iterator[tuple[int, int]]:
    """Neighbours, so that every candidate meets two others, and the ends, if one person can go so far."""
    yield from itertools.pairwise(range(count))
    if count > 2 and not neighbours:
        yield 0, count - 1


def _from_memory(mechanism: Mechanism, source: RandomSource) -> Callable[[Any], Reports]:
    """Return what draws the first reports of people whose permanent reports derive from one secret."""
    secret, people = source.generator().bytes(32), itertools.count()

    def draw(values: Any) -> Reports:
        ids = list(itertools.islice(people, len(values)))
        return _draw(mechanism, source, values, people=ids, secret=secret, question="audit")

    return draw


def _draw(mechanism: Mechanism, source: RandomSource, values: Any, **memory: Any) -> Reports:
    """Return a report for each value, through the public path, from one batch in random order."""
    held = np.asarray(values)
    if is_group(mechanism):  # what the members compute together; who is grouped with whom is drawn before
        return mechanism.respond(held, source)
    order = source.generator().permutation(len(held))
    mixed = mechanism.domain.values(held[order])
    if is_memoized(mechanism):
        made = mechanism.privatize(mixed, rng=source, **(memory or {"new_devices": True}))
    else:
        made = mechanism.privatize(mixed, rng=source)
    reports = np.empty_like(made)
    reports[order] = made
    return reports


def _with_partners(mechanism: PairedOracle, source: RandomSource, values: Any) -> Reports:
    """Return both reports of pairs, of which the second holds the first value of the domain."""
    held = np.stack([np.asarray(values), np.zeros(len(values), np.int64)], axis=1)
    pairs = np.arange(held.size).reshape(-1, 2)
    made = mechanism.privatize(mechanism.domain.values(held.ravel()), rng=source, pairs=pairs)
    return made.reshape(len(held), 2, *made.shape[1:])


def _partner_views(mechanism: PairedOracle, reports: Reports, pair: tuple[Any, Any]) -> list[Floats]:
    """Return which of the two values either report supports, as one number: all four depend on each other."""
    code = np.zeros(len(reports))
    for person in (0, 1):
        for supports in mechanism.supported(np.ascontiguousarray(reports[:, person]), pair).T:
            code = 2 * code + supports
    return [code[:, None]]


def _views(mechanism: Mechanism, reports: Reports, pair: tuple[Any, Any]) -> list[Floats]:
    """Return the ways in which the attacker looks at reports, each as columns of numbers.

    What the mechanism says they mean: whether they support the two values, or how likely
    these make them. And what they are: every number in them, and every bit on the wire,
    whatever the mechanism says.
    """
    views = []
    if is_frequency(mechanism) and mechanism.can("pure"):
        with contextlib.suppress(InvalidInputError):  # a mechanism without _pack
            views.append(mechanism.supported(reports, pair).astype(float))
    elif is_memoized(mechanism):
        so_far = mechanism.log_likelihood(reports, memoized=False)[:, list(pair)]
        each = np.diff(so_far, axis=0, prepend=np.zeros((1, 2)))
        views.append(np.round(each[:, :1] - each[:, 1:], 6))
    names = reports.dtype.names
    if not views:
        parts = [reports[name] for name in names] if names else [reports]
        views.append(np.concatenate([part.reshape(len(reports), -1).astype(float) for part in parts], axis=1))
    wire = np.ascontiguousarray(reports).view(np.uint8).reshape(len(reports), -1)
    if wire.shape[1] > _WIRE_BYTES:  # both ends: that is where room is left over
        wire = np.concatenate([wire[:, : _WIRE_BYTES // 2], wire[:, -_WIRE_BYTES // 2 :]], axis=1)
    views.append(np.unpackbits(wire, axis=1))
    return views


def _learn(own: Floats, other: Floats) -> tuple[Scores, float, float]:
    """Return a score, the threshold from which a report points to the first value, and what that shows."""
    scores = _bit_weights(own, other) if own.dtype == np.uint8 else _naive_bayes(own, other)
    mine, theirs = np.sort(scores(own)), np.sort(scores(other))
    thresholds = np.unique(mine)
    hits = len(mine) - np.searchsorted(mine, thresholds)
    false = len(theirs) - np.searchsorted(theirs, thresholds)
    # Five standard errors off: what shines among few reports must not win by chance.
    spread = np.sqrt(1 / hits + 1 / np.maximum(false, 1))
    shown = np.log(hits / np.maximum(false, 1)) - 5 * spread
    place = int(np.argmax(shown))
    return scores, float(thresholds[place]), float(shown[place])


def _bit_weights(own: Floats, other: Floats) -> Scores:
    """Return the score of bits that count each for itself; those that tell nothing do not count."""
    shares = [(part.sum(axis=0, dtype=np.int64) + 0.5) / (len(part) + 1) for part in (own, other)]
    gap = np.abs(shares[0] - shares[1])
    telling = gap > 5 * np.sqrt(np.maximum(shares[0] * (1 - shares[0]), 1e-4) * 2 / len(own))
    one = np.where(telling, np.log(shares[0] / shares[1]), 0)
    zero = np.where(telling, np.log((1 - shares[0]) / (1 - shares[1])), 0)
    places = np.flatnonzero(telling)

    def scores(bits: Floats) -> Floats:
        chosen = bits[:, places].astype(float)
        totals: Floats = np.round(chosen @ (one - zero)[places] + zero.sum(), 9)
        return totals

    return scores


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
