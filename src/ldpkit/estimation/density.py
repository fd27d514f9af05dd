"""Densities: from the binned reports of numbers to the distribution of the numbers.

The chance that a value gives a report in each bin of a tally is known exactly, from the
integers of the mechanism. Expectation maximisation (EM) finds the distribution of values
that makes the bins seen most likely; EMS smooths after every step, which keeps it from
fitting the noise (Li et al., SIGMOD 2020). How much it smooths depends on the width of
the bins, so both work in about 256 bins, whatever number the user asks for, and add up.
Plain inversion of the same matrix by least squares is there for comparison.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np

from ldpkit.core.checks import check_whole
from ldpkit.core.domains.interval import IntervalDomain
from ldpkit.core.errors import InvalidInputError, InvalidParameterError
from ldpkit.core.provenance import UNKNOWN, Provenance
from ldpkit.core.results import Result
from ldpkit.core.tables import Table
from ldpkit.core.typing import Counts, Floats
from ldpkit.estimation.consistency import CONSISTENCY
from ldpkit.estimation.noise import Noise
from ldpkit.estimation.response import masses, places
from ldpkit.mechanisms.base import Mechanism
from ldpkit.mechanisms.kinds import is_numeric
from ldpkit.mechanisms.numeric.mechanism import NumericMechanism
from ldpkit.mechanisms.tally import ESTIMATORS, Tally

__all__ = [
    "ALGORITHMS",
    "FINE",
    "Density",
    "Quantile",
    "check_tells_more",
    "density",
    "maximise",
    "numeric_mechanism",
    "transition",
]

ALGORITHMS = ("ems", "em", "inversion")
"""How a density can be estimated."""

FINE = 256
"""About so many bins EM and EMS work in."""

_MOST_STEPS = 10_000
_NARROW = 0.2  # the part of a domain that holds nearly all people, below which a warning is due


_COVERED = (
    "bias and resolution included, for the people who reported and for a population they were drawn from"
)


@dataclass(frozen=True)
class Quantile(Result):
    """A quantile and the ends of its interval.

    Parameters
    ----------
    q : float
        The share of people below it.
    value : float
        The quantile of the smooth density.
    low, high : float
        The ends of its interval.
    level : float
        The coverage of that.
    n : int
        The number of reports.
    mechanism : Mechanism or None
        What made them.

    Examples
    --------
    >>> Quantile(0.5, 41.0, 38.0, 44.5, n=1000).rows()
    [{'q': 0.5, 'value': 41.0, 'low': 38.0, 'high': 44.5}]
    """

    q: float
    value: float
    low: float
    high: float
    level: float = 0.95
    n: int = 0
    mechanism: Mechanism | None = None

    kind: ClassVar[str] = "quantile"

    @property
    def title(self) -> str:
        """What stands above the table."""
        return f"Quantile {self.q:g} of n={self.n} reports"

    @property
    def caption(self) -> str:
        """What the interval covers."""
        return f"{100 * self.level:g}% interval, {_COVERED}"

    def rows(self, top: int | None = None) -> list[dict[str, Any]]:
        """Return the one record: q, value, low, high."""
        return [{"q": self.q, "value": self.value, "low": self.low, "high": self.high}]

    def about(self) -> dict[str, Any]:
        """Return what made the reports, and the level."""
        made = [] if self.mechanism is None else [self.mechanism.describe()]
        return {"n": self.n, "mechanisms": made, "level": self.level}


@dataclass(frozen=True, eq=False, repr=False)
class Density(Result):
    """An estimated distribution over an interval, even within each bin.

    Parameters
    ----------
    edges : array
        The edges of the bins.
    masses : array
        The share of people in each bin; not negative, with sum one.
    n : int
        The number of reports.
    domain : IntervalDomain
        The interval.
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
    quantiles : tuple of Quantile
        Quantiles that are told with it; `with_quantiles` adds them.
    smooth : Density or None
        The finer density that the quantiles were read off, which also tells where people stand.

    Examples
    --------
    >>> half = Density(np.array([0.0, 1.0, 3.0]), np.array([0.5, 0.5]), 10, IntervalDomain(0, 3), {}, None)
    >>> half.heights.tolist(), half.mean, half.quantile(0.75)
    ([0.5, 0.25], 1.25, 2.0)
    """

    edges: Floats
    masses: Floats
    n: int
    domain: IntervalDomain
    made_by: Mapping[str, Any]
    covariance: Floats | None
    mechanism: Mechanism | None = None
    provenance: Provenance = UNKNOWN
    quantiles: tuple[Quantile, ...] = ()
    smooth: Density | None = None

    kind: ClassVar[str] = "density"

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
    def mean(self) -> float:
        """The mean of the distribution."""
        return float(self.masses @ (self.edges[1:] + self.edges[:-1]) / 2)

    @property
    def variance(self) -> float:
        """The variance of the distribution."""
        low, high = self.edges[:-1] - self.mean, self.edges[1:] - self.mean
        return float(self.masses @ (low * low + low * high + high * high) / 3)

    def narrow(self) -> tuple[float, float] | None:
        """Return where nine tenths of the people stand if that is less than a fifth of the domain.

        A density is then mostly the mechanism's own blur.

        Examples
        --------
        >>> Density(np.arange(21.0), np.eye(20)[3], 10, IntervalDomain(0, 20), {}, None).narrow()
        (3.05, 3.95)
        """
        low, high = (float(end) for end in self.quantile([0.05, 0.95]))
        return (low, high) if high - low < _NARROW * self.domain.width else None

    def cdf(self, x: Any) -> Any:
        """Return the share of people with values up to x."""
        share = np.interp(x, self.edges, np.concatenate([[0.0], np.cumsum(self.masses)]))
        return share if np.ndim(x) else float(share)

    def quantile(self, q: Any) -> Any:
        """Return the value below which a share q of the people lie."""
        wanted = np.asarray(q, float)
        if not ((wanted >= 0) & (wanted <= 1)).all():
            raise InvalidParameterError(f"a quantile lies between 0 and 1, got {q!r}")
        held = np.flatnonzero(self.masses > 0)  # empty bins hold no quantile
        up_to = np.cumsum(self.masses[held])
        which = np.minimum(np.searchsorted(up_to, wanted), len(held) - 1)
        masses, bins = self.masses[held][which], held[which]
        inside = np.clip(1 - (up_to[which] - wanted) / masses, 0, 1)
        value = self.edges[bins] + inside * (self.edges[bins + 1] - self.edges[bins])
        return value if wanted.ndim else float(value)

    def with_quantiles(self, quantiles: Iterable[Quantile], smooth: Density | None = None) -> Density:
        """Return the same density, told together with some quantiles.

        Parameters
        ----------
        quantiles : iterable of Quantile
            What `ldpkit.estimation.quantile.quantiles` found for the same reports.
        smooth : Density, optional
            What they were read off.
        """
        return replace(self, quantiles=tuple(quantiles), smooth=smooth)

    @property
    def title(self) -> str:
        """What stands above the table."""
        return f"Density on {self.domain} in {len(self)} bins from n={self.n} reports"

    @property
    def caption(self) -> str:
        """What made the reports, and what the errors do not cover."""
        made = [] if self.mechanism is None else [f"{self.mechanism!r}, {self.mechanism.promise()}"]
        how = [f"method {self.made_by['method']}"] if "method" in self.made_by else []
        origin = [] if self.provenance == UNKNOWN else [str(self.provenance)]
        scatter = "stderr: the scatter of the reports alone; how far smoothing moves a bin is not in it"
        return "\n".join([", ".join([f"n={self.n}", *made, *how]), scatter, *origin])

    @property
    def warnings(self) -> tuple[str, ...]:
        """What a reader must know before trusting the numbers."""
        return tuple(self.provenance.warnings())

    def rows(self, top: int | None = None) -> list[dict[str, Any]]:
        """Return one record for each bin: low, high, mass, stderr, density."""
        names = ("low", "high", "mass", "stderr", "density")
        errors = [None if math.isnan(each) else each for each in self.stderr.tolist()]
        columns = (self.edges[:-1].tolist(), self.edges[1:].tolist(), self.masses.tolist(), errors)
        every = zip(*columns, self.heights.tolist(), strict=True)
        return [dict(zip(names, row, strict=True)) for row in every][:top]

    def about(self) -> dict[str, Any]:
        """Return what made the reports, how they were read, and the quantiles."""
        return {
            "n": self.n,
            "mechanisms": [] if self.mechanism is None else [self.mechanism.describe()],
            "interval": self.domain.to_json(),
            "method": self.made_by.get("method"),
            "quantiles": [row | {"level": each.level} for each in self.quantiles for row in each.rows()],
            "provenance": self.provenance.facts(),
        }

    def notes(self) -> list[str]:
        """Return where people stand, if that is so narrow that the density is mostly blur."""
        seen = self.smooth or self
        ends = seen.narrow()
        if ends is None:
            return []
        low, high = ends
        room = _room(self.domain, low, high)
        told = (
            f"nine tenths of the people seem to stand between {low:.4g} and {high:.4g}, "
            f"{(high - low) / self.domain.width:.0%} of {self.domain}: much of this density is the "
            f"mechanism's own blur. An interval such as {room} would show more. It costs a new collection, "
            "with a new epsilon of its own; numbers outside are refused or clipped, which moves the mean; "
            "and fix it by what is known beforehand: an interval chosen from these reports tells of the "
            "people in them"
        )
        return [told]

    def tables(self, top: int | None = None) -> list[Table]:
        """Return the bins, and below them the quantiles; all of them, since bins are few."""
        told = super().tables(top)
        if self.quantiles:
            rows = [row for each in self.quantiles for row in each.rows()]
            told.append(Table.of(rows, title="Quantiles", caption=self.quantiles[0].caption))
        return told

    def __len__(self) -> int:
        return len(self.masses)

    def __repr__(self) -> str:
        how = ", ".join(f"{key}={value}" for key, value in self.made_by.items())
        return f"Density on {self.domain} in {len(self)} bins from n={self.n} reports ({how})"


@ESTIMATORS.register("density")
def density(tally: Tally, *, bins: int = 128, algorithm: str = "ems") -> Density:
    """Return the distribution of values.

    Parameters
    ----------
    tally : Tally
        Reports of a numeric mechanism.
    bins : int
        How many bins of equal width the distribution has.
    algorithm : {"ems", "em", "inversion"}
        EM with smoothing, plain EM, or least squares made consistent by norm_sub.

    Examples
    --------
    >>> import ldpkit
    >>> mechanism = ldpkit.get("sw", (0, 1), epsilon=2)
    >>> values = [0.1, 0.9] * 20_000
    >>> found = mechanism.tally(mechanism.privatize(values)).estimate("density", bins=20)
    >>> bool(found.masses[[1, 2, 17, 18]].sum() > found.masses[5:15].sum())
    True
    """
    mechanism = numeric_mechanism(tally)
    size = check_whole(bins, "bins", least=2)
    if algorithm not in ALGORITHMS:
        raise InvalidParameterError(f"unknown algorithm {algorithm!r}: choose from {', '.join(ALGORITHMS)}")
    seen = tally.counts[:-1]
    if algorithm == "inversion":
        masses, covariance = _invert(transition(mechanism, size), seen)
    else:
        parts = max(1, round(FINE / size))
        matrix = transition(mechanism, size * parts)
        fine = maximise(matrix, seen, mechanism.epsilon, smooth=algorithm == "ems")
        masses = fine.reshape(size, parts).sum(axis=1)
        covariance = None
        if algorithm == "ems":
            covariance = _scatter(matrix, seen, fine).reshape(size, parts, size, parts).sum(axis=(1, 3))
    edges = np.linspace(mechanism.domain.low, mechanism.domain.high, size + 1)
    made_by = {"mechanism": mechanism.name, **mechanism.parameters(), "method": algorithm}
    return Density(edges, masses, tally.n, mechanism.domain, made_by, covariance, mechanism, tally.provenance)


def _room(domain: IntervalDomain, low: float, high: float) -> str:
    """Return an interval with room around where people stand, its ends round numbers, within the domain."""
    room = max(high - low, domain.width / 100)
    unit = 10.0 ** math.floor(math.log10(room))
    below, above = unit * math.floor((low - room) / unit), unit * math.ceil((high + room) / unit)
    return f"{max(below, domain.low):g} to {min(above, domain.high):g}"


def numeric_mechanism(tally: Tally) -> NumericMechanism:
    """Return the mechanism of a tally from which numbers can be estimated, or say why not."""
    mechanism = tally.mechanism
    if not is_numeric(mechanism):
        raise InvalidInputError(
            f"this needs reports of a numeric mechanism, got {mechanism!r}: "
            f'estimate with "{mechanism.default_estimator}"'
        )
    if tally.n == 0:
        raise InvalidInputError("the tally is empty: there are no reports to estimate from")
    return mechanism


def check_tells_more(mechanism: NumericMechanism) -> None:
    """Refuse a mechanism whose reports are one of two, and tell nothing but the mean."""
    if mechanism.tally_size - 1 <= 2:
        raise InvalidInputError(f"reports of {mechanism!r} tell nothing but the mean: use sw for a density")


@lru_cache(maxsize=16)
def transition(mechanism: NumericMechanism, bins: int) -> Floats:
    """Return the chance of each bin and atom of a tally for values even within each of `bins` bins."""
    check_tells_more(mechanism)
    # Chances change evenly between places, so trapezoids give their integrals exactly: nodes of a
    # quadrature would miss what only the last values before an end can report.
    at, chances = places(mechanism).astype(float), masses(mechanism)
    areas = np.diff(at)[:, None] * (chances[1:] + chances[:-1]) / 2
    below = np.concatenate([np.zeros((1, chances.shape[1])), np.cumsum(areas, axis=0)])
    edges = np.linspace(0, mechanism.grid, bins + 1)
    before = np.clip(np.searchsorted(at, edges, "right") - 1, 0, len(at) - 2)
    beyond = (edges - at[before])[:, None]
    slopes = (chances[before + 1] - chances[before]) / np.diff(at)[before, None]
    integrals = below[before] + beyond * (chances[before] + beyond * slopes / 2)
    matrix: Floats = np.maximum(np.diff(integrals, axis=0) / np.diff(edges)[:, None], 0.0)
    return matrix


def maximise(matrix: Floats, counts: Counts, epsilon: float, *, smooth: bool) -> Floats:
    """Return the distribution that EM or EMS finds for binned reports.

    Steps end when the log-likelihood grows by less than 0.001 (EMS) or 0.001 e^eps (EM).
    """
    seen = counts / counts.sum()
    masses: Floats = np.full(len(matrix), 1 / len(matrix))
    smoothing = _smoothing(len(matrix))
    tolerance = 1e-3 * (1.0 if smooth else float(np.exp(epsilon))) / float(counts.sum())
    before = -np.inf
    for _ in range(_MOST_STEPS):
        expected = np.maximum(masses @ matrix, 1e-300)
        likelihood = float(seen @ np.log(expected))
        if abs(likelihood - before) < tolerance:
            break
        before = likelihood
        masses = masses * (matrix @ (seen / expected))
        if smooth:
            masses = smoothing @ masses
            masses /= masses.sum()
    return masses / float(masses.sum())


@lru_cache(maxsize=16)
def _smoothing(bins: int) -> Floats:
    """Return the matrix that averages each bin with its neighbours by weights 1, 2, 1; at the ends 2, 1."""
    matrix: Floats = 2 * np.eye(bins) + np.eye(bins, k=1) + np.eye(bins, k=-1)
    scaled: Floats = matrix / matrix.sum(axis=1, keepdims=True)
    return scaled


def _scatter(matrix: Floats, counts: Counts, masses: Floats) -> Floats:
    """Return the covariance of what EMS finds, by the delta method at its fixed point.

    A step is p -> P u with u = p (T r), r = seen / (p T), and P smoothing and scaling to
    sum one. What moves `seen` moves the fixed point by (1 - P du/dp)^-1 P du/dseen.
    """
    n = counts.sum()
    seen = counts / n
    expected = np.maximum(masses @ matrix, 1e-300)
    ratio = seen / expected
    smoothed = _smoothing(len(masses))
    kept = smoothed - np.outer(masses, smoothed.sum(axis=0))
    by_mass = np.diag(matrix @ ratio) - masses[:, None] * ((matrix * (ratio / expected)) @ matrix.T)
    by_seen = masses[:, None] * matrix / expected
    moved = np.linalg.solve(np.eye(len(masses)) - kept @ by_mass, kept @ by_seen)
    mean = moved @ seen
    covariance: Floats = ((moved * seen) @ moved.T - np.outer(mean, mean)) / n
    return covariance


def _invert(matrix: Floats, counts: Counts) -> tuple[Floats, Floats]:
    """Return the least-squares solution made consistent, and the covariance it had before."""
    n = counts.sum()
    seen, inverse = counts / n, np.linalg.pinv(matrix.T)
    rough = inverse @ seen
    covariance: Floats = ((inverse * seen) @ inverse.T - np.outer(rough, rough)) / n
    return CONSISTENCY.get("norm_sub")(rough[None, :], Noise(int(n), 0.0))[0], covariance
