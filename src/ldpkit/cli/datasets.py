"""`ldpkit datasets`: which data sets are here, what is in them, and how to prepare your own."""

from __future__ import annotations

import io
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ldpkit.cli import options as opt
from ldpkit.cli.app import Group
from ldpkit.cli.inputs import note_dropped
from ldpkit.cli.outputs import check_ending, check_outputs, check_result, is_standard_output, write_text
from ldpkit.cli.parsing import refuse_options
from ldpkit.cli.printing import deliver_rows, note, opened, show
from ldpkit.cli.reading import Reads, files_of_people
from ldpkit.core.errors import InvalidParameterError

if TYPE_CHECKING:
    from ldpkit.simulation.datasets import Dataset

__all__ = ["add_to"]

_EXAMPLES = """
\b
Examples:
  ldpkit datasets
  ldpkit datasets show kosarak
  ldpkit datasets show motionsense_roll
  ldpkit datasets show zipf:k=128,n=100000,s=1.1
  ldpkit datasets prepare transactions kosarak.dat --top 128 -o kosarak.csv
"""

_SHOW_EXAMPLES = """
\b
Examples:
  ldpkit datasets show bms_pos --top 5
  ldpkit datasets show people.csv --column city
"""

_TRANSACTIONS_EXAMPLES = """
\b
Example:
  ldpkit datasets prepare transactions kosarak.dat --top 128 -o kosarak.csv
"""

_GRID_EXAMPLES = """
\b
Example:
  ldpkit datasets prepare grid trips.csv --x lon --y lat --rows 15 \\
    --columns 15 -o cells.csv
"""

_NUMBERS_EXAMPLES = """
\b
Examples:
  ldpkit datasets prepare numbers motionsense_roll -o roll.csv
  ldpkit datasets prepare numbers people.parquet --column age -o ages.csv
"""

_VALUES_EXAMPLES = """
\b
Example:
  ldpkit datasets prepare values people.csv --column city -o cities.csv
"""


def add_to(app: typer.Typer) -> None:
    """Add the commands."""
    prepare = typer.Typer(
        cls=Group,
        help="Make a table of counts, or a column of numbers, from raw data.",
        rich_markup_mode=None,
    )
    prepare.command("transactions", epilog=_TRANSACTIONS_EXAMPLES)(opt.spread(prepare_transactions))
    prepare.command("grid", epilog=_GRID_EXAMPLES)(opt.spread(prepare_grid))
    prepare.command("values", epilog=_VALUES_EXAMPLES)(opt.spread(prepare_values))
    prepare.command("numbers", epilog=_NUMBERS_EXAMPLES)(opt.spread(prepare_numbers))
    datasets = typer.Typer(epilog=_EXAMPLES, rich_markup_mode=None)
    datasets.callback(invoke_without_command=True)(opt.spread(list_by_default))
    datasets.command("list")(opt.spread(list_known))
    datasets.command("show", epilog=_SHOW_EXAMPLES)(opt.spread(show_one))
    datasets.add_typer(prepare, name="prepare")
    app.add_typer(datasets, name="datasets")


def list_by_default(context: typer.Context, shown: opt.ResultOptions = opt.ResultOptions()) -> None:
    """List known data sets, look into one, or prepare your own.

    Nothing is downloaded: a known set is found in the directory that LDPKIT_DATA names,
    or in the cache directory.
    """
    if context.invoked_subcommand is None:
        list_known(shown)
    elif shown != opt.ResultOptions():
        command = f"ldpkit datasets {context.invoked_subcommand}"
        raise InvalidParameterError(f"write options after the whole command: '{command} ... --format json'")


def list_known(shown: opt.ResultOptions = opt.ResultOptions()) -> None:
    """List the known public data sets and which of them are here."""
    from ldpkit.simulation.datasets import KNOWN, KNOWN_NUMBERS, KnownNumbers, KnownSet
    from ldpkit.simulation.datasets.catalogue import search_places

    check_result(shown)
    every: list[KnownSet | KnownNumbers] = [*KNOWN.values(), *KNOWN_NUMBERS.values()]
    places = search_places()
    origin = {place: name for name, place in reversed(places.items())}
    rows: list[dict[str, Any]] = []
    for known in every:
        found = known.find()
        path = found[1] if found else None
        size = known.k if isinstance(known, KnownSet) else None
        row: dict[str, Any] = {"name": known.name, "title": known.title, "n": known.n, "k": size}
        row |= {"range": None if isinstance(known, KnownSet) else known.range}
        if shown.format is opt.Format.table:
            row |= {"found": f"yes, {origin[path.parent]}" if path else "no"}
        else:
            row |= {"found": path is not None, "path": str(path) if path else None, "source": known.source}
        rows.append(row | {"licence": known.licence})
    looked = "; ".join(f"{name}: {place}" for name, place in places.items())
    told = {"title": "Known public data sets", "caption": f"Looked in {looked}"}
    deliver_rows(rows, shown, kind="data sets", **told)


