"""Descriptors: the distribution of values after randomised rounding to the grid.

A value between two grid points goes to either with the probability that keeps its mean,
so a descriptor is the integral of the distribution against hat functions. All is on the
scale of [-1, 1], cut into `bins` cells; a descriptor has bins + 1 entries.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable

import numpy as np

from ldpkit.core.errors import InvalidInputError, InvalidParameterError
from ldpkit.core.parameters import check_whole
from ldpkit.core.typing import Floats

__all__ = ["check_descriptor", "descriptor_of_law", "descriptor_of_values", "is_symmetric"]


def descriptor_of_values(values: Floats, bins: int) -> Floats:
    """Return the expected share of values at each grid point after randomised rounding.

    Parameters
    ----------
    values : array
        Numbers in [-1, 1].
    bins : int
        The number of cells.

    Examples
    --------
    >>> descriptor_of_values(np.array([-1.0, 0.25]), 2).tolist()
    [0.5, 0.375, 0.125]
    """
    check_whole(bins, "bins")
    numbers = np.asarray(values, float)
    if numbers.size == 0:
        raise InvalidInputError("there are no values: give at least one")
    if not (np.abs(numbers) <= 1).all():
        raise InvalidInputError("values of a descriptor lie between -1 and 1: scale them")
    places = (numbers + 1) * (bins / 2)
    cell = np.minimum(places.astype(np.int64), bins - 1)
    upper = places - cell
    shares = np.bincount(cell, 1 - upper, bins + 1) + np.bincount(cell + 1, upper, bins + 1)
    return np.asarray(shares / shares.sum())


def descriptor_of_law(cdf: Callable[[float], float], bins: int) -> Floats:
    """Return the descriptor of a law, truncated to [-1, 1], from its cumulative distribution function.

    Examples
    --------
    >>> descriptor_of_law(lambda x: (x + 1) / 2, 4).round(6).tolist()
    [0.125, 0.25, 0.25, 0.25, 0.125]
    """
    from scipy.integrate import quad

    check_whole(bins, "bins")
    low, high = float(cdf(-1.0)), float(cdf(1.0))
    if not high > low:
        raise InvalidParameterError("the law has no mass between -1 and 1: scale it")
    edges = np.linspace(-1, 1, bins + 1)
    # Integration by parts: the share of a grid point is the difference of the mean of the
    # distribution function over the cells on its two sides.
    means = [
        (quad(cdf, left, right, epsabs=1e-13, epsrel=1e-13)[0] / (right - left) - low) / (high - low)
        for left, right in itertools.pairwise(edges)
    ]
    shares = np.clip(np.diff([0.0, *means, 1.0]), 0, None)
    return np.asarray(shares / shares.sum())


def check_descriptor(descriptor: object) -> Floats:
    """Return a descriptor that sums to one, or refuse it."""
    shares = np.array(descriptor, float)
    if shares.ndim != 1 or len(shares) < 2:
        raise InvalidParameterError(
            f"a descriptor has one share for each of at least two grid points, got shape {shares.shape}"
        )
    if not np.isfinite(shares).all() or (shares < 0).any():
        position = int(np.argmax(~(shares >= 0) | np.isinf(shares)))
        raise InvalidParameterError(
            f"shares are finite and not negative, got {shares[position]} at position {position}: "
            "make the estimate consistent first"
        )
    if not math.isclose(total := shares.sum(), 1, rel_tol=1e-6):
        raise InvalidParameterError(f"the shares of a descriptor sum to 1, got {total:g}")
    return np.asarray(shares / total)


def is_symmetric(descriptor: Floats) -> bool:
    """Whether a descriptor is its own mirror image, up to rounding."""
    return bool(np.allclose(descriptor, descriptor[::-1], rtol=0, atol=1e-12))
