"""Means, standard errors and winners of an experiment's rows about numbers."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from ldpkit.bench.numeric_experiment import NumericCell, NumericRow
from ldpkit.bench.summary import Mean
from ldpkit.planning.ties import independent_noise, is_tie

__all__ = ["NumericSummary"]


@dataclass(frozen=True)
class NumericSummary:
    """Means over the repeats of an experiment's rows under one metric.

    Examples
    --------
    >>> rows = [NumericRow("x", 1.0, name, "mse", run, value + run) for name, value in
    ...         (("pm", 1.0), ("hm", 3.0)) for run in (0, 1)]
    >>> summary = NumericSummary(rows, "mse")
    >>> summary.mean("x", 1.0, "pm").value, summary.best("x", 1.0)
    (1.5, 'pm')
    """

    metric: str
    means: dict[NumericCell, Mean]
    repeats: int

    def __init__(self, rows: Iterable[NumericRow], metric: str) -> None:
        grouped: dict[NumericCell, list[float]] = {}
        for row in rows:
            if row.metric == metric:
                cell = NumericCell(row.data, row.epsilon, row.mechanism)
                grouped.setdefault(cell, []).append(row.value)
        means = {cell: Mean.of(np.array(values)) for cell, values in grouped.items()}
        self.__dict__.update(metric=metric, means=means, repeats=min(map(len, grouped.values()), default=0))

    def lines(self) -> list[tuple[str, float]]:
        """Return the pairs of data and epsilon there are."""
        return list(dict.fromkeys((cell.data, cell.epsilon) for cell in self.means))

    def mechanisms(self) -> list[str]:
        """Return the mechanisms that have this metric."""
        return list(dict.fromkeys(cell.mechanism for cell in self.means))

    def mean(self, data: str, epsilon: float, mechanism: str) -> Mean:
        """Return the mean of a cell."""
        return self.means[NumericCell(data, epsilon, mechanism)]

    def at(self, data: str, epsilon: float) -> dict[str, Mean]:
        """Return the mean of each mechanism that was run on some data at an epsilon."""
        cells = {name: NumericCell(data, epsilon, name) for name in self.mechanisms()}
        return {name: self.means[cell] for name, cell in cells.items() if cell in self.means}

    def best(self, data: str, epsilon: float) -> str:
        """Return the mechanism with the smallest mean."""
        return min(self.at(data, epsilon).items(), key=lambda item: item[1].value)[0]

    def tied(self, data: str, epsilon: float) -> list[str]:
        """Return the mechanisms that cannot be told from the best, itself included."""
        means = self.at(data, epsilon)
        best = means[self.best(data, epsilon)]
        runs = self.repeats

        def ties(mean: Mean) -> bool:
            noise = independent_noise(mean.stderr, runs, best.stderr, runs)
            return is_tie(mean.value, best.value, *noise, among=len(means))

        return [name for name, mean in means.items() if mean is best or ties(mean)]
