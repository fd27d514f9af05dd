"""Estimated distributions in bins, on a line or a circle: what they have in common, and how they are made."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np

from ldpkit.core.errors import InvalidParameterError
from ldpkit.core.limits import check_request
from ldpkit.core.parameters import check_fraction, check_whole
from ldpkit.core.provenance import UNKNOWN, Provenance
from ldpkit.core.tables import Table
from ldpkit.core.typing import Floats
from ldpkit.estimation.deconvolution import invert_counts, maximise, memory_of, scatter
from ldpkit.estimation.from_reports import FromReports
from ldpkit.mechanisms.base import Mechanism
from ldpkit.mechanisms.tally import Tally

__all__ = ["ALGORITHMS", "FINE", "BinnedDensity", "Deconvolved", "deconvolved"]

ALGORITHMS = ("ems", "em", "inversion")
"""How a density can be estimated."""

FINE = 256
"""About so many bins EM and EMS work in."""


@dataclass(frozen=True, eq=False, repr=False)
class BinnedDensity(FromReports):
    """An estimated distribution, even within each bin.

    Parameters
    ----------
    edges : array
        The edges of the bins; on a circle the last one is the first, a turn later.
    masses : array
        The share of people in each bin; not negative, with sum one.
    n : int
        The number of reports.
    domain : Domain
        The interval or circle.
    made_by : mapping
        Mechanism, parameters and method.
    covariance : array or None
        That of the masses, as far as reports scatter: by how much smoothing moves a
        sharp edge is not in it, so it makes no interval with a level. None for plain EM,
        whose end is not a fixed point.
    mechanism : Mechanism or None
        What made the reports.
    provenance : Provenance
        What is recorded of how they were made.
    """

    edges: Floats
    masses: Floats
    n: int
    domain: Any
    made_by: Mapping[str, Any]
    covariance: Floats | None
    mechanism: Mechanism | None = None
    provenance: Provenance = UNKNOWN

    def __post_init__(self) -> None:
        for name in ("edges", "masses"):
            array = np.array(getattr(self, name), float)
            array.setflags(write=False)
            object.__setattr__(self, name, array)

    @property
    def mechanisms(self) -> tuple[Mechanism, ...]:
        """What made the reports, where it is known."""
        return () if self.mechanism is None else (self.mechanism,)

    def with_level(self, level: float) -> Self:
        """Return the density itself: it has no interval with a level."""
        check_fraction(level, "level")
        return self

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
    def title(self) -> str:
        """The title above the table."""
        return f"Density on {self.domain} in {len(self)} bins from n={self.n} reports"

    @property
    def caption(self) -> str:
        """What made the reports, and what the errors do not cover."""
        scatter = "stderr: the noise alone; it does not include how far smoothing moves a bin"
        return self.captioned(*self.method_told, lines=[scatter])

    def rows(self, top: int | None = None) -> list[dict[str, Any]]:
        """Return one record for each bin: low, high, mass, stderr, density."""
        names = ("low", "high", "mass", "stderr", "density")
        errors = [None if math.isnan(each) else each for each in self.stderr.tolist()]
        ends = self.edges[:-1].tolist(), self.edges[1:].tolist()
        every = zip(*ends, self.masses.tolist(), errors, self.heights.tolist(), strict=True)
        return [dict(zip(names, row, strict=True)) for row in every][:top]

    def tables(self, top: int | None = None) -> list[Table]:
        """Return the bins; all of them, since they are few."""
        return super().tables(top)

    def __len__(self) -> int:
        return len(self.masses)

    def __repr__(self) -> str:
        where = f"{type(self).__name__} on {self.domain} in {len(self)} bins"
        return f"{where} from n={self.n} reports ({self.how})"


class Deconvolved(NamedTuple):
    """The first fields of a density, as they come out of the reports."""

    edges: Floats
    masses: Floats
    n: int
    domain: Any
    made_by: dict[str, Any]
    covariance: Floats | None
    mechanism: Mechanism
    provenance: Provenance


def deconvolved(
    tally: Tally, transition: Callable[[int], Floats], bins: int, algorithm: str, *, around: bool = False
) -> Deconvolved:
    """Return the distribution of the values behind a tally.

    Parameters
    ----------
    tally : Tally
        Reports of a numeric or circular mechanism.
    transition : callable
        The chance of each bin of the tally, for values even within each of so many bins.
    bins : int
        How many bins of equal width the distribution has.
    algorithm : {"ems", "em", "inversion"}
        EM with smoothing, plain EM, or least squares made consistent by norm_sub.
    around : bool
        Whether smoothing goes round: the first bin is a neighbour of the last.
    """
    size = check_whole(bins, "bins", least=2)
    if algorithm not in ALGORITHMS:
        raise InvalidParameterError(f"unknown algorithm {algorithm!r}: choose from {', '.join(ALGORITHMS)}")
    mechanism: Any = tally.mechanism
    seen, covariance = tally.counts[:-1], None
    parts = 1 if algorithm == "inversion" else max(1, round(FINE / size))
    check_request(memory_of(algorithm, size * parts, len(seen)), f"a density in {size:,} bins")
    if algorithm == "inversion":
        masses, covariance = invert_counts(transition(size), seen)
    else:
        smooth = algorithm == "ems"
        matrix = transition(size * parts)
        fine = maximise(matrix, seen, mechanism.epsilon, smooth=smooth, around=around)
        masses = fine.reshape(size, parts).sum(axis=1)
        if smooth:
            spread = scatter(matrix, seen, fine, around=around)
            covariance = spread if parts == 1 else spread.reshape(size, parts, size, parts).sum(axis=(1, 3))
    domain, made = mechanism.domain, mechanism.read_by(algorithm)
    edges = np.linspace(domain.low, domain.high, size + 1)
    return Deconvolved(edges, masses, tally.n, domain, made, covariance, mechanism, tally.provenance)
