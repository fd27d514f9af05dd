"""Numeric mechanisms that are a window: it slides or is clamped, and may be truncated."""

from __future__ import annotations

import abc
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from ldpkit.core.cached import cached_property
from ldpkit.core.errors import InvalidParameterError
from ldpkit.core.exact import log_up
from ldpkit.core.random import RandomSource
from ldpkit.core.typing import Indices, Reports
from ldpkit.mechanisms.cells.law import Law, Placement
from ldpkit.mechanisms.cells.window import Windowed
from ldpkit.mechanisms.numeric.mechanism import NumericMechanism

__all__ = ["Clamped", "Compressed", "Truncated", "WindowMechanism"]


class WindowMechanism(Windowed, NumericMechanism):
    """A numeric mechanism that is a window and nothing else.

    Examples
    --------
    >>> import ldpkit
    >>> isinstance(ldpkit.SW((0, 1), epsilon=1), WindowMechanism)
    True
    """

    capabilities: ClassVar[frozenset[str]] = NumericMechanism.capabilities | {"linear", "client"}


class Compressed(WindowMechanism):
    """A window whose range is the domain."""

    @property
    def placement(self) -> Placement:
        return Fraction(0), Fraction(1, self.cells)


class Clamped(Compressed):
    """A window of the cells nearest to the value, on the domain itself: nothing leaves it.

    Near an end the window cannot be centred on the value, and all values within half its
    width of that end have the same law of reports.
    """

    capabilities = NumericMechanism.capabilities | {"client"}

    stand = "clamp"

    @property
    def indistinct(self) -> tuple[tuple[float, float], ...]:
        reach = self.window.width / (2 * self.cells) * self.domain.width
        return (self.domain.low, self.domain.low + reach), (self.domain.high - reach, self.domain.high)

    def details(self) -> dict[str, float]:
        inside, _ = self.window.weights
        return {
            "width": self.window.width / self.cells,
            "height": self.cells * inside / self.window.total,
        }


class Truncated(WindowMechanism):
    """A window whose report is moved to the nearest end of the domain if it lies outside.

    Cells that reach beyond an end go to an atom there. This is post-processing, and the
    cells that stay still tell a value inside the window from one outside, so the
    realised epsilon is that of the window. Only on a grid so small that no cell stays,
    the atoms alone decide.
    """

    capabilities = NumericMechanism.capabilities | {"client"}

    @property
    @abc.abstractmethod
    def inner_placement(self) -> Placement:
        """Where the cells stand before truncation."""

    @cached_property
    def kept(self) -> tuple[int, int]:
        """The first cell that stays and the one after the last."""
        origin, step = self.inner_placement
        first, last = -origin / step, (1 - origin) / step
        return -(-first.numerator // first.denominator), last.numerator // last.denominator

    @property
    def cells(self) -> int:
        first, last = self.kept
        return last - first

    @property
    def placement(self) -> Placement:
        origin, step = self.inner_placement
        return origin + self.kept[0] * step, step

    @property
    def atom_points(self) -> tuple[Fraction, ...]:
        return Fraction(0), Fraction(1)

    def law(self, place: int) -> Law:
        return self.window.law(place).clamp(*self.kept)

    def exact_epsilon(self) -> float:
        if self.cells:
            return self.window.epsilon()
        lowest, highest = self.law(0).atoms, self.law(self.grid).atoms
        return log_up(max(Fraction(lowest[0], highest[0]), Fraction(highest[1], lowest[1])))

    def _form(self) -> dict[str, Any]:
        if not self.cells:
            raise InvalidParameterError(f"no cell of {self!r} lies within the domain: leave out the grid")
        return {**super()._form(), "kept": [self.kept[0], self.cells]}

    def _randomise(self, places: Indices, source: RandomSource) -> Reports:
        from ldpkit.mechanisms.kernels.pieces import truncate

        cells = np.empty(len(places), np.uint32)
        self.window.draw(source.words(len(places)), places, cells)
        truncate(cells, self.kept[0], self.cells)
        return cells.astype(self.report_dtype, copy=False)
