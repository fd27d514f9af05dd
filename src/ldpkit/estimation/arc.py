"""Arcs: which mean directions the reports of a circle allow.

People's values, as points of the unit circle, have a mean vector. The mean vector of the
reports is that of the values, shortened by the known resultant length of a report.

Which directions are possible is asked of each by itself. If phi is the direction of the
mean vector, the reports' components across phi have mean zero, and those along phi are not
negative on average. Both are tested, with nine tenths of the error for the first; what
passes lies in the arc. Where the opposite of the estimate passes too, the arc is the whole
circle: the reports then show no direction.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np

from ldpkit.core.cached import cached_property
from ldpkit.core.domains.circle import CircleDomain
from ldpkit.core.numbertext import ends_text
from ldpkit.core.typing import Floats
from ldpkit.estimation.from_reports import reported
from ldpkit.estimation.margins import LARGEST_RATIO, STUDENT, BettingMargin, deviations
from ldpkit.mechanisms.circular.mechanism import CircularMechanism
from ldpkit.mechanisms.tally import CircularTally, Tally

__all__ = ["Arc", "DirectionMargin"]

_ACROSS = 0.9  # of the error probability, for the test across a direction; the rest along it
_LOOKS = 64  # directions to each side that are asked, before the end of the arc is bisected
_HALVINGS = 30
_PROBES = 33  # places within a bin of the tally at which the law of binned reports is taken
_SURE = 2.0  # standard errors by which an estimated moment is stretched


@dataclass(frozen=True)
class Arc:
    """A stretch of a circle.

    Parameters
    ----------
    start : float
        Where it begins.
    length : float
        How far it goes on from there; the period if it is the whole circle.
    domain : CircleDomain
        The circle.

    Examples
    --------
    >>> north = Arc(350.0, 20.0, CircleDomain(360))
    >>> north.end, 5 in north, 20 in north, north.is_whole
    (10.0, True, False, False)
    >>> low, high = north
    >>> low, high
    (350.0, 370.0)
    """

    start: float
    length: float
    domain: CircleDomain = field(repr=False)

    @property
    def end(self) -> float:
        """Where it ends, within the turn; before the start if it passes the end of the turn."""
        return self.domain.low + (self.start - self.domain.low + self.length) % self.domain.period

    @property
    def is_whole(self) -> bool:
        """Whether it is the whole circle."""
        return self.length >= self.domain.period

    def __iter__(self) -> Iterator[float]:
        """Yield both ends, the second not taken back into the turn: it is never below the first."""
        yield self.start
        yield self.start + self.length

    def __contains__(self, value: float) -> bool:
        return self.is_whole or (value - self.start) % self.domain.period <= self.length

    def __str__(self) -> str:
        if self.is_whole:
            return "the whole circle"
        return ends_text(self.start, self.end, 6)


@dataclass(frozen=True)
class _Response:
    """The mean of e^(i k angle) between a binned report and its value, for k = 1 and 2; how far it varies."""

    first: float
    second: float
    wobble: float

    def variances(self, second: complex) -> tuple[float, float]:
        """Return the variance of a report's component across and along a direction.

        Parameters
        ----------
        second : complex
            The mean of e^(2i angle) between the people's values and the direction.
        """
        even, bent = (1 - self.first**2) / 2, (self.second - self.first**2) / 2
        tilt = bent * second.real
        return max(even - tilt, 1e-12), max(even + tilt, 1e-12)


@lru_cache(maxsize=16)
def _response(mechanism: CircularMechanism) -> _Response:
    """Return what is left of a direction in the bins of a tally.

    Turned by a bin of the tally, everything is the same, so the places of one bin tell all.
    """
    places = max(1, (1 << mechanism.bin_shift) >> 1)
    at = np.unique(np.linspace(0, places, min(places, _PROBES), endpoint=False).astype(np.int64))
    masses = mechanism.bin_masses(mechanism.domain.decode(at, steps=mechanism.grid))
    turns = np.exp(1j * np.subtract.outer(_angles(mechanism), 2 * math.pi * at / mechanism.grid))
    first, second = (np.einsum("pb,bp->p", masses, turns**order) for order in (1, 2))
    centre = float(first.mean().real)
    return _Response(centre, float(second.mean().real), 1.5 * float(np.abs(first - centre).max()))


def _angles(mechanism: CircularMechanism) -> Floats:
    """Return the angle of the middle of each bin of a tally, in radians."""
    return 2 * math.pi * (np.arange(mechanism.bins) + 0.5) / mechanism.bins


@dataclass(frozen=True, eq=False)
class DirectionMargin:
    """What knows which directions the reports of a tally allow.

    Parameters
    ----------
    tally : Tally
        Reports of a circular mechanism.
    population : bool
        False: the mean direction of the people who reported. True: that of the population
        they were drawn from.
    """

    tally: Tally
    population: bool = False

    @cached_property
    def mechanism(self) -> CircularMechanism:
        """What made the reports."""
        return reported(self.tally, CircularTally).mechanism

    @cached_property
    def response(self) -> _Response:
        """What is left of a direction in the reports."""
        return _response(self.mechanism)

    @cached_property
    def vectors(self) -> tuple[complex, complex]:
        """The mean of e^(i angle) and of e^(2i angle) of the binned reports."""
        turns, seen = np.exp(1j * _angles(self.mechanism)), self.tally.counts[:-1] / self.tally.n
        return complex(seen @ turns), complex(seen @ turns**2)

    def variances(self, phi: float, *, sure: bool) -> tuple[float, float]:
        """Return the variance of a report across and along a direction; if `sure`, almost surely no less.

        About the people who reported it is that of the noise, of which reports of people
        who agree have less or more than those of people who do not; about a population it
        is what is seen.
        """
        (first, second), response, n = self.vectors, self.response, self.tally.n
        turned = second * np.exp(-2j * phi)
        doubt = _SURE / math.sqrt(2 * n) if sure else 0.0
        if self.population:
            ahead = first * np.exp(-1j * phi)
            across = (1 - turned.real) / 2 - ahead.imag**2
            along = (1 + turned.real) / 2 - ahead.real**2
            least = min(response.variances(1.0) + response.variances(-1.0))
            whole = n / max(n - 1, 1)
            return max(across * whole, least), max(along * whole, least)
        shares = turned / response.second if response.second else 0.0
        reach = doubt / abs(response.second) if response.second else 1.0
        found = [
            response.variances(complex(np.clip(np.real(shares) + move, -1, 1))) for move in (-reach, reach)
        ]
        return max(pair[0] for pair in found), max(pair[1] for pair in found)

    def admits(self, phi: float, level: float) -> bool:
        """Whether a direction in radians is possible: of the true one, false with a chance of 1 - level."""
        error, n = 1 - level, self.tally.n
        ahead, wobble = self.vectors[0] * np.exp(-1j * phi), self.response.wobble
        across, along = self.variances(phi, sure=True)
        farthest = (STUDENT if self.population else 1.0) * (1 + self.response.first)
        ratio = farthest / math.sqrt(n * min(across, along))
        if ratio > LARGEST_RATIO:
            return self._bets(phi, error)
        freedom = n if self.population else None
        reach = deviations(_ACROSS * error, ratio, freedom) * math.sqrt(across / n) + wobble
        back = deviations(2 * (1 - _ACROSS) * error, ratio, freedom) * math.sqrt(along / n) + wobble
        return bool(abs(ahead.imag) <= reach and ahead.real >= -back)

    def _bets(self, phi: float, error: float) -> bool:
        """Ask the same of few reports, or of a few that decide: nobody who bets against it may have won."""
        angles, wobble = _angles(self.mechanism) - phi, self.response.wobble
        counts, least = self.tally.counts[:-1], min(self.response.variances(1.0)) / 4

        def above(weights: Floats, alpha: float) -> bool:
            centre = float(weights @ counts) / self.tally.n
            margin = BettingMargin(counts, weights, weights, centre, (min(least, 0.2), 0.25))
            return margin.above(0.5 + wobble / 2, alpha)

        sine, cosine = (1 + np.sin(angles)) / 2, (1 - np.cos(angles)) / 2
        across = _ACROSS * error
        return not (
            above(sine, across) or above(1 - sine, across) or above(cosine, 2 * (1 - _ACROSS) * error)
        )

    def arc(self, level: float) -> Arc:
        """Return the arc that holds all possible directions."""
        domain = self.mechanism.domain
        centre = float(np.angle(self.vectors[0]))
        reaches = []
        for side in (-1, 1):
            looks = [
                k for k in range(1, _LOOKS + 1) if self.admits(centre + side * math.pi * k / _LOOKS, level)
            ]
            inside, outside = (max(looks, default=0) + step for step in (0, 1))
            if inside == _LOOKS:
                return Arc(domain.low, domain.period, domain)
            near, far = math.pi * inside / _LOOKS, math.pi * outside / _LOOKS
            for _ in range(_HALVINGS):
                middle = (near + far) / 2
                near, far = (middle, far) if self.admits(centre + side * middle, level) else (near, middle)
            reaches.append(far)
        scale = domain.period / (2 * math.pi)
        return Arc(domain.from_radians(centre - reaches[0]), sum(reaches) * scale, domain)
