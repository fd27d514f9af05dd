"""Circular mechanisms whose chance falls smoothly with the arc: one row of a table, turned to the value.

A report is some cells away from the value, to either side alike: one random word chooses
the distance by its leading bits and the side by its last. The weights are made in integers
and decimals, so that they are the same on every machine; they are even, sum to 2**64, and
the largest is at most e^eps times the smallest.
"""

from __future__ import annotations

import abc
import math
from collections.abc import Sequence
from decimal import Context, Decimal, localcontext
from fractions import Fraction
from itertools import accumulate
from typing import Any

import numpy as np

from ldpkit.core.cached import cached_property
from ldpkit.core.exact import WORD, exp_bounds, log_up
from ldpkit.core.random import RandomSource
from ldpkit.core.typing import Indices, Reports, Words
from ldpkit.mechanisms.base import register
from ldpkit.mechanisms.cells.law import Law
from ldpkit.mechanisms.circular.mechanism import CircularMechanism
from ldpkit.mechanisms.forms import check_table, words

__all__ = ["Circulant", "Purkayastha", "VonMises"]

_DECIMAL = Context(prec=40)
_ONE = 1 << 128  # one, in the integers that cosines are made of
_GUIDE_BITS = 12


class Circulant(CircularMechanism):
    """A circular mechanism that is given by its log-density as a function of the distance."""

    capabilities = CircularMechanism.capabilities | {"client"}
    default_grid = 1 << 12

    @abc.abstractmethod
    def _depths(self) -> Sequence[Fraction]:
        """Return how far the log-density lies below its top, from 0 to 1, for each distance in cells."""

    @cached_property
    def weights(self) -> tuple[int, ...]:
        """The weight over 2**63 of a cell of either side, by its distance from the value."""
        # The stated epsilon, less what rounding can add to the ratio of two weights.
        room = Fraction(1, 10**9) + 8 * self.grid * exp_bounds(self.epsilon)[1] / WORD
        with localcontext(_DECIMAL):
            target = _decimal(Fraction(self.epsilon) - room)
            heights = [int((-target * _decimal(depth)).exp() * _ONE) for depth in self._depths()]
        whole = sum(heights)
        weights = [height * (WORD // 2) // whole for height in heights]
        weights[0] += WORD // 2 - sum(weights)
        return tuple(weights)

    def law(self, place: int) -> Law:
        edges = np.arange(self.cells + 1, dtype=np.int64)
        turned = np.roll(self._both_sides, 2 * place)
        return Law(edges, turned.astype(object), WORD, heights=turned / WORD)

    @cached_property
    def _both_sides(self) -> Words:
        """The weight over 2**64 of every cell for a value at place 0."""
        side = np.array(self.weights, np.uint64)
        return np.concatenate([side, side[::-1]])

    def exact_epsilon(self) -> float:
        return log_up(Fraction(max(self.weights), min(self.weights)))

    @cached_property
    def _bounds(self) -> tuple[Words, Indices]:
        """The least word of each distance, and the distance to begin with for the first bits of a word."""
        bounds = [0, *accumulate(2 * weight for weight in self.weights)][:-1]
        firsts = np.arange(1 << _GUIDE_BITS, dtype=np.uint64) << np.uint64(64 - _GUIDE_BITS)
        words = np.array(bounds, np.uint64)
        return words, (np.searchsorted(words, firsts, "right") - 1).astype(np.uint32)

    def _form(self) -> dict[str, Any]:
        check_table(len(self.weights), self)
        return {"form": "turned", "grid": self.grid, "weights": words(self.weights)}

    def _randomise(self, places: Indices, source: RandomSource) -> Reports:
        from ldpkit.mechanisms.kernels.pieces import turned

        reports = np.empty(len(places), self.report_dtype)
        turned(source.words(len(places)), places, *self._bounds, self.cells - 1, reports)
        return reports


@register
class Purkayastha(Circulant):
    """The Purkayastha mechanism on a circle: the chance falls exponentially with the arc.

    The density is proportional to e^(-eps d / h), d being the shorter arc to the value and
    h half the period: the Laplace mechanism of the circle.

    Utility: the mean arc is h (1/eps - 1/(e^eps-1)), more than that of circular OGPM.
    Runtime: O(log 4096) a user, O(1) a report; memory 64 kB on the device.
    Citation: Weggenmann, Kerschbaum (CCS 2021), for the sphere in two dimensions.

    Examples
    --------
    >>> import math, ldpkit
    >>> mechanism = ldpkit.get("purkayastha", 2 * math.pi, epsilon=2)
    >>> round(mechanism.error(1.0), 3), round(math.pi / 2 - math.pi / (math.exp(2) - 1), 3)
    (1.079, 1.079)
    """

    name = "purkayastha"
    title = "Purkayastha mechanism"
    citation = "Weggenmann, Kerschbaum: Differential privacy for directional data. CCS 2021"

    def _depths(self) -> Sequence[Fraction]:
        return [Fraction(distance, self.grid - 1) for distance in range(self.grid)]


@register
class VonMises(Circulant):
    """The von Mises mechanism: the normal law of the circle, around the value.

    The density is proportional to e^(eps cos(a) / 2), a being the angle to the value.

    Utility: a larger mean arc than that of circular OGPM, from a density without edges.
    Runtime: O(log 4096) a user, O(1) a report; memory 64 kB on the device.
    Citation: Weggenmann, Kerschbaum (CCS 2021).

    Examples
    --------
    >>> import ldpkit
    >>> mechanism = ldpkit.get("von_mises", 360, epsilon=2)
    >>> round(mechanism.resultant(), 4)  # I1(1) / I0(1)
    0.4464
    """

    name = "von_mises"
    aliases = ("vmf",)
    title = "Von Mises mechanism"
    citation = Purkayastha.citation

    def _depths(self) -> Sequence[Fraction]:
        cosines = _cosines(self.grid)
        top, bottom = cosines[0], cosines[-1]
        return [Fraction(top - cosine, top - bottom) for cosine in cosines]


def _cosines(cells: int) -> list[int]:
    """Return the cosines at the middles of so many cells of a half circle, in integers of 128 bits.

    The first comes from halving the right angle again and again, the others by turning on.
    """
    cosine = 0  # of a right angle
    for _ in range(cells.bit_length() - 1):
        cosine = math.isqrt((_ONE + cosine) * _ONE // 2)
    step = 2 * cosine * cosine // _ONE - _ONE  # twice the half cell that was reached
    found = [cosine, (2 * step - _ONE) * cosine // _ONE]
    while len(found) < cells:
        found.append(2 * step * found[-1] // _ONE - found[-2])
    return found


def _decimal(number: Fraction) -> Decimal:
    return Decimal(number.numerator) / Decimal(number.denominator)
