"""Laplace noise on a grid of integers, with exact probabilities over 2**64.

A coordinate that is 0 or 1 is counted in steps of 1/grid, gets two-sided geometric noise
(the Laplace law on the grid) and is clamped to -reach..grid+reach. Clamping is
post-processing, and makes the law a finite table of integers: one random word looks its
noise up. The table of a coordinate that is 1 is the mirror image of that of a 0.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from ldpkit.core.cached import cached_property
from ldpkit.core.exact import WORD, exp_bounds, log_up
from ldpkit.core.typing import Counts

__all__ = ["GridLaplace"]

_STEPS = 64  # about so many steps in one scale of the noise, so that the grid is not felt
_BITS = 256  # of the fixed-point arithmetic in which the table is computed
_ONE = 1 << _BITS
_LIGHTEST = 38  # no entry is lighter than about 2**-38: as integers over 2**64, rounding costs 2**-26


@dataclass(frozen=True)
class GridLaplace:
    """The law of one coordinate that is 0, in integers.

    Parameters
    ----------
    epsilon : float
        The epsilon of a vector in which two coordinates change between two values.

    Examples
    --------
    >>> law = GridLaplace(1.0)
    >>> law.grid, law.reach, sum(law.weights) == 2**64
    (64, 2598, True)
    >>> 1 - 1e-6 < law.exact_epsilon() <= 1
    True
    >>> round(float(law.variance), 3)                       # 8 / epsilon**2
    8.0
    """

    epsilon: float

    @cached_property
    def grid(self) -> int:
        """How many steps the distance from 0 to 1 has: a power of two, at least 2."""
        return 1 << max(1, math.frexp(_STEPS / 2 * self.epsilon)[1])

    @property
    def reach(self) -> int:
        """How far the table goes beyond 0 and 1, in steps."""
        return len(self._powers) - 1 - self.grid

    @cached_property
    def _decay(self) -> int:
        """The fixed-point ratio of an outcome to the one before, rounded up."""
        low, _ = exp_bounds(Fraction(self.epsilon) / (2 * self.grid))
        return -(-_ONE * low.denominator // low.numerator)

    @cached_property
    def _powers(self) -> list[int]:
        """The fixed-point powers of the decay, each rounded up, down to the lightest entry."""
        lightest = (_ONE + self._decay) * _ONE // (_ONE - self._decay) >> _LIGHTEST
        powers = [_ONE]
        while powers[-1] > lightest:
            powers.append(-(-powers[-1] * self._decay >> _BITS))
        return powers

    @cached_property
    def weights(self) -> list[int]:
        """The probability over 2**64 of each outcome from -reach to grid + reach.

        The ratio of an outcome to its mirror image must be at most e**(epsilon/2). Decay
        is rounded up at every step, so ideal ratios keep that; then the likelier of the
        two is rounded down and the other one up. What is left over goes to the middle,
        which is its own mirror image.
        """
        powers, reach = self._powers, self.reach
        tail = _ONE - self._decay  # a whole tail is its first outcome divided by this
        left, right = powers[reach] * _ONE // tail, -(-powers[-1] * _ONE // tail)
        ideal = [left, *powers[reach - 1 : 0 : -1], *powers[:-1], right]
        total, middle = sum(ideal), reach + self.grid // 2
        heavier = [WORD * weight // total for weight in ideal[:middle]]
        lighter = [-(-WORD * weight // total) for weight in ideal[middle + 1 :]]
        return [*heavier, WORD - sum(heavier) - sum(lighter), *lighter]

    def exact_epsilon(self) -> float:
        """Return the realised epsilon: one coordinate falls from 1 to 0, another rises."""
        high, low = 1, 1
        for weight, mirrored in zip(self.weights, reversed(self.weights), strict=True):
            if weight * low > high * mirrored:  # a fraction for each of them would take seconds
                high, low = weight, mirrored
        return log_up(Fraction(high, low) ** 2)

    @cached_property
    def mean(self) -> Fraction:
        """The exact mean, in units of the distance from 0 to 1; 0 but for the clamping."""
        return self._moment(1)

    @cached_property
    def variance(self) -> Fraction:
        """The exact variance, in squares of that unit: about 8 / epsilon**2."""
        return self._moment(2) - self.mean**2

    def _moment(self, power: int) -> Fraction:
        outcomes = range(-self.reach, self.grid + self.reach + 1)
        total = sum(weight * outcome**power for weight, outcome in zip(self.weights, outcomes, strict=True))
        return Fraction(total, WORD * self.grid**power)

    def sample_sums(self, people: Counts, generator: np.random.Generator) -> Counts:
        """Draw the sum of so many outcomes, for each entry of an array, without drawing them one by one.

        The outcomes are cut into blocks of 2**m neighbours that decay in one direction.
        Within a block, the binary digits of the distance from its start are independent,
        so how many people fall into each block is a multinomial draw, and for each digit
        a binomial draw says how many of them have it.
        """
        blocks = self._blocks
        chances = np.array([self._mass(*block) for block in blocks])
        crowds = generator.multinomial(people, chances / chances.sum())
        sums = np.zeros(np.shape(people), np.int64)
        for crowd, (start, away, digits) in zip(np.moveaxis(crowds, -1, 0), blocks, strict=True):
            sums += start * crowd
            for digit in range(digits):
                chance = 1 / (1 + math.exp((self.epsilon / (2 * self.grid)) * 2**digit))
                sums += away * 2**digit * generator.binomial(crowd, chance)
        return sums

    @cached_property
    def _blocks(self) -> list[tuple[int, int, int]]:
        """Blocks of outcomes: the one nearest to zero, the direction away from zero, log2 of the length."""
        blocks = [(-self.reach, -1, 0), (self.grid + self.reach, 1, 0)]
        for start, away, length in ((0, 1, self.grid + self.reach), (-1, -1, self.reach - 1)):
            for digits in range(length.bit_length()):
                if length >> digits & 1:
                    blocks.append((start, away, digits))
                    start += away << digits
        return blocks

    def _mass(self, start: int, away: int, digits: int) -> float:
        first = self.reach + (start if away > 0 else start + 1 - (1 << digits))
        return float(Fraction(sum(self.weights[first : first + (1 << digits)]), WORD))
