"""`ldpkit bench`: the best protocol and method for my data, my epsilon, my metric."""

from __future__ import annotations

import enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from ldpkit.cli import options as opt
from ldpkit.cli.bench_numeric import NumberOptions, SharedOptions, numbers_benchmark
from ldpkit.cli.inputs import load_people
from ldpkit.cli.outputs import (
    check_ending,
    check_extra,
    is_standard_output,
)
from ldpkit.cli.parsing import ManyValuesCommand, parse_budgets, refuse_options, split
from ldpkit.cli.pictures import Pictures
from ldpkit.cli.printing import note, present, say
from ldpkit.cli.reading import refuse_input
from ldpkit.core.errors import InvalidParameterError
from ldpkit.core.limits import MOST_REPEATS

if TYPE_CHECKING:
    from ldpkit.bench.benchmark import Benchmark
    from ldpkit.bench.measured import Measured
    from ldpkit.bench.numeric_benchmark import NumericBenchmark
    from ldpkit.simulation.datasets.dataset import Dataset

__all__ = ["add_to"]

Asked = TypeVar("Asked", bound="Measured")

DEFAULT_DATA = "zipf:k=128,n=100000"


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
  ldpkit bench -d values.csv --column city -e 1 --report report.html
  ldpkit bench -d zipf:k=1024,n=1000000 -e 1 --engine users -t 2 \\
    -o results.csv --resume
  ldpkit bench --task mean -e 0.5 1 2 4 -r 100 -u mse expected
  ldpkit bench --task density -d bimodal:n=50000 -e 1 -p sw \\
    --estimator all --figure density.png

