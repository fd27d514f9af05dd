"""The hybrid mechanism: PM for some people, Duchi's for the others."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from ldpkit.core.cached import cached_property
from ldpkit.core.exact import WORD, exp_bounds
from ldpkit.core.random import RandomSource
from ldpkit.core.typing import Indices, Reports
from ldpkit.mechanisms.base import register
from ldpkit.mechanisms.cells.law import Law, Placement
from ldpkit.mechanisms.cells.window import Window
from ldpkit.mechanisms.numeric.duchi import Coin
from ldpkit.mechanisms.numeric.mechanism import NumericMechanism
from ldpkit.mechanisms.numeric.piecewise import PM, piecewise_ratio

__all__ = ["HM"]

_SWITCH = 0.609352  # below this epsilon PM does not help: HM and Duchi cross here in the worst case


@register
class HM(NumericMechanism):
    """The hybrid mechanism: unbiased, with the same variance for every value.

    PM with probability 1 - e^(-eps/2) and Duchi's mechanism otherwise; for
    eps <= 0.609 always Duchi's. The report says which of the two made it.

    Utility: for eps > 0.609 variance
    (s+3) / (3 s (s-1)) + (e^eps+1)^2 / (s (e^eps-1)^2) on [-1, 1], s = e^(eps/2).
    Runtime: O(1) a user, O(1) a report; memory O(1).
    Citation: Wang et al. (ICDE 2019).

    Examples
    --------
    >>> import ldpkit
    >>> mechanism = ldpkit.get("hm", (-1, 1), epsilon=1)
    >>> mechanism.variance([0.0, 1.0]).round(4).tolist()
    [4.289, 4.289]
    """

    name = "hm"
    aliases = ("hybrid",)
    title = "Hybrid mechanism"
    capabilities = NumericMechanism.capabilities | {"linear", "unbiased", "client"}
    citation = PM.citation

    @cached_property
    def coin(self) -> Coin:
        """The integers of Duchi's part: the words below its total."""
        if self.epsilon <= _SWITCH:
            return Coin(self.grid, self.epsilon)
        ideal = WORD / exp_bounds(Fraction(self.epsilon) / 2)[0]
        return Coin(self.grid, self.epsilon, 2 * int(ideal / 2))

    @cached_property
    def window(self) -> Window | None:
        """The integers of PM's part: the other words; None if there are none."""
        if self.coin.total == WORD:
            return None
        return Window(self.grid, piecewise_ratio(self), self.epsilon, WORD - self.coin.total)

    def details(self) -> dict[str, float]:
        return {"pm_share": 1 - self.coin.total / WORD}

    @property
    def cells(self) -> int:
        return 0 if self.window is None else self.window.cells

    @property
    def placement(self) -> Placement:
        return (Fraction(0), Fraction(1)) if self.window is None else self.window.unbiased

    @property
    def atom_points(self) -> tuple[Fraction, ...]:
        return self.coin.points

    def law(self, place: int) -> Law:
        sides = self.coin.weights(place)
        if self.window is None:
            return Law(np.zeros(1, np.int64), np.zeros(0, object), WORD, sides)
        part = self.window.law(place)
        return Law(part.edges, part.weights, WORD, sides)

    def exact_epsilon(self) -> float:
        return max(self.coin.epsilon(), self.window.epsilon() if self.window else 0.0)

    def _form(self) -> dict[str, Any]:
        if self.window is None:
            return self.coin.form()
        inside, outside = self.window.weights
        levels = {"width": self.window.width, "inside": str(inside), "outside": str(outside)}
        return {**self.coin.form(), "form": "hybrid", **levels}

    def _randomise(self, places: Indices, source: RandomSource) -> Reports:
        from ldpkit.mechanisms.kernels.pieces import coin, hybrid

        reports = np.empty(len(places), self.report_dtype)
        words, base, slope = source.words(len(places)), np.uint64(self.coin.base), np.uint64(self.coin.slope)
        if self.window is None:
            coin(words, places, base, slope, reports)
        else:
            coins, cells = np.uint64(self.coin.total), np.uint64(self.cells)
            width, inside, outside = map(np.uint64, (self.window.width, *self.window.weights))
            hybrid(words, places, coins, base, slope, width, inside, outside, cells, reports)
        return reports
