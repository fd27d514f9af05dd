"""Files that a command writes: whether they can be written is known before any work is done."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import shutil
import sys
import tempfile
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path

from ldpkit.cli.options import ENDINGS, ResultOptions
from ldpkit.cli.printing import note
from ldpkit.core.errors import InvalidInputError, InvalidParameterError, MissingDependencyError
from ldpkit.core.stopping import tidied

__all__ = [
    "FIGURES",
    "STANDARD_OUTPUT",
    "announce",
    "check_ending",
    "check_extra",
    "check_figure",
    "check_output",
    "check_outputs",
    "check_page",
    "check_result",
    "is_standard_output",
    "whole_path",
    "write_text",
]

STANDARD_OUTPUT = "-"
FIGURES = (".png", ".svg", ".pdf")
_LARGE = 1 << 30  # bytes: from here on, a file is announced before it is written
_EXTRAS = {
    "matplotlib": ("drawing figures", "plots"),
    "pyarrow": ("writing Parquet files", "frames"),
    "bayes_opt": ("the search bayes", "optimisation"),
    "sklearn": ("planning for a classifier", "models"),
}


def is_standard_output(path: Path | None) -> bool:
    """Whether a path is the dash that stands for standard output."""
    return path is not None and str(path) == STANDARD_OUTPUT


def check_ending(path: Path | None, option: str, endings: Collection[str]) -> None:
    """Refuse a file whose ending is none of those that can be written.

    Examples
    --------
    >>> check_ending(Path("a.csv"), "--output", [".csv", ".json"])
    >>> check_ending(Path("a.xlsx"), "--output", [".csv", ".json"])
    Traceback (most recent call last):
    ...
    ldpkit.core.errors.InvalidParameterError: --output is written as .csv or .json, got 'a.xlsx'
    """
    if path is None or is_standard_output(path) or path.suffix.lower() in endings:
        return
    *others, last = endings
    names = f"{', '.join(others)} or {last}" if others else last
    raise InvalidParameterError(f"{option} is written as {names}, got {str(path)!r}")


def check_extra(library: str) -> None:
    """Refuse what needs a library that is not installed, and say how to install it."""
    try:
        found = importlib.util.find_spec(library)
    except ValueError:  # it was imported, and has no spec
        found = None
    if found is None:
        purpose, extra = _EXTRAS[library]
        raise MissingDependencyError(library, purpose, extra)


def check_figure(figure: Path | None, *, force: bool, inputs: Sequence[str | Path | None] = ()) -> None:
    """Refuse a figure that could not be drawn or written, before any work is done."""
    if figure is not None:
        _refuse_dash(figure, "--figure")
        check_ending(figure, "--figure", FIGURES)
        check_extra("matplotlib")
        check_output(figure, force=force, inputs=inputs)


def check_page(report: Path | None, *, force: bool, inputs: Sequence[str | Path | None] = ()) -> None:
    """Refuse a page that could not be written, before any work is done."""
    if report is not None:
        _refuse_dash(report, "--report")
        check_ending(report, "--report", [".html"])
        check_output(report, force=force, inputs=inputs)


def _refuse_dash(path: Path, option: str) -> None:
    if is_standard_output(path):
        raise InvalidParameterError(f"{option} goes to a file, not to standard output: give it a name")


def check_output(
    path: Path,
    *,
    force: bool,
    inputs: Sequence[str | Path | None],
    remedy: str = "choose another name or add --force",
) -> None:
    """Refuse a place that cannot be written to, a file that exists, unless told to, and an input ever."""
    from ldpkit.core.wholefile import check_target

    if is_standard_output(path):
        return
    target = check_target(path)
    if not target.exists():
        return
    # os.path: a text that is too long for a name is the name of no file, but an error to a Path
    if any(each is not None and os.path.exists(each) and target.samefile(each) for each in inputs):  # noqa: PTH110
        raise InvalidInputError(f"{str(path)!r} is also the input: choose another name for the output")
    if not force:
        raise InvalidInputError(f"{str(path)!r} exists: {remedy}")


def check_outputs(
    outputs: Mapping[str, Path | None], *, force: bool, inputs: Sequence[str | Path | None]
) -> None:
    """Check the files that options name, and that no two options name the same."""
    from ldpkit.core.wholefile import check_target

    taken: dict[Path, str] = {}
    for option, path in outputs.items():
        if path is not None and not is_standard_output(path):
            check_output(path, force=force, inputs=inputs)
            other = taken.setdefault(check_target(path), option)
            if other != option:
                raise InvalidInputError(f"{str(path)!r} is both {other} and {option}: choose two names")


def check_result(shown: ResultOptions, inputs: Sequence[str | Path | None] = ()) -> None:
    """Refuse a file that a result could not be written to, before any work is done."""
    check_ending(shown.output, "--output", ENDINGS)
    check_outputs({"--output": shown.output}, force=shown.force, inputs=inputs)


def write_text(path: Path, text: str) -> None:
    """Write text to a file, whole or not at all, or to standard output."""
    from ldpkit.core.wholefile import whole_text

    if is_standard_output(path):
        sys.stdout.write(text)
    else:
        whole_text(path, text)


@contextlib.contextmanager
def whole_path(output: Path) -> Iterator[Path]:
    """Yield the file to write: the output itself, or one that goes to standard output when it is whole."""
    if not is_standard_output(output):
        yield output
        return
    with tidied(), tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "output"
        yield path
        with path.open("rb") as stream:
            shutil.copyfileobj(stream, sys.stdout.buffer)


def announce(output: Path, records: int, record_bytes: int, what: str) -> None:
    """Say before it is written that a file will be large."""
    size = records * record_bytes
    if size >= _LARGE:
        place = "standard output" if is_standard_output(output) else str(output)
        note(
            f"note: {place} will have about {size / 1e9:,.1f} GB: "
            f"{records:,} {what} of {record_bytes:,} bytes each"
        )
