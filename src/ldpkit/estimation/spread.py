"""How much the values vary among people: an interval for their variance.

Reports are noisy, and the noise varies far more than the people do. The estimate of the
variance is what is left when the noise is taken off, and that is often nothing: then only
an upper limit is known.

On the scale where low is 0 and high is 1, the variance is mean((x - 1/2)^2) - (mean(x) - 1/2)^2.
Every bin of a tally gets a weight such that the mean weight of a report is nearly
(2 x - 1)^2, with the largest bias over all values; so the first part has an interval like a
mean's. Half of the error goes to it and half to the mean. The interval covers for people
of any values and is cautious: both parts are rarely at their worst together.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np

from ldpkit.core.typing import Floats
from ldpkit.estimation.margins import Margin, scattered_margin
from ldpkit.estimation.response import bend, fit, masses, places
from ldpkit.mechanisms.numeric.mechanism import NumericMechanism
from ldpkit.mechanisms.tally import Tally

__all__ = ["SpreadMargin"]


@dataclass(frozen=True)
class SpreadMargin:
    """The variance of the values, on the scale where low is 0 and high is 1.

    Parameters
    ----------
    tally : Tally
        Reports of a numeric mechanism.
    mean : Margin
        What knows the interval of the mean.

    Examples
    --------
    >>> import ldpkit
    >>> mechanism = ldpkit.get("pm", (0, 1), epsilon=4)
    >>> tally = mechanism.tally(mechanism.privatize([0.2, 0.6] * 5000, rng=ldpkit.random.seeded(1)))
    >>> [round(end, 3) for end in SpreadMargin(tally, tally.estimate().margin).ends(0.95)]
    [0.037, 0.042]
    """

    tally: Tally = field(repr=False)
    mean: Margin

    def ends(self, level: float) -> tuple[float, float]:
        """Return the ends of an interval of that level."""
        each = min((1 + level) / 2, math.nextafter(1, 0))  # half of an error of 2**-53 would be none
        around = np.clip(_around_the_middle(self.tally).ends(each), 0.0, 1.0) / 4
        low, high = np.clip(self.mean.ends(each), 0.0, 1.0)
        most = max((low - 0.5) ** 2, (high - 0.5) ** 2)
        least = 0.0 if low <= 0.5 <= high else min((low - 0.5) ** 2, (high - 0.5) ** 2)
        return max(float(around[0] - most), 0.0), max(float(around[1] - least), 0.0)


def _around_the_middle(tally: Tally) -> Margin:
    """Return what knows the interval of mean((2 x - 1)^2)."""
    weights, variances, bias = _weights(tally.mechanism, tally.n)
    return scattered_margin(tally.counts[:-1], weights, variances, bias)[1]


@lru_cache(maxsize=16)
def _weights(mechanism: NumericMechanism, n: int) -> tuple[Floats, tuple[float, float], float]:
    """Return a weight for each bin, between which its variance lies, and its largest bias over all values."""
    matrix, values = masses(mechanism), places(mechanism) / mechanism.grid
    target = (2 * values - 1) ** 2
    weights = fit(mechanism, target[:, None], n)[:, 0]
    curve = matrix @ weights
    bias = float(np.abs(curve - target).max() + bend(mechanism) * np.ptp(weights))
    # Between two places the curve is straight and the target is not.
    bias += float(np.diff(values).max()) ** 2
    scatter = matrix @ weights**2 - curve**2
    return weights, (max(float(scatter.min()), 1e-12), float(scatter.max())), bias
