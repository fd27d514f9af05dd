"""Means, standard errors and winners of an experiment's rows."""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

import numpy as np

from ldpkit.bench.experiment import NO_METHOD, Row
from ldpkit.core.cached import cached_property
from ldpkit.core.typing import Floats
from ldpkit.planning.ties import EQUAL, difference_noise, is_equal, is_tie, mean_stderr
from ldpkit.simulation.metrics import metric_for

__all__ = ["FEW", "Mean", "Summary"]

_Key = TypeVar("_Key")
FEW = 5
"""Of fewer repeats, ties say little: Student's factor of 2 repeats is 13 standard errors, of 5 still 2.8."""


class Mean(NamedTuple):
    """A mean over repeats and its standard error (nan for a single repeat)."""

    value: float
    stderr: float

    @classmethod
    def of(cls, values: Floats) -> Mean:
        """Return the mean of some repeats."""
        return cls(float(np.mean(values)), mean_stderr(values))


@dataclass(frozen=True)
class Summary:
    """An experiment at one epsilon under one metric: protocol by method.

    Examples
    --------
    >>> rows = [Row(1.0, "grr", method, "mae", run, value + run / 10)
    ...         for method, value in (("none", 3.0), ("norm_sub", 2.0)) for run in range(2)]
    >>> summary = Summary(rows, 1.0, "mae")
    >>> summary.mean("grr", "norm_sub").value, summary.best_method("grr"), summary.wins("norm_sub")
    (2.05, 'norm_sub', 2.0)
    """

    epsilon: float
    metric: str
    protocols: tuple[str, ...]
    methods: tuple[str, ...]
    values: dict[tuple[str, str], Floats]

    def __init__(self, rows: Iterable[Row], epsilon: float, metric: str) -> None:
        grouped: dict[tuple[str, str], array[float]] = defaultdict(lambda: array("d"))
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
        return self._means[protocol, method]

    @cached_property
    def _means(self) -> dict[tuple[str, str], Mean]:
        return {key: Mean.of(values) for key, values in self.values.items()}

    def average(self, protocol: str) -> Mean:
        """Return the mean over all post-processing methods."""
        return Mean.of(np.mean([self.values[protocol, method] for method in self.post_processing], axis=0))

    def best_method(self, protocol: str) -> str:
        """Return the method with the best mean for a protocol."""
        return self._best({method: self.mean(protocol, method).value for method in self.methods})

    def tied_methods(self, protocol: str) -> tuple[str, ...]:
        """Return the methods that cannot be told from a protocol's best one, itself included."""
        best = (protocol, self.best_method(protocol))
        return tuple(
            method for method in self.methods if self._tie(best, (protocol, method), among=len(self.methods))
        )

    def best_pair(self) -> tuple[str, str]:
        """Return the protocol and method with the best mean of all."""
        pairs = [(protocol, method) for protocol in self.protocols for method in self.methods]
        return self._best({pair: self.mean(*pair).value for pair in pairs})

    def tied_pairs(self) -> tuple[tuple[str, str], ...]:
        """Return the pairs that cannot be told from the best one, which comes first."""
        best = self.best_pair()
        pairs = [(protocol, method) for protocol in self.protocols for method in self.methods]
        tied = (each for each in pairs if each != best and self._tie(best, each, among=len(pairs)))
        return (best, *tied)

    def best_in_words(self) -> str:
        """Return which pair is best, or which ones tie.

        Examples
        --------
        >>> rows = [Row(1.0, protocol, method, "mae", run, run + (protocol == "oue")) for run in (0, 1)
        ...         for protocol in ("grr", "oue") for method in ("none", "norm")]
        >>> Summary(rows, 1.0, "mae").best_in_words()
        '2 repeats are too few to tell these 4 apart: grr with none, norm; oue with none, norm'
        """
        count = len(self.tied_pairs())
        if count == 1:
            return self.best_names()
        if self.has_few_repeats:
            return f"{self.few_in_words()} these {count} apart: {self.best_names()}"
        return f"these {count} are tied: {self.best_names()}"

    def best_names(self) -> str:
        """Return the best pair and those that tie with it, each protocol with its methods."""
        by_protocol: dict[str, list[str]] = defaultdict(list)
        for protocol, method in self.tied_pairs():
            by_protocol[protocol].append(method)
        return "; ".join(f"{protocol} with {', '.join(methods)}" for protocol, methods in by_protocol.items())

    @property
    def has_few_repeats(self) -> bool:
        """Whether there are so few repeats that a tie says little."""
        return self.repeats < FEW

    def few_in_words(self) -> str:
        """Return the beginning of a sentence that says so."""
        repeats = "1 repeat is" if self.repeats == 1 else f"{self.repeats} repeats are"
        return f"{repeats} too few to tell"

    def mark(self, protocol: str, method: str) -> str:
        """Return what stands behind a number: * at the best of its row and its equals, ~ at what ties."""
        if len(self.methods) < 2:
            return ""
        best = self.best_method(protocol)
        if method == best or is_equal(self.mean(protocol, method).value, self.mean(protocol, best).value):
            return "*"
        return "~" if method in self.tied_methods(protocol) else ""

    def wins(self, method: str) -> float:
        """Return in how many (protocol, repeat) runs a method was the best; equal ones share a run."""
        total = 0.0
        for protocol in self.protocols:
            stacked = np.array([self.values[protocol, each] for each in self.methods])
            best = stacked.max(axis=0) if self.larger_is_better else stacked.min(axis=0)
            equal = np.isclose(stacked, best, rtol=EQUAL, atol=0)
            total += float((equal[self.methods.index(method)] / equal.sum(axis=0)).sum())
        return total

    def _tie(self, first: tuple[str, str], second: tuple[str, str], *, among: int) -> bool:
        """Whether two pairs tie; methods of one protocol saw the same collections."""
        if first == second:
            return True
        one, other = self.values[first], self.values[second]
        noise = difference_noise(one, other, paired=first[0] == second[0])
        return is_tie(float(one.mean()), float(other.mean()), *noise, among=among)

    def _best(self, means: dict[_Key, float]) -> _Key:
        order = max if self.larger_is_better else min
        return order(means, key=lambda name: means[name])
