"""What a plan chooses from: mechanisms by name, and ways to split epsilon over the columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from ldpkit.assurance.classifier.columns import NearestPoint, PrivateColumn, Withheld, as_private_column
from ldpkit.core.domains.categorical import CategoricalDomain
from ldpkit.core.domains.interval import IntervalDomain, IntervalLike, as_interval
from ldpkit.core.errors import InvalidParameterError
from ldpkit.mechanisms.base import MECHANISMS
from ldpkit.mechanisms.categorical.exponential import Exponential
from ldpkit.mechanisms.categorical.grr import GRR
from ldpkit.mechanisms.kinds import FREQUENCY, NUMERIC

__all__ = ["GRID_POINTS", "USUAL", "Range", "Split", "as_range", "column_of", "splits"]

USUAL = ("ogpm", "sw", "laplace", "truncated_laplace", "grr", "exponential")
"""The mechanisms that are compared by default."""

GRID_POINTS = 101
"""The points of the grid on which mechanisms for categories report a number."""

_UNREGISTERED = {"exponential": Exponential}


Range: TypeAlias = IntervalDomain | CategoricalDomain
"""What a sensitive column holds: numbers in an interval, or the numbers that stand for categories."""


def as_range(given: IntervalLike | CategoricalDomain) -> Range:
    """Return what a sensitive column holds, from the ends of an interval or a list of categories."""
    categories: Any = given
    return categories if getattr(given, "size", None) is not None else as_interval(categories)


def column_of(name: str, domain: Range, epsilon: float, points: int = GRID_POINTS) -> PrivateColumn:
    """Return how a mechanism of a name privatizes a column; one of categories always has k-RR.

    Examples
    --------
    >>> column_of("ogpm", IntervalDomain(0, 1), 1.0).mechanism
    OGPM((0, 1), epsilon=1, power=1)
    >>> column_of("grr", IntervalDomain(0, 1), 1.0).range
    '[0, 1]'
    >>> column_of("ogpm", CategoricalDomain([0, 0.5, 1]), 1.0).mechanism
    GRR(3, epsilon=1)
    """
    if domain.size is not None:
        return as_private_column(GRR(domain, epsilon))
    kind = None if name in _UNREGISTERED else MECHANISMS.get(name)
    if kind is not None and kind.kind == NUMERIC:
        return as_private_column(kind.make(domain, epsilon=epsilon))
    if kind is None or (kind.kind == FREQUENCY and kind.can("valued")):
        grid = np.linspace(domain.low, domain.high, points).tolist()
        on_grid = Exponential(grid, epsilon) if kind is None else kind.make(grid, epsilon=epsilon)
        return as_private_column(NearestPoint(on_grid))
    raise InvalidParameterError(
        f"a model cannot take the reports of {name}: choose from {', '.join(USUAL)} or another mechanism for "
        "numbers"
    )


@dataclass(frozen=True)
class Split:
    """Which share of epsilon each sensitive column has; a column without one is withheld."""

    title: str
    shares: tuple[float, ...]

    def columns(self, name: str, domains: Mapping[str, Range], epsilon: float) -> list[PrivateColumn]:
        """Return how the columns are privatized at a total epsilon; a withheld one is its range's middle."""
        return [
            column_of(name, domain, epsilon * share) if share else Withheld(_middle(domain))
            for domain, share in zip(domains.values(), self.shares, strict=True)
        ]


def _middle(domain: Range) -> float:
    """Return what stands for a withheld column: the middle of its range, or its first category."""
    if domain.size is not None:
        return float(domain.labels[0])
    return (domain.low + domain.high) / 2


def splits(names: Sequence[str]) -> list[Split]:
    """Return the ways that are tried: evenly, three quarters on one column, and all on one.

    Examples
    --------
    >>> [split.title for split in splits(["age", "bmi"])]
    ['even', '3/4 to age', 'all to age', '3/4 to bmi', 'all to bmi']
    """
    count = len(names)
    found = [Split("even", (1 / count,) * count)]
    if count == 1:
        return found
    for index, name in enumerate(names):
        for title, most in ((f"3/4 to {name}", 0.75), (f"all to {name}", 1.0)):
            rest = (1 - most) / (count - 1)
            found.append(Split(title, tuple(most if each == index else rest for each in range(count))))
    return found
