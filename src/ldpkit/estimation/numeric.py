"""Estimates about numbers: the mean with its error, and what else their reports tell."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from ldpkit.core.cached import cached_property
from ldpkit.core.domains.interval import IntervalDomain
from ldpkit.core.numbertext import interval_text, number_text, rounded
from ldpkit.core.parameters import check_fraction
from ldpkit.core.provenance import UNKNOWN, Provenance
from ldpkit.core.typing import Floats
from ldpkit.estimation.density import Density, Quantile, density
from ldpkit.estimation.from_reports import FromReports
from ldpkit.estimation.margins import Margin
from ldpkit.estimation.spread import SpreadMargin
from ldpkit.mechanisms.base import Mechanism
from ldpkit.mechanisms.tally import Tally

__all__ = ["NumericEstimate", "bias_notes", "interval_caption", "noise_notes"]


@dataclass(frozen=True, eq=False, repr=False)
class NumericEstimate(FromReports):
    """What reports tell about numbers.

    Parameters
    ----------
    mean : float
        The estimated mean.
    stderr : float
        Its standard error.
    variance : float
        The estimated variance of the values among people; 0 where the noise hides it, and nan where
        reports tell nothing of it, as with Duchi's mechanism. `variance_interval` says what is known.
    n : int
        The number of reports.
    domain : IntervalDomain
        The interval of values.
    made_by : mapping
        Mechanism, parameters and method.
    tally : Tally
        What it was made from; densities and quantiles are computed from it on demand.
    whose : str
        Whose mean the error and the interval are about.
    bias : float
        The most that the mean estimate can differ from the truth; 0 for mechanisms whose
        mean report is a linear function of the value. It is part of the error and the interval.
    margin : Margin
        What knows the interval.
    provenance : Provenance
        What is recorded of how the reports were made.
    level : float
        The coverage of the interval in the rows; `with_level` changes it.

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
    whose: str
    bias: float
    margin: Margin = field(repr=False)
    provenance: Provenance = UNKNOWN
    level: float = 0.95

    kind: ClassVar[str] = "mean"

    @property
    def mechanisms(self) -> tuple[Mechanism, ...]:
        """What made the reports."""
        return (self.tally.mechanism,)

    def interval(self, level: float | None = None) -> tuple[float, float]:
        """Return the ends of a confidence interval for the mean.

        It is cut to the domain, where the mean is known to be, and reaches to the estimate
        if that lies outside. It holds for few people and at a large epsilon, where it is
        wider than the standard error says.
        """
        ends = self.margin.ends(check_fraction(self.level if level is None else level, "level"))
        cut = np.clip(self.domain.low + self.domain.width * np.array(ends), self.domain.low, self.domain.high)
        return min(float(cut[0]), self.mean), max(float(cut[1]), self.mean)

    def variance_interval(self, level: float | None = None) -> tuple[float, float]:
        """Return the ends of a confidence interval for the variance of the values.

        It is about the same people as the mean's, and cautious: see `ldpkit.estimation.spread`. Where the
        noise hides the variance it starts at 0.

        Examples
        --------
        >>> import ldpkit
        >>> mechanism = ldpkit.get("pm", (0, 10), epsilon=2)
        >>> reports = mechanism.privatize([2.0, 4.0] * 5000, rng=ldpkit.random.seeded(1))
        >>> [round(end, 1) for end in mechanism.tally(reports).estimate().variance_interval()]
        [0.2, 1.8]
        """
        chosen = check_fraction(self.level if level is None else level, "level")
        if chosen not in self._known_spreads:
            self._known_spreads[chosen] = SpreadMargin(self.tally, self.margin).ends(chosen)
        low, high = self._known_spreads[chosen]
        return self.domain.width**2 * low, self.domain.width**2 * high

    @cached_property
    def _known_spreads(self) -> dict[float, tuple[float, float]]:
        """The ends that were asked for: table, page and JSON of an estimate ask for the same ones."""
        return {}

    def density(self, bins: int = 128, method: str = "ems") -> Density:
        """Return the distribution of the values, by "ems", "em" or "inversion"."""
        return density(self.tally, bins=bins, algorithm=method)

    def histogram(self, bins: int = 10, method: str = "ems") -> tuple[Floats, Floats]:
        """Return the share of people in each bin, and the edges of the bins."""
        found = self.density(bins, method)
        return found.masses, found.edges

    def quantile(self, q: float, level: float = 0.95) -> Quantile:
        """Return the value below which a share q of the people lie, with an interval; see `quantiles`."""
        from ldpkit.estimation.quantile import quantiles

        return quantiles(self.tally, [q], level)[0]

    def answer(self, unit: str = "") -> str:
        """Return the mean with its interval, as a sentence."""
        found = interval_text(self.mean, *self.interval(), level=self.level, unit=unit)
        whose = self.whose.replace(str(self.n), f"{self.n:,}")
        return f"The mean of {whose} is {found}."

    @property
    def title(self) -> str:
        """The title above the table."""
        return f"Mean of numbers in {self.domain} from n={self.n} reports"

    @property
    def caption(self) -> str:
        """What made the reports, and what the interval covers."""
        return self.captioned(lines=[interval_caption(self.whose, self.bias, self.level)])

    def notes(self) -> list[str]:
        """Return what a reader should know: of the bias, where it matters, and of what is only noise."""
        return [
            *bias_notes(self.bias, self.stderr),
            *noise_notes(self.mean, self.domain),
            *self._variance_notes(),
        ]

    def _seen_variance(self) -> float | None:
        """Return the variance where the reports show one; 0, or more than can be, is noise and no result."""
        low, high = self.variance_interval()
        return self.variance if self.variance > 0 and low <= self.variance <= high else None

    def _variance_notes(self) -> list[str]:
        """Return what is known of a variance for which there is no estimate."""
        if self._seen_variance() is not None:
            return []
        high = self.variance_interval()[1]
        bound, root = (number_text(rounded(each, 3, up=True), 3) for each in (high, high**0.5))
        most = f"at most {bound} (standard deviation {root})"
        if np.isnan(self.variance):
            return [f"these reports reveal the variance only through the mean: it is {most}"]
        return [f"the noise hides the variance: with {100 * self.level:g}% confidence it is {most}"]

    def rows(self, top: int | None = None) -> list[dict[str, Any]]:
        """Return one record for each statistic: statistic, value, stderr, low, high."""
        low, high = self.interval()
        least, most = self.variance_interval()
        variance = self._seen_variance()
        rows: list[dict[str, Any]] = [
            {"statistic": "mean", "value": self.mean, "stderr": self.stderr, "low": low, "high": high},
            {"statistic": "variance", "value": variance, "stderr": None, "low": least, "high": most},
        ]
        return rows[:top]

    def about(self) -> dict[str, Any]:
        """Return what made the reports, how they were read, and what the interval covers."""
        return self.about_reports(
            interval=self.domain.to_json(),
            method=self.made_by["method"],
            level=self.level,
            whose=self.whose,
            bias=self.bias,
        )

    def __float__(self) -> float:
        return self.mean

    def __repr__(self) -> str:
        found = f"Mean {self.mean:.6g} +- {self.stderr:.3g} on {self.domain}"
        return f"{found} from n={self.n} reports ({self.how})"


