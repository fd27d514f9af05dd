"""`ldpkit bench`: the best protocol and method for my data, my epsilon, my metric."""

from __future__ import annotations

import enum
import os
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ldpkit.cli.arguments import (
    FigureOption,
    ForceOption,
    HighOption,
    LowOption,
    check_figure,
    check_outputs,
)
from ldpkit.cli.bench_numeric import NumericOptions, bench_numbers
from ldpkit.cli.output import note, show_cells
from ldpkit.cli.repeatable import ManyValuesCommand, split
from ldpkit.cli.safetext import visible

if TYPE_CHECKING:
    from ldpkit.bench.grid import Experiment, Row

__all__ = ["add_to"]

DEFAULT_DATA = "zipf:k=128,n=100000"
DEFAULT_PROTOCOLS = ["grr", "sue", "oue", "blh", "olh", "ss"]


class ResultFormat(enum.StrEnum):
    """How to give the results."""

    table = "table"
    csv = "csv"
    json = "json"
    parquet = "parquet"


class Task(enum.StrEnum):
    """What is estimated."""

    frequency = "frequency"
    mean = "mean"
    density = "density"


class EngineName(enum.StrEnum):
    """How to simulate."""

    aggregate = "aggregate"
    users = "users"


_EXAMPLES = """
\b
Examples:
  ldpkit bench
  ldpkit bench -d kosarak -e 0.5 1 2 -p all -m all -r 10 -u mae kl
  ldpkit bench -d values.csv --column city -e 1 --report report.html --figure figure.png
  ldpkit bench -d zipf:k=1024,n=1000000 -e 1 --engine users -t 2 -o results.csv --resume
  ldpkit bench --task mean -e 0.5 1 2 4 -r 100 -u mse expected
  ldpkit bench --task density -d bimodal:n=50000 -e 1 -p sw -m all --figure density.png

Several values may follow an option, be separated by commas, or the option be repeated.
"""


def add_to(app: typer.Typer) -> None:
    """Register the command."""
    app.command("bench", cls=ManyValuesCommand, epilog=_EXAMPLES)(bench)


def bench(
    epsilon: Annotated[
        list[str], typer.Option("--epsilon", "-e", metavar="EPS...", help="Privacy budgets.")
    ] = ["1"],
    protocol: Annotated[
        list[str],
        typer.Option(
            "--protocol", "-p", metavar="NAME...", help="Protocols, or 'all'; or mechanisms for numbers."
        ),
    ] = DEFAULT_PROTOCOLS,
    method: Annotated[
        list[str],
        typer.Option(
            "--method",
            "-m",
            metavar="NAME...",
            help="Post-processing methods, 'none', or 'all' (which includes none).",
        ),
    ] = ["all"],
    repeat: Annotated[int, typer.Option("--repeat", "-r", help="Collections to simulate.")] = 10,
    threads: Annotated[
        int, typer.Option("--threads", "-t", help="Threads of the users engine; 0 takes all cores.")
    ] = 0,
    data: Annotated[
        str,
        typer.Option(
            "--dataset",
            "-d",
            help="A file, the name of a known set (see 'ldpkit datasets'), or a population.",
        ),
    ] = DEFAULT_DATA,
    metric: Annotated[
        list[str], typer.Option("--metric", "-u", metavar="NAME...", help="Utility metrics.")
    ] = ["mae"],
    column: Annotated[str | None, typer.Option("--column", help="The column of a table to read.")] = None,
    engine: Annotated[
        EngineName, typer.Option(help="Draw aggregates from their exact law, or make every user's report.")
    ] = EngineName.aggregate,
    seed: Annotated[int, typer.Option(help="Makes the run repeatable, whatever the number of threads.")] = 0,
    output: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="Write the tidy table to a .csv, .json or .parquet file."),
    ] = None,
    result_format: Annotated[
        ResultFormat, typer.Option("--format", help="What to print; parquet needs --out.")
    ] = ResultFormat.table,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with a run that was stopped; its cells are in OUT.run.")
    ] = False,
    force: ForceOption = False,
    report: Annotated[Path | None, typer.Option("--report", help="Write a self-contained HTML page.")] = None,
    figure: FigureOption = None,
    plugin: Annotated[
        list[Path] | None,
        typer.Option("--plugin", metavar="FILE", help="A Python file with protocols, methods or metrics."),
    ] = None,
    task: Annotated[
        Task, typer.Option(help="What is estimated: frequencies, or the mean or density of numbers.")
    ] = Task.frequency,
    low: LowOption = None,
    high: HighOption = None,
) -> None:
    """Compare protocols and post-processing methods on your data.

    With --task mean or density: compare numeric mechanisms, on distributions such as
    gaussian or gaussian:n=100000, or on a file with --low and --high.
    """
    from ldpkit.bench.grid import NO_METHOD, Experiment
    from ldpkit.bench.results import format_of
    from ldpkit.core.errors import InvalidParameterError
    from ldpkit.core.registry import load_plugin
    from ldpkit.estimation.consistency import CONSISTENCY
    from ldpkit.mechanisms.kinds import FREQUENCY, select
    from ldpkit.simulation.datasets import load

    for file in plugin or []:
        load_plugin(file)
    if task is not Task.frequency:
        if resume or report is not None:
            raise InvalidParameterError(f"--resume and --report are for frequencies, not for --task {task}")
        options = NumericOptions(
            epsilons=[_number(text) for text in split(epsilon)],
            mechanisms=[] if protocol == DEFAULT_PROTOCOLS else split(protocol),
            algorithms=[] if method == ["all"] and task is Task.mean else split(method),
            metrics=[] if metric == ["mae"] else split(metric),
            data=[] if data == DEFAULT_DATA else split([data]),
            repeats=repeat,
            seed=seed,
            column=column,
            low=low,
            high=high,
            style=result_format.value,
            output=output,
            figure=figure,
            force=force,
        )
        bench_numbers("mean" if task is Task.mean else "density", options)
        return
    if low is not None or high is not None:
        raise InvalidParameterError("--low and --high are for numbers: add --task mean or --task density")
    if result_format is ResultFormat.parquet and output is None:
        raise InvalidParameterError("--format parquet needs a file: add --out results.parquet")
    if resume and output is None:
        raise InvalidParameterError("--resume needs the file to go on with: add --out results.csv")
    if output is not None:
        format_of(output)
    inputs: list[str | Path] = [data, *(plugin or [])]
    check_figure(figure, force=force, inputs=inputs)
    check_outputs({"--report": report, "--figure": figure}, force=force, inputs=inputs)
    # The log of a run says whether --resume may write over its results.
    check_outputs(
        {"--report": report, "--figure": figure, "--out": output}, force=force or resume, inputs=inputs
    )
    protocols, methods = split(protocol), split(method)
    dataset = load(data, column=column)
    experiment = Experiment(
        dataset.counts,
        [_number(text) for text in split(epsilon)],
        select(FREQUENCY, single_epsilon=True).names if protocols == ["all"] else protocols,
        [NO_METHOD, *CONSISTENCY] if methods == ["all"] else methods,
        split(metric),
        repeats=repeat,
        engine=engine.value,
        seed=seed,
        threads=threads or os.cpu_count() or 1,
    )
    rows = _run(experiment, output, resume=resume, force=force)
    _print(experiment, rows, result_format, data)
    if figure is not None:
        from ldpkit.figures.experiment import overview, save_figure

        save_figure(overview(experiment, rows), figure)
        note(f"wrote {figure}")
    if report is not None:
        from ldpkit.core.wholefile import whole_text
        from ldpkit.figures.experiment_page import write_report

        command = shlex.join(["ldpkit", *sys.argv[1:]])
        whole_text(report, write_report(experiment, rows, data=data, command=command))
        note(f"wrote {report}")


