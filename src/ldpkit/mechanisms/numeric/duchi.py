"""Duchi's mechanism: one of two numbers, with a probability that is linear in the value."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from ldpkit.core.cached import cached_property
from ldpkit.core.exact import WORD, exp_bounds, log_up
from ldpkit.core.random import RandomSource
from ldpkit.core.typing import Indices, Reports
from ldpkit.mechanisms.base import register
from ldpkit.mechanisms.cells.law import Law, Placement
from ldpkit.mechanisms.numeric.mechanism import NumericMechanism

__all__ = ["Coin", "CompressedDuchi", "Duchi"]


@dataclass(frozen=True)
class Coin:
    """The integers of a coin whose chance grows evenly from 1 / (e^eps + 1) to e^eps / (e^eps + 1).

    Examples
    --------
    >>> coin = Coin(8, 1.0)
    >>> 2 * coin.base + 8 * coin.slope == 2**64
    True
    >>> 1 - 1e-15 < coin.epsilon() <= 1
    True
    """

    steps: int
    target: float
    total: int = WORD

    @cached_property
    def slope(self) -> int:
        """By how much the threshold grows at every step, rounded down."""
        low, _ = exp_bounds(self.target)
        ideal = self.total * (low - 1) / (low + 1) / self.steps
        return ideal.numerator // ideal.denominator

    @property
    def base(self) -> int:
        """The threshold for the lowest value."""
        return (self.total - self.steps * self.slope) // 2

    def weights(self, place: int) -> tuple[int, int]:
        """Return the weights of the lower and the upper side for a place."""
        up = self.base + self.slope * place
        return self.total - up, up

    def form(self) -> dict[str, Any]:
        """Return the form of the sampler, if the coin has all words."""
        return {"form": "coin", "grid": self.steps, "base": str(self.base), "slope": str(self.slope)}

    def epsilon(self) -> float:
        """Return the realised epsilon, rounded up."""
        return log_up(Fraction(self.base + self.steps * self.slope, self.base))

    @property
    def points(self) -> tuple[Fraction, Fraction]:
        """The two numbers for which the mean report is the value, with low at 0 and high at 1."""
        rise = self.steps * self.slope
        return Fraction(-self.base, rise), Fraction(self.total - self.base, rise)


@register
class Duchi(NumericMechanism):
    """Duchi's mechanism for one number.

    On [-1, 1] the report is B or -B, B = (e^eps+1) / (e^eps-1), and its mean is the value.

    Utility: variance B^2 - x^2 on [-1, 1]; the best in the worst case for eps < 0.61.
    Runtime: O(1) a user, one byte a report; memory O(1). It tells nothing but the mean.
    Citation: Duchi, Jordan, Wainwright (JASA 2018).

    Examples
    --------
    >>> import ldpkit
    >>> mechanism = ldpkit.get("duchi", (-1, 1), epsilon=1)
    >>> points, chances = mechanism.atoms(0.5)
    >>> points.round(4).tolist(), chances.round(4).tolist()
    ([-2.164, 2.164], [0.3845, 0.6155])
    """

    name = "duchi"
    title = "Duchi's mechanism"
    capabilities = NumericMechanism.capabilities | {"linear", "unbiased", "client"}
    citation = (
        "Duchi, Jordan, Wainwright: Minimax optimal procedures for locally private estimation. JASA 2018"
    )

    @cached_property
    def coin(self) -> Coin:
        """The sampler's integers."""
        return Coin(self.grid, self.epsilon)

    @property
    def cells(self) -> int:
        return 0

    @property
    def placement(self) -> Placement:
        return Fraction(0), Fraction(1)

    @property
    def atom_points(self) -> tuple[Fraction, ...]:
        return self.coin.points

    def law(self, place: int) -> Law:
        return Law(np.zeros(1, np.int64), np.zeros(0, object), self.coin.total, self.coin.weights(place))

    def exact_epsilon(self) -> float:
        return self.coin.epsilon()

    def _form(self) -> dict[str, Any]:
        return self.coin.form()

    def _randomise(self, places: Indices, source: RandomSource) -> Reports:
        from ldpkit.mechanisms.kernels.pieces import coin

        reports = np.empty(len(places), self.report_dtype)
        base, slope = np.uint64(self.coin.base), np.uint64(self.coin.slope)
        coin(source.words(len(places)), places, base, slope, reports)
        return reports


@register
class CompressedDuchi(Duchi):
    """Duchi's mechanism, its two numbers compressed into the domain: 1 / (1+e^eps) and e^eps / (1+e^eps).

    Utility: squared error at most e^eps / (1+e^eps)^2 on [0, 1]. For
    eps <= ln(3 + 2 sqrt 2) = 1.76 no eps-LDP mechanism does better in the worst case. The
    bias is linear, so the mean is estimated exactly as well as from Duchi's own reports.
    Runtime: O(1) a user, one byte a report; memory O(1). It tells nothing but the mean.
    Citation: Duchi, Jordan, Wainwright (JASA 2018), for a single number.

    Examples
    --------
    >>> import math, ldpkit
    >>> mechanism = ldpkit.get("compressed_duchi", (0, 1), epsilon=1)
    >>> round(mechanism.error(0.0, 2), 6), round(math.e / (1 + math.e) ** 2, 6)
    (0.196612, 0.196612)
    """

    name = "compressed_duchi"
    aliases = ("duchi_c",)
    title = "Duchi's mechanism, compressed"
    capabilities = NumericMechanism.capabilities | {"linear", "client"}

    @property
    def atom_points(self) -> tuple[Fraction, ...]:
        low = Fraction(self.coin.base, self.coin.total)
        return low, 1 - low
