"""Tail probabilities of a count, as a function of the share of people who hold the value.

Where the count is far from normal its law is summed exactly, by Fourier transform: the
logarithm of the characteristic function is a sum over people, whatever their number.
Elsewhere the saddlepoint approximation of Lugannani and Rice, corrected for a lattice
(Daniels 1987), is within 0.3% of the tail and costs the same for ten people and for a
billion; tails are increased by that, so that intervals made from them cover.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ldpkit.core.cached import cached_property
from ldpkit.core.errors import InvalidParameterError
from ldpkit.core.typing import Counts, Floats
from ldpkit.mechanisms.categorical.report_law import Cumulants, ReportLaw

__all__ = ["CountLaw", "Flags"]

Complex: TypeAlias = NDArray[np.complex128]
Flags: TypeAlias = NDArray[np.bool_]

_COARSEST = 1 / 40  # squared skewness and squared step, in deviations, up to which the approximation holds
_HEAVIEST = 0.8  # excess kurtosis: noise of four Laplace reports, where it is 1.5% too high and never too low
_INFLATED = 1.003  # by more than it errs there
_ROUNDING = 1e-13  # of tails that are summed
_WINDOW = 12  # deviations to each side of the mean that an exact law is computed for
_MARGIN = 20  # and steps, where a deviation is less than one
_FEW = 16  # outcomes, beyond which their characteristic function is a transform
_CELLS = 1 << 21  # of exact laws at a time
_FINEST_GAP = (
    1 << 11
)  # steps between two outcomes: finer ones fill the memory and change no digit that is shown
_NEWTON = 60  # steps at most
_SETTLED = 1e-10
_MIDDLE = 0.05  # standard scores so near to zero are not worth a formula


@dataclass(frozen=True, eq=False)
class CountLaw:
    """The law of the count of one value, given the share of people who hold it.

    Parameters
    ----------
    laws : sequence of ReportLaw
        What a report adds, by mechanism.
    people : sequence of int
        How many reports there are of each.
    population : bool
        False: the share is that of these people, which is a whole number of them. True:
        it is the share in the population that they were drawn from. Reports of several
        mechanisms have nothing else in common than their population.

    Examples
    --------
    >>> law = CountLaw([ReportLaw.supporting(0.5, 0.1)], [50], population=False)
    >>> law.upper_tails(np.array([0.0, 0.2]), np.array([5, 5])).round(4).tolist()
    [0.5688, 0.973]
    """

    laws: Sequence[ReportLaw]
    people: Sequence[int]
    population: bool

    def __post_init__(self) -> None:
        if len(self.laws) > 1 and not self.population:
            raise InvalidParameterError(
                "people who answered different mechanisms have only their population in common: "
                "give population=True"
            )

    @cached_property
    def _units(self) -> tuple[int, int]:
        """What the count is at least, and the step of its lattice."""
        least = sum(int(law.outcomes[0]) * n for law, n in zip(self.laws, self.people, strict=True))
        steps = [int(step) for law in self.laws for step in np.unique(np.diff(law.outcomes))]
        return least, max(1, math.gcd(*steps))

    @cached_property
    def _parts(self) -> list[tuple[ReportLaw, int]]:
        """The laws in steps of the lattice from its least point, each with its people."""
        unit = self._units[1]
        return [
            (law.shifted(int(law.outcomes[0]), unit), n)
            for law, n in zip(self.laws, self.people, strict=True)
        ]

    @cached_property
    def _gap(self) -> int:
        """The largest distance between neighbouring outcomes of a report, in lattice steps."""
        return max(law.widest_gap for law, _ in self._parts)

    @cached_property
    def _coarser(self) -> tuple[CountLaw, int] | None:
        """The law with every report rounded up to whole units, and the unit; None if it is fine as it is."""
        if self._gap < 2 * _FINEST_GAP:
            return None
        unit = self._units[1] * (self._gap // _FINEST_GAP)
        return CountLaw([law.rounded_up(unit) for law in self.laws], self.people, self.population), unit

    def mirrored(self) -> CountLaw:
        """Return the law of the negative count, given the share who do not hold the value."""
        return CountLaw([law.mirrored() for law in self.laws], self.people, self.population)

    def negative(self) -> CountLaw:
        """Return the law of the negative count, given the share who hold the value."""
        return CountLaw([law.scaled(-1) for law in self.laws], self.people, self.population)

    @property
    def shares(self) -> int:
        """Into how many steps the shares from 0 to 1 are cut: those that people have, or finer."""
        return sum(self.people) * (1 if not self.population else 64)

    def moments(self, shares: Floats) -> Floats:
        """Return the mean and the second to fourth cumulants, shape (4, ...), of counts in lattice steps."""
        total = np.zeros((4, *np.shape(shares)))
        for law, n in self._parts:
            (own, other), (variances, thirds, fourths) = law.means, law.moments
            mix = [shares * each[0] + (1 - shares) * each[1] for each in (variances, thirds, fourths)]
            total[0] += n * (shares * own + (1 - shares) * other)
            if self.population:  # cumulants of a mixture of two laws whose means differ by `apart`
                apart, spread = own - other, shares * (1 - shares)
                skew, peak = 1 - 2 * shares, 1 - 6 * spread
                steeper = variances[0] - variances[1]
                mix[2] = mix[2] + spread * (
                    4 * apart * (thirds[0] - thirds[1])
                    + 6 * apart**2 * skew * steeper
                    + 3 * steeper**2
                    + apart**4 * peak
                )
                mix[1] = mix[1] + spread * (3 * apart * steeper + apart**3 * skew)
                mix[0] = mix[0] + spread * apart**2
            total[1:] += n * np.array(mix)
        return total

    def estimates(self, counts: Counts) -> Floats:
        """Return the shares, within 0 to 1, whose mean counts are nearest to some counts."""
        low, high = self.moments(np.array([0.0, 1.0]))[0]
        return np.asarray(np.clip((self.steps(counts) - low) / (high - low), 0, 1))

    def deviations(self, shares: Floats) -> Floats:
        """Return by how much estimated shares scatter, in shares."""
        low, high = self.moments(np.array([0.0, 1.0]))[0]
        return np.asarray(np.sqrt(self.moments(shares)[1]) / (high - low))

    def is_nearly_normal(self, shares: Floats) -> Flags:
        """Whether the approximation holds at some shares."""
        _, second, third, fourth = self.moments(shares)
        with np.errstate(divide="ignore", invalid="ignore"):
            skewness, kurtosis, step = third**2 / second**3, fourth / second**2, self._gap**2 / second
        return np.asarray((skewness <= _COARSEST) & (step <= _COARSEST) & (np.abs(kurtosis) <= _HEAVIEST))

    def steps(self, counts: Counts) -> Floats:
        """Return counts in steps of their lattice, from its least point."""
        least, unit = self._units
        largest = abs(least) + unit + int(np.abs(counts).max(initial=0))
        exact = counts if largest < 1 << 63 else counts.astype(object)  # 64 bits do not hold the difference
        return np.asarray((exact - least) / unit, float)

    def upper_tails(self, shares: Floats, counts: Counts) -> Floats:
        """Return the probabilities that the count is at least so much, summed exactly.

        Shares must be whole multiples of 1/`shares`. Where a report adds numbers of many digits, each is
        rounded up to a coarser lattice first: then a probability is a little too high and never too low.
        """
        if self._coarser is not None:
            law, unit = self._coarser
            return law.upper_tails(shares, -(-counts // unit))
        keys, places = np.unique(np.rint(shares * self.shares), return_inverse=True)
        points = self.steps(counts)
        tails = np.empty(len(points))
        mean = self.moments(keys / self.shares)[0]
        size = self._window(keys / self.shares)
        rows = max(1, _CELLS // size)
        for start in range(0, len(keys), rows):
            some = slice(start, start + rows)
            begins = np.floor(mean[some]).astype(np.int64) - size // 2
            laws = self._laws(keys[some], begins, size)
            above = np.cumsum(laws[:, ::-1], axis=1)[:, ::-1]
            here = (places >= start) & (places < start + rows)
            row = places[here] - start
            column = np.ceil(points[here]) - begins[row]
            inside = np.clip(column, 0, size - 1).astype(np.int64)
            tails[here] = np.where(column >= size, 0.0, above[row, inside])
        return np.clip(tails + _ROUNDING, 0, 1)

    def _window(self, shares: Floats) -> int:
        """Return how many neighbouring counts hold all but a negligible part of the laws at some shares."""
        reach = _WINDOW * math.sqrt(self.moments(shares)[1].max()) + _MARGIN * self._gap
        return 1 << math.ceil(math.log2(2 * reach))

    def chances(self, share: float) -> tuple[Counts, Floats]:
        """Return the counts that are possible at a share, all but a negligible part, and their chances.

        Examples
        --------
        >>> counts, chances = CountLaw([ReportLaw.supporting(0.5, 0.25)], [2], population=False).chances(0.5)
        >>> counts.tolist(), chances.round(6).tolist()
        ([0, 1, 2], [0.375, 0.5, 0.125])
        """
        keys = np.rint([share * self.shares])
        size = self._window(keys / self.shares)
        begins = np.floor(self.moments(keys / self.shares)[0]).astype(np.int64) - size // 2
        [law] = self._laws(keys, begins, size)
        possible = np.flatnonzero(law > _ROUNDING)
        least, unit = self._units
        return least + unit * (begins[0] + possible), law[possible]

    def _laws(self, keys: Floats, begins: Counts, size: int) -> Floats:
        """Return the probabilities of `size` neighbouring counts, one row for each share."""
        angles = 2 * np.pi * np.arange(size // 2 + 1) / size
        logs = np.zeros((len(keys), len(angles)), complex)
        turns = -begins  # the count's shift in whole steps, which a phase holds only modulo `size`
        for law, n in self._parts:
            if self.population:
                chances = np.multiply.outer(keys / self.shares, law.own - law.other) + law.other
                modes = np.full(len(keys), law.outcomes[int(np.argmax(chances.mean(axis=0)))])
                logs += n * _log_characteristic(law.outcomes - modes[0], chances, size)
                turns = turns + n * modes
            else:
                whole = keys.astype(np.int64)
                for chances, crowd in ((law.own, whole), (law.other, n - whole)):
                    mode = int(law.outcomes[np.argmax(chances)])
                    one = _log_characteristic(law.outcomes - mode, chances[None, :], size)
                    logs += np.multiply.outer(crowd, one[0])
                    turns = turns + mode * crowd
        logs += 1j * np.multiply.outer(turns % size, angles)
        return np.fft.irfft(np.conj(np.exp(logs)), size, axis=1)

    def cumulants(self, shares: Floats, t: Floats) -> Cumulants:
        """Return the cumulant generating function of the count in lattice steps."""
        total = [np.zeros(np.shape(t)) for _ in range(3)]
        for law, n in self._parts:
            own, other = law.cumulants(t)
            if not self.population:
                found = [shares * x + (1 - shares) * y for x, y in zip(own, other, strict=True)]
            else:
                first, second = shares * np.exp(own.value), (1 - shares) * np.exp(other.value)
                whole = first + second
                first, second = first / whole, second / whole
                slope = first * own.slope + second * other.slope
                spread = first * (own.slope - slope) ** 2 + second * (other.slope - slope) ** 2
                found = [
                    np.log1p(shares * np.expm1(own.value) + (1 - shares) * np.expm1(other.value)),
                    slope,
                    first * own.curvature + second * other.curvature + spread,
                ]
            for place, each in enumerate(found):
                total[place] = total[place] + n * each
        return Cumulants(*total)

    def approximate_upper_tails(self, shares: Floats, counts: Counts) -> Floats:
        """Return the probabilities that the count is at least so much, nearly and never too low."""
        from scipy.special import ndtr

        gap = self._gap
        points = self.steps(counts) - gap / 2
        t = self._saddlepoints(shares, points)
        at = self.cumulants(shares, t)
        depth = np.maximum(t * points - at.value, 0)
        score = np.sign(t) * np.sqrt(2 * depth)
        width = 2 * np.sinh(t * gap / 2) / gap * np.sqrt(at.curvature)
        with np.errstate(divide="ignore", invalid="ignore"):
            tails = ndtr(-score) + np.exp(-depth) / math.sqrt(2 * math.pi) * (1 / width - 1 / score)
        tails = np.where(np.abs(score) < _MIDDLE, 0.5 + _MIDDLE / 2, tails)
        # Where no exponent reaches the point, Chernoff's bound with the largest one does.
        missed = np.abs(at.slope - points) > 1e-3 * np.sqrt(np.maximum(at.curvature, 1e-300))
        tails = np.where(missed, np.where(t > 0, np.exp(-depth), 1.0), tails)
        return np.clip(_INFLATED * tails + _ROUNDING, 0, 1)

    @property
    def step(self) -> int:
        """The step of the lattice on which the count lies."""
        return self._units[1]

    def _saddlepoints(self, shares: Floats, points: Floats) -> Floats:
        """Return the exponents at which the mean of the tilted count is the point: Newton in a bracket."""
        most = min(law.largest_exponent for law, _ in self._parts)
        low, high = np.full(len(points), -most), np.full(len(points), most)
        t = np.zeros(len(points))
        for _ in range(_NEWTON):
            at = self.cumulants(shares, t)
            away = points - at.slope
            if (away**2 <= _SETTLED * at.curvature).all():  # more would change the tail by no more than this
                break
            low, high = np.where(away > 0, t, low), np.where(away > 0, high, t)
            with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
                ahead = t + away / at.curvature
            t = np.where((ahead > low) & (ahead < high), ahead, (low + high) / 2)
        return t


def _log_characteristic(outcomes: Counts, chances: Floats, size: int) -> Complex:
    """Return logarithms of characteristic functions at the angles of a transform, a row for each law.

    They are exact to rounding also where one outcome, 0, is nearly sure: many people
    multiply what is left of them.
    """
    if len(outcomes) <= _FEW:
        angles = 2 * np.pi * (np.multiply.outer(outcomes, np.arange(size // 2 + 1)) % size) / size
        excess = chances @ np.expm1(1j * angles)
    else:
        rest = np.zeros((len(chances), size))
        for outcome, column in zip(outcomes.tolist(), chances.T, strict=True):
            rest[:, outcome % size] += column if outcome else 0.0
        excess = np.conj(np.fft.rfft(rest, axis=1)) - rest.sum(axis=1, keepdims=True)
    real = 2 * excess.real + excess.real**2 + excess.imag**2  # of |1 + excess|**2 - 1
    with np.errstate(divide="ignore"):
        length = np.log1p(np.maximum(real, -1.0)) / 2
    # Finite, so that nobody times it is nothing.
    return np.asarray(np.maximum(length, -1e5) + 1j * np.angle(1 + excess))
