"""How exact a mean of reports is: in the worst case for any values, or for values like these."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from ldpkit.core.domains.interval import IntervalDomain
from ldpkit.core.errors import InvalidParameterError
from ldpkit.core.typing import Counts, Floats
from ldpkit.estimation.margins import normal_deviations
from ldpkit.estimation.quadratic import variance_parabola
from ldpkit.mechanisms.kinds import NUMERIC, numeric_class, select
from ldpkit.mechanisms.numeric.mechanism import NumericMechanism

__all__ = ["Spread", "mean_error", "report_variance", "surpassed", "unbiased_mechanisms", "worst_value"]

_CELLS = 128


class Spread:
    """How the values of a stand-in for the people are spread over the interval.

    Parameters
    ----------
    domain : IntervalDomain
        The interval.
    values : array
        The values.

    Examples
    --------
    >>> spread = Spread(IntervalDomain(0, 10), np.array([0.0, 5.0, 5.0, 10.0]))
    >>> spread.moments
    (0.5, 0.375)
    >>> spread.groups(16)[0].tolist(), spread.groups(16)[1].tolist()
    ([0, 8, 16], [1, 2, 1])
    """

    def __init__(self, domain: IntervalDomain, values: Floats) -> None:
        self.domain = domain
        self.values = domain.check(values)
        shares = (self.values - domain.low) / domain.width
        self.moments = float(shares.mean()), float((shares**2).mean())

    def groups(self, grid: int) -> tuple[Counts, Counts]:
        """Return places on a grid, and how many values stand there, in at most 129 groups.

        Where there are more places, values in each of 128 cells stand together at their mean.
        """
        places = self.domain.encode(self.values, steps=grid).astype(np.int64)
        found, counts = np.unique(places, return_counts=True)
        if len(found) <= _CELLS:
            return found, counts.astype(np.int64)
        cells = found // max(1, grid // _CELLS)
        people = np.bincount(cells, weights=counts)
        sums = np.bincount(cells, weights=found.astype(np.float64) * counts)
        kept = people > 0
        return np.rint(sums[kept] / people[kept]).astype(np.int64), people[kept].astype(np.int64)


def unbiased_mechanisms() -> list[str]:
    """Return the numeric mechanisms whose reports are unbiased and that need only an epsilon.

    Examples
    --------
    >>> {"duchi", "hm", "laplace", "pm"} <= set(unbiased_mechanisms())
    True
    """
    return select(NUMERIC, "unbiased", single_epsilon=True, without=("fitted",)).names


@lru_cache(maxsize=64)
def surpassed(name: str, epsilon: float) -> str | None:
    """Return by how much another mechanism is better for every value, if the mechanism declares one.

    Examples
    --------
    >>> print(surpassed("ogpm_unbiased", 1.0))
    ogpm_unbiased has 3.8 times the variance of pm in the worst case and 4.5 times on average: use pm
    >>> surpassed("pm", 1.0)
    """
    kind, unit = numeric_class(name), IntervalDomain(0, 1)
    if kind.surpassed_by is None:
        return None
    values = (np.arange(64) + 0.5) / 64
    worse, better = (each.make(unit, epsilon=epsilon) for each in (kind, numeric_class(kind.surpassed_by)))
    worst = worse.worst_variance() / better.worst_variance()
    mean = worse.variance(values).mean() / better.variance(values).mean()
    return (
        f"{name} has {worst:.1f} times the variance of {better.name} in the worst case and {mean:.1f} times "
        f"on average: use {better.name}"
    )


def mean_error(
    mechanism: NumericMechanism, n: int, probability: float, spread: Spread | None = None
) -> float:
    """Return how far off a mean of n reports is at most, with a probability.

    The mean of many reports is normal. Where a report is one of two numbers, means lie as
    far apart as one changed report moves them; half of that is added to be on the safe side.

    Examples
    --------
    >>> import ldpkit
    >>> round(mean_error(ldpkit.get("laplace", (0, 1), epsilon=1), 20_000, 0.95), 4)
    0.0196
    """
    reach = normal_deviations(probability)
    grain = 0.0
    if mechanism.cells == 0:
        least, greatest = mechanism.output_range
        grain = (greatest - least) / n
    return reach * math.sqrt(report_variance(mechanism, spread) / n) + grain / 2


def report_variance(mechanism: NumericMechanism, spread: Spread | None = None) -> float:
    """Return n times the variance of a mean of n reports, for any values or for some.

    For every mechanism of the package the variance is a parabola over the values, so the
    worst is at an end or the middle, and the mean over values follows from their moments.
    That is checked; other mechanisms are computed value by value, in at most 129 groups.

    Examples
    --------
    >>> import ldpkit
    >>> pm = ldpkit.get("pm", (0, 1), epsilon=1)
    >>> values = np.array([0.1, 0.4, 0.5])
    >>> average = report_variance(pm, Spread(pm.domain, values))
    >>> bool(np.isclose(average, pm.variance(values).mean())), average < report_variance(pm)
    (True, True)
    """
    if mechanism.line is None:
        raise InvalidParameterError(
            f"{mechanism.name} gives no simple mean, because its reports are biased and not linear in the "
            f"value: use one of {', '.join(unbiased_mechanisms())}"
        )
    scale = float(mechanism.line[1]) ** 2
    if mechanism.can("additive"):  # the same for every value
        return float(mechanism.variance(mechanism.domain.low)) / scale
    if spread is None:
        return float(mechanism.variance(worst_value(mechanism))) / scale
    parabola = variance_parabola(mechanism)
    if parabola is not None:
        first, second = spread.moments
        return float(parabola @ [second, first, 1.0]) * mechanism.domain.width**2 / scale
    places, counts = spread.groups(mechanism.grid)
    variances = mechanism.variance(mechanism.domain.decode(places, steps=mechanism.grid))
    return float(np.average(variances, weights=counts)) / scale


def worst_value(mechanism: NumericMechanism) -> float:
    """Return a value for which the variance of a report is largest.

    Examples
    --------
    >>> import ldpkit
    >>> [worst_value(ldpkit.get(name, (0, 10), epsilon=1)) for name in ("duchi", "pm")]
    [5.0, 0.0]
    """
    points = _CELLS + 1 if variance_parabola(mechanism) is None else 3
    values = np.linspace(mechanism.domain.low, mechanism.domain.high, points)
    return float(values[np.argmax(mechanism.variance(values))])
