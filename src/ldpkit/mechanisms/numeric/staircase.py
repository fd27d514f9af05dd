"""The staircase mechanism: noise in two levels a block, the best additive noise."""

from __future__ import annotations

from fractions import Fraction

from ldpkit.core.cached import cached_property
from ldpkit.core.exact import exp_bounds, two_levels
from ldpkit.mechanisms.base import register
from ldpkit.mechanisms.numeric.noise import BlockNoise, NoiseMechanism

__all__ = ["Staircase"]


@register
class Staircase(NoiseMechanism):
    """The staircase mechanism with the step that is best for the absolute error.

    In every block as wide as the domain, the density of the noise falls by e^eps after a
    share gamma = 1 / (1 + e^(eps/2)) of it. It reaches 44/eps blocks beyond the domain;
    what lies farther, with probability below 2**-63, is reported as that end.

    Utility: unbiased, absolute error e^(eps/2) / (e^eps - 1) of the width for every
    value, the least that noise added to the value can have.
    Runtime: O(1) a user, O(1) a report; memory O(1/eps).
    Citation: Geng, Viswanath (ISIT 2014).

    Examples
    --------
    >>> import ldpkit
    >>> mechanism = ldpkit.get("staircase", (0, 1), epsilon=2)
    >>> round(mechanism.error(0.3), 6)
    0.425459
    """

    name = "staircase"
    title = "Staircase mechanism"
    citation = "Geng, Viswanath: The optimal mechanism in differential privacy. ISIT 2014"

    @cached_property
    def gamma(self) -> Fraction:
        """The share of a block that lies on the upper level."""
        ideal = self.grid / (1 + exp_bounds(Fraction(self.epsilon) / 2)[0])
        return Fraction(min(max(round(ideal), 1), self.grid - 1), self.grid)

    def details(self) -> dict[str, float]:
        return {"gamma": float(self.gamma)}

    @cached_property
    def noise(self) -> BlockNoise:
        upper = int(self.gamma * self.grid)
        lengths = (upper, self.grid - upper)
        return BlockNoise(self.grid, self.epsilon, lengths, two_levels(*lengths, self.epsilon))
