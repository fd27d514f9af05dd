"""Mechanisms that are a window around the value and nothing else, on a line or a circle."""

from __future__ import annotations

import abc
from fractions import Fraction
from typing import ClassVar, Literal

import numpy as np

from ldpkit.core.cached import cached_property
from ldpkit.core.random import RandomSource
from ldpkit.core.typing import Indices, Reports
from ldpkit.mechanisms.cells.law import Law
from ldpkit.mechanisms.cells.mechanism import CellMechanism
from ldpkit.mechanisms.cells.window import Window

__all__ = ["Windowed"]


class Windowed(CellMechanism):
    """A mechanism whose report is e^eps times as likely in a window as elsewhere."""

    stand: ClassVar[Literal["slide", "clamp", "wrap"]] = "slide"
    """How the window stands to the value, as in `Window`."""

    @property
    @abc.abstractmethod
    def width_ratio(self) -> Fraction:
        """The ideal width of the window, in units of the grid of values or as a part of the circle."""

    @cached_property
    def window(self) -> Window:
        """The sampler's integers."""
        return Window(self.grid, self.width_ratio, self.epsilon, stand=self.stand)

    def law(self, place: int) -> Law:
        return self.window.law(place)

    def exact_epsilon(self) -> float:
        return self.window.epsilon()

    def _randomise(self, places: Indices, source: RandomSource) -> Reports:
        reports = np.empty(len(places), self.report_dtype)
        self.window.draw(source.words(len(places)), places, reports)
        return reports
