"""Benchmarks of frequencies: what an experiment found, as one record, and the function that runs it."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from ldpkit.bench.answers import frequencies_answer
from ldpkit.bench.experiment import NO_METHOD, Experiment, Row
from ldpkit.bench.measured import Measured
from ldpkit.bench.summary import Summary
from ldpkit.bench.table import tabulate
from ldpkit.core.cached import cached_property
from ldpkit.core.errors import InvalidParameterError
from ldpkit.core.limits import check_request
from ldpkit.core.parameters import check_epsilon
from ldpkit.core.tables import Table
from ldpkit.core.typing import Label
from ldpkit.core.watching import Watch, unwatched
from ldpkit.estimation.consistency import CONSISTENCY
from ldpkit.mechanisms.kinds import ALL, FREQUENCY, frequency_oracle, listed, select
from ldpkit.planning.plan import left_out_note
from ldpkit.simulation.datasets import DEFAULT_DATA, as_dataset
from ldpkit.simulation.metrics import metric_for

__all__ = ["DEFAULT_PROTOCOLS", "Benchmark", "frequencies"]

DEFAULT_PROTOCOLS = ("grr", "sue", "oue", "blh", "olh", "ss")
"""What is compared where no protocols are named."""
_ENGINES = {
    "aggregate": "simulated from the exact distribution of counts",
    "users": "every report simulated",
}
_REPEATS, _FEW_REPEATS, _MANY_VALUES = 100, 10, 10_000
_FOR_A_ROW = 16  # bytes: its number, and once more in a summary
_FOR_A_LOGGED_ROW = 100  # bytes of each row of one cell, on its way into the log
_FOR_A_VALUE, _PROCESSED = 32, 64  # bytes for a value of a collection: counts and estimates, and with methods


@dataclass(frozen=True, eq=False, repr=False)
class Benchmark(Measured):
    """Protocols and post-processing methods, compared on some people.

    Parameters
    ----------
    experiment : Experiment
        What was compared, on whom, how often.
    measured : sequence of Row
        Every number: the tidy table.
    data : str
        What the people are called.
    left_out : tuple of str
        What could not be compared, and why, where all were asked for.
    labels : tuple
        What the values are called, where that is known.

    Examples
    --------
    >>> import ldpkit
    >>> found = ldpkit.bench.frequencies([600, 300, 100], ["grr", "oue"], methods="none", repeats=5)
    >>> found.people, found.summary().best_pair()
    (1000, ('grr', 'none'))
    """

    experiment: Experiment
    measured: Sequence[Row]
    data: str
    left_out: tuple[str, ...] = ()
    labels: tuple[Label, ...] = ()

    kind: ClassVar[str] = "benchmark"

    def summary(self, epsilon: float | None = None, metric: str | None = None) -> Summary:
        """Return protocol by method under one metric; by default the middle epsilon and the first metric."""
        budgets = self.experiment.epsilons
        chosen = budgets[len(budgets) // 2] if epsilon is None else epsilon
        asked = (chosen, metric or self.experiment.metrics[0])
        if asked not in self._summaries:
            self._summaries[asked] = Summary(self.measured, *asked)
        return self._summaries[asked]

    @cached_property
    def _summaries(self) -> dict[tuple[float, str], Summary]:
        return {}

    @cached_property
    def _there(self) -> frozenset[float]:
        return frozenset(row.epsilon for row in self.measured)

    def summaries(self) -> list[Summary]:
        """Return protocol by method for every metric and epsilon that was measured."""
        axes = self.experiment
        epsilons = [epsilon for epsilon in axes.epsilons if epsilon in self._there]
        return [self.summary(epsilon, metric) for metric in axes.metrics for epsilon in epsilons]

    @property
    def people(self) -> int:
        """The number of people."""
        return int(self.experiment.counts.sum())

    def answer(self, unit: str = "") -> str:
        """Return which combination is best under the first metric, or which tie, at every epsilon."""
        metric = self.experiment.metrics[0]
        return frequencies_answer(self.data, [each for each in self.summaries() if each.metric == metric])

    @property
    def title(self) -> str:
        """The title above the tables."""
        return f"{self.data}: {self.caption}"

    @property
    def caption(self) -> str:
        """On whom and how it was simulated."""
        made = self.experiment
        values = f"{self.people:,} people, {len(made.counts):,} values"
        return f"{values}, {_ENGINES[made.engine]}, seed {made.seed}"

    @property
    def among_epsilons(self) -> str:
        """Which of several epsilons a sentence or figure about one of them leaves out; else nothing."""
        budgets = self.experiment.epsilons
        if len(budgets) < 2:
            return ""
        return f" (one of {', '.join(f'{each:g}' for each in budgets)}; the tables have all)"

    def records(self) -> Iterator[dict[str, Any]]:
        """Return every number: epsilon, protocol, method, metric, repeat, value."""
        return (row._asdict() for row in self.measured)

    def about(self) -> dict[str, Any]:
        """Return what was compared, on whom, and what is best."""
        made = self.experiment
        best = [
            {"metric": each.metric, "epsilon": each.epsilon, "best": list(map(list, each.tied_pairs()))}
            for each in self.summaries()
        ]
        return {
            "data": self.data,
            "people": self.people,
            "values": len(made.counts),
            "repeats": made.repeats,
            "engine": made.engine,
            "seed": made.seed,
            "best": best,
            "left_out": list(self.left_out),
        }

    def notes(self) -> list[str]:
        """Return what was left out, and which combination is best for every metric and epsilon."""
        best = [
            f"{metric_for(each.metric).title} at epsilon {each.epsilon:g}, best: {each.best_in_words()}"
            for each in self.summaries()
        ]
        return [*left_out_note(self.left_out), *best]

    def tables(self, top: int | None = None) -> list[Table]:
        """Return the paper's table, protocol by method, for every metric and epsilon."""
        return [tabulate(each) for each in self.summaries()]


