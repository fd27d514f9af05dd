"""`ldpkit bench --task mean|density`: the best mechanism for numbers."""

from __future__ import annotations

import io
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ldpkit.cli.arguments import check_figure, check_outputs
from ldpkit.cli.output import Format, note, show, show_cells
from ldpkit.cli.progress import track
from ldpkit.cli.safetext import visible
from ldpkit.core.errors import InvalidParameterError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ldpkit.bench.numeric_data import NumericData
    from ldpkit.bench.numeric_experiment import NumericExperiment, NumericRow, Task

__all__ = ["NumericOptions", "bench_numbers"]

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
    style: str
    output: Path | None
    figure: Path | None
    force: bool = False


def bench_numbers(task: Task, options: NumericOptions) -> None:
    """Compare numeric mechanisms and print, write or draw what came out."""
    from ldpkit.bench.numeric_benchmark import NumericBenchmark
    from ldpkit.bench.numeric_data import load_numbers
    from ldpkit.bench.numeric_experiment import METRICS, NumericExperiment
    from ldpkit.figures.canvas import save_figure

    if options.style not in ("table", "csv", "json"):
        raise InvalidParameterError(f"numbers are printed as table, csv or json, got {options.style!r}")
    if options.output is not None and options.output.suffix.lower() not in (".csv", ".json"):
        raise InvalidParameterError(
            f"results about numbers are written as .csv or .json, got {str(options.output)!r}"
        )
    check_figure(options.figure, force=options.force)
    check_outputs(
        {"--out": options.output, "--figure": options.figure}, force=options.force, inputs=options.data
    )
    metrics = options.metrics or [METRICS[task][0]]
    for metric in metrics:
        if metric not in METRICS[task]:
            raise InvalidParameterError(
                f"unknown metric {metric!r} of a {task}: choose from {', '.join(METRICS[task])}"
            )
    data = [
        load_numbers(spec, column=options.column, low=options.low, high=options.high)
        for spec in options.data or (_ANY_DATA if task == "mean" else ("bimodal",))
    ]
    experiment = NumericExperiment(
        data, options.epsilons, _mechanisms(task, options), task, options.repeats, options.seed
    )
    rows: list[NumericRow] = []
    with closing(track(experiment.run(), len(experiment.cells()), "simulating")) as results:
        for made in results:
            rows += made
    if options.output is not None:
        _write(options.output, rows)
    _print(experiment, rows, metrics, Format(options.style))
    if options.figure is not None:
        save_figure(NumericBenchmark(experiment, tuple(rows), tuple(metrics)).figure(), options.figure)
        note(f"wrote {options.figure}")


def _mechanisms(task: Task, options: NumericOptions) -> list[str]:
    """Return the labels to compare: for densities, every mechanism with every algorithm."""
    from ldpkit.bench.numeric_experiment import DENSITY_MECHANISMS, MEAN_MECHANISMS
    from ldpkit.estimation.density import ALGORITHMS

    if task == "mean":
        if options.algorithms:
            raise InvalidParameterError("--method is for densities; for a mean write -p sw+ems")
        return options.mechanisms or list(MEAN_MECHANISMS)
    algorithms = list(ALGORITHMS) if options.algorithms == ["all"] else options.algorithms or ["ems"]
    chosen = options.mechanisms or list(DENSITY_MECHANISMS)
    return [label if "+" in label else f"{label}+{algorithm}" for label in chosen for algorithm in algorithms]


def _write(path: Path, rows: list[NumericRow]) -> None:
    from ldpkit.core.wholefile import whole_text

    text = io.StringIO()
    show([row._asdict() for row in rows], Format(path.suffix.lower().removeprefix(".")), file=text)
    whole_text(path, text.getvalue())
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
    print(f"{_people(experiment.data)}, {facts}\n")
    for metric in metrics:
        table = tabulate_numeric(NumericSummary(rows, metric), people)
        show_cells(table.header, table.rows, right=table.right, title=table.title, caption=table.caption)
        print()
    if experiment.task == "mean" and "expected" not in metrics:
        print(
            "next: -u expected for the same without the noise of simulation, -u coverage for the intervals,\n"
            "-p sw+ems to add the mean of the smooth density, -d FILE --low --high for your data."
        )


def _people(data: Sequence[NumericData]) -> str:
    counts = sorted({numbers.n for numbers in data})
    return " or ".join(f"{count:,}" for count in counts) + " people"
