"""The Laplace mechanism on an integer grid, and its truncation to the domain."""

from __future__ import annotations

import math
from fractions import Fraction

from ldpkit.core.cached import cached_property
from ldpkit.core.exact import WORD, exp_bounds
from ldpkit.mechanisms.base import register
from ldpkit.mechanisms.numeric.noise import BlockNoise, NoiseMechanism

__all__ = ["Laplace", "TruncatedLaplace", "laplace_noise"]

_STEPS_PER_SCALE = 1024


def laplace_noise(steps: int, epsilon: float) -> BlockNoise:
    """Return discrete Laplace noise in steps of at most 1/1024 of its scale, even within a step."""
    levels = min(steps, 1 << max(1, math.frexp(_STEPS_PER_SCALE * epsilon)[1]))
    low, _ = exp_bounds(Fraction(epsilon) / levels)
    total = WORD // steps * levels
    decay = 1 / float(low)
    share = total * (1 - decay) / (1 - decay**levels)
    weights = [int(share * decay**level) for level in range(levels)]
    weights[0] += total - sum(weights)  # some parts in 2**40: rounding of the floats above
    return BlockNoise(steps, epsilon, (steps // levels,) * levels, tuple(weights))


@register
class Laplace(NoiseMechanism):
    """The Laplace mechanism: the value plus Laplace noise of scale (high - low) / eps.

    The noise is discrete: geometric in steps of at most 1/1024 of its scale, and even
    within a step. It reaches 44 scales beyond the domain; what lies farther, with
    probability below 2**-63, is reported as that end.

    Utility: unbiased, variance 2 (high - low)^2 / eps^2 for every value.
    Runtime: O(1) a user, O(1) a report; memory O(1/eps).
    Citation: Dwork, McSherry, Nissim, Smith (TCC 2006); Ghosh, Roughgarden, Sundararajan (2012).

    Examples
    --------
    >>> import ldpkit
    >>> mechanism = ldpkit.get("laplace", (0, 10), epsilon=2)
    >>> round(mechanism.variance(3.0), 3), round(mechanism.error(3.0), 3)
    (50.0, 5.0)
    """

    name = "laplace"
    title = "Laplace mechanism"
    citation = "Dwork, McSherry, Nissim, Smith: Calibrating noise to sensitivity. TCC 2006"

    @cached_property
    def noise(self) -> BlockNoise:
        return laplace_noise(self.grid, self.epsilon)


@register
class TruncatedLaplace(NoiseMechanism):
    """The Laplace mechanism (T-Laplace) whose reports outside the domain are moved to its nearest end.

    Utility: a smaller error of a single report, most of all at the ends, with bias.
    Runtime: O(1) a user, O(1) a report; memory O(1/eps).
    Citation: Holohan et al. (2020); Zheng, section 5.6.

    Examples
    --------
    >>> import ldpkit
    >>> mechanism = ldpkit.get("truncated_laplace", (0, 1), epsilon=1)
    >>> points, chances = mechanism.atoms(0.0)
    >>> points.tolist(), chances.round(6).tolist()
    ([0.0, 1.0], [0.5, 0.18394])
    """

    name = "truncated_laplace"
    aliases = ("t_laplace",)
    title = "Laplace mechanism, truncated"
    capabilities = NoiseMechanism.capabilities - {"linear", "unbiased", "additive"}
    citation = "Holohan et al.: The bounded Laplace mechanism in differential privacy. J. Priv. Confid. 2020"

    @cached_property
    def noise(self) -> BlockNoise:
        return laplace_noise(self.grid, self.epsilon)

    @property
    def reach(self) -> int:
        return 0

    def exact_epsilon(self) -> float:
        return self.noise.truncated_epsilon()
