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

from typing import TYPE_CHECKING

from ldpkit.core.registry import Registry

if TYPE_CHECKING:
    from collections.abc import Callable

    from ldpkit.core.typing import Floats
    from ldpkit.estimation.noise import Noise

__all__ = ["CONSISTENCY", "consistency"]

CONSISTENCY: Registry[Callable[[Floats, Noise], Floats]] = Registry(
    "consistency method", "ldpkit.estimation.consistency"
)
"""Post-processing methods by name."""

consistency = CONSISTENCY.register
"""The decorator that registers a method: `@consistency("my_method")`."""