def _number(text: str) -> float:
    from ldpkit.core.errors import InvalidParameterError

    try:
        return float(text)
    except ValueError:
        raise InvalidParameterError(f"epsilon must be a number, got {text!r}") from None


def _run(experiment: Experiment, output: Path | None, *, resume: bool, force: bool) -> list[Row]:
    """Run the cells that are missing; if that is stopped, keep the rows that are finished."""
    from contextlib import ExitStack, closing, suppress

    from ldpkit.bench.results import save
    from ldpkit.bench.runlog import RunLog
    from ldpkit.cli.progress import track
    from ldpkit.core.errors import LdpkitError
    from ldpkit.core.stopping import tidied

    wanted = experiment.cells()
    with tidied(), ExitStack() as stack:
        log = None
        if output is not None:
            log = stack.enter_context(RunLog.open(output, experiment, resume=resume, force=force))
        cells = {} if log is None else log.cells
        done = [cell for cell in wanted if cell in cells]
        if done:
            note(f"{len(done)} of {len(wanted)} cells were finished before")

        def write(hint: str = "") -> None:
            rows = [row for cell in cells.values() for row in cell]
            if output is not None and rows:
                save(output, rows, log)
                note(f"wrote {len(rows)} rows to {output}{hint}")

        try:
            with closing(track(experiment.run(done), len(wanted) - len(done), "simulating")) as results:
                for result in results:
                    if log is None:
                        cells[result.cell] = list(result.rows)
                    else:
                        log.add(result)
        except BaseException:
            with suppress(LdpkitError):
                write("; go on with --resume")
            raise
        write()
    return [row for cell in wanted for row in cells[cell]]


def _print(experiment: Experiment, rows: list[Row], result_format: ResultFormat, data: str) -> None:
    from ldpkit.bench.results import as_text

    if result_format in (ResultFormat.csv, ResultFormat.json):
        sys.stdout.write(as_text(rows, result_format.value))
        return
    from ldpkit.bench.summary import Summary
    from ldpkit.bench.table import tabulate

    people, values = int(experiment.counts.sum()), len(experiment.counts)
    facts = f"{people:,} people, {values:,} values, {experiment.engine} engine, seed {experiment.seed}"
    print(f"{visible(data)}: {facts}\n")
    for name in experiment.metrics:
        for budget in experiment.epsilons:
            summary = Summary(rows, budget, name)
            table = tabulate(summary)
            caption = f"{table.caption}\nbest: {summary.best_in_words()}"
            show_cells(table.header, table.rows, right=table.right, title=table.title, caption=caption)
            print()
    print(
        "next: your own data with -d FILE, more budgets with -e 0.5 1 2, a page with --report report.html;\n"
        "then 'ldpkit privatize --help' to collect."
    )
