"""Time of every command as the number of values grows from a thousand to a million.

Commands run as a user types them, but inside one process, so that starting Python is not
counted; of the searches of `plan budget`, which simulate thousands of collections, four
collections. Each line has the seconds of processor time at every k and the exponent of
growth over the last two decades: 1 is linear. What refuses a domain says so with its
limit, in the time that takes.

Not among them is what has no list of values: numbers and angles (`mean`, `density`, `error`,
`optimal`), pairs of a yes and a no (`plan pairs`), classifiers, and maps (`trajectory`), which have
at most 4,096 cells.

    python benchmarks/bench_domain_size.py [--figure growth.png] [--table growth.md] [--most 1000000]
        [--only WORD]

`--table` writes the rows of `docs/reference/robustness.md`, from which the figure of that page is drawn.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import math
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from ldpkit.cli.app import make_app
from ldpkit.core.errors import LdpkitError
from ldpkit.core.random import seeded
from ldpkit.files.arrow import report_column
from ldpkit.files.description import described
from ldpkit.mechanisms.lookup import get
from ldpkit.planning.constraint import Constraint, Direction
from ldpkit.planning.frequencies.question import FrequencyQuestion
from ldpkit.planning.searches import TrialRunner
from ldpkit.simulation.datasets import load
from timing import print_table

SIZES = (1_000, 10_000, 100_000, 1_000_000)
PEOPLE = 2_000
ENOUGH = 200.0  # seconds: what will take longer is not tried
_NAMED = 5  # commands that the figure names: those that take longest
LINEAR = 1.25  # sorting, caches and a noisy machine make linear work look a little steeper

Command = Callable[[Path, int], list[str] | Callable[[], object]]


def _data(k: int) -> str:
    return f"zipf:k={k},n=1000000"


_people = ("--people", "1000000")
_METHODS = ("none", "norm", "norm_sub", "base_cut")

COMMANDS: dict[str, Command] = {
    "mechanisms": lambda _, k: ["mechanisms", "--domain", f"{k}"],
    "mechanisms, labels": lambda folder, _: ["mechanisms", "--domain", f"@{folder}/labels.txt"],
    "a label twice": lambda folder, _: ["mechanisms", "--domain", f"@{folder}/twice.txt"],
    "privatize grr, labels": lambda folder, _: _privatize(folder, "grr"),
    "privatize olh": lambda folder, _: _privatize(folder, "olh"),
    "privatize oue": lambda folder, _: _privatize(folder, "oue"),
    "privatize ss": lambda folder, _: _privatize(folder, "ss"),
    "inspect": lambda folder, _: ["inspect", f"{folder}/grr.ldp"],
    "estimate grr": lambda folder, _: _estimate(folder, "grr"),
    "estimate olh": lambda folder, _: _estimate(folder, "olh"),
    "estimate olh, norm_sub": lambda folder, _: [*_estimate(folder, "olh"), "--consistency", "norm_sub"],
    "estimate olh, page": lambda folder, _: [*_estimate(folder, "olh"), *_page(folder)],
    "estimate olh, figure": lambda folder, _: [*_estimate(folder, "olh"), *_figure(folder)],
    "estimate olh, json": lambda folder, _: ["estimate", f"{folder}/olh.ldp", "--format", "json"],
    "estimate olh, power": lambda folder, _: [*_estimate(folder, "olh"), "--consistency", "power"],
    "estimate grr, mle": lambda folder, _: [*_estimate(folder, "grr"), "--estimator", "mle"],
    "estimate olh, ibu": lambda folder, _: [*_estimate(folder, "olh"), "--estimator", "ibu"],
    "audit grr": lambda _, k: ["audit", "-p", "grr", "--domain", f"{k}", "-e", "1", "--reports", "1000"],
    "audit olh": lambda _, k: ["audit", "-p", "olh", "--domain", f"{k}", "-e", "1", "--reports", "1000"],
    "audit of a file, page": lambda folder, _: [
        "audit",
        f"{folder}/olh.ldp",
        "--reports",
        "1000",
        *_page(folder),
    ],
    "datasets prepare": lambda folder, _: ["datasets", "prepare", "values", f"{folder}/labels.txt"],
    "risk grr": lambda _, k: ["risk", "-p", "grr", "--domain", f"{k}"],
    "risk oue, data": lambda _, k: ["risk", "-p", "oue", "-d", _data(k)],
    "risk ss, data": lambda _, k: ["risk", "-p", "ss", "-d", _data(k)],
    "risk olh, data": lambda _, k: ["risk", "-p", "olh", "-d", _data(k)],
    "risk she": lambda _, k: ["risk", "-p", "she", "--domain", f"{k}", "--devices", "100"],
    "recommend": lambda _, k: ["recommend", "-d", _data(k), "-e", "4", "-p", "grr,oue", "-r", "2"],
    "recommend, wanted": lambda _, k: ["recommend", "-d", _data(k), *_wanted(k), "-p", "oue", "-r", "2"],
    "plan budget, 4 collections": lambda _, k: _collections(k, "max_error"),
    "plan budget, analytic": lambda _, k: [*_budget(k), "--search", "analytic"],
    "plan budget, figure": lambda folder, k: [*_budget(k), "--search", "analytic", *_figure(folder)],
    "plan budget, 4 of tau": lambda _, k: _collections(k, "kendall_tau"),
    "plan capacity grr": lambda folder, _: _capacity(folder, "grr"),
    "plan capacity grr, figure": lambda folder, _: [*_capacity(folder, "grr"), *_figure(folder)],
    "plan capacity oue": lambda folder, _: _capacity(folder, "oue"),
    "plan capacity ss": lambda folder, _: _capacity(folder, "ss"),
    "bench": lambda _, k: ["bench", "-d", _data(k), "-p", "grr", "oue", "olh", "-m", *_METHODS, "-r", "2"],
    "bench, all methods": lambda _, k: ["bench", "-d", _data(k), "-p", "grr", "-r", "1"],
    "bench, a file": lambda folder, _: ["bench", "-d", f"{folder}/counts.csv", "-p", "oue", "-m", "none"],
    "bench, page": lambda folder, k: [
        "bench",
        "-d",
        _data(k),
        "-p",
        "oue",
        "-m",
        "norm_sub",
        "-r",
        "2",
        *_page(folder),
    ],
    "estimate a table": lambda folder, _: ["estimate", f"{folder}/reports.parquet", "--engine", "local"],
    "estimate a table, by group": lambda folder, _: [
        "estimate",
        f"{folder}/reports.parquet",
        "--by",
        "group",
    ],
    "datasets show": lambda _, k: ["datasets", "show", _data(k)],
    "plan cluster": lambda _, k: ["plan", "cluster", *_people, "-p", "olh", "--domain", f"{k}", "-e", "1"],
    "plan survey": lambda folder, _: ["plan", "survey", f"{folder}/survey.toml", "--n", "100000", "-e", "2"],
    "collection new": lambda folder, k: _new(folder, f"{k}"),
    "collection new, labels": lambda folder, _: _new(folder, f"@{folder}/labels.txt"),
    "collection check": lambda folder, _: ["collection", "check", f"{folder}/asked.toml"],
    "collection show": lambda folder, _: ["collection", "show", f"{folder}/asked.toml"],
    "collection show, labels": lambda folder, _: ["collection", "show", f"{folder}/labels.toml"],
    "collection diff, labels": lambda folder, _: [
        "collection",
        "diff",
        f"{folder}/labels.toml",
        f"{folder}/labels.toml",
    ],
    "collection sign": lambda folder, _: _sign(folder, "asked"),
    "collection sign, labels": lambda folder, _: _sign(folder, "labels"),
    "collection simulate": lambda folder, _: [
        "collection",
        "simulate",
        f"{folder}/asked.toml",
        "--n",
        "2000",
    ],
    "longitudinal": lambda _, k: ["longitudinal", "--domain", f"{k}", "--reports", "20", "--devices", "40"],
}


def main() -> None:
    """Measure, print the table, and draw it if asked."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--figure", type=Path, help="a .png, .svg or .pdf file to draw")
    parser.add_argument("--table", type=Path, help="a file for the table in Markdown")
    parser.add_argument("--most", type=int, default=SIZES[-1], help="the largest number of values")
    parser.add_argument("--only", default="", help="only commands whose name holds this")
    asked = parser.parse_args()
    sizes = [k for k in SIZES if k <= asked.most]
    measured = {name: dict[int, float | str]() for name in COMMANDS if asked.only in name}
    for k in sizes:
        with tempfile.TemporaryDirectory() as folder:
            _prepare(Path(folder), k)
            for name, found in measured.items():
                if k == sizes[0]:
                    first = _seconds(COMMANDS[name](Path(folder), k))  # loads modules, compiles: not counted
                    if isinstance(first, str):  # a command that never runs would be called linear
                        parser.error(f"{name}: {first}")
                if _expected(found) < ENOUGH:
                    found[k] = _seconds(COMMANDS[name](Path(folder), k))
                print(f"k={k:,} {name}: {found.get(k, 'skipped')}", file=sys.stderr)
    print_table(
        "Seconds of processor time by the number of values k",
        [_row(name, found) for name, found in measured.items()],
    )
    for name, found in measured.items():
        refusals = [text for text in found.values() if isinstance(text, str)]
        if refusals:
            print(f"{name}: {refusals[-1]}")
    if asked.table is not None:
        asked.table.write_text(_markdown(measured), encoding="utf-8")
    if asked.figure is not None:
        _draw(measured, asked.figure)


