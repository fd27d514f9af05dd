"""How far the truth may lie from an estimated mean: intervals that cover, at small n and large epsilon.

All of them speak of the mean of independent reports, each with a weight, on the scale
where low is 0 and high is 1. Which one holds is a question of what is known:

- `CoinMargin`: a report is one of two. Exact, from the binomial law.
- `NormalMargin`: the sum of many reports, none of which matters much. The normal quantile
  is widened by the most that skewness and heavy tails can do (Cornish and Fisher).
- `ChernoffMargin`: a few rare reports decide, as at a large epsilon or with few people. The
  exact law of a report bounds the tail, wherever in the interval people are.
- `BettingMargin`: the same where people were drawn at random too, so that the spread of
  the reports is not known beforehand (Waudby-Smith and Ramdas, JRSS B 2024).

The last two hold for every n; they are about 1.4 times as wide as the normal interval
would be, which does not hold there.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from statistics import NormalDist
from typing import Protocol

import numpy as np

from ldpkit.core.binomial import highest_chance, lowest_chance
from ldpkit.core.typing import Counts, Floats
from ldpkit.mechanisms.cells.law import Law
from ldpkit.mechanisms.numeric.mechanism import NumericMechanism

__all__ = [
    "LARGEST_RATIO",
    "STUDENT",
    "BettingMargin",
    "ChernoffMargin",
    "CoinMargin",
    "Margin",
    "NormalMargin",
    "deviations",
    "lyapunov_range",
    "normal_deviations",
    "scattered_margin",
    "variance_range",
]

LARGEST_RATIO = 0.5
"""The largest Lyapunov ratio at which the normal law, so corrected, is trusted."""

STUDENT = 1.75
"""By how much the range of reports counts more where their own scatter tells the error.