def frequencies(
    data: Any = DEFAULT_DATA,
    protocols: str | Sequence[str] = DEFAULT_PROTOCOLS,
    *,
    epsilon: float | Sequence[float] = 1.0,
    methods: str | Sequence[str] = ALL,
    metrics: str | Sequence[str] = "mae",
    repeats: int | None = None,
    engine: str = "aggregate",
    seed: int = 0,
    threads: int = 0,
    column: str | None = None,
    run: bool = True,
    watch: Watch = unwatched,
) -> Benchmark:
    """Compare protocols and post-processing methods for frequencies on some people.

    Parameters
    ----------
    data : str, path, Dataset, mapping or sequence of int
        The people, as in `ldpkit.simulation.datasets.as_dataset`.
    protocols : str or sequence of str
        Frequency oracles, or "all".
    epsilon : float or sequence of float
        The privacy budgets.
    methods : str or sequence of str
        Post-processing methods, "none", or "all", which includes none.
    metrics : str or sequence of str
        What is measured.
    repeats : int, optional
        Collections to simulate; by default 100, and 10 where they take long: if every user's report is made,
        or of more than 10,000 values.
    engine : {"aggregate", "users"}
        Draw aggregates from their exact law, or make every user's report.
    seed : int
        Makes the run repeatable, whatever the number of threads.
    threads : int
        Of the users engine; 0 takes all cores.
    column : str, optional
        The column of a table to read.
    run : bool
        False returns the benchmark without numbers, for `Benchmark.run`.
    watch : Watch
        Shows progress.

    Examples
    --------
    >>> import ldpkit
    >>> found = ldpkit.bench.frequencies([600, 300, 100], ["grr", "oue"], methods="none", repeats=5)
    >>> len(found.rows()), found.summary().best_pair()
    (10, ('grr', 'none'))
    """
    people = as_dataset(data, column=column)
    names, left_out = select(FREQUENCY, single_epsilon=True).among(protocols, FREQUENCY)
    budgets = [epsilon] if isinstance(epsilon, (int, float)) else list(epsilon)
    if listed(protocols) == [ALL]:
        names, unable = _able(names, len(people.counts), budgets)
        left_out += unable
    chosen = listed(methods)
    usual = _default_repeats(engine, len(people.counts))
    experiment = Experiment(
        people.counts,
        budgets,
        names,
        [NO_METHOD, *CONSISTENCY] if chosen == [ALL] else chosen,
        listed(metrics),
        repeats=usual if repeats is None else repeats,
        engine=engine,
        seed=seed,
        threads=threads or os.cpu_count() or 1,
    )
    if experiment.repeats > usual:
        _check_memory(experiment)
    asked = Benchmark(experiment, (), people.name, left_out, tuple(people.domain.labels))
    return asked.run(watch) if run else asked


def _check_memory(experiment: Experiment) -> None:
    """Refuse repeats whose collections and numbers take more memory than is allowed for."""
    repeats = experiment.repeats
    of_a_cell = len(experiment.methods) * len(experiment.metrics) * repeats
    rows = len(experiment.cells()) * of_a_cell
    needed = _FOR_A_ROW * rows + _FOR_A_LOGGED_ROW * of_a_cell
    each = _FOR_A_VALUE if set(experiment.methods) == {"none"} else _PROCESSED
    needed += each * repeats * len(experiment.counts)
    check_request(needed, f"a benchmark of {repeats:,} repeats with {rows:,} numbers")


def _able(names: Sequence[str], size: int, epsilons: Sequence[float]) -> tuple[list[str], tuple[str, ...]]:
    """Return the protocols that can have this domain and these epsilons, and why the others cannot."""
    able, unable = list[str](), list[str]()
    budgets = [check_epsilon(epsilon) for epsilon in epsilons]
    for name in names:
        try:
            for epsilon in budgets:
                frequency_oracle(name, size, epsilon=epsilon).variance(
                    0.0, 1
                )  # tables are made when first used
        except InvalidParameterError as refusal:
            unable.append(f"{name}: {refusal}")
        else:
            able.append(name)
    if not able:
        raise InvalidParameterError(f"no protocol can be simulated: {'; '.join(unable)}")
    return able, tuple(unable)


def _default_repeats(engine: str, values: int) -> int:
    """Return so many repeats that winners are winners, or as many as take seconds."""
    return _FEW_REPEATS if engine == "users" or values > _MANY_VALUES else _REPEATS
