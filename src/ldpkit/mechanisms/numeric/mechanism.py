"""What every numeric mechanism is: a number of an interval goes in, a cell or an atom comes out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ldpkit.core.cached import cached_property
from ldpkit.core.domains.interval import IntervalDomain, IntervalLike, as_interval
from ldpkit.core.random import RandomSource, resolve
from ldpkit.core.typing import Counts, Floats, Reports, Values
from ldpkit.mechanisms.cells.law import Law
from ldpkit.mechanisms.cells.mechanism import CellMechanism
from ldpkit.mechanisms.tally import NumericTally

if TYPE_CHECKING:
    from ldpkit.mechanisms.numeric.noise import BlockNoise

__all__ = ["NumericMechanism"]


class NumericMechanism(CellMechanism):
    """A mechanism that reports a noisy number.

    A new one is a file with a subclass that gives `cells`, `placement`, `law`,
    `exact_epsilon` and `_randomise`; `atom_points` if it has atoms. It declares the
    capability "linear" if the mean of a report is a linear function of the value.

    Parameters
    ----------
    domain : IntervalDomain or pair of float
        The interval of values.
    epsilon : float
        The privacy budget.
    grid : int
        The steps of the input grid, a power of two. The default is right for every use;
        a small grid lets an audit list the whole channel.

    Examples
    --------
    >>> import ldpkit
    >>> mechanism = ldpkit.get("hm", (0, 24), epsilon=1.0)
    >>> isinstance(mechanism, NumericMechanism)
    True
    >>> float(round(mechanism.error(12.0), 2)), abs(mechanism.bias(12.0)) < 1e-6
    (23.03, True)
    """

    kind = "numeric"
    domain_type = IntervalDomain
    domain: IntervalDomain
    default_estimator: ClassVar[str] = "mean"
    surpassed_by: ClassVar[str | None] = None
    """The name of a mechanism with a smaller variance for every value and epsilon, which a plan points to."""

    def __init__(self, domain: IntervalLike, epsilon: float, *, grid: int | None = None) -> None:
        self._settle(as_interval(domain), epsilon, grid)

    @property
    def place_count(self) -> int:
        return self.grid + 1

    @cached_property
    def line(self) -> tuple[Fraction, Fraction] | None:
        """The intercept and slope of the mean report as a function of the value, low at 0 and high at 1.

        (0, 1) where the capability "unbiased" is declared, from the laws at both ends where
        "linear" is, and None elsewhere.
        """
        if self.can("unbiased"):
            return Fraction(0), Fraction(1)
        if not self.can("linear"):
            return None
        low, high = (self.law(place).exact_mean(self.placement, self.atom_points) for place in (0, self.grid))
        return low, high - low

    @property
    def indistinct(self) -> tuple[tuple[float, float], ...]:
        """The stretches of the interval within which all values have the same law of reports.

        What lies where within such a stretch, no estimator can tell.
        """
        return ()

    @property
    def noise(self) -> BlockNoise | None:
        """The integers of the noise, where it is added to the value; sums of it are drawn block by block."""
        return None

    # --- the device --------------------------------------------------------------------

    def privatize(self, values: Values, *, rng: RandomSource | None = None, clip: bool = False) -> Reports:
        """Return one report for each value.

        Parameters
        ----------
        values : array, sequence or column
            Numbers of the interval. Anything else is refused before any randomness is drawn.
        rng : RandomSource, optional
            Secure randomness by default; `ldpkit.random.seeded` for a repeatable run.
        clip : bool
            True moves values outside to the nearest end; a warning says how many.

        Returns
        -------
        array
            Indices of cells; `values_of` turns them into numbers.
        """
        return self._reports(self.domain.place(self.domain.take(values, clip=clip), self.grid), resolve(rng))

    def privatize_chunks(
        self, values: Values, *, rng: RandomSource | None = None, clip: bool = False
    ) -> Iterator[Reports]:
        """Yield the reports of `privatize` in chunks, so that they never fill the memory."""
        return self._chunks(self.domain.place(self.domain.take(values, clip=clip), self.grid), resolve(rng))

    def privatize_stream(
        self, pieces: Iterable[Values], *, rng: RandomSource | None = None, clip: bool = False
    ) -> Iterator[Reports]:
        """Yield the reports of `privatize` for values that come piece by piece, in any number.

        Each piece is checked before randomness is drawn for it. The reports are those of
        `privatize` for all pieces together, and memory is that of a chunk.
        """
        places = (self.domain.place(self.domain.take(piece, clip=clip), self.grid) for piece in pieces)
        return self._stream(places, resolve(rng))

    # --- the law -----------------------------------------------------------------------

    @property
    def output_range(self) -> tuple[float, float]:
        """The least and the greatest number that a report can stand for, cells taken to their edges."""
        origin, step = self.placement
        ends = [origin, origin + self.cells * step] if self.cells else []
        low, high = min([*ends, *self.atom_points]), max([*ends, *self.atom_points])
        return self._from_share(float(low)), self._from_share(float(high))

    def error(self, x: Any, power: float = 1.0) -> Any:
        """Return the expected |y - x|**power, exactly."""
        unit = self._unit(power)

        def expected(law: Law, value: float, _: Floats) -> float:
            return law.moment(power, self._share(value), self.placement, self._atom_shares) * unit

        return self._each(x, None, expected)

    def variance(self, x: Any) -> Any:
        """Return the variance of a report for the value x."""

        def about_mean(law: Law, _: float, __: Floats) -> float:
            mean = law.mean(self.placement, self._atom_shares)
            return law.moment(2, mean, self.placement, self._atom_shares) * self.domain.width**2

        return self._each(x, None, about_mean)

    def bias(self, x: Any) -> Any:
        """Return the mean of a report for the value x, less x."""

        def gap(law: Law, value: float, _: Floats) -> float:
            mean = law.mean(self.placement, self._atom_shares)
            return float((mean - self._share(value)) * self.domain.width)

        return self._each(x, None, gap)

    def worst_variance(self) -> float:
        """Return the greatest variance of a report over 65 values from low to high."""
        variances: Floats = self.variance(np.linspace(self.domain.low, self.domain.high, 65))
        return max(float(variance) for variance in variances)

    # --- the tally ---------------------------------------------------------------------

    def tally(self, reports: Reports) -> NumericTally:
        """Return the binned counts of some reports, and what the exact mean needs beyond them."""
        return NumericTally(self, *self._counted(reports))

    def total(self, counts: Counts) -> Fraction:
        """Return the exact sum of all reports of a tally, each with low at 0 and high at 1."""
        cells = int(counts[: self.bins].sum())
        places = sum(int(count) * int(edge) for count, edge in zip(counts, self.bin_edges[:-1], strict=False))
        origin, step = self.placement
        atoms = (
            int(count) * point for count, point in zip(counts[self.bins : -1], self.atom_points, strict=True)
        )
        return cells * origin + (places + int(counts[-1]) + Fraction(cells, 2)) * step + sum(atoms)

    @cached_property
    def bin_ends(self) -> tuple[Floats, Floats]:
        """Between which numbers each bin of a tally lies, and each atom; low at 0 and high at 1."""
        origin, step = (float(part) for part in self.placement)
        edges = origin + step * self.bin_edges.astype(float)
        low, high = (np.concatenate([ends, self._atom_shares]) for ends in (edges[:-1], edges[1:]))
        return low, high