def show_one(
    name: Annotated[
        str,
        typer.Argument(help="A known set, a file, or a population such as zipf:k=8,n=100."),
        Reads(files_of_people),
    ],
    column: opt.ColumnOption = None,
    missing: opt.MissingOption = opt.Missing.refuse,
    top: Annotated[
        int,
        typer.Option(
            "--top", min=1, help="How many of the most common values to show; for numbers, how many bins."
        ),
    ] = 10,
    verify: Annotated[bool, typer.Option(help="Check the checksum of a known set.")] = True,
    shown: opt.ResultOptions = opt.ResultOptions(),
) -> None:
    """Show where a data set comes from and its most common values.

    JSON has everything; CSV has the values only.
    """
    import numpy as np

    from ldpkit.simulation.datasets import KNOWN, KNOWN_NUMBERS, load

    check_result(shown)
    if name in KNOWN_NUMBERS:
        refuse_options(f"{name} is a known set of numbers", column=column)
        _show_numbers(name, top, shown, verify=verify)
        return
    dataset = load(name, column=column, missing=missing.value, verify=verify)
    note_dropped(dataset.dropped, dataset.n)
    facts: dict[str, Any] = {"name": dataset.name, "n": dataset.n, "k": dataset.k}
    known = KNOWN.get(dataset.name) if dataset.licence else None
    if known is not None:
        file, path = known.locate()
        facts |= {"title": known.title, "path": str(path), "sha256": file.sha256}
    facts |= {"source": dataset.source, "licence": dataset.licence or "not stated"}
    rows = [
        {
            "value": dataset.domain.labels[index],
            "count": int(dataset.counts[index]),
            "frequency": float(dataset.counts[index] / dataset.n),
        }
        for index in np.argsort(-dataset.counts, kind="stable")[:top]
    ]
    title = f"The {len(rows)} most common of {dataset.k} values"
    _show(rows, shown, facts, kind="data set", title=title, about=facts)


def _show_numbers(name: str, bins: int, shown: opt.ResultOptions, *, verify: bool) -> None:
    """Show where a set of numbers comes from, and how many lie in each part of its range."""
    import numpy as np

    from ldpkit.simulation.datasets import KNOWN_NUMBERS, load_known_numbers

    known, numbers = KNOWN_NUMBERS[name], load_known_numbers(name, verify=verify)
    path = known.locate()[1]
    facts = {
        "name": name,
        "n": numbers.n,
        "range": known.range,
        "domain": known.domain.to_json(),
        "least": float(numbers.values.min()),
        "greatest": float(numbers.values.max()),
        "title": known.title,
        "path": str(path),
        "sha256": known.file.sha256,
        "column": known.file.value,
        "source": known.source,
        "licence": known.licence,
    }
    counts, edges = np.histogram(numbers.values, bins, (known.domain.low, known.domain.high))
    rows = [
        {"low": low, "high": high, "count": count, "frequency": count / numbers.n}
        for low, high, count in zip(edges[:-1].tolist(), edges[1:].tolist(), counts.tolist(), strict=True)
    ]
    told = {fact: value for fact, value in facts.items() if fact != "domain"}
    title = f"How many lie where, in {bins} parts"
    _show(rows, shown, told, kind="number set", title=title, about=facts)


def _show(
    rows: list[dict[str, Any]], shown: opt.ResultOptions, facts: Mapping[str, Any], **told: Any
) -> None:
    """Show rows, and above their table some facts."""
    with opened(shown.output) as file:
        if shown.format is opt.Format.table:
            show([{"fact": fact, "what": value} for fact, value in facts.items()], shown.format, file=file)
        show(rows, shown.format, file=file, **told)


def prepare_numbers(
    file: Annotated[
        str,
        typer.Argument(help="A known set of numbers, or a table; '-' is standard input."),
        Reads(files_of_people),
    ],
    column: opt.ColumnOption = None,
    missing: opt.MissingOption = opt.Missing.refuse,
    output: opt.OutputOption = None,
    force: opt.ForceOption = False,
) -> None:
    """Write one column of numbers, as 'ldpkit mean' and 'ldpkit density' read it."""
    from ldpkit.cli.inputs import refuse_text
    from ldpkit.files.readers import read_cells
    from ldpkit.simulation.datasets import KNOWN_NUMBERS, load_known_numbers

    _check(output, force=force)
    if file in KNOWN_NUMBERS:
        refuse_options(f"{file} is a known set of numbers", column=column)
        numbers = load_known_numbers(file)
        values, told = numbers.values.tolist(), f" from {numbers.known.range}"
    else:
        cells = read_cells(file, column, missing=missing.value)
        refuse_text(cells.typed(), cells)
        values, told = cells.typed().tolist(), ""
        note_dropped(cells.dropped, len(values))
    text = "\n".join(["value", *map(repr, values)]) + "\n"
    write_text(output or Path("-"), text)
    wrote = "" if output is None or is_standard_output(output) else f": wrote {output}"
    note(f"{len(values):,} numbers{told}{wrote}")


