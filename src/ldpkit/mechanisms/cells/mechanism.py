"""What mechanisms on a line and on a circle share: a value goes in, a cell of an integer grid comes out.

The value stands on a grid of `grid` steps. A report is the index of an output cell or,
after the cells, of an atom: a single point that has a probability of its own. Density
and moments spread the mass of a cell evenly over it, which adds a twelfth of a cell
squared to the variance of the cells' middles: some 1e-13 on the grid of a million steps.
"""

from __future__ import annotations

import abc
import math
from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction
from typing import Any, ClassVar, Self

import numpy as np

from ldpkit.core.cached import cached_property
from ldpkit.core.domains.circle import CircleDomain
from ldpkit.core.domains.interval import GRID, IntervalDomain
from ldpkit.core.errors import InvalidInputError, InvalidParameterError
from ldpkit.core.parameters import EPSILON, Parameter, ParameterValue, check_epsilon, check_whole, exact_sum
from ldpkit.core.random import RandomSource, streams
from ldpkit.core.typing import Counts, Floats, Indices, Reports
from ldpkit.mechanisms.base import Mechanism
from ldpkit.mechanisms.cells.law import Law, Placement
from ldpkit.mechanisms.channel import Channel, check_enumerable

__all__ = ["BINS", "GRID_STEPS", "CellMechanism"]

BINS = 1024
"""A tally counts cells in at most so many bins."""

GRID_STEPS = Parameter(
    "grid",
    int,
    "the steps of the input grid, a power of two; the default is right for every use",
    default=None,
    least=2,
)

_CHUNK_BYTES = 1 << 20  # randomness for one chunk: small enough for the cache, large enough to amortise
_TALLY_CHUNK = 1 << 16  # reports counted at a time
_MOST_DIGITS = 290  # of a power, before a floating-point number overflows or vanishes


