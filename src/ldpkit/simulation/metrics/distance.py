"""Distances of frequencies, value by value."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ldpkit.simulation.metrics import metric

if TYPE_CHECKING:
    from ldpkit.core.typing import Floats

__all__ = ["l1", "l2", "mae", "max_error", "mse", "rmse"]


@metric("l1", title="L1 distance", unit="sum of absolute errors over the domain")
def l1(truth: Floats, estimates: Floats) -> Floats:
    """Return the sum of the absolute errors.

    Examples
    --------
    >>> l1([5, 4, 3], [[4, 6, 3.5]]).tolist()
    [3.5]
    """
    result: Floats = np.abs(estimates - truth).sum(1)
    return result


@metric(
    "mae",
    "mean_absolute_error",
    title="mean absolute error",
    unit="absolute error of one value",
    citation='what the tables of LDP3 call "L1"',
)
def mae(truth: Floats, estimates: Floats) -> Floats:
    """Return the mean of the absolute errors over the domain.

    Examples
    --------
    >>> mae([5, 4, 3], [[4, 6, 3.5]]).round(6).tolist()
    [1.166667]
    """
    result: Floats = np.abs(estimates - truth).mean(1)
    return result


@metric("l2", title="L2 distance", unit="Euclidean norm of the errors")
def l2(truth: Floats, estimates: Floats) -> Floats:
    """Return the Euclidean norm of the errors, not divided by anything.

    Examples
    --------
    >>> l2([5, 4, 3], [[4, 6, 3.5]]).round(6).tolist()
    [2.291288]
    """
    result: Floats = np.sqrt(np.square(estimates - truth).sum(1))
    return result


@metric("mse", "mean_squared_error", title="mean squared error", unit="squared error of one value")
def mse(truth: Floats, estimates: Floats) -> Floats:
    """Return the mean of the squared errors over the domain.

    Examples
    --------
    >>> mse([5, 4, 3], [[4, 6, 3.5]]).tolist()
    [1.75]
    """
    result: Floats = np.square(estimates - truth).mean(1)
    return result


@metric("rmse", title="root mean squared error", unit="error of one value")
def rmse(truth: Floats, estimates: Floats) -> Floats:
    """Return the root of the mean squared error.

    Examples
    --------
    >>> rmse([5, 4, 3], [[4, 6, 3.5]]).round(6).tolist()
    [1.322876]
    """
    result: Floats = np.sqrt(np.square(estimates - truth).mean(1))
    return result


@metric("max_error", "linf", title="largest error", unit="absolute error of the worst value")
def max_error(truth: Floats, estimates: Floats) -> Floats:
    """Return the largest absolute error.

    Examples
    --------
    >>> max_error([5, 4, 3], [[4, 6, 3.5]]).tolist()
    [2.0]
    """
    result: Floats = np.abs(estimates - truth).max(1)
    return result
