"""`ldpkit bench --task mean|density`: the best mechanism for numbers."""

from __future__ import annotations

import io
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ldpkit.cli.inputs import moved_in_words, read_numbers
from ldpkit.cli.options import Format, Missing
from ldpkit.cli.outputs import check_ending, is_standard_output, save_drawn, write_text
from ldpkit.cli.printing import note, present, say, show
from ldpkit.cli.progress import watched
from ldpkit.core.errors import InvalidParameterError

if TYPE_CHECKING:
    from ldpkit.bench.numeric_benchmark import NumericBenchmark
    from ldpkit.bench.numeric_data import NumericData
    from ldpkit.bench.numeric_experiment import Task

__all__ = ["NumericOptions", "bench_numbers"]


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
    if options.style not in ("table", "csv", "json"):
        raise InvalidParameterError(f"numbers are printed as table, csv or json, got {options.style!r}")
    check_ending(options.output, "--output", [".csv", ".json"])
    found = _compared(task, options)
    style = Format(options.style)
    if is_standard_output(options.output):
        style = Format.csv if style is Format.table else style
    elif options.output is not None:
        text = io.StringIO()
        kind = Format(options.output.suffix.lower().removeprefix("."))
        rows = found.rows()
        show(rows, kind, kind=found.kind, title=found.title, caption=found.caption, file=text)
        write_text(options.output, text.getvalue())
        note(f"wrote {len(rows)} rows to {options.output}")
    if style is Format.table:
        say(f"{found.title}\n")
    present(found, style)
    if style is Format.table and task == "mean" and "expected" not in found.metrics:
        say(
            "next: -u expected for the same without the noise of simulation, -u coverage for the intervals, "
            "-p sw+ems to add the mean of the smooth density, -d FILE --low --high for your data."
        )
    save_drawn(options.figure, found)


def _compared(task: Task, options: NumericOptions) -> NumericBenchmark:
    from ldpkit.bench.numeric_benchmark import DENSITY_DATA, MEAN_DATA, density, mean
    from ldpkit.bench.numeric_experiment import DENSITY_MECHANISMS, MEAN_MECHANISMS

    if task == "mean" and options.algorithms:
        raise InvalidParameterError("--estimator is for densities; for a mean write -p sw+ems")
    data = [options.load(spec) for spec in options.data or (MEAN_DATA if task == "mean" else DENSITY_DATA)]
    shared: dict[str, Any] = {
        "epsilon": options.epsilons,
        "repeats": options.repeats,
        "seed": options.seed,
        "watch": watched,
    }
    if options.metrics:
        shared["metrics"] = options.metrics
    if task == "mean":
        return mean(data, options.mechanisms or MEAN_MECHANISMS, **shared)
    return density(
        data, options.mechanisms or DENSITY_MECHANISMS, methods=options.algorithms or "ems", **shared
    )
