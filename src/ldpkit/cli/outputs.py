"""Files that a command writes: whether they can be written is known before any work is done."""

from __future__ import annotations

import contextlib
import importlib.util
import shutil
import sys
import tempfile
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path

from ldpkit.cli.options import ENDINGS, ResultOptions
from ldpkit.cli.printing import note
from ldpkit.cli.reading import STANDARD, refuse_input
from ldpkit.core.errors import InvalidInputError, InvalidParameterError, MissingDependencyError
from ldpkit.core.stopping import tidied

__all__ = [
    "FIGURES",
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
    return path is not None and str(path) == STANDARD


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


def check_figure(figure: Path | None, *, force: bool) -> None:
    """Refuse a figure that could not be drawn or written, before any work is done."""
    if figure is not None:
        check_ending(figure, "--figure", FIGURES)
        check_extra("matplotlib")
        check_output(figure, force=force)


def check_page(report: Path | None, *, force: bool) -> None:
    """Refuse a page that could not be written, before any work is done."""
    if report is not None:
        check_ending(report, "--report", [".html"])
        check_output(report, force=force)


def check_output(
    path: Path,
    *,
    force: bool,
    remedy: str = "choose another name or add --force",
) -> None:
    """Refuse a place that cannot be written to, a file that exists, unless told to, and an input ever."""
    from ldpkit.core.wholefile import check_target

    if is_standard_output(path):
        return
    target = check_target(path)
    refuse_input(path, target)
    if target.exists() and not force:
        raise InvalidInputError(f"{str(path)!r} exists: {remedy}")


def check_outputs(outputs: Mapping[str, Path | None], *, force: bool) -> None:
    """Check the files that options name, and that no two options name the same."""
    from ldpkit.core.wholefile import check_target

    taken: dict[Path, str] = {}
    for option, path in outputs.items():
        if path is not None and not is_standard_output(path):
            check_output(path, force=force)
            other = taken.setdefault(check_target(path), option)
            if other != option:
                raise InvalidInputError(f"{str(path)!r} is both {other} and {option}: choose two names")


def check_result(shown: ResultOptions) -> None:
    """Refuse a file that a result could not be written to, before any work is done."""
    check_ending(shown.output, "--output", ENDINGS)
    check_outputs({"--output": shown.output}, force=shown.force)


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
