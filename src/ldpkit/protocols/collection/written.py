"""The TOML that a person writes: read with its lines, and refused by the line."""

from __future__ import annotations

import difflib
import tomllib
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NoReturn

from ldpkit.core.cached import cached_property
from ldpkit.core.errors import FileFormatError, InvalidInputError, LdpkitError
from ldpkit.protocols.collection.lines import Lines, Path

__all__ = ["Written", "read_toml"]

_MOST_BYTES = 1 << 22
_MOST_BRACKETS = 200_000  # more than any collection has, and no more than a parser takes in good time


@dataclass(frozen=True)
class Written:
    """A TOML text with what it says.

    Parameters
    ----------
    name : str
        What messages call the file; empty if it was not written to one, and has no lines to look at.
    text : str
        The text.
    data : mapping
        What it says.
    """

    name: str
    text: str
    data: Mapping[str, Any]

    @cached_property
    def _lines(self) -> Lines:
        return Lines(self.text)

    def refuse(self, path: Path, message: str) -> NoReturn:
        """Refuse what stands at a path, with its line."""
        place = f"{self.name}, line {self._lines.of(path)}: " if self.name else ""
        raise InvalidInputError(f"{place}{message}")

    @contextmanager
    def at(self, *path: str | int) -> Iterator[None]:
        """Say the line of a path in whatever is refused inside."""
        try:
            yield
        except LdpkitError as error:
            self.refuse(path, str(error))

    def table(self, path: Path, known: Collection[str], required: Collection[str] = ()) -> Mapping[str, Any]:
        """Return a table with known keys only, and all that are required."""
        value: Any = self.data
        for part in path:
            value = value[part]
        what = (
            "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path)[1:] or "the file"
        )
        if not isinstance(value, dict):
            self.refuse(path, f"{what} is a table with {', '.join(known)}, got {str(value)[:50]!r}")
        for key in value:
            if key not in known:
                near = difflib.get_close_matches(key, known, n=1)
                hint = f"did you mean {near[0]}?" if near else f"it may have {', '.join(known)}"
                self.refuse((*path, key), f"{what} has no {key[:50]!r}: {hint}")
        for key in required:
            if key not in value:
                self.refuse(path, f"{what} needs {key}")
        return value


def read_toml(data: bytes, name: str) -> Written:
    r"""Return what a TOML file says, or refuse it with the line.

    Examples
    --------
    >>> read_toml(b'id = "a"\nversion = ', "a.toml")
    Traceback (most recent call last):
    ...
    ldpkit.core.errors.FileFormatError: a.toml, line 2: this is not TOML: Invalid value
    """
    whole = name or "the collection"  # which has no name before it is written
    if len(data) > _MOST_BYTES:
        raise FileFormatError(
            f"{whole} has {len(data):,} bytes, more than the {_MOST_BYTES:,} that are read: "
            "give it fewer or shorter labels"
        )
    if data.count(b"[") + data.count(b"{") > _MOST_BRACKETS:
        raise FileFormatError(
            f"{whole} has more than {_MOST_BRACKETS:,} brackets, more than any collection needs"
        )
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        raise FileFormatError(f"{name} is not UTF-8 text", offset=error.start) from None
    text = text.replace("\r\n", "\n")
    try:
        return Written(name, text, tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        said, _, place = str(error).partition(" (at ")
        line = place.split(",")[0].removeprefix("line ") if place.startswith("line") else text.count("\n") + 1
        raise FileFormatError(f"{name}, line {line}: this is not TOML: {said}") from None
    except RecursionError:
        raise FileFormatError(f"{name} is nested too deeply for a collection") from None
    except ValueError as error:  # an integer of thousands of digits, a day that no calendar has
        raise FileFormatError(f"{name} has a value that cannot be read: {str(error)[:80]}") from None
