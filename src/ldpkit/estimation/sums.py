"""Sums of estimated frequencies: how many people hold one of several values, with an interval that covers.

The errors of single frequencies depend on each other, so their intervals do not add up. But how many
values of a set a report supports has a law of its own, which depends only on the size of the set and on
whether the person holds a value of it. The count of the set is a sum of such numbers over independent
people, so its interval is made like that of a single value: from the exact law of a count.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ldpkit.core.errors import InvalidInputError, InvalidParameterError, OutOfDomainError
from ldpkit.core.typing import Floats, Label
from ldpkit.estimation.intervals import CountRegion, frequency_oracle, share_intervals
from ldpkit.estimation.tails import CountLaw
from ldpkit.mechanisms.categorical.report_law import JointLaw, ReportLaw
from ldpkit.mechanisms.tally import Tally

if TYPE_CHECKING:
    from ldpkit.estimation.estimate import Estimate

__all__ = ["ShareOf", "SumTable", "set_law", "share_of", "sum_table"]

_ROUNDED = 1e-7  # more than the rounding of up to 60 estimates to nine digits moves their sum
_KNOTS = 33  # estimates of a sum at which a table has the ends of its interval


@dataclass(frozen=True)
class ShareOf:
    """The share of people who hold one of several values.

    Parameters
    ----------
    labels : tuple
        The values.
    share : float
        The sum of their estimated frequencies.
    stderr : float
        The standard error of the sum of the unbiased ones.
    low, high : float
        The ends of an interval for the true share.
    level : float
        The coverage of that.
    """

    labels: tuple[Label, ...]
    share: float
    stderr: float
    low: float
    high: float
    level: float


def set_law(law: JointLaw, domain_size: int, size: int) -> ReportLaw:
    """Return how many values of a set a report supports: for who holds one of them, and for anybody else.

    Parameters
    ----------
    law : JointLaw
        What a report adds to all counts at once.
    domain_size : int
        How many values there are.
    size : int
        How many of them are in the set.

    Examples
    --------
    >>> import ldpkit
    >>> law = set_law(ldpkit.GRR(4, epsilon=1).joint_law, 4, 2)
    >>> law.outcomes.tolist(), law.own.round(3).tolist(), law.other.round(3).tolist()
    ([0, 1], [0.35, 0.65], [0.65, 0.35])
    """
    from scipy.stats import binom, hypergeom

    if law.noise is not None:
        raise InvalidInputError("a report adds noise to every count, so sums of values have no interval here")
    p, q = float(law.own), float(law.other)
    counts = np.arange(size + 1)
    if law.size is None:
        own = np.convolve(binom.pmf(np.arange(size), size - 1, q), [1 - p, p])
        return ReportLaw(counts, own, binom.pmf(counts, size, q))

    def drawn(marked: int, picked: int) -> Floats:
        return np.asarray(hypergeom.pmf(counts, domain_size - 1, marked, picked))

    # A report is a set of values: with probability p the own one and others at random, else others alone.
    with_own = np.append(0.0, drawn(size - 1, law.size - 1)[:-1])
    own = p * with_own + (1 - p) * drawn(size - 1, law.size)
    other = p * drawn(size, law.size - 1) + (1 - p) * drawn(size, law.size)
    return ReportLaw(counts, own, other)


def share_of(found: Estimate, labels: Iterable[Label]) -> ShareOf:
    """Return the share of people who hold one of some values; see `Estimate.share_of`."""
    chosen = tuple(dict.fromkeys(labels))
    places = {label: place for place, label in enumerate(found.domain.labels)}
    missing = [label for label in chosen if label not in places]
    if missing:
        raise OutOfDomainError(f"value {missing[0]!r} is not in the domain {found.domain}")
    if not chosen:
        raise InvalidParameterError("a sum needs values: name at least one")
    tally = _only_tally(found)
    indices = np.array([places[label] for label in chosen])
    share = float(found.values[indices].sum())
    if len(chosen) == len(places):  # everybody holds one of all values
        return ShareOf(chosen, share, 0.0, min(1.0, share), max(1.0, share), found.level)
    law = _count_law(found, tally, len(chosen))
    low, high = share_intervals(law, np.array([int(tally.counts[indices].sum())]), 1 - found.level)
    near = np.clip(found.unbiased[indices].sum(), 0, 1)
    stderr = float(law.deviations(np.array([near]))[0])
    return ShareOf(chosen, share, stderr, min(float(low[0]), share), max(float(high[0]), share), found.level)


@dataclass(frozen=True, eq=False)
class SumTable:
    """The ends of intervals for every sum of some values of an estimate, by how many values are added.

    Parameters
    ----------
    knots, low, high : list of array
        For one value, two values and so on up to all but one: unbiased sums, and the ends of the interval
        there. Ends between them are on straight lines.
    slack : float
        By how much an end is moved outwards: people are whole, and ends go in steps of a person.
    """

    knots: list[Floats]
    low: list[Floats]
    high: list[Floats]
    slack: float

    def ends(self, size: int, unbiased: float) -> tuple[float, float]:
        """Return the ends for a sum of so many values, as a page computes them."""
        at = self.knots[size - 1]
        low, high = (float(np.interp(unbiased, at, ends[size - 1])) for ends in (self.low, self.high))
        return max(low - self.slack, 0.0), min(high + self.slack, 1.0)

    def to_json(self) -> dict[str, Any]:
        """Return plain numbers, rounded outwards to six digits."""
        return {
            "knots": [each.round(9).tolist() for each in self.knots],
            "low": [(np.floor(each * 1e6) / 1e6).tolist() for each in self.low],
            "high": [(np.ceil(each * 1e6) / 1e6).tolist() for each in self.high],
            "slack": self.slack + _ROUNDED,
        }


def sum_table(found: Estimate) -> SumTable:
    """Return what a page needs for an interval of every sum, computed from the exact law of each size.

    Examples
    --------
    >>> import ldpkit
    >>> found = ldpkit.Tally(ldpkit.OUE(4, epsilon=2), 1000, [250, 230, 260, 300]).estimate()
    >>> exact = found.share_of([0, 2])
    >>> near = sum_table(found).ends(2, float(found.unbiased[[0, 2]].sum()))
    >>> near[0] <= exact.low and exact.high <= near[1] and near[1] - near[0] < exact.high - exact.low + 0.003
    True
    """
    tally = _only_tally(found)
    ascending = np.sort(tally.counts)
    knots, lows, highs = list[Floats](), list[Floats](), list[Floats]()
    for size in range(1, len(ascending)):
        law = _count_law(found, tally, size)
        first, last = int(ascending[:size].sum()), int(ascending[-size:].sum())
        counts = np.unique(np.linspace(first, last, _KNOTS).round().astype(np.int64))
        low, high = share_intervals(law, counts, 1 - found.level)
        own, other = law.laws[0].means
        knots.append((counts / tally.n - other) / (own - other))
        lows.append(low)
        highs.append(high)
    return SumTable(knots, lows, highs, 0.0 if found.population else 1 / tally.n)


def _only_tally(found: Estimate) -> Tally:
    """Return the counts that an estimate was made from, or say why its sums have no interval."""
    region = found.region
    if not isinstance(region, CountRegion) or len(region.tallies) != 1:
        raise InvalidInputError(
            "a sum has an interval only if all reports come from one mechanism, and these do not"
        )
    tally = region.tallies[0]
    if not tally.mechanism.can("pure") or tally.mechanism.can("joint"):
        raise InvalidInputError(
            f"it is not known how the errors of {tally.mechanism!r} depend on each other, so its sums have "
            "no interval"
        )
    return tally


def _count_law(found: Estimate, tally: Tally, size: int) -> CountLaw:
    oracle = frequency_oracle(tally.mechanism)
    return CountLaw([set_law(oracle.joint_law, oracle.size, size)], [tally.n], found.population)
