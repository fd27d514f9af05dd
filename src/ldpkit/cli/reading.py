"""What the running command reads, so that nothing of it is ever written over.

The declaration of an option says it. One that is a path names an input, unless it is marked with `Writes`;
one that is text names files only if it is marked with `Reads`, which says which files a value names. Nothing
is listed a second time where outputs are checked, so nothing can be left out there.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

import typer.models

from ldpkit.core.errors import InvalidInputError, InvalidParameterError

__all__ = [
    "STANDARD",
    "Reads",
    "Writes",
    "begin",
    "file_behind_at",
    "files_of_lake",
    "files_of_people",
    "files_of_service",
    "files_of_vectors",
    "how_read",
    "refuse_dash",
    "refuse_input",
    "remember",
]

STANDARD = "-"
"""What stands for standard input or output."""


def _itself(value: str) -> Iterable[str]:
    return (value,)


@dataclass(frozen=True)
class Reads:
    """Marks an option whose value names files that are read.

    Parameters
    ----------
    files : callable
        Returns them; the value itself is the usual name.
    """

    files: Callable[[str], Iterable[str]] = _itself


@dataclass(frozen=True)
class Writes:
    """Marks an option that names a file to write.

    Parameters
    ----------
    takes_dash : bool
        Whether the command knows what to do with a dash; otherwise it is refused.
    """

    takes_dash: bool = False


_named: list[tuple[Reads, str]] = []  # of the one command that runs


def begin() -> None:
    """Forget what another command of this process has read."""
    _named.clear()


def remember(value: Any, how: Reads = Reads()) -> None:
    """Take note that a value, or each of several, names what is read."""
    values = value if isinstance(value, (list, tuple)) else [value]
    _named.extend((how, str(each)) for each in values if each is not None)


def how_read(hint: Any) -> Reads | None:
    """Return how the value of an option names files to read, or None if it names none.

    Examples
    --------
    >>> from typing import Annotated
    >>> how_read(Annotated[list[Path] | None, "--plugin"]) == Reads()
    True
    >>> how_read(Annotated[Path, Writes()]), how_read(Annotated[str | None, "--title"])
    (None, None)
    """
    marks = getattr(hint, "__metadata__", ())
    said = next((mark for mark in marks if isinstance(mark, Reads)), None)
    if said is not None or any(isinstance(mark, Writes) for mark in marks):
        return said
    return Reads() if _is_path(hint) else None


def _is_path(hint: Any) -> bool:
    return hint is Path or any(map(_is_path, get_args(hint)))


def refuse_dash(hints: Mapping[str, Any], given: Mapping[str, Any]) -> None:
    """Refuse a dash where a command writes a file and nothing but a file."""
    for name, hint in hints.items():
        marks = getattr(hint, "__metadata__", ())
        if str(given[name]) == STANDARD and any(
            isinstance(mark, Writes) and not mark.takes_dash for mark in marks
        ):
            raise InvalidParameterError(
                f"{_spelled(name, marks)} goes to a file, not to standard output: give it a name"
            )


def _spelled(name: str, marks: Iterable[Any]) -> str:
    if any(isinstance(mark, typer.models.ArgumentInfo) for mark in marks):
        return name.upper()
    return f"--{name.replace('_', '-')}"


def file_behind_at(spec: str) -> Iterable[str]:
    """Return the file of `@FILE` or `@TABLE:COLUMN`.

    Examples
    --------
    >>> list(file_behind_at("@cities.csv:name")), list(file_behind_at("a,b"))
    (['cities.csv'], [])
    """
    from ldpkit.cli.parsing import domain_file

    found = domain_file(spec)
    return () if found is None else (found,)


def files_of_lake(name: str) -> Iterable[str]:
    """Return the files of this machine that a path, a folder or a pattern of Parquet files names."""
    from ldpkit.engines.lake import find_files, is_pattern, path_here

    local = path_here(name)
    if local is None or not is_pattern(local):
        return () if local is None else (local,)
    try:
        return find_files(local)
    except InvalidInputError:  # nothing fits: who reads it says so
        return ()


def files_of_people(name: str) -> Iterable[str]:
    """Return the files that --data names, or those of known sets: of numbers, it may name many."""
    from ldpkit.cli.parsing import split
    from ldpkit.simulation.datasets.catalogue import KNOWN
    from ldpkit.simulation.datasets.numbers import KNOWN_NUMBERS

    for each in dict.fromkeys((name, *split([name]))):
        yield each
        wanted = each.lower().replace("-", "_")
        known = KNOWN.get(wanted) or KNOWN_NUMBERS.get(wanted)
        if known is not None and (found := known.find()) is not None:
            yield str(found[1])


def files_of_service(data: str) -> Iterable[str]:
    """Return the folder of a collector, and the files that it keeps there, or would keep."""
    from ldpkit.collector.backup import own_files

    return (data, *map(str, own_files(data)))


def files_of_vectors(folder: str) -> Iterable[str]:
    """Return a folder and the files of golden vectors in it."""
    return (folder, *map(str, Path(folder).glob("*.json")))


def refuse_input(path: str | Path, target: Path) -> None:
    """Refuse to write to what the command reads, by whatever name.

    Parameters
    ----------
    path : str or Path
        What the user called it.
    target : Path
        The file that it leads to.
    """
    if any(_is_same(target, each) for each in _files(is_there=target.exists())):
        raise InvalidInputError(f"{str(path)!r} is also the input: choose another name for the output")


def _files(*, is_there: bool) -> Iterator[str]:
    for how, value in _named:
        # What is not there yet may be what another option makes, but is in no folder and is no known set.
        yield from how.files(value) if is_there or how.files is file_behind_at else (value,)


def _is_same(target: Path, name: str) -> bool:
    try:
        facts = os.fstat(0) if name == STANDARD else os.stat(name)  # noqa: PTH116 - see below
    except (OSError, ValueError):
        # os.path: a text that is too long for a name is the name of no file, but an error to a Path.
        facts = None
    try:
        if facts is not None and target.exists():
            return stat.S_ISREG(facts.st_mode) and os.path.samestat(facts, target.stat())
        return name != STANDARD and os.path.realpath(name) == str(target)
    except (OSError, ValueError):
        return False
