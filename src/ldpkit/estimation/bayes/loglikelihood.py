"""Log-likelihoods as objectives over the simplex: height, slope and curvature at a point.

Everything is per report, so that slopes compare with 1: where the likelihood is
largest, the slope is 1 for every value that has a frequency, and at most 1 for the rest.
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from types import TracebackType
from typing import NamedTuple, Protocol, Self

import numpy as np

from ldpkit.core.errors import InvalidInputError
from ldpkit.core.typing import Bytes, Counts, Floats
from ldpkit.estimation.evidence import Evidence, Part

__all__ = ["Expectation", "Objective", "Likelihood", "Surrogate", "View"]

_BLOCK = 1 << 16  # rows of one piece of work; fixed, so that results do not depend on the machine
_BITS = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1, bitorder="little").astype(float)
_UNWEIGHTED = np.empty(0)


class Expectation(NamedTuple):
    """Sums over reports i with weights w_i, each in total and by the values they support.

    d_i is 1 plus the terms of the values that report i supports.
    """

    total: float
    """The sum of w_i / d_i."""
    by_value: Floats
    """The same, for each value over the reports that support it."""
    total_squares: float
    """The sum of w_i / d_i^2; zero where it was not asked for."""
    squares_by_value: Floats
    logs: float
    """The sum of w_i log d_i."""


def expectation(
    supports: Bytes, weights: Floats | None, sums: Floats, size: int, *, squares: bool = False
) -> Expectation:
    """Return the sums that an EM step needs.

    Parameters
    ----------
    supports : array, shape (n, ceil(size / 8))
        Packed supports.
    weights : array of n, or None
        How much each row counts; None counts each once.
    sums : array
        The terms, as `byte_sums` of the kernels arranges them.
    size : int
        The number of values.
    squares : bool
        Whether to sum w_i / d_i^2 as well.

    Examples
    --------
    >>> from ldpkit.estimation.bayes.kernels import byte_sums
    >>> sums = byte_sums(np.array([1.0, 2.0]))
    >>> found = expectation(np.array([[1], [2]], np.uint8), None, sums, 2)
    >>> round(found.total, 6), found.by_value.round(6).tolist()         # 1/(1+1) + 1/(1+2)
    (0.833333, [0.5, 0.333333])
    """
    from ldpkit.estimation.bayes.kernels import expectation as kernel

    shares = np.zeros_like(sums)
    squared = np.zeros_like(sums) if squares else np.empty((0, 256))
    given = _UNWEIGHTED if weights is None else weights
    total, total_squares, logs = kernel(supports, given, sums, shares, squared)
    squares_by_value = _by_value(squared, size) if squares else np.zeros(size)
    return Expectation(total, _by_value(shares, size), total_squares, squares_by_value, logs)


def _by_value(gathered: Floats, size: int) -> Floats:
    """Return for each value what was gathered by bytes; not by BLAS, which rounds as its threads have it."""
    by_value: Floats = np.einsum("ij,jk->ik", gathered, _BITS, optimize=False).ravel()
    return by_value[:size]


class View(NamedTuple):
    """What an objective looks like from a point.

    Parameters
    ----------
    slope : array
        The derivative of the log-likelihood per report with respect to each frequency.
    base : float
        The part of the slope that all values have in common: reports explained by
        chance, whatever the value.
    curvature : array or None
        How fast the slope in the direction of each value falls.
    log_likelihood : float
        Of all reports, up to a constant.
    """

    slope: Floats
    base: float
    curvature: Floats | None
    log_likelihood: float

    @property
    def gap(self) -> float:
        """How much the log-likelihood per report can still grow, at most."""
        return float(self.slope.max()) - 1


class Objective(Protocol):
    """A concave log-likelihood of frequencies."""

    def __call__(self, frequencies: Floats, *, curvature: bool = False) -> View:
        """Return the view from a point; the curvature only if it is asked for."""


class Likelihood:
    """The exact log-likelihood of some evidence.

    Up to a constant it is sum_i log d_i with d_i = 1 + (R_i - 1) sum of the frequencies
    that report i supports, where R_i is the likelihood ratio of its mechanism. Use it in
    a `with` statement: it keeps one thread for each processor.

    Parameters
    ----------
    evidence : Evidence
        The reports.
    counts : sequence of arrays, optional
        How often each row of each part counts, instead of what the evidence says; the
        bootstrap resamples in this way.

    Examples
    --------
    >>> import ldpkit
    >>> oracle = ldpkit.GRR(2, epsilon=1)
    >>> with Likelihood(Evidence.of(oracle, [0, 1, 1])) as likelihood:
    ...     slope = likelihood(np.array([0.5, 0.5])).slope
    >>> bool(slope[1] > 1 > slope[0])                       # value 1 deserves more
    True
    """

    def __init__(self, evidence: Evidence, counts: list[Counts] | None = None) -> None:
        if evidence.n == 0:
            raise InvalidInputError("the evidence is empty: there are no reports to estimate from")
        self.n = evidence.n
        self.size = len(evidence.domain)
        self._singles: list[tuple[float, Counts]] = []
        self._blocks: list[tuple[float, Bytes, Floats | None]] = []
        for place, part in enumerate(evidence.parts):
            self._add(part, part.counts if counts is None else counts[place])
        self._pool = ThreadPoolExecutor(_processors())

    def _add(self, part: Part, counts: Counts | None) -> None:
        if part.supports is None:
            self._singles.append((part.excess, np.asarray(counts)))
            return
        weights = None if counts is None else counts.astype(float)
        for start in range(0, len(part.supports), _BLOCK):
            rows = slice(start, start + _BLOCK)
            some = None if weights is None else weights[rows]
            self._blocks.append((part.excess, part.supports[rows], some))

    def __call__(self, frequencies: Floats, *, curvature: bool = False) -> View:
        """Return the view from a point; the curvature only if it is asked for."""
        slope, bend, base, logs = np.zeros(self.size), np.zeros(self.size), 0.0, 0.0
        for excess, counts in self._singles:
            density = 1 + excess * frequencies
            shares = counts / density
            base += float(shares.sum())
            slope += excess * shares
            bend += excess**2 * shares / density
            logs += float(counts @ np.log(density))
        for excess, found in self.expectations(frequencies, squares=curvature):
            base += found.total
            slope += excess * found.by_value
            logs += found.logs
            if curvature:  # supports of different values are nearly independent: only variances count
                share = found.squares_by_value / found.total_squares
                bend += excess**2 * found.squares_by_value * (1 - share)
        base /= self.n
        return View(base + slope / self.n, base, bend / self.n if curvature else None, logs)

    def expectations(self, frequencies: Floats, *, squares: bool) -> list[tuple[float, Expectation]]:
        """Return the sums over each block of reports, in order; the view is made from these alone.

        Whoever has the blocks elsewhere gathers the same sums in the same order, and comes to the
        same view to the last bit.
        """
        from ldpkit.estimation.bayes.kernels import byte_sums

        sums = {excess: byte_sums(excess * frequencies) for excess, _, _ in self._blocks}

        def work(block: tuple[float, Bytes, Floats | None]) -> tuple[float, Expectation]:
            excess, supports, weights = block
            return excess, expectation(supports, weights, sums[excess], self.size, squares=squares)

        run = map if len(self._blocks) == 1 else self._pool.map
        return list(run(work, self._blocks))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._pool.shutdown()


class Surrogate:
    """What the iterative Bayesian update climbs: supported values taken for independent draws.

    Parameters
    ----------
    counts : array
        How many reports support each value; some must.
    p, q : float
        The support probabilities of the pure protocol.
    """

    def __init__(self, counts: Floats | Counts, p: float, q: float) -> None:
        self.total = float(counts.sum())
        self.histogram = counts / self.total
        rows = p + (len(counts) - 1) * q
        self.floor, self.lift = q / rows, (p - q) / rows

    def __call__(self, frequencies: Floats, *, curvature: bool = False) -> View:
        """Return the view from a point; the curvature only if it is asked for."""
        density = self.floor * frequencies.sum() + self.lift * frequencies
        shares = self.histogram / density
        base = self.floor * float(shares.sum())
        bend = self.lift**2 * shares / density if curvature else None
        logs = self.total * float(self.histogram @ np.log(density))
        return View(base + self.lift * shares, base, bend, logs)


def _processors() -> int:
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on every system
        return os.cpu_count() or 1
