"""`ldpkit bench --task mean|density`: the best mechanism for numbers."""

from __future__ import annotations

import io
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ldpkit.cli.choices import chosen, is_all, note_left_out
from ldpkit.cli.inputs import moved_in_words, read_numbers
from ldpkit.cli.options import Format, Missing
from ldpkit.cli.outputs import check_ending, is_standard_output, write_text
from ldpkit.cli.plan_options import save_drawn
from ldpkit.cli.printing import note, say, show, show_cells
from ldpkit.cli.progress import watched
from ldpkit.cli.safetext import visible
from ldpkit.core.errors import InvalidParameterError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.figure import Figure

    from ldpkit.bench.numeric_data import NumericData
    from ldpkit.bench.numeric_experiment import NumericExperiment, NumericRow, Task

__all__ = ["NumericOptions", "bench_numbers"]

_AUTO = "auto"  # the best mechanism for what the first people describe
_ANY_DATA = ("gaussian", "exponential", "beta", "uniform", "bernoulli")


@dataclass(frozen=True)
class NumericOptions:
    """What the user asked for; None and empty where nothing was said."""

    epsilons: list[float]
    mechanisms: list[str]
    algorithms: list[str]
    metrics: list[str]
    data: list[str]
    repeats: int
    seed: int
    column: str | None
    low: float | None
    high: float | None
    clip: bool
    missing: Missing
    style: str
    output: Path | None
    figure: Path | None

    def load(self, spec: str) -> NumericData:
        """Return the numbers of a file, or of a distribution."""
        from ldpkit.bench.numeric_data import NumericData, is_file, load_numbers

        if not is_file(spec):
            if self.clip:
                raise InvalidParameterError(f"--clip is for files: {spec!r} is a distribution")
            return load_numbers(spec, column=self.column, low=self.low, high=self.high)
        found = read_numbers(
            [Path(spec)], self.column, self.low, self.high, clip=self.clip, missing=self.missing
        )
        if found is None:
            raise InvalidParameterError(f"{spec} has reports, not numbers: give a number for each person")
        if found.moved:
            note(moved_in_words(found.moved, len(found.values)))
        return NumericData(Path(spec).stem, found.values, found.interval)


def bench_numbers(task: Task, options: NumericOptions) -> None:
    """Compare numeric mechanisms and print, write or draw what came out."""
    from ldpkit.bench.numeric_experiment import METRICS, NumericExperiment

    if options.style not in ("table", "csv", "json"):
        raise InvalidParameterError(f"numbers are printed as table, csv or json, got {options.style!r}")
    check_ending(options.output, "--output", [".csv", ".json"])
    metrics = options.metrics or [METRICS[task][0]]
    for metric in metrics:
        if metric not in METRICS[task]:
            raise InvalidParameterError(
                f"unknown metric {metric!r} of a {task}: choose from {', '.join(METRICS[task])}"
            )
    data = [options.load(spec) for spec in options.data or (_ANY_DATA if task == "mean" else ("bimodal",))]
    experiment = NumericExperiment(
        data, options.epsilons, _mechanisms(task, options), task, options.repeats, options.seed
    )
    done = watched(experiment.run(), len(experiment.cells()), "simulating")
    rows: list[NumericRow] = [row for made in done for row in made]
    style = Format(options.style)
    if is_standard_output(options.output):
        style = Format.csv if style is Format.table else style
    elif options.output is not None:
        _write(options.output, rows)
    _print(experiment, rows, metrics, style)
    save_drawn(options.figure, lambda: _figure(experiment, rows, metrics[0]))


def _mechanisms(task: Task, options: NumericOptions) -> list[str]:
    """Return the labels to compare: for densities, every mechanism with every algorithm."""
    from ldpkit.bench.numeric_experiment import DENSITY_MECHANISMS, MEAN_MECHANISMS
    from ldpkit.estimation.density import ALGORITHMS

    if task == "mean":
        if options.algorithms:
            raise InvalidParameterError("--estimator is for densities; for a mean write -p sw+ems")
        names = options.mechanisms or list(MEAN_MECHANISMS)
        return [*_all(), _AUTO] if is_all(names) else names
    algorithms = list(ALGORITHMS) if is_all(options.algorithms) else options.algorithms or ["ems"]
    names = options.mechanisms or list(DENSITY_MECHANISMS)
    names = _all(without=("fitted",)) if is_all(names) else names
    return [label if "+" in label else f"{label}+{algorithm}" for label in names for algorithm in algorithms]


def _all(without: tuple[str, ...] = ()) -> list[str]:
    """Return every numeric mechanism that can be compared, and tell why others cannot."""
    from ldpkit.mechanisms.kinds import NUMERIC, select

    names, left_out = chosen(["all"], select(NUMERIC, single_epsilon=True, without=without), NUMERIC)
    note_left_out(left_out)
    return names


def _write(path: Path, rows: list[NumericRow]) -> None:
    text = io.StringIO()
    show([row._asdict() for row in rows], Format(path.suffix.lower().removeprefix(".")), file=text)
    write_text(path, text.getvalue())
    note(f"wrote {len(rows)} rows to {path}")


def _print(experiment: NumericExperiment, rows: list[NumericRow], metrics: list[str], style: Format) -> None:
    if style is not Format.table:
        show([row._asdict() for row in rows if row.metric in metrics], style)
        return
    from ldpkit.bench.numeric_experiment import NumericSummary
    from ldpkit.bench.numeric_table import tabulate_numeric

    people = {visible(numbers.name): numbers.n for numbers in experiment.data}
    rows = [row._replace(data=visible(row.data)) for row in rows]
    facts = f"{experiment.repeats} collections for each cell, seed {experiment.seed}"
    say(f"{_people(experiment.data)}, {facts}\n")
    for metric in metrics:
        table = tabulate_numeric(NumericSummary(rows, metric), people)
        show_cells(table.header, table.rows, right=table.right, title=table.title, caption=table.caption)
        print()
    if experiment.task == "mean" and "expected" not in metrics:
        say(
            "next: -u expected for the same without the noise of simulation, -u coverage for the intervals, "
            "-p sw+ems to add the mean of the smooth density, -d FILE --low --high for your data."
        )


def _people(data: Sequence[NumericData]) -> str:
    counts = sorted({numbers.n for numbers in data})
    return " or ".join(f"{count:,}" for count in counts) + " people"


def _figure(experiment: NumericExperiment, rows: list[NumericRow], metric: str) -> Figure:
    """Return the densities of the first collection, or the errors of a mean over epsilon."""
    from ldpkit.bench.numeric_experiment import NumericSummary
    from ldpkit.figures.numeric import curves_figure, density_figure

    if experiment.task == "density":
        first = experiment.cells()[: len(experiment.mechanisms)]
        truth = experiment.numbers(first[0].data).values
        return density_figure([experiment.density(cell) for cell in first], truth=truth)
    summary = NumericSummary(rows, metric)
    curves = {
        numbers.name: {
            name: {epsilon: summary.mean(numbers.name, epsilon, name) for epsilon in experiment.epsilons}
            for name in summary.mechanisms()
        }
        for numbers in experiment.data
    }
    return curves_figure(
        curves, along="epsilon", across=metric, title=f"Error of the mean, {_people(experiment.data)}"
    )
