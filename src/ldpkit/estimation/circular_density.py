"""Densities on a circle: from binned reports to the distribution of angles, times of day and the like.

The chance that a value gives a report in each bin of a tally turns with the value, so a
few rows of the channel, rolled around, are all of it. EM, EMS and least squares are those
of a line, but for smoothing that goes round: the first bin is a neighbour of the last.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np

from ldpkit.core.checks import check_whole
from ldpkit.core.domains.circle import CircleDomain
from ldpkit.core.errors import InvalidInputError, InvalidParameterError
from ldpkit.core.provenance import UNKNOWN, Provenance
from ldpkit.core.results import Result
from ldpkit.core.tables import Table
from ldpkit.core.typing import Counts, Floats
from ldpkit.estimation.deconvolution import averages, invert_counts, maximise, scatter
from ldpkit.estimation.density import ALGORITHMS, FINE, density_caption, density_rows
from ldpkit.mechanisms.base import Mechanism
from ldpkit.mechanisms.circular.mechanism import CircularMechanism
from ldpkit.mechanisms.kinds import is_circular
from ldpkit.mechanisms.tally import ESTIMATORS, Tally

__all__ = ["CircularDensity", "circular_density", "circular_mechanism", "circular_transition"]

_ALL_PLACES = 16  # up to so many places in a bin, each is looked at


@dataclass(frozen=True, eq=False, repr=False)
class CircularDensity(Result):
    """An estimated distribution on a circle, even within each bin.

    Parameters
    ----------
    edges : array
        The edges of the bins; the last one is the first, a turn later.
    masses : array
        The share of people in each bin; not negative, with sum one.
    n : int
        The number of reports.
    domain : CircleDomain
        The circle.
    made_by : mapping
        Mechanism, parameters and method.
    covariance : array or None
        That of the masses, as far as reports scatter, as in `Density`. None for plain EM.
    mechanism : Mechanism or None
        What made the reports.
    provenance : Provenance
        What is recorded of how they were made.

    Examples
    --------
    >>> edges, masses = np.linspace(0, 360, 5), np.array([0.5, 0, 0, 0.5])
    >>> east = CircularDensity(edges, masses, 9, CircleDomain(360), {}, None)
    >>> east.direction, round(east.resultant, 4)
    (0.0, 0.6366)
    """

    edges: Floats
    masses: Floats
    n: int
    domain: CircleDomain
    made_by: Mapping[str, Any]
    covariance: Floats | None
    mechanism: Mechanism | None = None
    provenance: Provenance = UNKNOWN

    kind: ClassVar[str] = "circular density"

    def __post_init__(self) -> None:
        for name in ("edges", "masses"):
            array = np.array(getattr(self, name), float)
            array.setflags(write=False)
            object.__setattr__(self, name, array)

    @property
    def heights(self) -> Floats:
        """The density in each bin."""
        return self.masses / np.diff(self.edges)

    @property
    def stderr(self) -> Floats:
        """The scatter of each mass, its bias left out; nan where it is not known."""
        if self.covariance is None:
            return np.full(len(self), np.nan)
        return np.sqrt(np.maximum(np.diag(self.covariance), 0.0))

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

    @property
    def title(self) -> str:
        """What stands above the table."""
        return f"Density on {self.domain} in {len(self)} bins from n={self.n} reports"

    @property
    def caption(self) -> str:
        """What made the reports, and what the errors do not cover."""
        return density_caption(self.n, self.mechanism, self.made_by, self.provenance)

    @property
    def warnings(self) -> tuple[str, ...]:
        """What a reader must know before trusting the numbers."""
        return tuple(self.provenance.warnings())

    def rows(self, top: int | None = None) -> list[dict[str, Any]]:
        """Return one record for each bin: low, high, mass, stderr, density."""
        return density_rows(self.edges, self.masses, self.stderr)[:top]

    def about(self) -> dict[str, Any]:
        """Return what made the reports, how they were read, and the direction of the whole."""
        return {
            "n": self.n,
            "mechanisms": [] if self.mechanism is None else [self.mechanism.describe()],
            "circle": self.domain.to_json(),
            "method": self.made_by.get("method"),
            "direction": self.direction,
            "resultant": self.resultant,
            "provenance": self.provenance.facts(),
        }

    def tables(self, top: int | None = None) -> list[Table]:
        """Return the bins; all of them, since they are few."""
        return super().tables(top)

    def __len__(self) -> int:
        return len(self.masses)

    def __repr__(self) -> str:
        how = ", ".join(f"{key}={value}" for key, value in self.made_by.items())
        return f"CircularDensity on {self.domain} in {len(self)} bins from n={self.n} reports ({how})"


@ESTIMATORS.register("circular_density")
def circular_density(tally: Tally, *, bins: int = 128, algorithm: str = "ems") -> CircularDensity:
    """Return the distribution of values on a circle.

    Parameters
    ----------
    tally : Tally
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
    mechanism = circular_mechanism(tally)
    size = check_whole(bins, "bins", least=2)
    if algorithm not in ALGORITHMS:
        raise InvalidParameterError(f"unknown algorithm {algorithm!r}: choose from {', '.join(ALGORITHMS)}")
    seen, covariance = tally.counts[:-1], None
    if algorithm == "inversion":
        masses, covariance = invert_counts(circular_transition(mechanism, size), seen)
    else:
        parts, smooth = max(1, round(FINE / size)), algorithm == "ems"
        matrix = circular_transition(mechanism, size * parts)
        fine = maximise(matrix, seen, mechanism.epsilon, smooth=smooth, around=True)
        masses = fine.reshape(size, parts).sum(axis=1)
        if smooth:
            spread = scatter(matrix, seen, fine, around=True)
            covariance = spread.reshape(size, parts, size, parts).sum(axis=(1, 3))
    edges = np.linspace(mechanism.domain.low, mechanism.domain.high, size + 1)
    made_by = {"mechanism": mechanism.name, **mechanism.parameters(), "method": algorithm}
    return CircularDensity(
        edges, masses, tally.n, mechanism.domain, made_by, covariance, mechanism, tally.provenance
    )


def circular_mechanism(tally: Tally) -> CircularMechanism:
    """Return the mechanism of a tally from which directions can be estimated, or say why not."""
    mechanism = tally.mechanism
    if not is_circular(mechanism):
        raise InvalidInputError(
            f"this needs reports of a circular mechanism, got {mechanism!r}: "
            f'estimate with "{mechanism.default_estimator}"'
        )
    if tally.n == 0:
        raise InvalidInputError("the tally is empty: there are no reports to estimate from")
    return mechanism


@lru_cache(maxsize=16)
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
