"""Whether the variance of a numeric report is a parabola over the values: decided here, once."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from ldpkit.core.typing import Floats
from ldpkit.mechanisms.numeric.mechanism import NumericMechanism

__all__ = ["variance_parabola"]


@lru_cache(maxsize=64)
def variance_parabola(mechanism: NumericMechanism) -> Floats | None:
    """Return the coefficients of the variance of a report as a quadratic of the value from 0 to 1.

    Low is 0 and high is 1, and the variance is on that scale too. None if it is not a
    quadratic, as the values in between tell.

    Examples
    --------
    >>> import ldpkit
    >>> duchi = ldpkit.get("duchi", (0, 10), epsilon=1)
    >>> bend, slope, _ = variance_parabola(duchi)
    >>> bool(np.isclose(bend, -1)), bool(np.isclose(slope, 1))
    (True, True)
    """
    if mechanism.can("fitted"):  # between the points of its grid it is none, whatever it is at these
        return None
    domain = mechanism.domain
    points = np.linspace(0, 1, 9)
    variances = mechanism.variance(domain.decode(range(9), steps=8)) / domain.width**2
    fitted = np.linalg.solve(np.vander(points[::4], 3), variances[::4])
    is_quadratic = np.allclose(np.polyval(fitted, points), variances, rtol=1e-6)
    return np.array(fitted) if is_quadratic else None
