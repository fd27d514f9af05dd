"""The mean of numbers, with an interval that covers.

Where the mean of a report is a linear function of the value, the mean of the reports is
put back on the line, in exact arithmetic. Where it is not (truncated and bounded
mechanisms), every bin of the tally gets a weight such that the weighted count estimates
the mean. Its bias is known for every value, and the largest is part of the interval.

The standard error comes from the known variance of a report, averaged over the people:
where it is a quadratic of the value, the mean and the mean square of the values are
enough. Otherwise it comes from the variance seen among the reports, which is larger: it
holds the spread of the people too.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from ldpkit.core.errors import InvalidParameterError
from ldpkit.core.typing import Floats
from ldpkit.estimation.from_reports import estimator
from ldpkit.estimation.identified import warn_unidentified
from ldpkit.estimation.margins import (
    LARGEST_RATIO,
    STUDENT,
    BettingMargin,
    ChernoffMargin,
    CoinMargin,
    Margin,
    NormalMargin,
    lyapunov_range,
    scattered_margin,
    variance_range,
)
from ldpkit.estimation.numeric import NumericEstimate
from ldpkit.estimation.quadratic import variance_parabola
from ldpkit.estimation.response import bend, fit, masses, places
from ldpkit.mechanisms.numeric.mechanism import NumericMechanism
from ldpkit.mechanisms.tally import NumericTally, Tally

__all__ = ["MeanAsked", "ReportNoise", "mean", "on_line"]

_WIDEST = 3.0  # reports that lie farther apart, in units of the domain, leave little to bet
_SURE = 2.0  # standard errors by which an estimated variance is raised


@dataclass(frozen=True)
class MeanAsked:
    """Whose mean is asked for.

    Parameters
    ----------
    reported : int
        How many people reported.
    people : int or None
        How many there were, of whom those who reported are a random sample.
    population : bool
        True asks for the population from which all of them were drawn.
    """

    reported: int
    people: int | None = None
    population: bool = False

    def __post_init__(self) -> None:
        if self.people is not None and self.people < self.reported:
            raise InvalidParameterError(
                f"people={self.people} is fewer than the {self.reported} reports: give the number of all "
                "people"
            )

    @property
    def drawn(self) -> bool:
        """Whether chance decided who reported."""
        return self.population or (self.people is not None and self.people > self.reported)

    def error(self, whole: float, noise: float) -> float:
        """Return the standard error from the variance of a report as a whole and that of its noise."""
        if not self.drawn:
            return math.sqrt(noise / self.reported)
        all_people = math.inf if self.population or self.people is None else self.people
        spread = max(whole - noise, 0.0)
        return math.sqrt(max(whole, noise) / self.reported - spread / all_people)

    def __str__(self) -> str:
        if self.population:
            return "the population that the people were drawn from"
        return f"all {self.people} people" if self.drawn else f"the {self.reported} people who reported"


@estimator("mean", NumericTally)
def mean(tally: NumericTally, *, population: bool = False, people: int | None = None) -> NumericEstimate:
    """Return the mean with its standard error and an interval.

    Parameters
    ----------
    tally : NumericTally
        Reports of a numeric mechanism.
    population : bool
        False: the error is about the people who reported. True: about the population
        they were drawn from, with the variance seen among the reports.
    people : int, optional
        Of how many people those who reported are a random sample: the error is then about all of them.
    """
    mechanism = tally.mechanism
    asked = MeanAsked(tally.n, people, population)
    if mechanism.line is not None:
        return on_line(mechanism, tally, asked, _quadratic_noise(mechanism, tally), "mean")
    warn_unidentified(mechanism, "pm")
    return _weighted(mechanism, tally, asked)


@dataclass(frozen=True)
class ReportNoise:
    """What reports tell of the noise in them, low at 0 and high at 1.

    Parameters
    ----------
    variance : float
        The variance of a report's noise, averaged over the people.
    most : float
        What it is at most, almost surely.
    spread : float
        The variance of the values; nan where reports do not tell.
    """

    variance: float
    most: float
    spread: float


def on_line(
    mechanism: NumericMechanism, tally: Tally, asked: MeanAsked, noise: ReportNoise, method: str
) -> NumericEstimate:
    """Return the estimate of a mechanism whose mean report is a linear function of the value."""
    intercept, slope = mechanism.line or (0, 1)
    exact = mechanism.total(tally.counts) / tally.n
    share, gain = float((exact - intercept) / slope), float(slope)
    seen = (_mean_square(mechanism, tally) - float(exact) ** 2) / gain**2 * tally.n / max(tally.n - 1, 1)
    least, largest = variance_range(mechanism)
    whole = max(seen, least)
    error = asked.error(whole, noise.variance)
    margin: Margin
    if mechanism.cells == 0 and len(mechanism.atom_points) == 2:
        low, high = (float((point - intercept) / slope) for point in mechanism.atom_points)
        margin = CoinMargin(int(tally.counts[1]), tally.n, (low, high))
    elif not asked.drawn:
        ratio = lyapunov_range(mechanism) / math.sqrt(tally.n * noise.variance)
        if ratio <= LARGEST_RATIO:
            margin = NormalMargin(share, math.sqrt(noise.most / tally.n), ratio)
        else:
            margin = ChernoffMargin(mechanism, share, tally.n)
    else:
        ratio = max(lyapunov_range(mechanism) + 1, STUDENT) / math.sqrt(tally.n * whole)
        edges = _places(mechanism)
        if ratio <= LARGEST_RATIO:
            margin = NormalMargin(share, asked.error(whole, noise.most), ratio, n=tally.n)
        elif edges[1].max() - edges[0].min() <= _WIDEST:
            margin = BettingMargin(tally.counts[:-1], *edges, share, (least, largest + 0.25))
        else:
            margin = ChernoffMargin(mechanism, share, tally.n, drawn=True)
    return _made(mechanism, tally, asked, share, error, noise.spread, margin, method)


def _made(
    mechanism: NumericMechanism,
    tally: Tally,
    asked: MeanAsked,
    share: float,
    error: float,
    spread: float,
    margin: Margin,
    method: str,
    bias: float = 0.0,
) -> NumericEstimate:
    width = mechanism.domain.width
    return NumericEstimate(
        mean=mechanism.domain.low + width * share,
        stderr=width * error,
        variance=width**2 * spread,
        n=tally.n,
        domain=mechanism.domain,
        made_by=mechanism.read_by(method),
        tally=tally,
        whose=str(asked),
        bias=width * bias,
        margin=margin,
    )


def _places(mechanism: NumericMechanism) -> tuple[Floats, Floats]:
    """Return between which values each bin of a tally and each atom lies, put back on the line."""
    intercept, slope = (float(part) for part in mechanism.line or (0, 1))
    low, high = ((ends - intercept) / slope for ends in mechanism.bin_ends)
    return low, high


def _squares(mechanism: NumericMechanism) -> Floats:
    """Return the mean square of the reports of each bin, which are even within it, as they come."""
    low, high = mechanism.bin_ends
    return np.asarray((low * low + low * high + high * high) / 3)


def _mean_square(mechanism: NumericMechanism, tally: Tally) -> float:
    return float(tally.counts[:-1] @ _squares(mechanism) / tally.n)


def _quadratic_noise(mechanism: NumericMechanism, tally: Tally) -> ReportNoise:
    """Return the noise where its variance is a quadratic of the value, else the worst there is."""
    least, largest = variance_range(mechanism)
    noise = variance_parabola(mechanism)
    if noise is None:
        return ReportNoise(largest, largest, math.nan)
    intercept, gain = (float(part) for part in mechanism.line or (0, 1))
    share = (float(mechanism.total(tally.counts) / tally.n) - intercept) / gain
    squares = np.polyadd(noise, np.polymul([gain, intercept], [gain, intercept]))
    if abs(squares[0]) <= 1e-9 * abs(squares).max():  # Duchi's reports do not tell the mean square
        near = min(max(share, 0.0), 1.0)
        worst = float(noise @ [near**2 if noise[0] < 0 else near, near, 1.0]) / gain**2
        return ReportNoise(worst, largest, math.nan)
    low, high = _places(mechanism)
    places = (low + high) / 2
    each = (_squares(mechanism) - squares[1] * places - squares[2]) / squares[0]
    seen = tally.counts[:-1] / tally.n
    value_square = (_mean_square(mechanism, tally) - squares[1] * share - squares[2]) / squares[0]
    variance = float(noise @ [value_square, share, 1.0]) / gain**2
    parts = (noise[0] * each + noise[1] * places) / gain**2
    doubt = math.sqrt(max(float(seen @ parts**2 - (seen @ parts) ** 2), 0.0) / tally.n)
    likely, most = (min(max(value, least), largest) for value in (variance, variance + _SURE * doubt))
    return ReportNoise(likely, most, max(value_square - share**2 + likely / tally.n, 0.0))


@dataclass(frozen=True)
class _Weights:
    """Weights of bins for the mean and the mean square, and what is known of the first."""

    first: Floats
    second: Floats
    bias: float
    variances: tuple[float, float]


@lru_cache(maxsize=16)
def _weights(mechanism: NumericMechanism, n: int) -> _Weights:
    """Return the weights for n reports, with the largest bias over all values."""
    matrix, values = masses(mechanism), places(mechanism) / mechanism.grid
    first, second = fit(mechanism, np.stack([values, values**2], axis=1), n).T
    curve = matrix @ first
    bias = float(np.abs(curve - values).max() + bend(mechanism) * np.ptp(first))
    variances = matrix @ first**2 - curve**2
    return _Weights(first, second, bias, (max(float(variances.min()), 1e-12), float(variances.max())))


def _weighted(mechanism: NumericMechanism, tally: Tally, asked: MeanAsked) -> NumericEstimate:
    """Return the estimate from weights of bins."""
    n, weights = tally.n, _weights(mechanism, tally.n)
    error, margin = scattered_margin(tally.counts[:-1], weights.first, weights.variances, weights.bias)
    seen = tally.counts[:-1] / n
    share, square = float(seen @ weights.first), float(seen @ weights.second)
    spread = max(square - share**2 + error**2, 0.0)
    stderr = math.hypot(error, weights.bias)
    return _made(mechanism, tally, asked, share, stderr, spread, margin, "mean", weights.bias)
