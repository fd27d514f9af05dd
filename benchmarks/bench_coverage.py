"""Do intervals cover? Actual against nominal coverage of every estimator that prints a level.

    python benchmarks/bench_coverage.py [--quick] [-o results.csv] [--figure coverage.png]
    python benchmarks/bench_coverage.py --wald    # negative control: +- 1.96 standard errors must fail

The exit code is 1 if in any cell the 99.9% upper confidence limit of the coverage lies below 95%.
"""

from __future__ import annotations

import argparse
import csv
import json
import multiprocessing
import random
import time
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from itertools import groupby
from pathlib import Path
from typing import Any

from coverage_cells import LEVEL, RUNS, Cell, Row, cells, control_cells
from coverage_circles import CIRCLES
from coverage_frequencies import FREQUENCIES
from coverage_joint import JOINT
from coverage_maps import MAPS
from coverage_numbers import NUMBERS
from coverage_surveys import SURVEYS
from timing import print_table

__all__ = ["main", "measure", "worst"]

QUICK_RUNS = 200
ESTIMATORS = {**FREQUENCIES, **JOINT, **NUMBERS, **CIRCLES, **MAPS, **SURVEYS}
COLOURS = {0.1: "#0072B2", 1.0: "#E69F00", 4.0: "#009E73", 10.0: "#CC79A7"}  # Okabe and Ito
MARKERS = {50: "o", 1_000: "s", 100_000: "^"}


def measure(cell: Cell, runs: int = RUNS, *, wald: bool = False) -> list[Row]:
    """Return what a cell shows: one row, or one for each method that works on the same counts.

    Parameters
    ----------
    cell : Cell
        What to try.
    runs : int
        How many collections to draw where nothing can be summed.
    wald : bool
        True takes the value +- 1.96 standard errors instead: the negative control.
    """
    return ESTIMATORS[cell.estimator](cell, runs, wald)


def worst(rows: Iterable[Row]) -> list[dict[str, Any]]:
    """Return for each method a record: its cells, and for each epsilon the worst coverage and its width."""
    by_method: dict[str, list[Row]] = {}
    for row in rows:
        by_method.setdefault(_title(row), []).append(row)
    return [
        {
            "estimator": name,
            "cells": len(found),
            "failed": sum(not row.covers for row in found),
            **{f"eps {epsilon:g}": _worst_at(found, epsilon) for epsilon in COLOURS},
        }
        for name, found in by_method.items()
    ]


def _worst_at(rows: Sequence[Row], epsilon: float) -> str:
    """Return coverage, how wide intervals are on average, and where: the cell with the lowest upper limit."""
    here = [row for row in rows if row.cell.epsilon == epsilon]
    if not here:
        return ""
    row = min(here, key=lambda row: row.upper)
    sizes = f"n={row.cell.n}" + (f" k={row.cell.k}" if row.cell.k else "")
    return f"{row.coverage:.4f} ({row.width:.2g}) {row.cell.mechanism} {sizes} {row.cell.case}"


def _title(row: Row) -> str:
    return row.method + (" (population)" if row.cell.about == "population" else "")


