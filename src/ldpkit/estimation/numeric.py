"""Estimates about numbers: the mean with its error, and what else their reports tell."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ldpkit.core.checks import check_fraction
from ldpkit.core.domains.interval import IntervalDomain
from ldpkit.core.typing import Floats
from ldpkit.estimation.density import Density, Quantile, density
from ldpkit.estimation.margins import Margin
from ldpkit.mechanisms.tally import Tally

__all__ = ["NumericEstimate"]


@dataclass(frozen=True, eq=False)
class NumericEstimate:
    """What reports tell about numbers.

    Parameters
    ----------
    mean : float
        The estimated mean.
    stderr : float
        Its standard error.
    variance : float
        The estimated variance of the values among people; nan where reports tell
        nothing of it, as with Duchi's mechanism.
    n : int
        The number of reports.
    domain : IntervalDomain
        The interval of values.
    made_by : mapping
        Mechanism, parameters and method.
    tally : Tally
        What it was made from; densities and quantiles are computed from it on demand.
    about : str
        Whose mean the error and the interval are about.
    bias : float
        The most that the mean estimate can differ from the truth; 0 for mechanisms whose
        mean report is a linear function of the value. It is part of the error and the interval.
    margin : Margin
        What knows the interval.

    Examples
    --------
    >>> import ldpkit
    >>> mechanism = ldpkit.get("pm", (0, 10), epsilon=2)
    >>> estimate = mechanism.tally(mechanism.privatize([2.0, 4.0] * 50_000)).estimate()
    >>> abs(estimate.mean - 3) < 6 * estimate.stderr < 0.2
    True
    """

    mean: float
    stderr: float
    variance: float
    n: int
    domain: IntervalDomain
    made_by: Mapping[str, Any]
    tally: Tally = field(repr=False)
    about: str
    bias: float
    margin: Margin = field(repr=False)

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """Return the ends of a confidence interval for the mean.

        It is cut to the domain, where the mean is known to be, and reaches to the estimate
        if that lies outside. It holds for few people and at a large epsilon, where it is
        wider than the standard error says.
        """
        ends = self.margin.ends(check_fraction(level, "level"))
        cut = np.clip(self.domain.low + self.domain.width * np.array(ends), self.domain.low, self.domain.high)
        return min(float(cut[0]), self.mean), max(float(cut[1]), self.mean)

    def density(self, bins: int = 128, method: str = "ems") -> Density:
        """Return the distribution of the values, by "ems", "em" or "inversion"."""
        found: Density = density(self.tally, bins=bins, algorithm=method)
        return found

    def histogram(self, bins: int = 10, method: str = "ems") -> tuple[Floats, Floats]:
        """Return the share of people in each bin, and the edges of the bins."""
        found = self.density(bins, method)
        return found.masses, found.edges

    def quantile(self, q: float, level: float = 0.95) -> Quantile:
        """Return the value below which a share q of the people lie, with an interval; see `quantiles`."""
        from ldpkit.estimation.quantile import quantiles

        return quantiles(self.tally, [q], level)[0]

    def rows(self, level: float = 0.95) -> Iterator[dict[str, Any]]:
        """Yield one record for each statistic: statistic, value, stderr, low, high."""
        low, high = self.interval(level)
        yield {"statistic": "mean", "value": self.mean, "stderr": self.stderr, "low": low, "high": high}
        yield {"statistic": "variance", "value": self.variance, "stderr": None, "low": None, "high": None}

    def __float__(self) -> float:
        return self.mean

    def __repr__(self) -> str:
        how = ", ".join(f"{key}={value}" for key, value in self.made_by.items())
        return f"Mean {self.mean:.6g} +- {self.stderr:.3g} on {self.domain} from n={self.n} reports ({how})"
