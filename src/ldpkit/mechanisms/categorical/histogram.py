"""Histogram encoding: Laplace noise on the one-hot vector of a value.

SHE sends the noisy vector and the collector adds vectors up. THE compares every
coordinate with a threshold on the device and sends the bits.
"""

from __future__ import annotations

import math
from fractions import Fraction
from math import isqrt
from typing import Any

import numpy as np

from ldpkit.core.cached import cached_property
from ldpkit.core.exact import WORD, exp_bounds
from ldpkit.core.random import RandomSource
from ldpkit.core.typing import Counts, Floats, Indices, Reports, Words
from ldpkit.mechanisms.base import register
from ldpkit.mechanisms.categorical.grid_laplace import GridLaplace
from ldpkit.mechanisms.categorical.oracle import FrequencyOracle
from ldpkit.mechanisms.categorical.report_law import JointLaw, ReportLaw
from ldpkit.mechanisms.categorical.unary import UnaryEncoding
from ldpkit.mechanisms.channel import Channel, check_enumerable

__all__ = ["SHE", "THE"]

_GUIDE_BITS = 12
_ROOT_BITS = 400  # of the fixed-point square root: far finer than 2**-64


@register
class THE(UnaryEncoding):
    """Thresholding with histogram encoding.

    Bit v says whether coordinate v plus Laplace noise of scale 2/eps exceeds theta. So the
    own bit is one with p = 1 - e^(eps (theta - 1) / 2) / 2, another with
    q = e^(-eps theta / 2) / 2, and no Laplace noise needs to be drawn. The theta with the
    least variance lies between 1/2 and 1 and has a closed form: with c = e^(-eps/2),
    e^(eps theta / 2) is the larger root of 3c x^2 - 2(1 + c) x + 1.

    The bits are all that leaves the device, and they say less than the noisy vector: the
    exact epsilon is that of the bits, and lies below the stated one.

    Utility: variance (2x - 1) / (n (1 - 2x + c x^2)^2); OUE does better.
    Runtime: O(k) a user, O(k) a report; memory O(k).
    Citation: Wang, Blocki, Li, Jha (USENIX Security 2017).

    Examples
    --------
    >>> import ldpkit
    >>> oracle = ldpkit.get("the", 10, epsilon=1.0)
    >>> round(oracle.theta, 6), round(oracle.exact_epsilon(), 3)
    (0.618553, 0.896)
    """

    name = "the"
    title = "Thresholding with histogram encoding"
    citation = "Wang, Blocki, Li, Jha: Locally differentially private protocols. USENIX Security 2017"
    tight = False

    @cached_property
    def theta(self) -> float:
        """The threshold."""
        return 2 * math.log(self._roots[0]) / self.epsilon

    def details(self) -> dict[str, float]:
        return {"theta": self.theta}

    @cached_property
    def _roots(self) -> tuple[Fraction, Fraction]:
        """Rationals just below and above e^(eps theta / 2)."""
        low, high = (1 / bound for bound in reversed(exp_bounds(Fraction(self.epsilon) / 2)))
        scale = 1 << _ROOT_BITS
        below = Fraction(isqrt(int((1 - high + low**2) * scale**2)), scale)
        above = Fraction(isqrt(int((1 - low + high**2) * scale**2)) + 1, scale)
        return (1 + low + below) / (3 * high), (1 + high + above) / (3 * low)

    @cached_property
    def thresholds(self) -> tuple[int, int]:
        _, c = (1 / bound for bound in reversed(exp_bounds(Fraction(self.epsilon) / 2)))
        below, above = self._roots
        own, other = WORD * (1 - above * c / 2), WORD / (2 * below)
        return math.floor(own), math.ceil(other)


