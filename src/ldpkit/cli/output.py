"""Results for people and for the next tool: a table, CSV or JSON from the same rows."""

from __future__ import annotations

import contextlib
import csv
import enum
import io
import itertools
import json
import shutil
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Annotated, Any, TextIO

import typer

from ldpkit.cli.safetext import csv_cell, visible
from ldpkit.core.results import finite
from ldpkit.core.tables import cell_text, flat

__all__ = ["Format", "FormatOption", "note", "show", "show_cells"]

_AT_ONCE = 1024  # rows that are written together
WIDTH = 160  # of a table that goes to a file or a pipe, where there is no window to fit


class Format(enum.StrEnum):
    """How to print."""

    table = "table"
    csv = "csv"
    json = "json"


FormatOption = Annotated[Format, typer.Option("--format", help="How to print.", case_sensitive=False)]


def show(
    rows: Iterable[Mapping[str, Any]],
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
    rows : iterable of mappings
        The records. CSV and JSON are written as they come: a million of them would take a gigabyte.
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
        _write_json(rows, about, target)
    elif output is Format.csv:
        _write_csv(rows, target)
    else:
        _show_table(list(rows), title, caption, best or {}, target)


def _write_csv(rows: Iterable[Mapping[str, Any]], target: TextIO) -> None:
    on_screen = target.isatty()
    for number, some in enumerate(_parts(rows)):
        text = io.StringIO()
        writer = csv.DictWriter(text, list(some[0]) if some else [], lineterminator="\n")
        if number == 0:
            writer.writeheader()
        writer.writerows(
            {name: csv_cell(flat(value), on_screen) for name, value in row.items()} for row in some
        )
        target.write(text.getvalue())


def _write_json(rows: Iterable[Mapping[str, Any]], about: Mapping[str, Any] | None, target: TextIO) -> None:
    """Write a list of rows, or the object that holds it, as `json.dumps` would write the whole."""
    head, tail = _json_text([] if about is None else {**about, "rows": []}).rsplit("[]", 1)
    line = "\n" if about is None else "\n  "
    between, last = f"{head}[", ""
    for some in _parts(rows):
        inside = _json_text(some)[1:-1].rstrip("\n")  # no line break of a JSON text is part of a value
        target.write(between + inside.replace("\n", line))
        between, last = ",", line if some else ""
    target.write(f"{last}]{tail}\n")


def _parts(rows: Iterable[Mapping[str, Any]]) -> Iterator[list[Mapping[str, Any]]]:
    """Yield rows as they come, many at a time, which spares calls of the system; one empty part of none."""
    coming = iter(rows)
    some = list(itertools.islice(coming, _AT_ONCE))
    yield some
    while some := list(itertools.islice(coming, _AT_ONCE)):
        yield some


def _json_text(value: Any) -> str:
    return json.dumps(finite(value), indent=2, default=float, allow_nan=False)


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
