"""What reports say about frequencies: products of packed supports with vectors.

A thin door to the compiled loops, for the collector, who does not reach into
`mechanisms.kernels` itself.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ldpkit.core.typing import Bytes, Counts, Floats

__all__ = ["Expectation", "byte_sums", "count_supports", "expectation", "iterate"]

_BITS = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1, bitorder="little").astype(float)
_UNWEIGHTED = np.empty(0)


def byte_sums(terms: Floats) -> Floats:
    """Return the table that `expectation` looks row sums of `terms` up in."""
    from ldpkit.mechanisms.kernels.likelihood import byte_sums as kernel

    table: Floats = kernel(terms, (len(terms) + 7) // 8)
    return table


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
        The terms, as `byte_sums` arranges them.
    size : int
        The number of values.
    squares : bool
        Whether to sum w_i / d_i^2 as well.

    Examples
    --------
    >>> sums = byte_sums(np.array([1.0, 2.0]))
    >>> found = expectation(np.array([[1], [2]], np.uint8), None, sums, 2)
    >>> round(found.total, 6), found.by_value.round(6).tolist()         # 1/(1+1) + 1/(1+2)
    (0.833333, [0.5, 0.333333])
    """
    from ldpkit.mechanisms.kernels.likelihood import expectation as kernel

    shares = np.zeros_like(sums)
    squared = np.zeros_like(sums) if squares else np.empty((0, 256))
    given = _UNWEIGHTED if weights is None else weights
    total, total_squares, logs = kernel(supports, given, sums, shares, squared)
    by_value = (shares @ _BITS).ravel()[:size]
    squares_by_value = (squared @ _BITS).ravel()[:size] if squares else np.zeros(size)
    return Expectation(total, by_value, total_squares, squares_by_value, logs)


def count_supports(supports: Bytes, size: int) -> Counts:
    """Return how many rows support each value."""
    from ldpkit.mechanisms.kernels.columns import count_columns

    counts: Counts = count_columns(supports)[:size]
    return counts


def iterate(
    histograms: Floats, start: Floats, floor: float, lift: float, most: int, tolerance: float
) -> tuple[Floats, Counts, Floats]:
    """Run the iterative Bayesian update under the channel floor + lift [v = y].

    An update changes values alike that were observed equally often and begin alike, so
    such values go through it as one: of a million values that n people report on, only
    a few thousand are different.

    Parameters
    ----------
    histograms : array, shape (runs, k)
        What was observed; each row sums to one.
    start : array, shape (runs, k)
        Where to begin.
    floor, lift : float
        The probability of any one output, and what is added for the own value.
    most : int
        The largest number of iterations.
    tolerance : float
        A run stops when no frequency changes by more than this.

    Returns
    -------
    tuple of arrays
        Frequencies, number of iterations and last largest change of each run.
    """
    from ldpkit.mechanisms.kernels.likelihood import iterate as kernel

    frequencies = np.array(start, float)
    iterations, changes = np.empty(len(frequencies), np.int64), np.empty(len(frequencies))
    for run, histogram in enumerate(histograms):
        # Pairs of real numbers are compared as complex ones: first the histogram, then the start.
        pairs, alike, times = np.unique(
            histogram + 1j * frequencies[run], return_inverse=True, return_counts=True
        )
        found, iterations[run], changes[run] = kernel(
            pairs.real, pairs.imag, times, floor, lift, most, tolerance
        )
        frequencies[run] = found[alike]
    return frequencies, iterations, changes
