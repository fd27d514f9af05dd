"""Quantiles of numbers, with intervals that include bias and resolution.

The share of people below a threshold is a linear functional of the reports, but for a
sharp edge: no weights of bins have a mean that falls from one to zero at a point. So the
edge is a ramp. The weighted count of a ramp that begins at a threshold is, but for a bias
that is known for every value, at least the share up to it; that of a ramp which ends there
is at most the share below it. Thresholds at which the share is surely too small, or surely
too large, are no quantile; from both ends of the interval they are ruled out in turn until
one is not. Each test may err in half of what the level allows, and only the first true one
counts, so all of them together err no more often.

What is told holds for the people who reported and for a population they were drawn from.
The value itself is that of the smooth density (EMS), which can be far off where people
stand close together; the interval reaches to it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from ldpkit.core.parameters import check_fraction
from ldpkit.core.typing import Floats
from ldpkit.estimation.binned_density import FINE
from ldpkit.estimation.density import Density, Quantile, check_tells_more, density
from ldpkit.estimation.from_reports import reported
from ldpkit.estimation.margins import LARGEST_RATIO, STUDENT, BettingMargin, deviations
from ldpkit.estimation.response import bend, fit, masses, places
from ldpkit.mechanisms.numeric.mechanism import NumericMechanism
from ldpkit.mechanisms.tally import NumericTally, Tally

__all__ = ["quantile_bounds", "quantiles"]

_CUTS = 256  # thresholds, evenly spaced from low to high
_RAMPS = (1, 2, 4, 8, 16, 32, 64)  # how many steps between thresholds a ramp may take


@dataclass(frozen=True)
class _Ramps:
    """Weights for ramps of one width, a column for each: where it begins, in steps between thresholds.

    Parameters
    ----------
    steps : int
        How many steps a ramp takes.
    weights : array
        The weight of each bin and atom.
    short, over : array
        The most that the mean weight can fall short of the share up to where a ramp begins,
        and exceed the share below where it ends.
    least : array
        The least variance of the weight of a report.
    """

    steps: int
    weights: Floats
    short: Floats
    over: Floats
    least: Floats


def quantiles(
    tally: Tally, shares: Sequence[float], level: float = 0.95, *, smooth: Density | None = None
) -> list[Quantile]:
    """Return the values below which some shares of the people lie, with intervals.

    Parameters
    ----------
    tally : Tally
        Reports of a numeric mechanism that tell more than the mean.
    shares : sequence of float
        Which quantiles, strictly between 0 and 1.
    level : float
        The coverage of each interval.
    smooth : Density, optional
        The density of EMS in `FINE` bins, where it is known already.

    Examples
    --------
    >>> import ldpkit
    >>> mechanism = ldpkit.get("sw", (0, 1), epsilon=2)
    >>> tally = mechanism.tally(mechanism.privatize([0.2] * 40_000, rng=ldpkit.random.seeded(1)))
    >>> (median,) = quantiles(tally, [0.5])
    >>> median.low <= 0.2 <= median.high < 0.4
    True
    """
    mechanism = reported(tally, NumericTally).mechanism
    check_fraction(level, "level")
    for share in shares:
        check_fraction(share, "a quantile")
    check_tells_more(mechanism)
    fine: Density = density(tally, bins=FINE) if smooth is None else smooth
    found = []
    for share in shares:
        low, high = quantile_bounds(tally, share, level)
        value = fine.quantile(share)
        ends = min(low, value), max(high, value)
        found.append(Quantile(float(share), value, *ends, level=level, n=tally.n, mechanism=mechanism))
    return found


def quantile_bounds(tally: Tally, share: float, level: float) -> tuple[float, float]:
    """Return between which values a quantile lies, without an estimate of it."""
    mechanism = reported(tally, NumericTally).mechanism
    ramps = _ramps(mechanism, tally.n)
    counts, n = tally.counts[:-1], tally.n
    seen = counts / n
    means = seen @ ramps.weights
    variances = np.maximum((seen @ ramps.weights**2 - means**2) * n / max(n - 1, 1), ramps.least)
    errors, ranges = np.sqrt(variances / n), np.ptp(ramps.weights, axis=0)

    def is_above(column: int, goal: float, sign: int) -> bool:
        """Whether the mean weight is surely above the goal, or below it for sign -1."""
        ratio = STUDENT * ranges[column] / (errors[column] * n)
        if ratio <= LARGEST_RATIO:
            return bool(sign * (means[column] - goal) > deviations(1 - level, ratio, n) * errors[column])
        weights = ramps.weights[:, column]
        spread = (float(ramps.least[column]), max(float(ranges[column]) ** 2 / 4, float(ramps.least[column])))
        margin = BettingMargin(counts, weights, weights, float(means[column]), spread)
        if sign < 0:
            margin, goal = margin.mirrored(), 1 - goal
        return goal < 1 and margin.above(max(goal, 0.0), 1 - level)

    first = 0
    while first < _CUTS and is_above(
        first + ramps.steps, share - float(ramps.short[first + ramps.steps]), -1
    ):
        first += 1
    last = _CUTS
    while last > 0 and is_above(last, share + float(ramps.over[last]), 1):
        last -= 1
    low, high = mechanism.domain.decode([max(first - 1, 0), min(last + 1, _CUTS)], steps=_CUTS).tolist()
    return low, high


@lru_cache(maxsize=4)
def _ramps(mechanism: NumericMechanism, n: int) -> _Ramps:
    """Return ramps of the width that is best for n reports of people who stand everywhere.

    Column j begins at threshold j - steps and ends at threshold j.
    """
    matrix, values = masses(mechanism), _CUTS * places(mechanism) / mechanism.grid
    tried = np.concatenate(
        [_targets(values, np.array([64, 128, 192]) - steps / 2, steps) for steps in _RAMPS], 1
    )
    weights = fit(mechanism, tried, n)
    curves = matrix @ weights
    spread = np.sqrt(np.mean(matrix @ weights**2 - curves**2, axis=0) + 0.25)
    wide = np.abs(curves - tried).max(axis=0) + 4 * spread / math.sqrt(n)
    costs = wide.reshape(len(_RAMPS), -1).mean(axis=1) + np.array(_RAMPS) / _CUTS
    steps = _RAMPS[int(np.argmin(costs))]
    starts = np.arange(-steps, _CUTS + 1, dtype=float)
    weights = fit(mechanism, _targets(values, starts, steps), n)
    curves = matrix @ weights
    up_to = values[:, None] <= starts
    short = np.maximum(
        np.where(up_to, 1 - curves, -np.inf).max(axis=0),
        np.where(values[:, None] >= starts, -curves, -np.inf).max(axis=0),
    )
    ends = starts + steps
    over = np.maximum(
        np.where(values[:, None] <= ends, curves - 1, -np.inf).max(axis=0),
        np.where(values[:, None] >= ends, curves, -np.inf).max(axis=0),
    )
    bent = bend(mechanism) * np.ptp(weights, axis=0)
    least = np.maximum((matrix @ weights**2 - curves**2).min(axis=0), 1e-12)
    return _Ramps(steps, weights, short + bent, over + bent, least)


def _targets(values: Floats, starts: Floats, steps: int) -> Floats:
    """Return ramps that fall from one to zero within some steps, a column for each start."""
    return np.asarray(np.clip((starts + steps - values[:, None]) / steps, 0, 1))
