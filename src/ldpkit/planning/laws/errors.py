"""The law of the value-by-value errors: L1, L2 and the largest, from that of the noise.

The probability that an error stays below a bound is given as a normal score: the point
whose normal distribution function it is. Sums are taken to the tail by the saddle point
of their exact cumulant generating function (Lugannani and Rice, in Barndorff-Nielsen's
form); the largest error is a product.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ldpkit.planning.searches.roots import find_root

if TYPE_CHECKING:
    from collections.abc import Callable

    from ldpkit.planning.laws.noise import NoiseLaw

__all__ = ["BEYOND", "absolutes_score", "largest_error_score", "squares_score"]

BEYOND = 38.0
"""A score beyond which a double holds no probability any more."""


_FAR = -200.0
"""Standard deviations below zero from where on a half-normal law is taken by its series."""


class _Cumulants(NamedTuple):
    """The cumulant generating function at a point, and its first two derivatives."""

    value: float
    slope: float
    curvature: float


def squares_score(noise: NoiseLaw, bound: float) -> float:
    """Return the normal score of 'the sum of squared errors is at most bound'."""
    if bound <= 0:
        return -BEYOND
    spread = noise.eigenvalues()
    largest = float(spread.max())
    spread = spread / largest  # so that the pole lies at 1/2

    def cumulants(t: float) -> _Cumulants:
        ratio = 1 / (1 - 2 * t * spread)
        scaled = spread * ratio
        value, slope, curvature = 0.5 * np.log(ratio).sum(), scaled.sum(), 2 * (scaled**2).sum()
        return _Cumulants(float(value), float(slope), float(curvature))

    return _saddle_point(cumulants, bound / largest, 0.5)


def absolutes_score(noise: NoiseLaw, bound: float) -> float:
    """Return the normal score of 'the sum of absolute errors is at most bound'."""
    from scipy.special import log_ndtr

    if bound <= 0:
        return -BEYOND
    if noise.centred and len(noise.spread) == 2:  # both errors are the same but for the sign
        return squares_score(noise, bound**2 / 2)
    unit = float(np.sqrt(noise.variance.max()))
    deviation = np.sqrt(noise.variance) / unit

    def cumulants(t: float) -> _Cumulants:
        point = deviation * t
        near = np.maximum(point, _FAR)
        log_mass = log_ndtr(near)
        mills = np.exp(-0.5 * near**2 - 0.5 * math.log(2 * math.pi) - log_mass)
        slope, curvature = near + mills, 1 - mills * (near + mills)
        value = 0.5 * near**2 + math.log(2) + log_mass
        far = point < _FAR  # there the differences lose all digits, and the series has them
        if far.any():
            inverse = 1 / point[far]
            slope[far], curvature[far] = -inverse + 2 * inverse**3, inverse**2 - 6 * inverse**4
            value[far] = 0.5 * math.log(2 / math.pi) - np.log(-point[far]) - inverse**2
        scaled = float((deviation * slope).sum()), float((deviation**2 * curvature).sum())
        return _Cumulants(float(value.sum()), *scaled)

    wanted = bound / unit
    if noise.centred:
        # The saddle point is that of independent errors; so the bound is moved to where it
        # stands as many standard deviations from the mean as among the dependent ones.
        centre = cumulants(0.0)
        wider = math.sqrt(1 + _shared_variance(noise) / unit**2 / centre.curvature)
        wanted = centre.slope + (wanted - centre.slope) / wider
        if wanted <= 0:
            return -BEYOND
    return _saddle_point(cumulants, wanted, math.inf)


def largest_error_score(noise: NoiseLaw, bound: float) -> float:
    """Return the normal score of 'the largest error is at most bound'.

    Where errors depend on each other it is a lower bound (Sidak's inequality), except
    for two values, where it is exact.
    """
    from scipy.special import ndtr, ndtri

    if bound <= 0:
        return -BEYOND
    deviation = np.sqrt(noise.variance)
    if noise.centred and len(deviation) == 2:
        deviation = deviation[:1]
    outside = 2 * ndtr(-bound / deviation)
    with np.errstate(divide="ignore"):
        log_inside = float(np.log1p(-outside).sum())
    inside, beyond = math.exp(log_inside), -math.expm1(log_inside)
    return _clipped(float(ndtri(inside) if inside < 0.5 else -ndtri(beyond)))


def _clipped(score: float) -> float:
    return min(max(score, -BEYOND), BEYOND)


def _shared_variance(noise: NoiseLaw) -> float:
    """Return what the covariances of absolute errors add to the variance of their sum.

    Two of correlation r have covariance s1 s2 r^2 / pi, up to r^4 / 12; with the
    covariance u1 + u2 the sum over all pairs needs no double loop.
    """
    deviation, shared = np.sqrt(noise.variance), (noise.variance - noise.spread) / 2
    all_pairs = (shared**2 / deviation).sum() * (1 / deviation).sum() + (shared / deviation).sum() ** 2
    same = 2 * (shared**2 / deviation**2).sum()
    return float(2 * (all_pairs - same) / math.pi)


def _saddle_point(cumulants: Callable[[float], _Cumulants], bound: float, pole: float) -> float:
    """Return the normal score of 'a sum with these cumulants is at most bound'."""
    centre = cumulants(0.0)
    t = _solve(cumulants, bound, pole, centre)
    at = cumulants(t)
    signed_root = math.copysign(math.sqrt(max(0.0, 2 * (t * bound - at.value))), t)
    if abs(signed_root) < 1e-3:  # both terms vanish at the mean: what is left is the skewness
        step = 1e-3 / math.sqrt(centre.curvature)
        skewness = (cumulants(step).curvature - cumulants(-step).curvature) / (2 * step)
        return signed_root + float(skewness / centre.curvature**1.5 / 6)
    ratio = t * math.sqrt(at.curvature) / signed_root
    return _clipped(signed_root + math.log(ratio) / signed_root)


def _solve(cumulants: Callable[[float], _Cumulants], bound: float, pole: float, centre: _Cumulants) -> float:
    """Return where the cumulant generating function has slope `bound`."""
    step = 1 / math.sqrt(centre.curvature)
    low, high = -step, min(step, pole / 2)
    while cumulants(low).slope > bound:
        low *= 2
    while cumulants(high).slope < bound:
        high = high * 2 if pole == math.inf else (high + pole) / 2
    return find_root(lambda t: cumulants(t).slope - bound, low, high, 1e-12 * (high - low))