def _expected(found: dict[int, float | str]) -> float:
    """Return about how long ten times as many values will take."""
    if any(isinstance(each, str) for each in found.values()):
        return 0.0  # a refusal takes no time
    last = max((float(seconds) for seconds in list(found.values())[-1:]), default=0.0)
    growth = _exponent(found)
    return last if growth is None else last * 10 ** max(growth, 1.0)


def _prepare(folder: Path, k: int) -> None:
    labels = [f"value {place}" for place in range(k)]
    (folder / "labels.txt").write_text("\n".join(labels) + "\n")
    (folder / "twice.txt").write_text("\n".join([*labels, labels[-1]]) + "\n")
    (folder / "values.txt").write_text("".join(f"{labels[place % k]}\n" for place in range(PEOPLE)))
    counts = "".join(f"{place},{1 + 1000 * (place < 10)}\n" for place in range(k))
    (folder / "counts.csv").write_text("value,count\n" + counts)

    question = f'[[questions]]\nid = "page"\ntext = "Which page?"\ndomain = {k}\n'
    about = 'id = "town"\nversion = 1\npurpose = "Pages."\n'
    about += 'rounds = {every = "weekly", start = 2026-12-01, count = 4}\n\n'
    (folder / "survey.toml").write_text(question)
    made = 'mechanism = "olh"\nepsilon = 1.0\n'
    (folder / "asked.toml").write_text(f"{about}{question}{made}")
    listed = question.replace(f"domain = {k}", f"domain = {json.dumps(labels)}")
    (folder / "labels.toml").write_text(f"{about}{listed}{made}")
    _write_groups(folder / "reports.parquet", k)


