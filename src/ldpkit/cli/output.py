"""Results for people and for the next tool: a table, CSV or JSON from the same rows."""

from __future__ import annotations

import csv
import enum
import json
import sys
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, TextIO

import typer

__all__ = ["Format", "FormatOption", "note", "show"]

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
        print(json.dumps(result, indent=2, default=float), file=target)
    elif output is Format.csv:
        writer = csv.DictWriter(target, list(rows[0]) if rows else [], lineterminator="\n")
        writer.writeheader()
        writer.writerows({name: _flat(value) for name, value in row.items()} for row in rows)
    else:
        _show_table(rows, title, caption, best or {}, target)


def _show_table(
    rows: Sequence[Mapping[str, Any]], title: str, caption: str, best: Mapping[int, str], target: TextIO
) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(
        title=Text(title) if title else None,  # Text, so that a label with brackets is no markup
        caption=Text(caption) if caption else None,
        title_justify="left",
        caption_justify="left",
    )
    for name in rows[0] if rows else []:
        numeric = all(isinstance(row[name], (int, float)) for row in rows)
        table.add_column(name, justify="right" if numeric else "left")
    for index, row in enumerate(rows):
        cells = {name: Text(_cell(value)) for name, value in row.items()}
        if index in best:
            cells[best[index]] = Text(f"{cells[best[index]]}*", style="bold")
        table.add_row(*cells.values())
    Console(file=target, width=None if target.isatty() else WIDTH).print(table)


def _cell(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.4g}"
    text = "" if value is None else str(_flat(value))
    return text if text.isprintable() else repr(text)[1:-1]  # a label must not steer the terminal


def _flat(value: Any) -> Any:
    """Return lists and mappings as text for one cell."""
    if isinstance(value, Mapping):
        return ", ".join(f"{name}={item}" for name, item in value.items())
    return ", ".join(map(str, value)) if isinstance(value, (list, tuple)) else value


def note(message: str) -> None:
    """Tell the user something beside the result, on standard error."""
    print(message, file=sys.stderr)
