"""Densities on a circle: from binned reports to the distribution of angles, times of day and the like.

The chance that a value gives a report in each bin of a tally turns with the value, so a
few rows of the channel, rolled around, are all of it. EM, EMS and least squares are those
of a line, but for smoothing that goes round: the first bin is a neighbour of the last.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any, ClassVar

import numpy as np

from ldpkit.core.domains.circle import CircleDomain
from ldpkit.core.typing import Counts, Floats
from ldpkit.estimation.binned_density import BinnedDensity, deconvolved
from ldpkit.estimation.deconvolution import averages
from ldpkit.estimation.from_reports import estimator
from ldpkit.mechanisms.circular.mechanism import CircularMechanism
from ldpkit.mechanisms.tally import CircularTally

__all__ = ["CircularDensity", "circular_density", "circular_transition"]

_ALL_PLACES = 16  # up to so many places in a bin, each is looked at


@dataclass(frozen=True, eq=False, repr=False)
class CircularDensity(BinnedDensity):
    """An estimated distribution on a circle, even within each bin.

    Parameters
    ----------
    edges, masses, n, domain, made_by, covariance, mechanism, provenance
        As in `BinnedDensity`; the domain is a circle.

    Examples
    --------
    >>> edges, masses = np.linspace(0, 360, 5), np.array([0.5, 0, 0, 0.5])
    >>> east = CircularDensity(edges, masses, 9, CircleDomain(360), {}, None)
    >>> east.direction, round(east.resultant, 4)
    (0.0, 0.6366)
    """

    domain: CircleDomain

    kind: ClassVar[str] = "circular density"

    def answer(self, unit: str = "") -> str:
        """Return the fullest bin, as a sentence."""
        first = int(np.argmax(self.masses))
        ends = f"{self.edges[first]:.4g} to {self.edges[first + 1]:.4g}{f' {unit}' if unit else ''}"
        return (
            f"Of {len(self)} bins, {ends} has the most people: an estimated {self.masses[first]:.1%} of "
            f"{self.n:,}; a density has no confidence interval."
        )

    @property
    def _vector(self) -> complex:
        angles = self.domain.radians(self.edges)
        turned = np.diff(np.exp(1j * angles)) / (1j * np.diff(angles))
        return complex(self.masses @ turned)

    @property
    def direction(self) -> float:
        """The mean direction of the distribution."""
        return self.domain.from_radians(float(np.angle(self._vector)))

    @property
    def resultant(self) -> float:
        """The mean resultant length: 1 where all people hold one value, 0 where no direction prevails."""
        return abs(self._vector)

    def about(self) -> dict[str, Any]:
        """Return what made the reports, how they were read, and the direction of the whole."""
        return self.about_reports(
            circle=self.domain.to_json(),
            method=self.made_by.get("method"),
            direction=self.direction,
            resultant=self.resultant,
        )


@estimator("circular_density", CircularTally, of_anybody=True)
def circular_density(tally: CircularTally, *, bins: int = 128, algorithm: str = "ems") -> CircularDensity:
    """Return the distribution of values on a circle.

    Parameters
    ----------
    tally : CircularTally
        Reports of a circular mechanism.
    bins : int
        How many bins of equal width the distribution has.
    algorithm : {"ems", "em", "inversion"}
        EM with smoothing that goes round, plain EM, or least squares made consistent by norm_sub.

    Examples
    --------
    >>> import ldpkit
    >>> mechanism = ldpkit.get("circular_sw", 360, epsilon=2)
    >>> tally = mechanism.tally(mechanism.privatize([350.0, 5.0] * 20_000))
    >>> found = tally.estimate("circular_density", bins=12)
    >>> bool(found.masses[[10, 11, 0, 1]].sum() > 0.8)
    True
    """
    mechanism = tally.mechanism
    matrix = partial(circular_transition, mechanism)
    return CircularDensity(*deconvolved(tally, matrix, bins, algorithm, around=True))


@lru_cache(maxsize=4)
def circular_transition(mechanism: CircularMechanism, bins: int) -> Floats:
    """Return the chance of each bin of a tally for values even within each of `bins` bins of the circle."""
    first, places, moved = _first_rows(mechanism)
    turns = mechanism.grid // places
    at = (places * np.arange(turns)[:, None] + first).ravel()
    rows = mechanism.bin_masses(mechanism.domain.decode(first, steps=mechanism.grid))
    columns = (np.arange(mechanism.bins) - moved * np.arange(turns)[:, None]) % mechanism.bins
    chances = rows[:, columns].transpose(1, 0, 2).reshape(-1, mechanism.bins)
    at, chances = np.append(at, mechanism.grid), np.vstack([chances, chances[:1]])
    return averages(at.astype(float), chances, mechanism.grid, bins)


def _first_rows(mechanism: CircularMechanism) -> tuple[Counts, int, int]:
    """Return the places whose rows, turned, are the whole channel; after how many places; by how many bins.

    Between these places the chance of every bin changes evenly: they are where an edge of
    the law passes an edge of a bin.
    """
    if mechanism.bin_shift == 0:  # a step of the grid moves the law by two cells, each a bin
        return np.zeros(1, np.int64), 1, 2
    places = 1 << (mechanism.bin_shift - 1)
    if places <= _ALL_PLACES:
        return np.arange(places, dtype=np.int64), places, 1
    edges = mechanism.law(0).edges
    passed = np.unique(np.concatenate([[0], -edges // 2 % places, -(edges // 2) % places]))
    return passed, places, 1
