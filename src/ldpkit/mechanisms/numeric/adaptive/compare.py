"""Which unbiased mechanism a descriptor speaks for: expected variances, side by side."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache

import numpy as np

from ldpkit.core.checks import check_epsilon
from ldpkit.core.errors import InvalidParameterError
from ldpkit.core.typing import Floats
from ldpkit.mechanisms.base import get
from ldpkit.mechanisms.numeric.adaptive.descriptor import check_descriptor
from ldpkit.mechanisms.numeric.adaptive.solve import fitted_table
from ldpkit.mechanisms.numeric.mechanism import NumericMechanism

__all__ = ["RIVALS", "expected_variances", "rounding_variance"]

_UNBIASED = (Fraction(0), Fraction(1))  # the mean of a report is the value

RIVALS = ("duchi", "hm", "laplace", "pm")
"""Unbiased mechanisms that need no descriptor."""


def rounding_variance(bins: int) -> float:
    """Return the variance that randomised rounding adds on average over a cell, on the scale of [-1, 1].

    At a distance d from the lower of two grid points it is d (2/N - d), at most 1/N^2.

    Examples
    --------
    >>> round(rounding_variance(16), 4)
    0.0026
    """
    return (2 / bins) ** 2 / 6


def expected_variances(
    descriptor: object, epsilon: float, *, rivals: Sequence[str] = RIVALS, noise_range: int | None = None
) -> dict[str, float]:
    """Return the expected variance of one report by mechanism, the least first, on the scale of [-1, 1].

    AAA's includes what rounding to its grid adds. The descriptor tells nothing of where
    values lie within a cell: rounding is taken at its mean, and the others' variances,
    which are nearly even across a cell, at the grid points. A winner is therefore sure
    only if it wins by more than `rounding_variance`.

    Parameters
    ----------
    descriptor : array
        The shares of the grid points.
    epsilon : float
        The privacy parameter.
    rivals : sequence of str
        The names of the unbiased mechanisms to compare with.
    noise_range : int, optional
        AAA's, as in its constructor.

    Examples
    --------
    >>> list(expected_variances([0.0, 0.0, 1.0, 0.0, 0.0], 1.0, rivals=("duchi", "pm")))
    ['aaa', 'pm', 'duchi']
    """
    shares, epsilon = check_descriptor(descriptor), check_epsilon(epsilon)
    table = fitted_table(shares, epsilon, noise_range=noise_range)
    found = {"aaa": float(shares @ table.variances) + rounding_variance(table.bins)}
    found |= {name: float(shares @ _rival_variances(name, epsilon, len(shares))) for name in rivals}
    return dict(sorted(found.items(), key=lambda item: item[1]))


@lru_cache(maxsize=256)
def _rival_variances(name: str, epsilon: float, points: int) -> Floats:
    """Return the variances of an unbiased mechanism at the grid points; they take a while."""
    mechanism = get(name, (-1.0, 1.0), epsilon=epsilon)
    if not isinstance(mechanism, NumericMechanism) or mechanism.line != _UNBIASED:
        raise InvalidParameterError(f"{name} is not an unbiased numeric mechanism: leave it out")
    variances: Floats = mechanism.variance(np.linspace(-1, 1, points))
    variances.setflags(write=False)
    return variances
