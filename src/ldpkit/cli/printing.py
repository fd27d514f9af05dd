"""What people and the next tool see: a table, CSV or JSON of the same rows, notes, and how far work is."""

from __future__ import annotations

import contextlib
import shutil
import sys
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TextIO, TypeGuard

from ldpkit import __version__
from ldpkit.cli.options import Format, ResultOptions
from ldpkit.core.results import ENVELOPE, in_columns
from ldpkit.core.stopping import tidied
from ldpkit.core.tables import Table
from ldpkit.core.text import text_table, visible, wrapped
from ldpkit.core.watching import ProgressRecord
from ldpkit.files.writing import write_csv, write_json

if TYPE_CHECKING:
    from pathlib import Path

    from ldpkit.core.results import Result

__all__ = [
    "deliver",
    "deliver_rows",
    "goes_to_file",
    "note",
    "opened",
    "present",
    "progress_bar",
    "say",
    "show",
    "show_table",
    "warn",
]

WIDTH = 160  # of a table that goes to a file or a pipe, where there is no window to fit
PROSE = 80  # longer lines are hard to read, however wide the window is
_LOOKS = 0.1  # seconds between two looks at how far the work is


def show(
    rows: Iterable[Mapping[str, Any]],
    output: Format,
    *,
    title: str = "",
    caption: str = "",
    kind: str = "",
    about: Mapping[str, Any] | None = None,
    warnings: Sequence[str] = (),
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
        The title above and the caption below the table.
    kind : str
        What sort of rows they are, for the JSON envelope, which is that of every result.
    about : mapping, optional
        What holds for all rows.
    warnings : sequence of str
        What must be known beside them; they stand in the JSON envelope, and on standard error.
    file : text file, optional
        Where to print, by default standard output.
    """
    target = file or sys.stdout
    if output is Format.json:
        values: tuple[Any, ...] = (
            __version__,
            kind,
            title,
            caption,
            dict(about or {}),
            [],
            [],
            list(warnings),
        )
        write_json(dict(zip(ENVELOPE, values, strict=True)), in_columns(rows), target)
    elif output is Format.csv:
        write_csv(in_columns(rows), target)
    else:
        show_table(Table.of(list(rows), title=title, caption=caption), file=target)
    warn(warnings, output, file=file)


def present(result: Result, output: Format, *, file: TextIO | None = None, **chosen: Any) -> None:
    """Print a result, and tell on standard error what there is to know beside it.

    Parameters
    ----------
    result : Result
        What was found: its rows, tables, caption and notes are its own.
    output : Format
        Its tables, or its rows as CSV, or its JSON envelope.
    file : text file, optional
        Where to print, by default standard output.
    chosen
        What `rows` and `tables` take, such as `top`.
    """
    target = file or sys.stdout
    if output is Format.json:
        write_json(result.envelope(), result.iter_columns(**chosen), target)
    elif output is Format.csv:
        write_csv(result.iter_columns(**chosen), target)
    else:
        for number, table in enumerate(result.tables(**chosen)):
            if number:
                print(file=target)
            show_table(table, file=target)
    if output is Format.csv or (file is not None and output is Format.table):
        note(result.caption)
    for each in result.notes():
        note(each)
    warn(result.warnings, output, file=file)


def warn(warnings: Iterable[str], output: Format, *, file: TextIO | None = None) -> None:
    """Tell warnings on standard error, and in a file of text to who reads it later."""
    for warning in warnings:
        if file is not None and output is Format.table:
            say(f"warning: {warning}", file=file)
        note(f"warning: {warning}")


@contextlib.contextmanager
def opened(output: Path | None) -> Iterator[TextIO | None]:
    """Open the file of --output, which is there whole or not at all, and say on standard error that it is.

    None stands for standard output.
    """
    from ldpkit.core.wholefile import whole_text_stream

    if not goes_to_file(output):
        yield None
        return
    with whole_text_stream(output) as file:
        yield file
    note(f"wrote {output}")


def goes_to_file(output: Path | None) -> TypeGuard[Path]:
    """Whether --output names a file; without one, and for a dash, the result is printed."""
    return output is not None and str(output) != "-"


def deliver(result: Result, shown: ResultOptions, **chosen: Any) -> None:
    """Print a result or write it to a file, as `present` does."""
    with opened(shown.output) as file:
        present(result, shown.format, file=file, **chosen)


def deliver_rows(rows: Iterable[Mapping[str, Any]], shown: ResultOptions, **told: Any) -> None:
    """Print rows or write them to a file, as `show` does."""
    with opened(shown.output) as file:
        show(rows, shown.format, file=file, **told)


def show_table(table: Table, *, file: TextIO | None = None) -> None:
    """Print a table that fits the window, with what stands above and below it."""
    target = file or sys.stdout
    width = shutil.get_terminal_size().columns if target.isatty() else WIDTH
    if table.title:
        say(table.title, file=target)
    if table.rows:
        lines = text_table(table.header, table.rows, right=table.right, width=width)
        print(*lines, sep="\n", file=target)
    if table.caption:
        say(table.caption, file=target)


def say(text: str, *, file: TextIO | None = None) -> None:
    """Print sentences; on a terminal their lines are at most 80 columns wide, or as wide as the window."""
    target = file or sys.stdout
    width = min(PROSE, shutil.get_terminal_size().columns) if target.isatty() else WIDTH
    for line in visible(text).split("\n"):
        print(*wrapped(line, width), sep="\n", file=target)


def note(message: str) -> None:
    """Tell the user something beside the result, on standard error, and after what was printed before."""
    sys.stdout.flush()
    with contextlib.suppress(OSError):  # the work is done, whether or not it can be told
        if sys.stderr.isatty():
            say(message, file=sys.stderr)
        else:  # one line for who reads it with a program
            print(visible(message), file=sys.stderr)


@contextlib.contextmanager
def progress_bar(*, patience: float = 2.0) -> Iterator[ProgressRecord]:
    """Give the work of a block a record of its progress, and show that on a terminal while the block runs.

    Nothing is shown while the work is young, nor where standard error is no terminal. The work
    only counts: a thread reads how far it is.

    Parameters
    ----------
    patience : float
        After how many seconds the bar appears.
    """
    progress, ended = ProgressRecord(), threading.Event()
    if not sys.stderr.isatty():
        yield progress
        return
    bar = threading.Thread(target=_draw, args=(progress, ended, patience))
    with tidied():  # the bar hides the cursor
        try:
            bar.start()
            yield progress
        finally:
            ended.set()
            bar.join()


def _draw(progress: ProgressRecord, ended: threading.Event, patience: float) -> None:
    """Draw how far the work is until it has ended, if it takes that long."""
    if ended.wait(patience):
        return

    from rich import progress as rich
    from rich.console import Console

    with contextlib.suppress(OSError):  # the work goes on, whether or not it can be seen
        while not ended.wait(_LOOKS):
            if (stage := progress.stage) is None:
                continue
            with rich.Progress(
                console=Console(stderr=True),
                auto_refresh=False,
                transient=True,
                redirect_stdout=sys.stdout.isatty(),  # what goes to a pipe or a file stays there
            ) as bar:
                task = bar.add_task(stage.label, total=stage.total, completed=stage.done)
                while progress.stage is stage and not ended.wait(_LOOKS):
                    bar.update(task, completed=stage.done, refresh=True)