def interval_caption(whose: str, bias: float, level: float) -> str:
    """Return what the interval of a mean is about.

    Examples
    --------
    >>> interval_caption("the 4000 people who reported", 0.0, 0.95)
    '95% intervals for the mean and the variance of the 4000 people who reported'
    """
    included = f"; up to {bias:.3g} of bias included in that of the mean" if bias else ""
    return f"{100 * level:g}% intervals for the mean and the variance of {whose}{included}"


def bias_notes(bias: float, stderr: float) -> list[str]:
    """Return a note where bias, which more people do not help against, is a good part of the error.

    Examples
    --------
    >>> bias_notes(0.0, 0.1), len(bias_notes(0.2, 0.1))
    ([], 1)
    """
    if bias < stderr / 2:
        return []
    return [
        (
            "no weights of these reports estimate the mean without bias; it is in the interval and "
            "does not vanish with more people: pm and hm have none"
        )
    ]


def noise_notes(mean: float, interval: IntervalDomain) -> list[str]:
    """Return what to say of an estimate that lies where no mean can be."""
    if interval.low <= mean <= interval.high:
        return []
    told = f"the estimate lies outside the interval {interval}, where no mean can be: this is noise, "
    return [told + "so ask more people, use a larger epsilon, or report the nearest end"]