The short options are those of LDP3's own program. Several values may follow an option, be separated by
commas, or the option be repeated.
"""


_NEXT = {
    Task.frequency: (
        "next: your own data with -d FILE, more budgets with -e 0.5 1 2, a page with --report report.html; "
        "then 'ldpkit privatize --help' to collect."
    ),
    Task.mean: (
        "next: -u expected for the same without the noise of simulation, -u coverage for the intervals, "
        "-p sw+ems to add the mean of the smooth density, -d FILE --low --high for your data."
    ),
}


def add_to(app: typer.Typer) -> None:
    """Register the command."""
    app.command("bench", cls=ManyValuesCommand, epilog=_EXAMPLES)(opt.spread(bench))


def bench(
    epsilon: opt.EpsilonsOption = None,
    mechanism: opt.MechanismsOption = None,
    consistency: Annotated[
        list[str] | None,
        typer.Option(
            "--consistency",
            "-m",
            metavar="NAME...",
            help="Post-processing methods, 'none', or 'all' (which includes none).",
            show_default="all",
        ),
    ] = None,
    repeat: Annotated[
        int | None,
        typer.Option(
            "--repeat",
            "-r",
            max=MOST_REPEATS,
            help="Collections to simulate; 10 with --engine users, for numbers, or for over 10,000 values.",
            show_default="100",
        ),
    ] = None,
    threads: Annotated[
        int, typer.Option("--threads", "-t", help="Threads of the users engine; 0 uses all cores.")
    ] = 0,
    who: opt.PeopleOptions = opt.PeopleOptions(),
    metric: Annotated[
        list[str] | None,
        typer.Option("--metric", "-u", metavar="NAME...", help="Utility metrics.", show_default="mae"),
    ] = None,
    engine: Annotated[
        EngineName,
        typer.Option(help="Draw aggregates from their exact distribution, or make every user's report."),
    ] = EngineName.aggregate,
    task: Annotated[
        Task, typer.Option(help="What is estimated: frequencies, or the mean or density of numbers.")
    ] = Task.frequency,
    estimator: Annotated[
        list[str] | None,
        typer.Option(
            "--estimator",
            metavar="NAME...",
            help="For a density: ems, em, inversion, or 'all'.",
            show_default="ems",
        ),
    ] = None,
    low: opt.LowOption = None,
    high: opt.HighOption = None,
    clip: opt.ClipOption = False,
    seed: opt.RepeatableSeedOption = 0,
    output: opt.OutputOption = None,
    result_format: Annotated[
        ResultFormat,
        typer.Option("--format", help="What to print, unless --output has the rows; parquet needs --output."),
    ] = ResultFormat.table,
    resume: Annotated[
        bool,
        typer.Option(
            "--resume", help="Continue a run that was stopped; its finished cells are in OUTPUT.run."
        ),
    ] = False,
    force: opt.ForceOption = False,
    pictured: opt.UnitPictureOptions = opt.UnitPictureOptions(),
    plugin: Annotated[
        list[Path] | None,
        typer.Option("--plugin", metavar="FILE", help="A Python file with mechanisms, methods or metrics."),
    ] = None,
) -> None:
    """Compare mechanisms and post-processing methods on your data.

    With --task mean or density: compare numeric mechanisms, on distributions such as
    gaussian or gaussian:n=100000, or on a file with --low and --high.
    """
    from ldpkit.bench.runlog import log_path
    from ldpkit.core.registry import load_plugin
    from ldpkit.core.wholefile import check_target

    for file in plugin or []:
        load_plugin(file)
    _check_output(output, resume=resume)
    if output is not None and not is_standard_output(output):
        for file in (output, log_path(output)):
            refuse_input(file, check_target(file))
    # The log of a run says whether --resume may write over its results.
    pictures = Pictures.wanted(
        *pictured,
        force=force,
        inputs=[who.data, *(plugin or [])],
        outputs=None if resume else {"--output": output},
        seed=seed,
    )
    epsilons = parse_budgets(epsilon or ["1"])
    shared = SharedOptions(epsilons, split(mechanism or []), split(metric or []), repeat, seed)
    asked: Benchmark | NumericBenchmark
    if task is Task.frequency:
        refuse_options(
            "it is for numbers, with --task mean or --task density",
            low=low,
            high=high,
            clip=clip,
            estimator=estimator,
        )
        asked = _frequencies(shared, who, split(consistency or []), engine, threads)
    else:
        refuse_options(f"it is for frequencies, not for --task {task}", consistency=consistency)
        numbers = NumberOptions(who, low, high, clip, split(estimator or []))
        asked = numbers_benchmark("mean" if task is Task.mean else "density", shared, numbers)
    if result_format is ResultFormat.parquet and output is None:
        raise InvalidParameterError("--format parquet needs a file: add -o results.parquet")
    found = _run(asked, output, resume=resume, force=force)
    hint = "" if "expected" in shared.metrics else _NEXT.get(task, "")
    _print(found, result_format, output, hint)
    pictures.save(found)


def _frequencies(
    shared: SharedOptions,
    who: opt.PeopleOptions,
    methods: list[str],
    engine: EngineName,
    threads: int,
) -> Benchmark:
    """Return the benchmark of frequencies that is asked for, not yet run."""
    from ldpkit.bench.benchmark import DEFAULT_PROTOCOLS, frequencies

    people = load_people(who.data or DEFAULT_DATA, who.column, who.missing)
    _note_numbers(people)
    return frequencies(
        people,
        shared.mechanisms or DEFAULT_PROTOCOLS,
        epsilon=shared.epsilons,
        methods=methods or "all",
        metrics=shared.metrics or "mae",
        repeats=shared.repeats,
        engine=engine.value,
        seed=shared.seed,
        threads=threads,
        run=False,
    )


def _note_numbers(people: Dataset) -> None:
    """Say so if the values are numbers with decimals, which hardly anybody means as categories."""
    labels = people.domain.labels if people.domain.has_labels else ()
    if any(isinstance(label, float) and not label.is_integer() for label in labels):
        note(
            f"note: these are numbers with {len(labels):,} different values, each taken for a category; "
            "for their mean use --task mean with --low and --high"
        )


def _check_output(output: Path | None, *, resume: bool) -> None:
    """Refuse what could not be written, before any work is done."""
    check_ending(output, "--output", [".csv", ".json", ".parquet"])
    if output is not None and output.suffix.lower() == ".parquet":
        check_extra("pyarrow")
    if resume and (output is None or is_standard_output(output)):
        raise InvalidParameterError("--resume needs the file to go on with: add -o results.csv")


def _run(asked: Asked, output: Path | None, *, resume: bool, force: bool) -> Asked:
    """Run the cells that are missing; if that is stopped, keep the rows that are finished."""
    output = None if is_standard_output(output) else output
    from contextlib import ExitStack, suppress

    from ldpkit.bench.results import save
    from ldpkit.bench.rows import Rows
    from ldpkit.bench.runlog import RunLog
    from ldpkit.cli.printing import progress_bar
    from ldpkit.core.errors import LdpkitError
    from ldpkit.core.stopping import tidied

    experiment = asked.experiment
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
            found = asked.with_rows(Rows.joined(cells.values()))
            if output is not None and found.measured:
                save(output, found, log)
                note(f"wrote {sum(1 for _ in found.records())} rows to {output}{hint}")

        try:
            with progress_bar() as watch:
                for result in watch(experiment.run(done), len(wanted) - len(done), "simulating"):
                    if log is None:
                        cells[result.cell] = result.rows
                    else:
                        log.add(result)
        except BaseException:
            with suppress(LdpkitError):
                write("; go on with --resume")
            raise
        write()
    return asked.with_rows(Rows.joined(cells[cell] for cell in wanted))


def _print(found: Measured, result_format: ResultFormat, output: Path | None, hint: str) -> None:
    if is_standard_output(output) and result_format is ResultFormat.table:
        result_format = ResultFormat.csv
    if result_format in (ResultFormat.csv, ResultFormat.json):
        if output is None or is_standard_output(output):
            present(found, opt.Format(result_format.value))
        else:  # the rows are in the file
            for told in (found.caption, *found.notes()):
                note(told)
        return
    say(f"{found.title}\n")
    present(found, opt.Format.table)
    if hint:
        say(hint)
