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
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import Any, ClassVar

import numpy as np

from ldpkit.core.domains.interval import IntervalDomain
from ldpkit.core.errors import InvalidInputError, InvalidParameterError
from ldpkit.core.numbertext import interval_text, percent_text
from ldpkit.core.results import Result
from ldpkit.core.tables import Table
from ldpkit.core.typing import Floats
from ldpkit.estimation.binned_density import BinnedDensity, deconvolved
from ldpkit.estimation.deconvolution import averages
from ldpkit.estimation.from_reports import estimator
from ldpkit.estimation.identified import warn_unidentified
from ldpkit.estimation.response import masses, places
from ldpkit.mechanisms.base import Mechanism
from ldpkit.mechanisms.numeric.mechanism import NumericMechanism
from ldpkit.mechanisms.tally import NumericTally

__all__ = [
    "Density",
    "Quantile",
    "check_tells_more",
    "density",
    "transition",
]

_NARROW = 0.2  # the part of a domain that holds nearly all people, below which a warning is due


_COVERED = (
    "including bias and resolution; valid for the people who reported and for the population they were drawn "
    "from"
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
        """The title above the table."""
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
class Density(BinnedDensity):
    """An estimated distribution over an interval, even within each bin.

    Parameters
    ----------
    edges, masses, n, domain, made_by, covariance, mechanism, provenance
        As in `BinnedDensity`; the domain is an interval.
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

    domain: IntervalDomain
    quantiles: tuple[Quantile, ...] = ()
    smooth: Density | None = None

    kind: ClassVar[str] = "density"

    def answer(self, unit: str = "") -> str:
        """Return the quantile nearest to the middle with its interval, as a sentence."""
        if not self.quantiles:
            middle = f"{self.quantile(0.5):.4g}{f' {unit}' if unit else ''}"
            return f"Half of the estimated distribution of {self.n:,} people is below {middle}."
        near = min(self.quantiles, key=lambda each: abs(each.q - 0.5))
        share = "Half" if near.q == 0.5 else percent_text(near.q)
        found = interval_text(near.value, near.low, near.high, level=near.level, unit=unit)
        return f"{share} of the {self.n:,} people are below {found}."

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

    def about(self) -> dict[str, Any]:
        """Return what made the reports, how they were read, and the quantiles."""
        quantiles = [row | {"level": each.level} for each in self.quantiles for row in each.rows()]
        return self.about_reports(
            interval=self.domain.to_json(), method=self.made_by.get("method"), quantiles=quantiles
        )

    def notes(self) -> list[str]:
        """Return where people stand, if that is so narrow that the density is mostly blur."""
        seen = self.smooth or self
        ends = seen.narrow()
        if ends is None:
            return []
        low, high = ends
        room = _room(self.domain, low, high)
        told = (
            f"nine tenths of the people seem to lie between {low:.4g} and {high:.4g}, "
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


@estimator("density", NumericTally, of_anybody=True)
def density(tally: NumericTally, *, bins: int = 128, algorithm: str = "ems") -> Density:
    """Return the distribution of values.

    Parameters
    ----------
    tally : NumericTally
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
    mechanism = tally.mechanism
    warn_unidentified(mechanism, "sw")
    return Density(*deconvolved(tally, partial(transition, mechanism), bins, algorithm))


def _room(domain: IntervalDomain, low: float, high: float) -> str:
    """Return an interval with room around where people stand, its ends round numbers, within the domain."""
    room = max(high - low, domain.width / 100)
    unit = 10.0 ** math.floor(math.log10(room))
    below, above = unit * math.floor((low - room) / unit), unit * math.ceil((high + room) / unit)
    return f"{max(below, domain.low):g} to {min(above, domain.high):g}"


def check_tells_more(mechanism: NumericMechanism) -> None:
    """Refuse a mechanism whose reports are one of two, and tell nothing but the mean."""
    if mechanism.tally_size - 1 <= 2:
        raise InvalidInputError(f"reports of {mechanism!r} reveal nothing but the mean: use sw for a density")


@lru_cache(maxsize=4)
def transition(mechanism: NumericMechanism, bins: int) -> Floats:
    """Return the chance of each bin and atom of a tally for values even within each of `bins` bins."""
    check_tells_more(mechanism)
    # Chances change evenly between places, so trapezoids give their integrals exactly: nodes of a
    # quadrature would miss what only the last values before an end can report.
    return averages(places(mechanism).astype(float), masses(mechanism), mechanism.grid, bins)
