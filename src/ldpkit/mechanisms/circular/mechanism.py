"""What every circular mechanism is: a value of a circle goes in, a cell of the circle comes out.

The value stands on one of `grid` points around the circle, a power of two, and a report is
one of twice as many cells. No value is special: the law of a report turns with the value,
cell by cell, so what holds at one place holds at all of them.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from ldpkit.core.domains.circle import CircleDomain, CircleLike, as_circle
from ldpkit.core.random import RandomSource, resolve
from ldpkit.core.typing import Floats, Reports, Values
from ldpkit.mechanisms.cells.law import Law, Placement
from ldpkit.mechanisms.cells.mechanism import CellMechanism
from ldpkit.mechanisms.tally import CircularTally

__all__ = ["CircularMechanism", "arc_integral"]


class CircularMechanism(CellMechanism):
    """A mechanism that reports a noisy place on a circle.

    A new one is a file with a subclass that gives `law`, `exact_epsilon` and `_randomise`.
    Its law must turn with the value and be symmetric about it: the contract suite checks
    both, and estimates rely on them.

    Parameters
    ----------
    domain : CircleDomain or float
        The circle of values, or its period.
    epsilon : float
        The privacy budget.
    grid : int
        The points of the input grid, a power of two. The default is right for every use;
        a small grid lets an audit list the whole channel.

    Examples
    --------
    >>> import ldpkit
    >>> mechanism = ldpkit.get("circular_ogpm", 24, epsilon=2.0)
    >>> isinstance(mechanism, CircularMechanism), round(float(mechanism.error(23.5)), 3)
    (True, 3.227)
    """

    kind = "circular"
    domain_type = CircleDomain
    domain: CircleDomain
    default_estimator: ClassVar[str] = "direction"

    def __init__(self, domain: CircleLike, epsilon: float, *, grid: int | None = None) -> None:
        self._settle(as_circle(domain), epsilon, grid)

    @property
    def cells(self) -> int:
        return 2 * self.grid

    @property
    def place_count(self) -> int:
        return self.grid

    @property
    def placement(self) -> Placement:
        return Fraction(0), Fraction(1, self.cells)

    # --- the device --------------------------------------------------------------------

    def privatize(self, values: Values, *, rng: RandomSource | None = None, wrap: bool = False) -> Reports:
        """Return one report for each value.

        Parameters
        ----------
        values : array, sequence or column
            Numbers of the turn. Anything else is refused before any randomness is drawn.
        rng : RandomSource, optional
            Secure randomness by default; `ldpkit.random.seeded` for a repeatable run.
        wrap : bool
            True wraps values outside around the circle; a warning says how many.

        Returns
        -------
        array
            Indices of cells; `values_of` turns them into numbers.
        """
        places = self.domain.place(self.domain.take(values, wrap=wrap), self.grid)
        return self._reports(places, resolve(rng))

    def privatize_chunks(
        self, values: Values, *, rng: RandomSource | None = None, wrap: bool = False
    ) -> Iterator[Reports]:
        """Yield the reports of `privatize` in chunks, so that they never fill the memory."""
        places = self.domain.place(self.domain.take(values, wrap=wrap), self.grid)
        return self._chunks(places, resolve(rng))

    def privatize_stream(
        self, pieces: Iterable[Values], *, rng: RandomSource | None = None, wrap: bool = False
    ) -> Iterator[Reports]:
        """Yield the reports of `privatize` for values that come piece by piece, in any number."""
        places = (self.domain.place(self.domain.take(piece, wrap=wrap), self.grid) for piece in pieces)
        return self._stream(places, resolve(rng))

    # --- the law -----------------------------------------------------------------------

    def pdf(self, y: Any, x: Any) -> Any:
        """Return the density of a report at y, anywhere around the circle, for the value x."""
        turned = self.domain.low + np.mod(np.asarray(y, float) - self.domain.low, self.domain.period)
        return super().pdf(turned, x)

    def error(self, x: Any, power: float = 1.0) -> Any:
        """Return the expected power of the shorter arc between a report and the value x, exactly."""
        unit = self._unit(power)

        def expected(law: Law, value: float, _: Floats) -> float:
            away = law.edges / self.cells - self._share(value)
            return float(law.heights @ np.diff(arc_integral(away, power))) * self.cells * unit

        return self._each(x, None, expected)

    def variance(self, x: Any) -> Any:
        """Return the mean square of the shorter arc from the mean direction to a report for the value x."""

        def about_mean(law: Law, _: float, __: Floats) -> float:
            away = law.edges / self.cells - np.angle(_moment(law, self.cells)) / (2 * math.pi)
            spread = float(law.heights @ np.diff(arc_integral(away, 2.0))) * self.cells
            return spread * self.domain.period**2

        return self._each(x, None, about_mean)

    def bias(self, x: Any) -> Any:
        """Return how far the mean direction of a report is from the value x: at most half a grid step."""

        def gap(law: Law, value: float, _: Floats) -> float:
            turn = np.angle(_moment(law, self.cells)) / (2 * math.pi) - self._share(value)
            return float((turn + 0.5) % 1.0 - 0.5) * self.domain.period

        return self._each(x, None, gap)

    def resultant(self, order: int = 1) -> float:
        """Return the mean of cos(order * angle) for the angle between a report and its value.

        For order 1 that is the mean resultant length of a report: 1 where it is the value,
        0 where it tells nothing of the direction.
        """
        return float(_moment(self.law(0), self.cells, order).real)

    def tally(self, reports: Reports) -> CircularTally:
        """Return the binned counts of some reports."""
        return CircularTally(self, *self._counted(reports))


def arc_integral(shares: Floats, power: float) -> Floats:
    """Return the integral of the power of the shorter arc from 0, over a circle of length 1, up to shares."""
    turns = np.floor(shares)
    rest = shares - turns
    order = power + 1
    half = 0.5**order / order
    within = np.where(rest <= 0.5, rest**order / order, 2 * half - (1 - rest) ** order / order)
    return np.asarray(2 * half * turns + within)


def _moment(law: Law, cells: int, order: int = 1) -> complex:
    """Return the mean of e^(i order angle) over a law, the mass of a cell being spread evenly over it."""
    speed = 2j * math.pi * order / cells
    return complex(law.heights @ np.diff(np.exp(speed * law.edges)) / speed)
