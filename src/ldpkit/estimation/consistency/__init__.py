"""Consistency: make estimated frequencies non-negative and sum to one, an idea a file.

A method is a function from a batch of unbiased estimates, shape (batch, k), and the
`Noise` they carry to a new batch of the same shape. It works on every row by itself and
has an answer for every finite input up to 1e100 in size, such as rows that are all
negative or all zero. Which of the two promises it keeps:

=========  ==============  ============  ==================================================
name       not negative    sums to one   how
=========  ==============  ============  ==================================================
base_pos   yes             no            negatives to zero
base_cut   yes             no            what does not stand out of the noise to zero
norm       no              yes           one constant added to all
norm_mul   yes             yes           negatives to zero, the rest scaled
norm_cut   yes             at most one   the smallest dropped
norm_sub   yes             yes           the nearest distribution
power      yes             no            posterior means under a fitted power law
power_ns   yes             yes           power, then norm_sub
=========  ==============  ============  ==================================================

Register another one with the decorator, in a file of your own::

    @consistency("halve")
    def halve(estimates, noise):
        return estimates / 2

>>> from ldpkit.estimation.consistency import CONSISTENCY
>>> "norm_sub" in CONSISTENCY
True
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ldpkit.core.registry import Registry

if TYPE_CHECKING:
    from collections.abc import Callable

    from ldpkit.core.typing import Counts, Floats
    from ldpkit.mechanisms.categorical.oracle import FrequencyOracle

__all__ = ["CONSISTENCY", "NO_METHOD", "Noise", "batch_estimates", "consistency", "processed"]

NO_METHOD = "none"
"""What stands for no post-processing in tables and on the command line."""


@dataclass(frozen=True)
class Noise:
    """The noise of an unbiased frequency estimate, as post-processing needs it.

    Parameters
    ----------
    n : int
        The number of reports.
    stderr : float
        The standard error of the frequency of a value that nobody holds:
        sqrt(q(1-q)/n) / (p-q) in a pure protocol.
    """

    n: int
    stderr: float

    @classmethod
    def of(cls, oracle: FrequencyOracle, n: int) -> Noise:
        """Return the noise of n reports of an oracle."""
        return cls(n, oracle.variance(0.0, n) ** 0.5)


CONSISTENCY: Registry[Callable[[Floats, Noise], Floats]] = Registry(
    "consistency method", "ldpkit.estimation.consistency"
)
"""Post-processing methods by name."""

consistency = CONSISTENCY.register
"""The decorator that registers a method: `@consistency("my_method")`."""


def batch_estimates(oracle: FrequencyOracle, supports: Counts, n: int, method: str | None = None) -> Floats:
    """Return the frequencies of a batch of collections of n reports each: unbiased, then post-processed.

    Examples
    --------
    >>> import ldpkit, numpy as np
    >>> supports = np.array([[30, 70, 0], [0, 0, 100]])
    >>> batch_estimates(ldpkit.GRR(3, epsilon=20), supports, 100, "norm_sub").round(6).tolist()
    [[0.3, 0.7, 0.0], [0.0, 0.0, 1.0]]
    """
    return processed(oracle, oracle.unbiased(supports, n), n, method)


def processed(oracle: FrequencyOracle, estimates: Floats, n: int, method: str | None) -> Floats:
    """Return unbiased estimates after a method; as they are for None or "none"."""
    if method is None or method == NO_METHOD:
        return estimates
    return CONSISTENCY.get(method)(estimates, Noise.of(oracle, n))