def _write_groups(path: Path, k: int) -> None:
    """Write a Parquet file of reports in two groups."""
    import pyarrow as pa
    from pyarrow import parquet

    oracle = get("olh", k, epsilon=1.0)
    reports = oracle.privatize(np.arange(PEOPLE) % k, rng=seeded(1))
    schema = pa.schema([pa.field("report", pa.binary(oracle.report_bytes)), pa.field("group", pa.string())])
    columns = [report_column(oracle, reports), pa.array(["north", "south"] * (PEOPLE // 2))]
    parquet.write_table(pa.Table.from_arrays(columns, schema=described(schema, oracle)), path)


def _new(folder: Path, domain: str) -> list[str]:
    about = ["--purpose", "Pages.", "--question", "page", "--text", "Which page?", "--domain", domain]
    (folder / "new.toml").unlink(missing_ok=True)
    return ["collection", "new", f"{folder}/new.toml", *about, "--n", "20000", "-e", "1"]


def _sign(folder: Path, name: str) -> list[str]:
    key = folder / "town.pem"
    if not key.exists():
        command = ["collection", "keygen", str(key)]
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            make_app(command)(command, standalone_mode=False)
    signed = folder / f"{name}.json"
    signed.unlink(missing_ok=True)
    return ["collection", "sign", f"{folder}/{name}.toml", "--private-key", str(key), "-o", str(signed)]


def _privatize(folder: Path, name: str) -> list[str]:
    made = ["privatize", f"{folder}/values.txt", "--domain", f"@{folder}/labels.txt", "-p", name, "-e", "1"]
    return [*made, "-o", f"{folder}/{name}.ldp", "--force"]


def _estimate(folder: Path, name: str) -> list[str]:
    return ["estimate", f"{folder}/{name}.ldp", "--format", "csv"]


def _page(folder: Path) -> list[str]:
    return ["--report", f"{folder}/page.html", "--force"]


def _figure(folder: Path) -> list[str]:
    return ["--figure", f"{folder}/figure.svg", "--force"]


def _budget(k: int) -> list[str]:
    return ["plan", "budget", "-d", _data(k), "-p", "oue", *_wanted(k)]


def _wanted(k: int) -> list[str]:
    """Return a bound that an epsilon near 1 gives, whatever k is."""
    return ["-u", "max_error", "--at-most", f"{0.002 * math.sqrt(2 * math.log(k)):.6f}"]


def _collections(k: int, metric: str) -> Callable[[], object]:
    """Return what a simulating search does for each epsilon, for four collections."""
    direction: Direction = "at least" if metric == "kendall_tau" else "at most"
    counts = load(_data(k)).counts

    def draw() -> object:
        question = FrequencyQuestion(counts, "oue", Constraint(metric, direction, 0.01))
        return TrialRunner(question, seeded(0)).draw(1.0, 4)

    return draw


def _capacity(folder: Path, name: str) -> list[str]:
    goal = ["--capacity", "10", "--constraint", "tp", "--at-least", "0.9"]
    return ["plan", "capacity", "-d", f"{folder}/counts.csv", *goal, "-p", name]


def _seconds(command: list[str] | Callable[[], object]) -> float | str:
    """Return how long a command takes, or with which words it refuses."""
    start = time.process_time()
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        try:
            if callable(command):
                command()
            else:
                make_app(command)(command, standalone_mode=False)
        except (SystemExit, LdpkitError) as end:
            refused = isinstance(end, LdpkitError) and "appears twice" not in str(end)
            if refused:
                return f"refused in {time.process_time() - start:.1f} s: {end}"
    return time.process_time() - start


def _row(name: str, found: dict[int, float | str]) -> dict[str, Any]:
    row: dict[str, Any] = {"work": name}
    for k in SIZES:
        value = found.get(k)
        row[f"k={k:,}"] = "-" if value is None else "refused" if isinstance(value, str) else value
    growth = _exponent(found)
    row["exponent"] = "-" if growth is None else f"{growth:.2f}"
    row["linear"] = "-" if growth is None else "yes" if growth <= LINEAR else "NO"
    return row


def _markdown(measured: dict[str, dict[int, float | str]]) -> str:
    """Return the table as the documentation has it, with two digits."""
    first, *others = SIZES
    lines = [
        f"| command | k = {first:,} | {' | '.join(f'{k:,}' for k in others)} | exponent |",
        f"| --- |{' --: |' * (len(SIZES) + 1)}",
    ]
    for name, found in measured.items():
        cells = [found.get(k, "-") for k in SIZES]
        told = ["refused" if str(cell).startswith("refused") else _two_digits(cell) for cell in cells]
        growth = _exponent(found)
        lines.append(f"| {name} | {' | '.join(told)} | {'-' if growth is None else f'{growth:.2f}'} |")
    return "\n".join(lines) + "\n"


def _two_digits(cell: float | str) -> str:
    return cell if isinstance(cell, str) else f"{cell:.2g}" if cell < 10 else f"{cell:.0f}"


def _exponent(found: dict[int, float | str]) -> float | None:
    """Return the slope over the last two decades, on logarithmic scales."""
    known = np.array(list(_points(found)))[-3:]
    if len(known) < 2:
        return None
    return float(np.polyfit(np.log(known[:, 0]), np.log(known[:, 1]), 1)[0])


def _draw(measured: dict[str, dict[int, float | str]], path: Path) -> None:
    from ldpkit.figures.canvas import label_logs, new_figure, save_figure
    from ldpkit.figures.theme import INK, MUTED

    figure = new_figure(9, 6)
    axes: Any = figure.subplots()
    lines = {name: np.array(list(_points(found))) for name, found in measured.items()}
    longest = sorted(lines, key=lambda name: -max([0.0, *(seconds for _, seconds in lines[name])]))[:_NAMED]
    for name, points in lines.items():
        if len(points) and name not in longest:
            axes.plot(*points.T, color=MUTED, alpha=0.5, linewidth=1, marker="o", markersize=2)
    for name in longest:  # on top
        if len(lines[name]):
            axes.plot(*lines[name].T, marker="o", markersize=4, label=name)
    ends = np.array([SIZES[0], SIZES[-1]], float)
    axes.plot(ends, 1e-2 * ends / ends[0], "--", color=INK, label="ten times the values, ten times the time")
    axes.set(xscale="log", yscale="log", xlabel="values k", ylabel="CPU seconds")
    label_logs(axes.xaxis)
    label_logs(axes.yaxis)
    axes.set_title(f"Time of {len(lines)} commands as the domain grows; the slowest are named", loc="left")
    axes.legend()
    save_figure(figure, path)


def _points(found: dict[int, float | str]) -> Iterator[tuple[int, float]]:
    return ((k, seconds) for k, seconds in found.items() if isinstance(seconds, float))


if __name__ == "__main__":
    main()