@register
class SHE(FrequencyOracle):
    """Summation with histogram encoding.

    A report is the one-hot vector of the value with Laplace noise of scale 2/eps on every
    coordinate, in whole steps of 1/grid; the collector adds reports up. It is no pure
    protocol: a report does not support values, and p and q do not exist.

    Utility: variance 8 / (n eps^2) for every value alike; SUE does better at every epsilon.
    Runtime: O(k) a user, O(k) a report; memory O(k).
    Citation: Dwork, McSherry, Nissim, Smith (TCC 2006), as in Wang et al. (USENIX Security 2017).

    Examples
    --------
    >>> import ldpkit
    >>> oracle = ldpkit.get("she", 3, epsilon=2.0)
    >>> oracle.grid, round(oracle.variance(0.5, 1), 4)
    (128, 2.0)
    >>> estimate = oracle.tally(oracle.privatize([0, 1, 1] * 10_000)).estimate()
    >>> bool(abs(estimate[1] - 2 / 3) < 6 * estimate.stderr[1])
    True
    """

    name = "she"
    title = "Summation with histogram encoding"
    citation = "Dwork, McSherry, Nissim, Smith: Calibrating noise to sensitivity. TCC 2006"
    capabilities = FrequencyOracle.capabilities - {"pure"}
    not_for_devices = "its noise is a table of some 5,000 integers, more than a collection file holds"

    @cached_property
    def law(self) -> GridLaplace:
        """The integers of one coordinate."""
        return GridLaplace(self.epsilon)

    @property
    def grid(self) -> int:
        """How many steps of a report make the distance from 0 to 1."""
        return self.law.grid

    def details(self) -> dict[str, float]:
        return {"grid": self.grid, "reach": self.law.reach}

    def exact_epsilon(self) -> float:
        return self.law.exact_epsilon()

    def channel(self, rng: RandomSource | None = None) -> Channel:
        check_enumerable(len(self.law.weights) ** self.size, repr(self))
        raise AssertionError("the table of one coordinate alone is larger than what is listed for two")

    def unbiased(self, supports: Counts, n: int) -> Floats:
        other = float(self.law.mean)  # of a coordinate that is 0; the other one is its mirror image
        return (supports / (n * self.grid) - other) / (1 - 2 * other)

    def _report_variance(self, f: Floats) -> Floats:
        return np.full_like(f, float(self.law.variance / (1 - 2 * self.law.mean) ** 2))

    @cached_property
    def report_law(self) -> ReportLaw:
        other = np.array([weight / WORD for weight in self.law.weights])
        return ReportLaw(np.arange(len(other)) - self.law.reach, other[::-1], other)

    @property
    def joint_law(self) -> JointLaw:
        chances, mean = np.array(self.law.weights, float), self.law.mean
        outcomes = np.arange(len(chances)) - float(self.law.reach)
        return JointLaw(1 - mean, mean, noise=(outcomes / self.grid, chances / chances.sum()))

    def log_ratios(self, reports: Reports) -> Floats:
        weights = np.log(np.array(self.law.weights, float))
        return np.asarray((weights[::-1] - weights)[self.check_reports(reports) + self.law.reach])

    def count_range(self, n: int) -> tuple[int, int]:
        return -n * self.law.reach, n * (self.grid + self.law.reach)

    @property
    def report_dtype(self) -> np.dtype[Any]:
        small = self.grid + self.law.reach < 1 << 15
        return np.dtype(("<i2" if small else "<i4", (self.size,)))

    @property
    def random_bytes_per_report(self) -> int:
        return 8 * self.size

    def _is_valid(self, reports: Reports) -> np.ndarray[Any, np.dtype[np.bool_]]:
        low, high = self.count_range(1)
        return np.asarray(((reports >= low) & (reports <= high)).all(axis=1))

    @cached_property
    def _table(self) -> tuple[Words, Counts]:
        """The ascending bounds between outcomes, and where to begin to look for a word."""
        bounds = np.array(np.cumsum(np.array(self.law.weights[:-1], object)), np.uint64)
        first_words = np.arange(1 << _GUIDE_BITS, dtype=np.uint64) << np.uint64(64 - _GUIDE_BITS)
        return bounds, np.searchsorted(bounds, first_words, side="right")

    def _randomise(self, indices: Indices, source: RandomSource) -> Reports:
        from ldpkit.mechanisms.kernels.lookup import draw

        base, _ = self._layout
        reports = np.empty((len(indices), self.size), base)
        draw(source.words(reports.size), *self._table, reports.reshape(-1))
        reports -= base.type(self.law.reach)
        own = np.arange(len(indices)), indices
        reports[own] = base.type(self.grid) - reports[own]
        return reports

    def _supports(self, reports: Reports) -> Counts:
        return np.asarray(reports.sum(axis=0, dtype=np.int64))

    def _sample_supports(self, counts: Counts, repeats: int, generator: np.random.Generator) -> Counts:
        own = np.broadcast_to(counts, (repeats, self.size))
        others = self.law.sample_sums(counts.sum() - own, generator)
        return others + self.grid * own - self.law.sample_sums(own, generator)
