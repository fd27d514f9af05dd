"""Means, standard errors and winners of an experiment's rows."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ldpkit.bench.grid import NO_METHOD, Row
from ldpkit.core.typing import Floats
from ldpkit.simulation.metrics import metric_for

__all__ = ["Mean", "Summary"]


class Mean(NamedTuple):
    """A mean over repeats and its standard error (nan for a single repeat)."""

    value: float
    stderr: float

    @classmethod
    def of(cls, values: Floats) -> Mean:
        """Return the mean of some repeats."""
        spread = float(np.std(values, ddof=1)) / math.sqrt(len(values)) if len(values) > 1 else math.nan
        return cls(float(np.mean(values)), spread)


@dataclass(frozen=True)
class Summary:
    """An experiment at one epsilon under one metric: protocol by method.

    Examples
    --------
    >>> rows = [Row(1.0, "grr", method, "mae", run, value + run / 10)
    ...         for method, value in (("none", 3.0), ("norm_sub", 2.0)) for run in range(2)]
    >>> summary = Summary(rows, 1.0, "mae")
    >>> summary.mean("grr", "norm_sub").value, summary.best_method("grr"), summary.wins("norm_sub")
    (2.05, 'norm_sub', 2)
    """

    epsilon: float
    metric: str
    protocols: tuple[str, ...]
    methods: tuple[str, ...]
    values: dict[tuple[str, str], Floats]

    def __init__(self, rows: Iterable[Row], epsilon: float, metric: str) -> None:
        grouped: dict[tuple[str, str], list[float]] = defaultdict(list)
        for row in rows:
            if row.epsilon == epsilon and row.metric == metric:
                grouped[row.protocol, row.method].append(row.value)
        fields = {
            "epsilon": epsilon,
            "metric": metric,
            "protocols": tuple(dict.fromkeys(protocol for protocol, _ in grouped)),
            "methods": tuple(dict.fromkeys(method for _, method in grouped)),
            "values": {key: np.array(values) for key, values in grouped.items()},
        }
        self.__dict__.update(fields)

    @property
    def larger_is_better(self) -> bool:
        """Whether the metric is a similarity rather than an error."""
        return metric_for(self.metric).larger_is_better

    @property
    def post_processing(self) -> tuple[str, ...]:
        """The methods that change the estimate."""
        return tuple(method for method in self.methods if method != NO_METHOD)

    @property
    def repeats(self) -> int:
        """The number of repeats of each cell."""
        return max(len(values) for values in self.values.values())

    def mean(self, protocol: str, method: str) -> Mean:
        """Return the mean of a protocol with a method."""
        return Mean.of(self.values[protocol, method])

    def average(self, protocol: str) -> Mean:
        """Return the mean over all post-processing methods ('avg with PP')."""
        return Mean.of(np.mean([self.values[protocol, method] for method in self.post_processing], axis=0))

    def best_method(self, protocol: str) -> str:
        """Return the method with the best mean for a protocol."""
        return self._best({method: self.mean(protocol, method).value for method in self.methods})

    def best_pair(self) -> tuple[str, str]:
        """Return the protocol and method with the best mean of all."""
        means = {
            (protocol, method): self.mean(protocol, method).value
            for protocol in self.protocols
            for method in self.methods
        }
        order = max if self.larger_is_better else min
        return order(means, key=lambda pair: means[pair])

    def wins(self, method: str) -> int:
        """Return in how many (protocol, repeat) runs a method was the best."""
        total = 0
        for protocol in self.protocols:
            stacked = np.array([self.values[protocol, each] for each in self.methods])
            best = stacked.argmax(axis=0) if self.larger_is_better else stacked.argmin(axis=0)
            total += int((best == self.methods.index(method)).sum())
        return total

    def _best(self, means: dict[str, float]) -> str:
        order = max if self.larger_is_better else min
        return order(means, key=lambda name: means[name])
