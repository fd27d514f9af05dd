"""The saddle point approximation of a distribution function (Lugannani and Rice 1980)."""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np

from ldpkit.planning.laws.report_sums import ReportSum
from ldpkit.planning.searches.roots import find_root

__all__ = ["saddle_point"]

_COMPLEX_STEP = 1e-30  # a derivative without cancellation: Im f(s + ih) / h
_NEAR_MEAN = 0.1  # in standard deviations; closer, the formula is a difference of large numbers
_FARTHEST = 600.0  # exponents beyond overflow


def saddle_point(reports: ReportSum, limit: float) -> float:
    """Return the probability that the sum of the reports is at most `limit`.

    The error is about 1/n of the probability, also far out in the tails.

    Examples
    --------
    >>> from ldpkit.planning.laws.report_sums import Bits
    >>> sums = Bits(np.array([500, 500]), np.array([1.0, 2**0.5]), 0.5, 0.25)
    >>> round(saddle_point(sums, sums.mean), 3), round(saddle_point(sums, sums.mean - 60), 5)
    (0.501, 0.00937)
    """
    deviation = math.sqrt(reports.variance)
    gap = (limit - reports.mean) / deviation
    if abs(gap) < _NEAR_MEAN:
        return _near_mean(reports, gap)
    sign = math.copysign(1.0, gap)
    most = _FARTHEST / reports.reach
    far = min(abs(gap) / deviation, most)
    while sign * (_slope(reports, sign * far) - limit) < 0:
        if far >= most:  # so far out that nothing is left of the law
            return float(gap > 0)
        far = min(2 * far, most)
    tilt = find_root(lambda s: _slope(reports, s) - limit, 0.0, sign * far, 1e-13 * far)
    w = sign * math.sqrt(max(0.0, 2 * (tilt * limit - _value(reports, tilt))))
    u = tilt * math.sqrt(_curvature(reports, tilt))
    normal = NormalDist()
    return min(max(normal.cdf(w) + normal.pdf(w) * (1 / w - 1 / u), 0.0), 1.0)


def _near_mean(reports: ReportSum, gap: float) -> float:
    """Return the first terms of the Edgeworth series, to which the formula tends at the mean."""
    width = 1e-2 / math.sqrt(reports.variance)
    third = (_curvature(reports, width) - _curvature(reports, -width)) / (2 * width)
    skewness = third / reports.variance**1.5
    normal = NormalDist()
    return float(normal.cdf(gap) - normal.pdf(gap) * (gap**2 - 1) * skewness / 6)


def _value(reports: ReportSum, s: float) -> float:
    return float(reports.cumulants(np.array([s], np.complex128))[0].real)


def _slope(reports: ReportSum, s: float) -> float:
    return float(reports.cumulants(np.array([s + 1j * _COMPLEX_STEP]))[0].imag / _COMPLEX_STEP)


def _curvature(reports: ReportSum, s: float) -> float:
    width = 1e-4 / math.sqrt(reports.variance)
    return (_slope(reports, s + width) - _slope(reports, s - width)) / (2 * width)
