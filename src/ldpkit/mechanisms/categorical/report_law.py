"""The law of a count: what one report adds to it, from a person who holds the value or does not.

The count of a value is a sum over people whose reports are independent, so these two
laws say all about it. Intervals are made from them, exactly.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from ldpkit.core.cached import cached_property
from ldpkit.core.typing import Counts, Floats

__all__ = ["Cumulants", "JointLaw", "ReportLaw"]

_FEW = 16  # outcomes: beyond, cumulants are interpolated instead of summed each time
_KNOTS = 65  # an odd number: zero is one of them
_BLOCK = 1 << 12  # outcomes at a time
_FARTHEST = 1.38  # of an exponent in units of 1/deviation; Laplace noise has its pole at 1.414


class Cumulants(NamedTuple):
    """A cumulant generating function, log E exp(t X), with its first two derivatives."""

    value: Floats
    slope: Floats
    curvature: Floats


@dataclass(frozen=True, eq=False)
class ReportLaw:
    """The law of what one report adds to the count of a value.

    Parameters
    ----------
    outcomes : array of int
        What it can add, ascending.
    own, other : array
        The probabilities if the person holds the value, and if not. For an interval a
        holder's report must not tend to add less.

    Examples
    --------
    >>> law = ReportLaw.supporting(0.5, 0.2)
    >>> law.outcomes.tolist(), law.own.tolist(), law.other.tolist()
    ([0, 1], [0.5, 0.5], [0.8, 0.2])
    >>> law.scaled(3).mirrored().outcomes.tolist()
    [-3, 0]
    """

    outcomes: Counts
    own: Floats
    other: Floats

    def __post_init__(self) -> None:
        possible = (np.asarray(self.own) > 0) | (np.asarray(self.other) > 0)
        for name, kind in (("outcomes", np.int64), ("own", float), ("other", float)):
            array = np.asarray(getattr(self, name))[possible].astype(kind)
            array.setflags(write=False)
            object.__setattr__(self, name, array)

    @classmethod
    def supporting(cls, p: float, q: float) -> ReportLaw:
        """Return the law of a pure protocol: a report supports the value or not."""
        return cls(np.array([0, 1]), np.array([1 - p, p]), np.array([1 - q, q]))

    def scaled(self, factor: int) -> ReportLaw:
        """Return the law of a whole multiple, other than zero, of what a report adds."""
        order = slice(None, None, -1 if factor < 0 else 1)
        return ReportLaw(factor * self.outcomes[order], self.own[order], self.other[order])

    def shifted(self, offset: int, unit: int) -> ReportLaw:
        """Return the law in other units: of (added - offset) / unit."""
        return ReportLaw((self.outcomes - offset) // unit, self.own, self.other)

    def rounded_up(self, unit: int) -> ReportLaw:
        """Return the law of what is added in whole units, each report rounded up.

        Examples
        --------
        >>> ReportLaw([-7, 1, 2], [0.2, 0.3, 0.5], [0.5, 0.3, 0.2]).rounded_up(5).outcomes.tolist()
        [-1, 1]
        """
        outcomes, places = np.unique(-(-self.outcomes // unit), return_inverse=True)
        own, other = (np.bincount(places, chances).astype(float) for chances in (self.own, self.other))
        return ReportLaw(outcomes, own, other)

    def mirrored(self) -> ReportLaw:
        """Return the law of the negative, with those who do not hold the value as its holders."""
        negative = self.scaled(-1)
        return ReportLaw(negative.outcomes, negative.other, negative.own)

    @cached_property
    def means(self) -> tuple[float, float]:
        """The means for a holder and for anybody else."""
        return float(self.own @ self.outcomes), float(self.other @ self.outcomes)

    @cached_property
    def moments(self) -> Floats:
        """The second to fourth cumulants, shape (3, 2): for a holder and for anybody else."""
        columns = []
        for chances, mean in zip((self.own, self.other), self.means, strict=True):
            away = self.outcomes - mean
            second, third, fourth = (float(chances @ away**power) for power in (2, 3, 4))
            columns.append((second, third, fourth - 3 * second**2))
        return np.array(columns).T

    @property
    def widest_gap(self) -> int:
        """The largest distance between neighbouring outcomes."""
        return int(np.diff(self.outcomes).max(initial=0))

    def cumulants(self, t: Floats) -> tuple[Cumulants, Cumulants]:
        """Return the cumulant generating functions of a holder and of anybody else at some exponents."""
        if len(self.outcomes) <= _FEW:
            return self._sum(t, self.own), self._sum(t, self.other)
        own, other = (
            Cumulants(whole(t) - zero, slope(t), curvature(t))
            for whole, zero, slope, curvature in self._splines
        )
        return own, other

    def _sum(self, t: Floats, chances: Floats) -> Cumulants:
        # log1p of what exceeds 1: many people multiply the rounding error of a logarithm near zero.
        grown = np.expm1(np.multiply.outer(t, self.outcomes))
        value = np.log1p(grown @ chances)
        grown += 1
        grown *= chances
        total, first = grown.sum(axis=-1), grown @ self.outcomes
        if len(self.outcomes) <= _FEW:
            away = (self.outcomes - (first / total)[..., None]) ** 2
            return Cumulants(value, first / total, (grown * away).sum(axis=-1) / total)
        middle = self.outcomes - self.outcomes[len(self.outcomes) // 2]  # a long table is not near its ends
        slope = grown @ middle / total
        return Cumulants(value, first / total, grown @ middle**2 / total - slope**2)

    @cached_property
    def largest_exponent(self) -> float:
        """How far from zero `cumulants` may be asked."""
        if len(self.outcomes) <= _FEW:
            return 700.0 / max(1.0, float(np.abs(self.outcomes).max()))
        return _FARTHEST / float(np.sqrt(self.moments[0].max()))

    def _tilted(self, step: float) -> list[tuple[Floats, Floats]]:
        """Return slope and curvature of both functions at the knots, which are a step apart.

        Outcomes may be many, so they are taken a block at a time, and the powers of one
        exponential serve for all knots.
        """
        centre, half = sum(self.means) / 2, _KNOTS // 2 + 1
        sums = np.zeros((_KNOTS, 6))
        for start in range(0, len(self.outcomes), _BLOCK):
            some = slice(start, start + _BLOCK)
            away = self.outcomes[some] - centre
            both = (self.own, self.other)
            weights = [chances[some] * away**power for chances in both for power in range(3)]
            below, above = (np.vander(np.exp(sign * step * away), half).T for sign in (-1, 1))
            sums += np.concatenate([below, above[-2::-1]]) @ np.array(weights).T
        made = []
        for total, first, second in (sums[:, :3].T, sums[:, 3:].T):
            mean = first / total
            made.append((centre + mean, second / total - mean**2))
        return made

    @cached_property
    def _splines(self) -> list[tuple[Any, float, Any, Any]]:
        from scipy.interpolate import CubicHermiteSpline

        knots, step = np.linspace(-self.largest_exponent, self.largest_exponent, _KNOTS, retstep=True)
        splines = []
        for slopes, curvatures in self._tilted(float(step)):
            slope = CubicHermiteSpline(knots, slopes, curvatures)
            whole = slope.antiderivative()
            splines.append((whole, float(whole(0.0)), slope, slope.derivative()))
        return splines


@dataclass(frozen=True, eq=False)
class JointLaw:
    """What a report adds to the counts of all values at once, exactly: laws of totals are made from it.

    Parameters
    ----------
    own, other : Fraction
        What a report adds on average to the count of its own value and of any other one.
    size : int or None
        How many values every report supports, uniform but for the own one; None where
        values are supported independently of each other.
    noise : pair of arrays, optional
        Where a report adds noise instead of one or nothing: what it adds to another
        value, and the probabilities. To its own it adds 1 less such a number.

    Examples
    --------
    >>> import ldpkit
    >>> law = ldpkit.GRR(4, epsilon=1).joint_law
    >>> law.size, round(float(law.own), 4)
    (1, 0.4754)
    """

    own: Fraction
    other: Fraction
    size: int | None = None
    noise: tuple[Floats, Floats] | None = None
