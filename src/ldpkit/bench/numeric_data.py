"""NumericData for experiments: the distributions that papers use, and columns of files.

A distribution is a quantile function on [-1, 1]. Its n people stand at the n evenly
spaced quantiles, so that an experiment has no randomness but the mechanism's own.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ldpkit.core.domains.interval import IntervalDomain
from ldpkit.core.errors import InvalidParameterError, UnknownNameError
from ldpkit.core.limits import check_request
from ldpkit.core.parameters import check_people
from ldpkit.core.typing import Floats
from ldpkit.simulation.datasets.numbers import KNOWN_NUMBERS, load_known_numbers

__all__ = ["DEFAULT_PEOPLE", "LAWS", "NumericData", "draw", "is_file", "load_numbers"]

DEFAULT_PEOPLE = 10_000
_FOR_A_PERSON = 64  # bytes: the number, its report, and what a mechanism of two phases takes beside


@dataclass(frozen=True, eq=False)
class NumericData:
    """The numbers of some people.

    Parameters
    ----------
    name : str
        What they are called in tables.
    values : array
        One number for each person.
    domain : IntervalDomain
        The public interval.
    """

    name: str
    values: Floats
    domain: IntervalDomain

    def __post_init__(self) -> None:
        object.__setattr__(self, "values", self.domain.check(self.values))

    @property
    def n(self) -> int:
        """How many people there are."""
        return len(self.values)

    @property
    def half_width(self) -> float:
        """The half of the interval: errors are told in this unit, as if on [-1, 1]."""
        return self.domain.width / 2


def _normal(shares: Floats, mean: float, spread: float) -> Floats:
    """Return quantiles of a normal distribution, truncated to [-1, 1]."""
    from scipy.special import ndtr, ndtri

    low, high = ndtr((-1 - mean) / spread), ndtr((1 - mean) / spread)
    return np.asarray(np.clip(mean + spread * ndtri(low + shares * (high - low)), -1, 1))


def _exponential(shares: Floats) -> Floats:
    return np.clip(-np.log1p(-shares * -math.expm1(-12.0)) / 6 - 1, -1, 1)


def _bimodal(shares: Floats) -> Floats:
    first = shares < 0.6
    low, high = _normal(shares[first] / 0.6, -0.4, 0.12), _normal((shares[~first] - 0.6) / 0.4, 0.5, 0.15)
    return np.concatenate([low, high])


LAWS: dict[str, Callable[[Floats], Floats]] = {
    "gaussian": lambda shares: _normal(shares, 0.0, 0.2),
    "exponential": _exponential,
    "beta": lambda shares: -np.cos(np.pi * shares),
    "uniform": lambda shares: 2 * shares - 1,
    "bernoulli": lambda shares: np.where(shares < 0.5, -1.0, 1.0),
    "bimodal": _bimodal,
}
"""Distributions on [-1, 1]: N(0, 0.2^2), Exp(6) - 1, 2 Beta(0.5, 0.5) - 1, even, both ends, two hills."""


def draw(name: str, n: int = DEFAULT_PEOPLE) -> NumericData:
    """Return n people at the evenly spaced quantiles of a distribution.

    Examples
    --------
    >>> draw("uniform", 4).values.tolist()
    [-0.75, -0.25, 0.25, 0.75]
    """
    if name not in LAWS:
        raise UnknownNameError("distribution of numbers", name, [*LAWS, *KNOWN_NUMBERS])
    check_request(_FOR_A_PERSON * check_people(n), f"a simulation of {n} people with numbers")
    shares = (np.arange(n) + 0.5) / n
    return NumericData(name, LAWS[name](shares), IntervalDomain(-1, 1))


def is_file(spec: str) -> bool:
    """Whether numbers are those of a file, which may be missing, and not of a distribution."""
    # os.path: a text that is too long for a name is the name of no file, but an error to a Path
    return os.path.exists(spec) or (Path(spec).suffix != "" and ":" not in spec) or spec == "-"  # noqa: PTH110


def load_numbers(
    spec: str, *, column: str | None = None, low: float | None = None, high: float | None = None
) -> NumericData:
    """Return the numbers of a distribution, such as "gaussian:n=1000", of a known set, or of a file.

    Examples
    --------
    >>> load_numbers("beta:n=500").n
    500
    """
    name, colon, rest = spec.partition(":")
    if name in KNOWN_NUMBERS and not is_file(spec):
        if colon or not (low is None and high is None and column is None):
            raise InvalidParameterError(
                f"the set {name} has its own numbers and interval: leave out "
                f"{rest or '--low, --high and --column'}"
            )
        interval = KNOWN_NUMBERS[name].interval
        if interval is None:
            raise InvalidParameterError(
                f"{name} is on a circle, and the benchmark is about intervals: "
                "'ldpkit mean' and 'ldpkit density' take --period"
            )
        return NumericData(name, load_known_numbers(name).values, interval)
    if is_file(spec):
        if low is None or high is None:
            raise InvalidParameterError(f"the numbers of {spec!r} need their interval: give --low and --high")
        from ldpkit.files.readers import read_column

        return NumericData(Path(spec).stem, read_column(spec, column), IntervalDomain(low, high))
    if low is not None or high is not None or column is not None:
        raise InvalidParameterError(f"--low, --high and --column are for files: {spec!r} is a distribution")
    key, equals, value = rest.partition("=")
    if not colon:
        return draw(name)
    if key != "n" or not equals or not value.isdecimal() or len(value) > 20:
        raise InvalidParameterError(f"write {name}:n=1000 for 1000 people, got {spec!r}")
    return draw(name, int(value))
