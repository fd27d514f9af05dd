"""Benchmarks of numbers: what an experiment about means or densities found, and what runs it."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from ldpkit.bench.answers import coverage_answer, numbers_answer
from ldpkit.bench.measured import Measured
from ldpkit.bench.numeric_data import NumericData, load_numbers
from ldpkit.bench.numeric_experiment import (
    DENSITY_MECHANISMS,
    MEAN_MECHANISMS,
    METRICS,
    NumericExperiment,
    NumericRow,
    Task,
)
from ldpkit.bench.numeric_summary import NumericSummary
from ldpkit.bench.numeric_table import SCALES, tabulate_numeric
from ldpkit.core.errors import InvalidParameterError
from ldpkit.core.tables import Table, cell_text
from ldpkit.core.watching import Watch, unwatched
from ldpkit.estimation.binned_density import ALGORITHMS
from ldpkit.mechanisms.kinds import ALL, NUMERIC, listed, select
from ldpkit.planning.plan import left_out_note

__all__ = ["DENSITY_DATA", "MEAN_DATA", "NumericBenchmark", "density", "mean"]

MEAN_DATA = ("gaussian", "exponential", "beta", "uniform", "bernoulli")
"""On whom means are compared where nothing else is said."""

_BIASED = "biased, and not along a line: the error depends on data that nobody knows beforehand"
_READ_OFF = "a mean that is read off a density is only simulated"
_AUTO = (
    "auto: as ldpkit mean does, some people describe the data, and the others report through the mechanism "
    "that suits the description best"
)

DENSITY_DATA = ("bimodal",)
"""On whom densities are compared where nothing else is said."""


@dataclass(frozen=True, eq=False, repr=False)
class NumericBenchmark(Measured):
    """Numeric mechanisms, compared on some numbers.

    Parameters
    ----------
    experiment : NumericExperiment
        What was compared, on whom, how often.
    measured : sequence of NumericRow
        Every number: the tidy table.
    metrics : tuple of str
        What is told of it.
    left_out : tuple of str
        What could not be compared, and why, where all were asked for.

    Examples
    --------
    >>> import ldpkit
    >>> found = ldpkit.bench.mean("gaussian:n=500", ["pm", "hm"], epsilon=1, repeats=3)
    >>> isinstance(found, NumericBenchmark)
    True
    """

    experiment: NumericExperiment
    measured: Sequence[NumericRow]
    metrics: tuple[str, ...]
    left_out: tuple[str, ...] = ()

    kind: ClassVar[str] = "numeric benchmark"

    def summary(self, metric: str | None = None) -> NumericSummary:
        """Return the means over the repeats under one metric, by default the first."""
        return NumericSummary(self.measured, metric or self.metrics[0])

    def answer(self, unit: str = "") -> str:
        """Return which mechanism has the smallest error, or which tie, on all data at every epsilon."""
        errors = [metric for metric in self.metrics if metric != "coverage"]
        return self._answer_by(errors[0] if errors else self.metrics[0])

    def _answer_by(self, metric: str) -> str:
        if metric == "coverage":
            return coverage_answer(self.summary(metric))
        people = {numbers.name: numbers.n for numbers in self.experiment.data}
        return numbers_answer(self.summary(metric), people)

    @property
    def title(self) -> str:
        """The title above the tables."""
        what = "means" if self.experiment.task == "mean" else "densities"
        return f"Mechanisms for {what}: {self.caption}"

    @property
    def caption(self) -> str:
        """On whom and how it was simulated."""
        counts = sorted({numbers.n for numbers in self.experiment.data})
        people = " or ".join(f"{count:,}" for count in counts)
        made = self.experiment
        return f"{people} people, {made.repeats} collections for each cell, seed {made.seed}"

    def records(self) -> Iterator[dict[str, Any]]:
        """Return every number: data, epsilon, mechanism, metric, repeat, value, and the scale it is on."""
        told = (row for row in self.measured if row.metric in self.metrics)
        return ({**row._asdict(), "scale": SCALES[row.metric]} for row in told)

    def about(self) -> dict[str, Any]:
        """Return what was compared, on whom, and what is best."""
        made = self.experiment
        best = [
            {
                "metric": metric,
                "data": data,
                "epsilon": epsilon,
                "best": self.summary(metric).tied(data, epsilon),
            }
            for metric in self.metrics
            if metric != "coverage"
            for data, epsilon in self.summary(metric).lines()
        ]
        return {
            "task": made.task,
            "people": {numbers.name: numbers.n for numbers in made.data},
            "repeats": made.repeats,
            "seed": made.seed,
            "best": best,
            "left_out": list(self.left_out),
        }

    def notes(self) -> list[str]:
        """Return what was left out, and what is best under every metric, on all data at every epsilon."""
        measured = [metric for metric in self.metrics if self.summary(metric).means]
        auto = [_AUTO] if "auto" in self.experiment.mechanisms else []
        told = [*left_out_note(self.left_out), *self._unmeasured(), *auto]
        return [*told, *map(self._answer_by, measured)]

    def _unmeasured(self) -> list[str]:
        """Return which mechanisms have no number under a metric, and why."""
        made = self.experiment
        first = made.cells()[: len(made.mechanisms)]
        notes = []
        for metric in self.metrics:
            lacking = [cell.mechanism for cell in first if metric not in made.measured(cell)]
            reasons = {
                _READ_OFF: [name for name in lacking if "+" in name],
                _BIASED: [name for name in lacking if "+" not in name],
            }
            told = "; ".join(f"{', '.join(names)} ({why})" for why, names in reasons.items() if names)
            notes += [f"without a number for {metric}: {told}"] if told else []
        return notes

    def tables(self, top: int | None = None) -> list[Table]:
        """Return data and epsilon by mechanism, for every metric."""
        people = {cell_text(numbers.name): numbers.n for numbers in self.experiment.data}
        shown = [row._replace(data=cell_text(row.data)) for row in self.measured]
        return [tabulate_numeric(NumericSummary(shown, metric), people) for metric in self.metrics]


def mean(
    data: Any = MEAN_DATA,
    mechanisms: str | Sequence[str] = MEAN_MECHANISMS,
    *,
    epsilon: float | Sequence[float] = 1.0,
    metrics: str | Sequence[str] = "mse",
    repeats: int = 10,
    seed: int = 0,
    column: str | None = None,
    low: float | None = None,
    high: float | None = None,
    run: bool = True,
    watch: Watch = unwatched,
) -> NumericBenchmark:
    """Compare numeric mechanisms for the mean of numbers.

    Parameters
    ----------
    data : str, NumericData, or a sequence of these
        Distributions such as "gaussian" or "gaussian:n=1000", or files of numbers.
    mechanisms : str or sequence of str
        Numeric mechanisms, "aaa" and "auto" of two phases; "sw+ems" reads the mean off a density.
    epsilon : float or sequence of float
        The privacy budgets.
    metrics : str or sequence of str
        "mse", "expected" or "coverage".
    repeats : int
        Collections to simulate.
    seed : int
        Makes the run repeatable.
    column, low, high : optional
        The column of a file, and the interval of its numbers.
    run : bool
        False returns the benchmark without numbers, for `NumericBenchmark.run`.
    watch : Watch
        Shows progress.

    Examples
    --------
    >>> import ldpkit
    >>> found = ldpkit.bench.mean("uniform:n=1000", ["pm", "duchi"], metrics="expected", repeats=2)
    >>> found.summary().best("uniform", 1.0)
    'pm'
    """
    chosen, left_out = select(NUMERIC, single_epsilon=True).among(mechanisms, NUMERIC)
    chosen = [*chosen, "auto"] if listed(mechanisms) == [ALL] else chosen
    file = (column, low, high)
    asked = _asked("mean", data, chosen, epsilon, metrics, repeats, seed, file, left_out)
    return asked.run(watch) if run else asked


def density(
    data: Any = DENSITY_DATA,
    mechanisms: str | Sequence[str] = DENSITY_MECHANISMS,
    *,
    epsilon: float | Sequence[float] = 1.0,
    methods: str | Sequence[str] = "ems",
    metrics: str | Sequence[str] = "wasserstein",
    repeats: int = 10,
    seed: int = 0,
    column: str | None = None,
    low: float | None = None,
    high: float | None = None,
    run: bool = True,
    watch: Watch = unwatched,
) -> NumericBenchmark:
    """Compare numeric mechanisms for the distribution of numbers.

    Parameters
    ----------
    data, mechanisms, epsilon, repeats, seed, column, low, high, run, watch
        As in `mean`; a mechanism may name its method, "sw+em".
    methods : str or sequence of str
        "ems", "em", "inversion", or "all".
    metrics : str or sequence of str
        "wasserstein".

    Examples
    --------
    >>> import ldpkit
    >>> found = ldpkit.bench.density("bimodal:n=2000", ["sw", "pm"], epsilon=2, repeats=2)
    >>> found.summary().best("bimodal", 2.0)
    'sw+ems'
    """
    able = select(NUMERIC, single_epsilon=True, without=("fitted",))
    names, left_out = able.among(mechanisms, NUMERIC)
    algorithms = list(ALGORITHMS) if listed(methods) == [ALL] else listed(methods)
    chosen = [
        label if "+" in label else f"{label}+{algorithm}" for label in names for algorithm in algorithms
    ]
    file = (column, low, high)
    asked = _asked("density", data, chosen, epsilon, metrics, repeats, seed, file, left_out)
    return asked.run(watch) if run else asked


def _asked(
    task: Task,
    data: Any,
    mechanisms: Sequence[str],
    epsilon: float | Sequence[float],
    metrics: str | Sequence[str],
    repeats: int,
    seed: int,
    file: tuple[str | None, float | None, float | None],
    left_out: tuple[str, ...],
) -> NumericBenchmark:
    for metric in listed(metrics):
        if metric not in METRICS[task]:
            raise InvalidParameterError(
                f"unknown metric {metric!r} of a {task}: choose from {', '.join(METRICS[task])}"
            )
    column, low, high = file
    people = [
        each if isinstance(each, NumericData) else load_numbers(str(each), column=column, low=low, high=high)
        for each in ([data] if isinstance(data, (str, os.PathLike, NumericData)) else data)
    ]
    budgets = [epsilon] if isinstance(epsilon, (int, float)) else epsilon
    experiment = NumericExperiment(people, budgets, mechanisms, task, repeats, seed)
    return NumericBenchmark(experiment, (), tuple(listed(metrics)), left_out)