def prepare_transactions(
    file: Annotated[
        str, typer.Argument(help="One transaction on each line; '-' is standard input."), Reads()
    ],
    top: Annotated[int, typer.Option("--top", help="How many of the most frequent items to keep.")] = 128,
    delimiter: Annotated[
        str | None,
        typer.Option(
            "--delimiter",
            help="What separates items; by default a comma if there is one, otherwise white space.",
        ),
    ] = None,
    output: opt.OutputOption = None,
    force: opt.ForceOption = False,
) -> None:
    """Keep the most frequent items, and of each person the most frequent of these.

    People who have none of the kept items are left out.
    """
    import itertools

    from ldpkit.files.readers import read_transactions
    from ldpkit.simulation.datasets import top_items

    _check(output, force=force)
    numbers = itertools.count()  # the lines are counted as they pass: a list of them would be large
    transactions = (items for items, _ in zip(read_transactions(file, delimiter), numbers, strict=False))
    dataset = top_items(transactions, top, name=file)
    _write(dataset, output, dropped=next(numbers) - dataset.n)


def prepare_grid(
    file: Annotated[
        str, typer.Argument(help="A CSV, TSV or Parquet table of points; '-' is standard input."), Reads()
    ],
    x: Annotated[str, typer.Option("--x", help="The column of x, such as longitude.")],
    y: Annotated[str, typer.Option("--y", help="The column of y, such as latitude.")],
    rows: Annotated[int, typer.Option("--rows", help="The rows of the grid.")] = 15,
    columns: Annotated[int, typer.Option("--columns", help="The columns of the grid.")] = 15,
    bounds: Annotated[
        str | None,
        typer.Option(
            "--bounds", metavar="X0,Y0,X1,Y1", help="The corners of the grid; by default those of the points."
        ),
    ] = None,
    drop_outside: Annotated[
        bool, typer.Option("--drop-outside", help="Leave out points beyond the bounds, instead of refusing.")
    ] = False,
    output: opt.OutputOption = None,
    force: opt.ForceOption = False,
) -> None:
    """Put points on a grid; the value of a point is its cell, row * columns + column.

    Row 0 has the smallest y, column 0 the smallest x.
    """
    from ldpkit.files.readers import read_points
    from ldpkit.simulation.datasets import grid_cells

    _check(output, force=force)
    corners = None if bounds is None else _corners(bounds)
    points = read_points(file, x, y)
    dataset = grid_cells(points, rows, columns, bounds=corners, drop_outside=drop_outside, name=file)
    _write(dataset, output, dropped=len(points) - dataset.n)


def prepare_values(
    file: Annotated[str, typer.Argument(help="A file of values; '-' is standard input."), Reads()],
    column: opt.ColumnOption = None,
    missing: opt.MissingOption = opt.Missing.refuse,
    output: opt.OutputOption = None,
    force: opt.ForceOption = False,
) -> None:
    """Count the values of a file."""
    from ldpkit.simulation.datasets.loading import load

    _check(output, force=force)
    dataset = load(file, column=column, kind="values", missing=missing.value)
    _write(dataset, output, dropped=dataset.dropped)


def _check(output: Path | None, *, force: bool) -> None:
    check_ending(output, "--output", [".csv"])
    check_outputs({"--output": output}, force=force)


def _corners(text: str) -> tuple[float, float, float, float]:
    try:
        left, bottom, right, upper = map(float, text.split(","))
    except ValueError:
        raise InvalidParameterError(
            f"--bounds is four numbers separated by commas, x_min,y_min,x_max,y_max, got {text!r}"
        ) from None
    return left, bottom, right, upper


def _write(dataset: Dataset, output: Path | None, *, dropped: int = 0) -> None:
    rows = [
        {"value": label, "count": count}
        for label, count in zip(dataset.domain.labels, dataset.counts.tolist(), strict=True)
    ]
    left_out = f", {dropped:,} left out" if dropped else ""
    if output is None or is_standard_output(output):
        show(rows, opt.Format.csv)
        wrote = ""
    else:
        text = io.StringIO()
        show(rows, opt.Format.csv, file=text)
        write_text(output, text.getvalue())
        wrote = f": wrote {output}"
    note(f"{dataset.n:,} people, {dataset.k} values{left_out}{wrote}")
