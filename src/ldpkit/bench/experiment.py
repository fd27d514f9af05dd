"""Experiments about frequencies: every protocol at every epsilon, with every method and metric."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ldpkit.bench.grid import Grid
from ldpkit.bench.rows import Keys
from ldpkit.core import random
from ldpkit.core.errors import InvalidParameterError
from ldpkit.core.parameters import check_counts, check_epsilon, check_repeats, check_whole
from ldpkit.core.typing import Counts, Floats
from ldpkit.estimation.consistency import CONSISTENCY, NO_METHOD, processed
from ldpkit.mechanisms.categorical.oracle import FrequencyOracle
from ldpkit.mechanisms.kinds import frequency_class, frequency_oracle
from ldpkit.simulation.engines import engine
from ldpkit.simulation.metrics import metric_for

__all__ = ["NO_METHOD", "Cell", "Experiment", "Row"]


class Row(NamedTuple):
    """One number of an experiment: a record of the tidy table."""

    epsilon: float
    protocol: str
    method: str
    metric: str
    repeat: int
    value: float


class Cell(NamedTuple):
    """One protocol at one epsilon."""

    epsilon: float
    protocol: str

    @property
    def label(self) -> str:
        """The name that the cell's randomness is derived from."""
        return f"{self.protocol} epsilon={self.epsilon!r}"


@dataclass(frozen=True)
class Experiment(Grid):
    """What to compare, on whom, how often.

    Parameters
    ----------
    counts : array of int
        How many people hold each value.
    epsilons, protocols, methods, metrics : sequences
        The axes of the grid. "none" is the method that leaves the estimate as it is.
    repeats : int
        How many collections to simulate for each cell.
    engine : str
        "aggregate" draws support counts from their law, "users" makes every report.
    seed : int
        What the randomness of all cells is derived from.
    threads : int
        For the users engine; the numbers do not depend on it.

    Examples
    --------
    >>> experiment = Experiment(np.array([60, 30, 10]), [1.0], ["grr", "oue"], ["none", "norm_sub"],
    ...                         ["mae"], repeats=3)
    >>> sum(len(result.rows) for result in experiment.run())
    12
    """

    counts: Counts
    epsilons: Sequence[float]
    protocols: Sequence[str]
    methods: Sequence[str]
    metrics: Sequence[str]
    repeats: int = 10
    engine: str = "aggregate"
    seed: int = 0
    threads: int = 1

    cell_type = Cell
    row_type = Row

    def __post_init__(self) -> None:
        settings: dict[str, Any] = {
            "counts": check_counts(self.counts, np.size(self.counts)),
            "epsilons": tuple(dict.fromkeys(check_epsilon(epsilon) for epsilon in self.epsilons)),
            "protocols": tuple(
                dict.fromkeys(frequency_class(name, single_epsilon=True).name for name in self.protocols)
            ),
            "methods": tuple(dict.fromkeys(_method(name) for name in self.methods)),
            "metrics": tuple(dict.fromkeys(metric_for(name).name for name in self.metrics)),
            "repeats": check_repeats(self.repeats),
            "threads": check_whole(self.threads, "threads"),
        }
        for name, value in settings.items():
            if np.size(value) == 0:
                raise InvalidParameterError(f"an experiment needs at least one of {name}")
            object.__setattr__(self, name, value)
        engine(self.engine)
        random.seeded(self.seed)
        for cell in self.cells():
            self.oracle(cell)

    def cells(self) -> list[Cell]:
        """Return the cells in the order of the axes."""
        return [Cell(epsilon, protocol) for epsilon in self.epsilons for protocol in self.protocols]

    def oracle(self, cell: Cell) -> FrequencyOracle:
        """Return the mechanism of a cell."""
        return frequency_oracle(cell.protocol, len(self.counts), epsilon=cell.epsilon)

    @property
    def truth(self) -> Floats:
        """The true frequencies."""
        return np.asarray(self.counts / self.counts.sum())

    def fingerprint(self) -> dict[str, Any]:
        """Return what two runs must have in common for their rows to belong together."""
        return {
            "counts_sha256": hashlib.sha256(self.counts.astype("<i8").tobytes()).hexdigest(),
            "repeats": self.repeats,
            "engine": self.engine,
            "seed": self.seed,
            "methods": list(self.methods),
            "metrics": list(self.metrics),
        }

    def estimates(self, cell: Cell) -> Floats:
        """Return the unbiased estimates of a cell's collections, shape (repeats, k)."""
        oracle = self.oracle(cell)
        draw = engine(self.engine)
        supports = draw(oracle, self.counts, self.source(cell), self.repeats, self.threads)
        return oracle.unbiased(supports, int(self.counts.sum()))

    def processed(self, cell: Cell, method: str, estimates: Floats) -> Floats:
        """Return a cell's estimates after a method."""
        return processed(self.oracle(cell), estimates, int(self.counts.sum()), method)

    def keys(self, cell: Cell) -> Keys:
        """Return method, metric and repeat of each row of a cell."""
        return Keys(self.methods, self.metrics, range(self.repeats))

    def is_impossible(self, key: tuple[str | int, ...], value: float) -> bool:
        """Whether a metric of the house is infinite or no number; none of them ever is."""
        _, name, _ = key
        return not math.isfinite(value) and metric_for(str(name)).__module__.startswith("ldpkit.")

    def values(self, cell: Cell) -> Iterator[float]:
        """Run a cell with all methods and metrics."""
        estimates = self.estimates(cell)
        for method in self.methods:
            found = self.processed(cell, method, estimates)
            for name in self.metrics:
                yield from map(float, metric_for(name)(self.truth, found))


def _method(name: str) -> str:
    if name.lower() == NO_METHOD:
        return NO_METHOD
    CONSISTENCY.get(name)
    return name.lower().replace("-", "_")