class CellMechanism(Mechanism):
    """A mechanism that reports a cell of a grid.

    What is a line and what is a circle differ in: `NumericMechanism` and
    `CircularMechanism` are what a new mechanism derives from.
    """

    declared: ClassVar[tuple[Parameter, ...]] = (EPSILON, GRID_STEPS)
    domain: IntervalDomain | CircleDomain
    grid: int
    default_grid: ClassVar[int] = GRID
    words_per_report: ClassVar[int] = 1

    def _settle(self, domain: IntervalDomain | CircleDomain, epsilon: float, grid: int | None) -> None:
        """Store the domain, the budget and the grid, or refuse them."""
        steps = self.default_grid if grid is None else check_whole(grid, "grid", least=2)
        if steps & (steps - 1) or steps > self.default_grid:
            raise InvalidParameterError(
                f"grid must be a power of two and at most {self.default_grid}, got {grid}: leave it out"
            )
        self._freeze(domain=domain, epsilon=check_epsilon(epsilon), grid=steps)

    def parameters(self) -> dict[str, ParameterValue]:
        told = super().parameters()
        return {name: told[name] for name in told if name != "grid" or self.grid != self.default_grid}

    def sibling(self, size: int) -> Self:
        kind: Any = type(self)
        made: Self = kind(self.domain, **{**self.spec()["parameters"], "grid": size})
        return made

    # --- what a subclass gives ---------------------------------------------------------

    @property
    @abc.abstractmethod
    def cells(self) -> int:
        """The number of output cells."""

    @property
    @abc.abstractmethod
    def placement(self) -> Placement:
        """Where the cells stand: origin and step, with low at 0 and high at 1."""

    @abc.abstractmethod
    def law(self, place: int) -> Law:
        """Return the exact law of a report for a value at a place of the input grid."""

    @abc.abstractmethod
    def _randomise(self, places: Indices, source: RandomSource) -> Reports:
        """Return a report for each place."""

    @property
    @abc.abstractmethod
    def place_count(self) -> int:
        """How many places the grid of values has."""

    @property
    def atom_points(self) -> tuple[Fraction, ...]:
        """Where the atoms stand, with low at 0 and high at 1."""
        return ()

    # --- the device --------------------------------------------------------------------

    def _reports(self, places: Indices, source: RandomSource) -> Reports:
        """Return a report for each place, chunk by chunk."""
        reports = np.empty(len(places), self.report_dtype)
        start = 0
        for made in self._chunks(places, source):
            reports[start : start + len(made)] = made
            start += len(made)
        return reports

    def _chunks(self, places: Indices, source: RandomSource) -> Iterator[Reports]:
        for start in range(0, len(places), self.chunk_size):
            yield self._randomise(places[start : start + self.chunk_size], source.spawn(1)[0])

    def _stream(self, pieces: Iterable[Indices], source: RandomSource) -> Iterator[Reports]:
        """Yield the reports of places that come piece by piece, as if they had come together."""
        for chunk, stream in streams(pieces, self.chunk_size, source):
            yield self._randomise(chunk, stream)

    @property
    def chunk_size(self) -> int:
        """How many reports are made at a time; each chunk has a random stream of its own."""
        return _CHUNK_BYTES // (8 * self.words_per_report)

    @property
    def report_dtype(self) -> np.dtype[Any]:
        reports = self.cells + len(self.atom_points)
        return np.dtype(f"<u{next(size for size in (1, 2, 4, 8) if reports <= 1 << 8 * size)}")

    def _is_valid(self, reports: Reports) -> np.ndarray[Any, np.dtype[np.bool_]]:
        return np.asarray(reports < self.cells + len(self.atom_points))

    def values_of(self, reports: Reports) -> Floats:
        """Return the number that each report stands for: the middle of its cell, or its atom."""
        checked = self.check_reports(reports)
        origin, step = self.placement
        shares = float(origin) + float(step) * (checked.astype(np.float64) + 0.5)
        for index, point in enumerate(self.atom_points):
            shares[checked == self.cells + index] = float(point)
        numbers: Floats = self._from_share(shares)
        return numbers

    # --- the law -----------------------------------------------------------------------

    def channel(self, rng: RandomSource | None = None) -> Channel:
        """Return every report with its exact probability under each grid point, for small grids."""
        reports = self.cells + len(self.atom_points)
        check_enumerable(reports * self.place_count, f"the channel of {self!r}")
        rows = [self.law(place).row(self.cells) for place in range(self.place_count)]
        return Channel(np.arange(reports, dtype=self.report_dtype), rows)

    def pdf(self, y: Any, x: Any) -> Any:
        """Return the density of a report at y for the value x; atoms have none and are in `atoms`."""
        scale = float(self.placement[1]) * self.domain.width
        return self._each(x, y, lambda law, _, points: law.height(self._cell_at(points)) / scale)

    def cdf(self, y: Any, x: Any) -> Any:
        """Return the probability that the report is at most y for the value x, atoms included."""
        atoms = self._from_share(self._atom_shares)

        def below(law: Law, _: float, points: Floats) -> Floats:
            jumps = (points[:, None] >= atoms) @ law.atom_masses if len(atoms) else 0.0
            return law.below(self._cell_at(points)) + jumps

        return self._each(x, y, below)

    def atoms(self, x: float) -> tuple[Floats, Floats]:
        """Return the points with a probability of their own, and these probabilities for the value x."""
        place = int(self.domain.encode([x], steps=self.grid)[0])
        return self._from_share(self._atom_shares), self.law(place).atom_masses

    @abc.abstractmethod
    def error(self, x: Any, power: float = 1.0) -> Any:
        """Return the expected power of the distance between a report and the value x."""

    @abc.abstractmethod
    def variance(self, x: Any) -> Any:
        """Return the variance of a report for the value x."""

    @abc.abstractmethod
    def bias(self, x: Any) -> Any:
        """Return the mean of a report for the value x, less x."""

    def _unit(self, power: float) -> float:
        """Return the power of the domain's width, or refuse a power for which it is out of range."""
        if isinstance(power, bool) or not isinstance(power, (int, float, np.number)) or not 0 < power < 100:
            raise InvalidParameterError(f"power must be a positive number below 100, got {power!r}")
        if abs(power * math.log10(self.domain.width)) > _MOST_DIGITS:
            raise InvalidParameterError(
                f"power={power!r} moves the error on {self.domain} out of the range of floating-point "
                "numbers: rescale the values"
            )
        return float(self.domain.width**power)

    def _each(self, x: Any, y: Any, compute: Callable[[Law, float, Floats], Any]) -> Any:
        """Compute something for each value x, and for each y along with it if there are any."""
        values, points = np.broadcast_arrays(np.asarray(x, float), np.asarray(x if y is None else y, float))
        if values.size == 0:
            return np.zeros(values.shape)
        distinct, which = np.unique(values.ravel(), return_inverse=True)
        places = self.domain.encode(distinct, steps=self.grid)
        result = np.empty(values.size)
        for each, (value, place) in enumerate(zip(distinct.tolist(), places.tolist(), strict=True)):
            same = which == each
            result[same] = compute(self.law(place), value, points.ravel()[same])
        return result.reshape(values.shape) if values.ndim else float(result[0])

    def _cell_at(self, points: Floats) -> Floats:
        """Return where numbers lie among the cells."""
        origin, step = self.placement
        return np.asarray((self._share(points) - float(origin)) / float(step))

    @cached_property
    def _atom_shares(self) -> Floats:
        return np.array([float(point) for point in self.atom_points])

    def _from_share(self, share: Any) -> Any:
        """Return the number at a share of the way from low to high."""
        return self.domain.low + self.domain.width * share

    def _share(self, number: Any) -> Any:
        """Return how far numbers are on the way from low to high."""
        return (number - self.domain.low) / self.domain.width

    # --- the tally ---------------------------------------------------------------------
    #
    # Its counts are: cells by bins, then each atom, then one sum. A bin is 2**k cells; the
    # sum is that of the cells' places in their bins, so that the sum of all cells, and
    # with it the mean, is known exactly, and integers of 64 bits never overflow.

    @cached_property
    def bin_shift(self) -> int:
        """The k for which a bin of the tally holds 2**k cells."""
        return max(0, (self.cells - 1).bit_length() - (BINS - 1).bit_length())

    @property
    def bins(self) -> int:
        """How many bins of cells a tally has."""
        return -(-self.cells >> self.bin_shift)

    @cached_property
    def bin_edges(self) -> Counts:
        """The edges of the bins, in cells."""
        edges: Counts = np.arange(self.bins + 1, dtype=np.int64) << self.bin_shift
        return np.minimum(edges, self.cells)

    @property
    def tally_size(self) -> int:
        return self.bins + len(self.atom_points) + 1

    def check_counts(self, n: int, counts: Counts) -> None:
        if n < 0 or (counts < 0).any() or exact_sum(counts[:-1]) != n:
            raise InvalidInputError(f"the bins of {n} reports must not be negative and sum to {n}")
        # All bins are equally wide but the last one, which may be cut short.
        farthest = exact_sum(counts[: self.bins]) * ((1 << self.bin_shift) - 1)
        if self.bins:
            farthest -= int(counts[self.bins - 1]) * (-self.cells & ((1 << self.bin_shift) - 1))
        if counts[-1] > farthest:
            raise InvalidInputError(f"the sum of places, {counts[-1]}, is more than {n} reports can give")

    def _counted(self, reports: Reports) -> tuple[int, Counts]:
        """Return how many reports there are, and the integers of their tally."""
        from ldpkit.mechanisms.kernels.pieces import binned

        counts, n = np.zeros(self.tally_size, np.int64), 0
        for some in self.report_chunks(reports, _TALLY_CHUNK):
            binned(some, self.cells, self.bin_shift, counts)
            n += len(some)
        return n, counts

    def bin_masses(self, x: Floats) -> Floats:
        """Return the probability of each bin and atom of a tally for each value x, one row a value."""
        places = self.domain.encode(x, steps=self.grid)
        masses = np.empty((len(places), self.tally_size - 1))
        for row, place in zip(masses, places, strict=True):
            law = self.law(int(place))
            row[: self.bins] = np.diff(law.below(self.bin_edges.astype(np.float64)))
            row[self.bins :] = law.atom_masses
        return masses
