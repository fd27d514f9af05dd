"""Results for people and for the next tool: a table, CSV or JSON from the same rows."""

from __future__ import annotations

import contextlib
import csv
import json
import math
import shutil
import sys
from collections.abc import Mapping, Sequence
from typing import Any, TextIO

from ldpkit.cli.options import Format
from ldpkit.cli.safetext import csv_cell, visible
from ldpkit.cli.texttable import text_table, wrapped
from ldpkit.core.numbertext import number_text

__all__ = ["note", "say", "show", "show_cells"]

WIDTH = 160  # of a table that goes to a file or a pipe, where there is no window to fit
PROSE = 80  # longer lines are hard to read, however wide the window is


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
        print(json.dumps(_finite(result), indent=2, default=float, allow_nan=False), file=target)
    elif output is Format.csv:
        writer = csv.DictWriter(target, list(rows[0]) if rows else [], lineterminator="\n")
        writer.writeheader()
        on_screen = target.isatty()
        writer.writerows(
            {name: csv_cell(_flat(value), on_screen) for name, value in row.items()} for row in rows
        )
    else:
        _show_table(rows, title, caption, best or {}, target)


def _finite(value: Any) -> Any:
    """Return the same with numbers that JSON has no word for as text: an epsilon may be infinite."""
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else "infinite" if value > 0 else "-infinite"
    if isinstance(value, Mapping):
        return {name: _finite(item) for name, item in value.items()}
    return [_finite(item) for item in value] if isinstance(value, (list, tuple)) else value


def _show_table(
    rows: Sequence[Mapping[str, Any]], title: str, caption: str, best: Mapping[int, str], target: TextIO
) -> None:
    header = list(rows[0]) if rows else []
    cells = [
        [_cell(value) + ("*" if best.get(index) == name else "") for name, value in row.items()]
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
    target = file or sys.stdout
    width = shutil.get_terminal_size().columns if target.isatty() else WIDTH
    if title:
        say(title, file=target)
    if cells:
        print(*text_table(header, cells, right=right, width=width), sep="\n", file=target)
    if caption:
        say(caption, file=target)


def say(text: str, *, file: TextIO | None = None) -> None:
    """Print sentences; on a terminal their lines are at most 80 columns wide, or as wide as the window."""
    target = file or sys.stdout
    width = min(PROSE, shutil.get_terminal_size().columns) if target.isatty() else WIDTH
    for line in visible(text).split("\n"):
        print(*wrapped(line, width), sep="\n", file=target)


def _is_numeric(values: Sequence[Any]) -> bool:
    return all(value is None or isinstance(value, (int, float)) for value in values)


def _cell(value: Any) -> str:
    """Return a value as short text that cannot steer the terminal, as a label could."""
    if isinstance(value, float):
        return number_text(value)
    text = "" if value is None else str(_flat(value))
    return text if text.isprintable() else repr(text)[1:-1]


def _flat(value: Any) -> Any:
    """Return lists and mappings as text for one cell."""
    if isinstance(value, Mapping):
        return ", ".join(f"{name}={item}" for name, item in value.items())
    return ", ".join(map(str, value)) if isinstance(value, (list, tuple)) else value


def note(message: str) -> None:
    """Tell the user something beside the result, on standard error, and after what was printed before."""
    sys.stdout.flush()
    with contextlib.suppress(OSError):  # the work is done, whether or not it can be told
        if sys.stderr.isatty():
            say(message, file=sys.stderr)
        else:  # one line for who reads it with a program
            print(visible(message), file=sys.stderr)