Scatter is seen to be small in the very collections in which rare reports are missing. For
reports of 0 and 1, the worst there are, exact summation finds no chance and no number of
people at which the interval then covers less than its level.
"""

_PLACES = 129  # values at which the moments of a report are taken: they are smooth in between
_FEW_PLACES = 3  # for noise in thousands of pieces, whose law does not depend on the value
_MANY_PIECES = 64
_LARGE = 10_000  # reports whose t distribution is the normal one
_RATES = 2.0 ** np.arange(-3, 4.5, 0.5)  # tried, in units of the rate that is best for normal noise
_STEPS = 40  # of bisection: an end is found to a part in 10^12


class Margin(Protocol):
    """What knows the ends of an interval."""

    def ends(self, level: float) -> tuple[float, float]:
        """Return the ends of an interval of that level, low at 0 and high at 1."""


@dataclass(frozen=True)
class CoinMargin:
    """The mean where a report is one of two points, with a chance that is linear in the value.

    The limits are those of Clopper and Pearson. They hold for people of different values
    too: the tails of a sum of different coins are no heavier than the binomial law's,
    beyond one from the mean (Hoeffding 1956).

    Parameters
    ----------
    upper, n : int
        How many of the n reports are the upper point.
    points : pair of float
        The lower and the upper point, such that the mean report is the value.

    Examples
    --------
    >>> [round(end, 3) for end in CoinMargin(0, 50, (0.0, 1.0)).ends(0.95)]
    [-0.02, 0.071]
    """

    upper: int
    n: int
    points: tuple[float, float]

    def ends(self, level: float) -> tuple[float, float]:
        """Return the ends of an interval of that level."""
        error = (1 - level) / 2
        low, high = lowest_chance(self.upper, self.n, error), highest_chance(self.upper, self.n, error)
        origin, width = self.points[0], self.points[1] - self.points[0]
        low, high = min(low, (self.upper - 1) / self.n), max(high, (self.upper + 1) / self.n)
        return origin + width * low, origin + width * high


@dataclass(frozen=True)
class NormalMargin:
    """The mean of many reports.

    Parameters
    ----------
    centre, error : float
        The estimate and its standard error.
    ratio : float
        A bound of the skewness of the estimate; its square bounds the excess of the tails.
    bias : float
        The most that the mean of the estimate can differ from the truth.
    n : int or None
        The number of reports if the error was estimated from their scatter.

    Examples
    --------
    >>> NormalMargin(0.5, 0.1).ends(0.95)
    (0.30400360154599..., 0.6959963984540...)
    """

    centre: float
    error: float
    ratio: float = 0.0
    bias: float = 0.0
    n: int | None = None

    def ends(self, level: float) -> tuple[float, float]:
        """Return the ends of an interval of that level."""
        reach = deviations(1 - level, self.ratio, self.n) * self.error + self.bias
        return self.centre - reach, self.centre + reach


def normal_deviations(level: float) -> float:
    """Return how many standard deviations to either side of its mean a normal law has a share of `level`.

    Examples
    --------
    >>> normal_deviations(0.95), round(normal_deviations(1 - 2**-53), 2)
    (1.95996398454..., 8.29)
    """
    return deviations(1 - level)


def deviations(error: float, ratio: float = 0.0, n: int | None = None) -> float:
    """Return how many standard errors an interval reaches that misses with a chance of `error`.

    It takes the error, not the level, which would be rounded to 1 for a part of a small error. `ratio`
    and `n` are those of `NormalMargin`.
    """
    if n is None or n > _LARGE:
        z = -NormalDist().inv_cdf(error / 2)
    else:
        from scipy.special import stdtrit

        z = -float(stdtrit(max(n - 1, 1), error / 2))
    return z + max(z**2 - 1, 0.0) * ratio / 6 + max(z**3 - 3 * z, 0.0) * ratio**2 / 24


@dataclass(frozen=True)
class ChernoffMargin:
    """The mean of reports whose mean is a linear function of the value, from their exact law.

    For a rate t, log E[e^(t report)] lies below a line a + s x of the value x. So
    t sum(reports) exceeds n a + s sum(values) + L with a chance of at most e^-L, wherever
    people are; the best rate for n is taken.

    Parameters
    ----------
    mechanism : NumericMechanism
        One with a `line`.
    centre : float
        The estimate.
    n : int
        The number of reports.
    drawn : bool
        Whether people were drawn at random too; then E[e^(t report)] itself is kept below a line.

    Examples
    --------
    >>> import ldpkit
    >>> few = ChernoffMargin(ldpkit.get("pm", (0, 1), epsilon=10), 0.5, 50)
    >>> [round(end, 2) for end in few.ends(0.95)]
    [0.47, 0.53]
    """

    mechanism: NumericMechanism
    centre: float
    n: int
    drawn: bool = False

    def ends(self, level: float) -> tuple[float, float]:
        """Return the ends of an interval of that level."""
        threshold = math.log(2 / (1 - level)) / self.n
        low, high = (
            _chernoff_line(self.mechanism, threshold, sign, self.drawn)(self.centre) for sign in (1, -1)
        )
        return low, high


@lru_cache(maxsize=256)
def _chernoff_line(
    mechanism: NumericMechanism, threshold: float, sign: int, drawn: bool
) -> Callable[[float], float]:
    """Return the limit as a function of the estimate, for the best of some rates."""
    laws = _laws(mechanism)
    typical = math.sqrt(2 * threshold / max(_variances(mechanism)))

    def nowhere(_: float) -> float:
        return -math.inf * sign

    best: Callable[[float], float] = nowhere
    narrowest = math.inf
    for rate in sign * typical * _RATES:
        limit = _limit(laws, float(rate), threshold, drawn)
        reach = sum(sign * (point - limit(point)) for point in (0.0, 0.5, 1.0))
        if reach < narrowest:
            best, narrowest = limit, reach
    return best


def _limit(
    laws: tuple[tuple[float, _Report], ...], rate: float, threshold: float, drawn: bool
) -> Callable[[float], float]:
    """Return what the estimate tells of the mean of values at one rate."""
    values = np.array([value for value, _ in laws])
    with np.errstate(over="ignore", invalid="ignore"):
        moments = np.array([report.exponential(rate) for _, report in laws])
        curve = moments if drawn else np.log(moments)
        slope = (curve[-1] - curve[0]) / (values[-1] - values[0])
        top = (curve - slope * values).max()
    if not (math.isfinite(top) and math.isfinite(slope)) or slope * rate <= 0:
        return lambda _: -math.inf * rate
    if drawn:
        return lambda centre: float((math.exp(min(rate * centre - threshold, 700.0)) - top) / slope)
    return lambda centre: float((rate * centre - top - threshold) / slope)


@dataclass(frozen=True)
class _Report:
    """The law of one report, put back on the line: a point mass or an even stretch at a time."""

    edges: Floats
    masses: Floats
    points: Floats
    chances: Floats

    def exponential(self, rate: float) -> float:
        """Return the mean of e^(rate report)."""
        rises = np.diff(np.exp(rate * self.edges)) / (rate * np.diff(self.edges))
        return float(self.masses @ rises + self.chances @ np.exp(rate * self.points))

    def moment(self, power: int, centre: float) -> float:
        """Return the mean of |report - centre|**power."""
        away = self.edges - centre
        integral = np.sign(away) * np.abs(away) ** (power + 1) / (power + 1)
        spread = self.masses @ (np.diff(integral) / np.diff(self.edges))
        return float(spread + self.chances @ np.abs(self.points - centre) ** power)


@lru_cache(maxsize=4)
def _laws(mechanism: NumericMechanism) -> tuple[tuple[float, _Report], ...]:
    """Return some values from 0 to 1 with the laws of their reports, put back on the line."""
    intercept, slope = (float(part) for part in mechanism.line or (0, 1))
    origin, step = (float(part) for part in mechanism.placement)
    points = (np.array([float(point) for point in mechanism.atom_points]) - intercept) / slope

    def put_back(law: Law) -> _Report:
        kept = np.diff(law.edges) > 0
        edges = (origin + step * law.edges[np.concatenate([[True], kept])] - intercept) / slope
        return _Report(edges, law.masses[kept], points, law.atom_masses)

    count = _PLACES if len(mechanism.law(mechanism.grid // 2).weights) <= _MANY_PIECES else _FEW_PLACES
    places = [round(share * mechanism.grid) for share in np.linspace(0, 1, count)]
    return tuple((place / mechanism.grid, put_back(mechanism.law(place))) for place in sorted(set(places)))


@lru_cache(maxsize=64)
def _variances(mechanism: NumericMechanism) -> tuple[float, ...]:
    return tuple(report.moment(2, value) for value, report in _laws(mechanism))


def variance_range(mechanism: NumericMechanism) -> tuple[float, float]:
    """Return the least and the greatest variance of a report, put back on the line, over the values."""
    return min(_variances(mechanism)), max(_variances(mechanism))


@lru_cache(maxsize=64)
def lyapunov_range(mechanism: NumericMechanism) -> float:
    """Return the greatest E|y - x|^3 / E(y - x)^2 of a report y of a value x: how far rare reports lie."""
    thirds = (report.moment(3, value) for value, report in _laws(mechanism))
    return max(third / square for third, square in zip(thirds, _variances(mechanism), strict=True))


@dataclass(frozen=True)
class BettingMargin:
    """The mean of reports of people who were drawn at random, whatever their spread.

    Somebody who bets at fair odds against a mean that is the true one multiplies the stake
    by 2 / (1 - level) with a chance of at most (1 - level) / 2. Means against which such a
    bet would have won are left out.

    Parameters
    ----------
    counts : array of int
        How many reports have each weight.
    low, high : array
        The weights; two where they vary within a bin.
    centre : float
        The mean weight, exactly.
    variances : pair of float
        Between which the variance of a report lies: what the bets are made for.
    bias : float
        The most that the mean weight can differ from the truth.

    Examples
    --------
    >>> weights = np.array([0.0, 1.0])
    >>> certain = BettingMargin(np.array([50, 0]), weights, weights, 0.0, (0.01, 0.25))
    >>> certain.ends(0.95)[1] < 0.12
    True
    """

    counts: Counts = field(repr=False)
    low: Floats = field(repr=False)
    high: Floats = field(repr=False)
    centre: float
    variances: tuple[float, float]
    bias: float = 0.0

    def ends(self, level: float) -> tuple[float, float]:
        """Return the ends of an interval of that level."""
        error = 1 - level
        return self._least(error) - self.bias, 1 - self.mirrored()._least(error) + self.bias

    def mirrored(self) -> BettingMargin:
        """Return the same with 1 - weight for every weight."""
        return BettingMargin(
            self.counts, 1 - self.high, 1 - self.low, 1 - self.centre, self.variances, self.bias
        )

    def above(self, mean: float, error: float) -> bool:
        """Whether the true mean weight is above a number from 0 to 1: false with a chance of error / 2."""
        n, goal = float(self.counts.sum()), math.log(2 / error)
        most = 0.95 / (1 - min(float(self.low.min()), 0.0))  # so that no bet can lose all
        least, largest = self.variances
        steps = max(1, math.ceil(math.log(max(largest / least, 1.0), 4)))
        wanted = np.geomspace(least, largest, 2 * steps + 1)[1::2]
        rates = np.unique(np.minimum(np.sqrt(2 * (goal + math.log(steps)) / (n * wanted)), most))[:, None]
        held = self.counts > 0
        counts, low, high = self.counts[held], self.low[held] - mean, self.high[held] - mean
        # The linear part of log(1 + bet) is known exactly, what it falls short by at the worst of both ends.
        short = np.maximum(_short(rates * low), _short(rates * high)) @ counts
        stakes = rates[:, 0] * n * (self.centre - mean) - short
        return float(np.logaddexp.reduce(stakes)) - math.log(len(rates)) >= goal

    def _least(self, error: float) -> float:
        """Return the largest number that the mean weight is above; 0 if there is none."""
        if not self.above(0.0, error):
            return 0.0
        below, above = 0.0, 1.0
        for _ in range(_STEPS):
            middle = (below + above) / 2
            below, above = (middle, above) if self.above(middle, error) else (below, middle)
        return below


def scattered_margin(
    counts: Counts, weights: Floats, variances: tuple[float, float], bias: float
) -> tuple[float, Margin]:
    """Return the standard error of the mean weight of reports, and what knows its interval.

    How much of the scatter of the weights is noise is not known, so the spread of the people is
    in the error.

    Parameters
    ----------
    counts : array of int
        How many reports have each weight.
    weights : array
        The weights.
    variances : pair of float
        The least and the largest variance that the noise gives a weight.
    bias : float
        The most that the mean weight can differ from the truth.
    """
    n, (least, largest) = int(counts.sum()), variances
    seen, width = counts / n, float(np.ptp(weights))
    centre = float(seen @ weights)
    whole = max(float(seen @ weights**2 - centre**2) * n / max(n - 1, 1), least)
    ratio = STUDENT * width / math.sqrt(n * whole)
    error = math.sqrt(whole / n)
    if ratio <= LARGEST_RATIO:
        return error, NormalMargin(centre, error, ratio, bias=bias, n=n)
    most = max(width**2 / 4, largest)
    return error, BettingMargin(counts, weights, weights, centre, (least, most), bias)


def _short(bet: Floats) -> Floats:
    """Return by how much log(1 + bet) falls short of the bet: convex, so greatest at an end."""
    return np.asarray(bet - np.log1p(bet))
