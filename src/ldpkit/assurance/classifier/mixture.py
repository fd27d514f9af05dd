"""One set of model calls for all epsilons: points drawn from a mixture of all laws.

A point is drawn from one of the m choices, taken in equal numbers. Its weight for a choice
is the ratio of that choice's density to the mean density of all, so it is never above m,
and the mean weight of points that keep the label is an unbiased estimate for every choice at
once, whatever the shape of the region. Intervals are empirical Bernstein bounds.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ldpkit.assurance.classifier.columns import UNMERGED
from ldpkit.assurance.classifier.outputs import Outputs
from ldpkit.assurance.classifier.table import private_columns, record_table
from ldpkit.core.errors import InvalidInputError, MismatchError
from ldpkit.core.parameters import check_fraction, check_whole
from ldpkit.core.random import RandomSource, seeded
from ldpkit.core.typing import Floats

__all__ = ["MixtureEstimate", "mixture_utility"]


@dataclass(frozen=True)
class MixtureEstimate:
    """An estimate for one choice of mechanisms, with its interval; the model calls are shared by all."""

    value: float
    low: float
    high: float
    calls: int


def mixture_utility(
    model: Any,
    record: Any,
    choices: Sequence[Mapping[Any, Any]],
    *,
    columns: Sequence[str] | None = None,
    draws: int = 20_000,
    confidence: float = 0.95,
    rng: RandomSource | None = None,
) -> list[MixtureEstimate]:
    """Return the utility of one record under many choices of mechanisms, asking the model once.

    Parameters
    ----------
    model : object with predict, or callable
        What gives a label for each row.
    record : table of one row
        The record.
    choices : sequence of mappings
        Mechanisms for the same columns, such as one at several epsilons.
    columns : sequence of str, optional
        The names of the columns of an array.
    draws : int
        How many points the model is asked about in all.
    confidence : float
        The level of each interval.
    rng : RandomSource, optional
        By default the points are the same every time, since a simulation protects nobody.

    Examples
    --------
    >>> import ldpkit
    >>> def inside(rows):
    ...     return ((rows[:, 0] >= 0.2) & (rows[:, 0] <= 0.8)).astype(int)
    >>> choices = [{0: ldpkit.get("ogpm", (0, 1), epsilon=e)} for e in (1, 2, 4)]
    >>> found = mixture_utility(inside, [[0.5]], choices, rng=ldpkit.random.seeded(1))
    >>> [round(each.value, 2) for each in found], found[0].low < 0.757 < found[0].high
    ([0.75, 0.85, 0.95], True)
    """
    check_fraction(confidence, "confidence")
    check_whole(draws, "draws", least=2)
    table = record_table(model, record, columns)
    if table.n != 1:
        raise InvalidInputError(f"the choices share one record, got {table.n}: give one row")
    if not choices or any(list(each) != list(choices[0]) for each in choices):
        raise MismatchError("all choices must be mechanisms for the same columns, in the same order")
    chosen = [private_columns(table, each) for each in choices]
    owners = np.arange(draws) % len(chosen)
    sources = (rng or seeded(0)).spawn(len(chosen))
    rows = np.repeat(table.values, draws, axis=0)
    for index, (sensitive, source) in enumerate(zip(chosen, sources, strict=True)):
        mine = owners == index
        for each, own in zip(sensitive, source.spawn(len(sensitive)), strict=True):
            rows[mine, each.position] = each.column.draw(rows[mine, each.position], own)
    kept = table.predict(rows) == table.predict(table.values)[0]
    densities = np.ones((len(chosen), draws))
    for index, sensitive in enumerate(chosen):
        for each in sensitive:
            law = each.column.outputs(table.values[:, each.position], UNMERGED)
            densities[index] *= _density(law, rows[:, each.position])
    share = np.bincount(owners, minlength=len(chosen)) / draws
    weights = densities / (share @ densities)
    return [
        _estimate(weight * kept, float(1 / part), confidence)
        for weight, part in zip(weights, share, strict=True)
    ]


def _density(law: Outputs, at: Floats) -> Floats:
    """Return the chance of a point that has one, and else the density."""
    found = np.zeros(len(at))
    if not law.discrete:
        piece = np.searchsorted(law.edges[0], at, "right") - 1
        inside = (piece >= 0) & (piece < law.masses.shape[1])
        found[inside] = law.densities[0, piece[inside]]
    if len(law.points):
        place = np.clip(np.searchsorted(law.points, at), 0, len(law.points) - 1)
        on = law.points[place] == at
        found[on] = law.chances[0, place[on]]
    return found


def _estimate(weighted: Floats, most: float, confidence: float) -> MixtureEstimate:
    """Return the mean with the empirical Bernstein interval of Maurer and Pontil, both sides."""
    n, mean = len(weighted), float(weighted.mean())
    logs = math.log(4 / (1 - confidence))
    reach = math.sqrt(2 * float(weighted.var(ddof=1)) * logs / n) + 7 * most * logs / (3 * (n - 1))
    return MixtureEstimate(min(mean, 1.0), max(mean - reach, 0.0), min(mean + reach, 1.0), n)