def main() -> int:
    """Measure, print the table, and write what was asked for; return the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--quick", action="store_true", help=f"{QUICK_RUNS} runs, and no large n or k")
    parser.add_argument("--all", action="store_true", help="mechanisms too that share the code of others")
    parser.add_argument("--wald", action="store_true", help="the negative control, which must fail")
    parser.add_argument("--only", default="", help="only these estimators, such as mean or pairs,groups")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--minutes", type=float, default=600, help="stop after so long, with what there is")
    parser.add_argument("-o", "--output", type=Path, help="a .csv or .json file for all rows")
    parser.add_argument("--markdown", type=Path, help="a file for the table of the guide")
    parser.add_argument("--figure", type=Path, help="a .png, .svg or .pdf file to draw")
    asked = parser.parse_args()
    if asked.output is not None and asked.output.suffix not in (".csv", ".json"):
        parser.error(f"--output ends in .csv or .json, got {asked.output}")
    if asked.figure is not None and asked.figure.suffix not in (".png", ".svg", ".pdf"):
        parser.error(f"--figure ends in .png, .svg or .pdf, got {asked.figure}")
    chosen = list(control_cells() if asked.wald else cells(every=asked.all))
    if asked.only:
        chosen = [cell for cell in chosen if cell.estimator in asked.only.split(",")]
        if not chosen:
            parser.error(f"no cell of {asked.only!r}: choose from {', '.join(ESTIMATORS)}")
    if asked.quick:
        chosen = [cell for cell in chosen if cell.n <= 1_000 and (cell.k or 0) <= 16 and cell.epsilon >= 1]
    runs = QUICK_RUNS if asked.quick else RUNS
    rows, seconds = _run(chosen, runs, asked.wald, asked.processes, 60 * asked.minutes, asked.output)
    part = f"quick: {runs} runs, n up to 1,000, k up to 16, epsilon from 1. " if asked.quick else ""
    print_table(
        f"Worst coverage of {LEVEL:.0%} intervals, and the mean width there. {part}",
        worst(rows),
    )
    failed = sorted((row for row in rows if not row.covers), key=lambda row: row.upper)
    kind = "Wald intervals" if asked.wald else "intervals"
    print(f"{len(rows)} cells of {kind}, {seconds:.0f} s of CPU time: {len(failed)} do not cover")
    for row in failed[:20]:
        print(f"  {_title(row)}: coverage {row.coverage:.4f}, at most {row.upper:.4f}: {row.cell}")
    if asked.markdown is not None:
        asked.markdown.write_text(_markdown(worst(rows)))
    if asked.figure is not None:
        _draw(rows, asked.figure)
    return 1 if failed else 0


def _run(
    chosen: Sequence[Cell],
    runs: int,
    wald: bool,
    processes: int,
    most_seconds: float,
    output: Path | None,
) -> tuple[list[Row], float]:
    """Return the rows of all cells in their order, and the CPU time that they took.

    Cells that time did not allow are named. The output is written as rows come: hours may be lost otherwise.
    """
    from rich.console import Console
    from rich.progress import track

    # Cells that differ in k alone often have the same law: one process keeps what it has summed.
    tasks = [
        list(group)
        for _, group in groupby(
            chosen, lambda cell: (cell.estimator, cell.mechanism, cell.epsilon, cell.n, cell.about)
        )
    ]
    found: dict[int, list[Row]] = {}
    seconds = 0.0
    context = multiprocessing.get_context("spawn")
    # What is summed comes first; then in any order, so that a run that is stopped has cells of every kind.
    order = list(range(len(tasks)))
    random.Random(1).shuffle(order)
    order.sort(key=lambda place: tasks[place][0].estimator not in ("mi", "pairs"))
    with ProcessPoolExecutor(processes, context) as pool:
        waiting = {pool.submit(_work, tasks[place], runs, wald): place for place in order}
        console = Console(stderr=True)
        finished = as_completed(waiting, timeout=most_seconds)
        shown = track(finished, "cells", len(tasks), console=console, disable=not console.is_terminal)
        try:
            for done in shown:
                found[waiting[done]], took = done.result()
                seconds += took
                if output is not None:
                    _write([row for place in sorted(found) for row in found[place]], output)
        except (TimeoutError, KeyboardInterrupt):
            pool.shutdown(cancel_futures=True)
    for place in sorted(set(range(len(tasks))) - set(found)):
        print(f"not run: {len(tasks[place])} cells like {tasks[place][0]}")
    return [row for place in sorted(found) for row in found[place]], seconds


def _work(task: list[Cell], runs: int, wald: bool) -> tuple[list[Row], float]:
    start = time.process_time()
    return [row for cell in task for row in measure(cell, runs, wald=wald)], time.process_time() - start


def _write(rows: Sequence[Row], path: Path) -> None:
    records = [row.to_dict() for row in rows]
    if path.suffix == ".json":
        path.write_text(json.dumps({"level": LEVEL, "cells": records}, indent=1) + "\n")
        return
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(records[0]))
        writer.writeheader()
        writer.writerows(records)


def _markdown(records: Sequence[dict[str, Any]]) -> str:
    lines = [list(records[0]), ["---"] * len(records[0]), *(list(record.values()) for record in records)]
    return "".join(f"| {' | '.join(map(str, line))} |\n" for line in lines)


def _panels(rows: Sequence[Row]) -> Iterator[tuple[str, list[Row]]]:
    """Yield a title and its rows; consistency methods are one panel."""
    titles: dict[str, list[Row]] = {}
    for row in rows:
        first, plus, _ = row.method.partition(" +")
        title = f"{first} + consistency" if plus else _title(row)
        titles.setdefault(title, []).append(row)
    yield from titles.items()


def _draw(rows: Sequence[Row], path: Path) -> None:
    from ldpkit.figures.canvas import new_figure, save_figure

    panels = list(_panels(rows))
    columns = min(4, len(panels))
    lines = -(-len(panels) // columns)
    figure = new_figure(max(3.2 * columns, 9.6), 2.3 * lines + 0.9)
    grid: Any = figure.subplots(lines, columns, squeeze=False, sharey=True)
    least = min(0.9, *(row.coverage for row in rows)) - 0.005
    for axes, (title, some) in zip(grid.flat, panels, strict=False):
        ordered = sorted(some, key=lambda row: (row.cell.epsilon, row.cell.n, row.cell.k or 0))
        for place, row in enumerate(ordered):
            x = (place + 0.5) / len(ordered)
            colour = COLOURS[row.cell.epsilon]
            axes.plot(x, row.coverage, MARKERS[row.cell.n], color=colour, markersize=3, alpha=0.7)
            if row.runs:
                axes.plot([x, x], [row.coverage, row.upper], color=colour, linewidth=0.6, alpha=0.5)
        axes.axhline(LEVEL, color="black", linestyle="--", linewidth=1)
        simulated = sum(row.runs > 0 for row in some)
        kind = "summed" if not simulated else "simulated" if simulated == len(some) else "both"
        axes.set_title(f"{title}\n{len(some)} cells, {kind}", fontsize=8)
        axes.set_xticks([])
        axes.set_xlabel("cells, by epsilon, then n", fontsize=7)
        axes.set_ylim(least, 1.005)
        axes.tick_params(labelsize=7)
    for axes in list(grid.flat)[len(panels) :]:
        axes.set_visible(False)
    for axes in grid[:, 0]:
        axes.set_ylabel("coverage", fontsize=8)
    line: Any = grid.flat[0]
    handles = [
        *(
            line.plot([], [], "o", color=colour, label=f"epsilon {eps:g}")[0]
            for eps, colour in COLOURS.items()
        ),
        *(line.plot([], [], mark, color="grey", label=f"n = {n:,}")[0] for n, mark in MARKERS.items()),
        line.plot([], [], "--", color="black", label=f"promised: {LEVEL:.0%}")[0],
    ]
    figure.suptitle(
        "Actual coverage of 95% intervals, a mark for each cell; lines reach to the 99.9% upper limit",
        fontsize=10,
    )
    figure.legend(handles=handles, loc="outside lower center", ncols=8 if columns == 4 else 4, fontsize=8)
    save_figure(figure, path)


if __name__ == "__main__":
    raise SystemExit(main())
