"""Results for people and for the next tool: a table, CSV or JSON from the same rows."""

from __future__ import annotations

import contextlib
import csv
import enum
import json
import shutil
import sys
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, TextIO

import typer

from ldpkit.cli.safetext import csv_cell, visible
from ldpkit.core.results import finite
from ldpkit.core.tables import cell_text, flat

__all__ = ["Format", "FormatOption", "note", "show", "show_cells"]

WIDTH = 160  # of a table that goes to a file or a pipe, where there is no window to fit


class Format(enum.StrEnum):
    """How to print."""

    table = "table"
    csv = "csv"
    json = "json"


FormatOption = Annotated[Format, typer.Option("--format", help="How to print.", case_sensitive=False)]


def show(
    rows: Sequence[Mapping[str, Any]],
    output: Format,
    *,
    title: str = "",
    caption: str = "",
    best: Mapping[int, str] | None = None,
    about: Mapping[str, Any] | None = None,
    file: TextIO | None = None,
) -> None:
    """Print rows with the same keys; numbers are shortened in the table only.

    Parameters
    ----------
    rows : sequence of mappings
        The records.
    output : Format
        Table, CSV or JSON.
    title, caption : str
        What stands above and below the table.
    best : mapping, optional
        For a row number, the column to mark in the table.
    about : mapping, optional
        What holds for all rows. JSON then is one object with these keys and `rows`.
    file : text file, optional
        Where to print, by default standard output.
    """
    target = file or sys.stdout
    if output is Format.json:
        result = list(rows) if about is None else {**about, "rows": list(rows)}
        print(json.dumps(finite(result), indent=2, default=float, allow_nan=False), file=target)
    elif output is Format.csv:
        writer = csv.DictWriter(target, list(rows[0]) if rows else [], lineterminator="\n")
        writer.writeheader()
        on_screen = target.isatty()
        writer.writerows(
            {name: csv_cell(flat(value), on_screen) for name, value in row.items()} for row in rows
        )
    else:
        _show_table(rows, title, caption, best or {}, target)


def _show_table(
    rows: Sequence[Mapping[str, Any]], title: str, caption: str, best: Mapping[int, str], target: TextIO
) -> None:
    header = list(rows[0]) if rows else []
    cells = [
        [cell_text(value) + ("*" if best.get(index) == name else "") for name, value in row.items()]
        for index, row in enumerate(rows)
    ]
    right = [_is_numeric([row[name] for row in rows]) for name in header]
    show_cells(header, cells, right=right, title=title, caption=caption, file=target)


def show_cells(
    header: Sequence[str],
    cells: Sequence[Sequence[str]],
    *,
    right: Sequence[bool],
    title: str = "",
    caption: str = "",
    file: TextIO | None = None,
) -> None:
    """Print a table of text that fits the window, with what stands above and below it.

    Parameters
    ----------
    header, cells : sequences of str
        What stands above the columns, and in them.
    right : sequence of bool
        Which columns are aligned on the right, as numbers are.
    title, caption : str
        What stands above and below the table.
    file : text file, optional
        Where to print, by default standard output.
    """
    from ldpkit.core.texttable import text_table, wrapped

    target = file or sys.stdout
    width = shutil.get_terminal_size().columns if target.isatty() else WIDTH
    for line in visible(title).split("\n") if title else []:
        print(*wrapped(line, width), sep="\n", file=target)
    if cells:
        print(*text_table(header, cells, right=right, width=width), sep="\n", file=target)
    for line in visible(caption).split("\n") if caption else []:
        print(*wrapped(line, width), sep="\n", file=target)


def _is_numeric(values: Sequence[Any]) -> bool:
    return all(value is None or isinstance(value, (int, float)) for value in values)


def note(message: str) -> None:
    """Tell the user something beside the result, on standard error, and after what was printed before."""
    sys.stdout.flush()
    with contextlib.suppress(OSError):  # the work is done, whether or not it can be told
        print(visible(message), file=sys.stderr)
