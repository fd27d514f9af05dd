"""Metrics: how far a batch of estimates is from the truth, a number for each.

A metric is a function from the true frequencies, shape (k,), and a batch of estimates,
shape (batch, k), to an array of shape (batch,). Register your own with the decorator::

    @metric("first_value_error", title="error of the first value")
    def first_value_error(truth, estimates):
        return np.abs(estimates[:, 0] - truth[0])

>>> from ldpkit.simulation.metrics import metric_for
>>> metric_for("l1")([0.5, 0.5], [[0.25, 0.75], [0.5, 0.5]]).tolist()
[0.5, 0.0]
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from ldpkit.core.errors import InvalidInputError, InvalidParameterError
from ldpkit.core.parameters import check_whole
from ldpkit.core.registry import Registry

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike

    from ldpkit.core.typing import Floats

__all__ = ["METRICS", "Metric", "check_batch", "metric", "metric_for"]


@dataclass(frozen=True)
class Metric:
    """A named measure of error or of agreement; call it with the truth and the estimates.

    Parameters
    ----------
    name : str
        The name in the registry, in tables and files.
    title : str
        The name in the words of the field.
    function : callable
        What computes it, once truth and estimates are known to fit.
    larger_is_better : bool
        False for an error, True for an agreement.
    unit : str
        What the numbers are measured in.
    citation : str
        Where it comes from.
    at : int or None
        For metrics of the top k values: k, passed to the function as `at`.

    Examples
    --------
    >>> mae = metric_for("mae")
    >>> mae([0.5, 0.25, 0.25], [[0.25, 0.25, 0.5], [0.5, 0.25, 0.25]]).round(6).tolist()
    [0.166667, 0.0]
    >>> mae([0.5, 0.5], [0.5, 0.5])
    Traceback (most recent call last):
    ...
    ldpkit.core.errors.InvalidInputError: estimates must have shape (batch, 2), got (2,): \
write estimates[None, :] for a single one
    """

    name: str
    title: str
    function: Callable[..., Floats]
    larger_is_better: bool = False
    unit: str = ""
    citation: str = ""
    at: int | None = None

    def __post_init__(self) -> None:
        # As functools.wraps does: help(), doctest and the registry see the function inside.
        inner = self.function
        self.__dict__.update(
            __doc__=inner.__doc__,
            __module__=inner.__module__,
            __qualname__=inner.__qualname__,
            __wrapped__=inner,
        )

    def __call__(self, truth: ArrayLike, estimates: ArrayLike) -> Floats:
        """Return the metric of each estimate, shape (batch,)."""
        known, batch = check_batch(truth, estimates)
        if self.at is None:
            return self.function(known, batch)
        if self.at > len(known):
            raise InvalidInputError(
                f"{self.name} needs at least {self.at} values, the domain has {len(known)}: "
                f"use {self.name.partition('@')[0]}@{len(known)} or fewer"
            )
        return self.function(known, batch, at=self.at)


METRICS: Registry[Metric] = Registry("metric", "ldpkit.simulation.metrics")
"""Metrics by name."""


def metric(
    name: str,
    *aliases: str,
    title: str = "",
    larger_is_better: bool = False,
    unit: str = "",
    citation: str = "",
    at: int | None = None,
) -> Callable[[Callable[..., Floats]], Metric]:
    """Return a decorator that registers a function as a metric; see `Metric` for the facts."""

    def add(function: Callable[..., Floats]) -> Metric:
        made = Metric(name, title or name, function, larger_is_better, unit, citation, at)
        return METRICS.register(name, *aliases)(made)

    return add


def metric_for(name: str) -> Metric:
    """Return the metric of a name; "topk_precision@20" is topk_precision of the top 20.

    Examples
    --------
    >>> metric_for("mean_absolute_error").name, metric_for("topk_recall@20").at
    ('mae', 20)
    >>> metric_for("mae@3")
    Traceback (most recent call last):
    ...
    ldpkit.core.errors.InvalidParameterError: the metric mae takes no number: write 'mae' instead of 'mae@3'
    """
    if not isinstance(name, str) or "@" not in name:
        return METRICS.get(name)
    stem, _, number = name.partition("@")
    base = METRICS.get(stem)
    if base.at is None:
        raise InvalidParameterError(
            f"the metric {base.name} takes no number: write {base.name!r} instead of {name!r}"
        )
    if not (number.isascii() and number.isdigit() and len(number) <= 18):
        raise InvalidParameterError(f"after @ comes a whole number, such as {base.name}@20, got {name!r}")
    at = check_whole(int(number), f"the number in {name!r}")
    return replace(base, name=f"{base.name}@{at}", title=f"{base.title}, k = {at}", at=at)


def check_batch(truth: ArrayLike, estimates: ArrayLike) -> tuple[Floats, Floats]:
    """Return truth and estimates as finite arrays of fitting shapes, or refuse them."""
    try:
        known, batch = np.asarray(truth, float), np.asarray(estimates, float)
    except (TypeError, ValueError):
        raise InvalidInputError("truth and estimates must be arrays of numbers") from None
    if known.ndim != 1 or known.size == 0:
        raise InvalidInputError(f"truth must have shape (k,), a number for each value, got {known.shape}")
    if batch.ndim != 2 or batch.shape[1] != known.size:
        remedy = ": write estimates[None, :] for a single one" if batch.shape == known.shape else ""
        raise InvalidInputError(f"estimates must have shape (batch, {known.size}), got {batch.shape}{remedy}")
    for what, array in (("truth", known), ("estimates", batch)):
        if not np.isfinite(array).all():
            position = tuple(int(index) for index in np.argwhere(~np.isfinite(array))[0])
            raise InvalidInputError(f"{what} must be finite, got {array[position]} at position {position}")
    return known, batch
