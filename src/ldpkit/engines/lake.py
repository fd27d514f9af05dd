"""A lake: which files a pattern names, and what the folders on the way to a file say of its rows."""

from __future__ import annotations

import fnmatch
import glob
import os
import urllib.parse
from collections.abc import Iterable
from pathlib import Path
from typing import TypeAlias

from ldpkit.core.errors import InvalidInputError

__all__ = ["Paths", "find_files", "folder_keys", "is_pattern", "path_here"]

Paths: TypeAlias = "str | Path | Iterable[str | Path]"

_WILD = "*?["
_PLAIN = "/=:,+@"  # what an address may have as it is
_LOCAL = ("file", "local")  # schemes, as Arrow knows them
_REPORTS = ".ldp"  # how the names of report files end
_NONE = "__HIVE_DEFAULT_PARTITION__"  # the folder of rows whose key is missing, as Hive and Spark name it


def is_pattern(path: str | Path) -> bool:
    """Whether a path names many files: it has wildcards, is a folder, or lies elsewhere.

    The name of a file that is there is that file's, whatever its signs; a report file is never one of many.

    Examples
    --------
    >>> is_pattern("day=*/*.parquet"), is_pattern("answers [2].ldp")
    (True, False)
    """
    text = str(path)
    if "://" in text or os.path.isdir(text):  # noqa: PTH112 - as below
        return True
    if os.path.isfile(text) or text.lower().endswith(_REPORTS):  # noqa: PTH113 - as below
        return False
    return any(sign in text for sign in _WILD)


def path_here(name: str) -> str | None:
    """Return the path of what lies on this machine, however it is addressed, or None.

    Examples
    --------
    >>> path_here("lake"), path_here("file:///my%20lake"), path_here("s3://bucket/lake")
    ('lake', '/my lake', None)
    """
    scheme, mark, rest = name.partition("://")
    if not mark:
        return name
    return urllib.parse.unquote(rest) if scheme in _LOCAL else None


def find_files(paths: Paths) -> list[str]:
    """Return the Parquet files that paths, patterns and folders name, in order.

    Of a folder these are all files below it that end in .parquet. What begins with a dot or an
    underscore is none of the data, such as the `_temporary` of a job that has not ended.

    Examples
    --------
    >>> find_files("nowhere/*.parquet")
    Traceback (most recent call last):
    ...
    ldpkit.core.errors.InvalidInputError: no Parquet file fits 'nowhere/*.parquet': check the path
    """
    every = [paths] if isinstance(paths, (str, Path)) else list(paths)
    if not every:
        raise InvalidInputError("there are no files to count: give at least one")
    found: list[str] = []
    for each in map(str, every):
        local = path_here(each)
        fits = _elsewhere(each) if local is None else _here(local)
        if local is not None and local != each:  # as it was addressed
            fits = [f"{each.partition('://')[0]}://{urllib.parse.quote(name, _PLAIN)}" for name in fits]
        if not fits:
            raise _nothing_fits(each)
        found += sorted(fits)
    seen: dict[str, str] = {}
    for name in found:
        identity = _identity(name)
        if identity in seen:
            spelled = "" if seen[identity] == name else f", as {seen[identity]!r} too"
            raise InvalidInputError(f"{name!r} is given twice{spelled}, and would count twice: give it once")
        seen[identity] = name
    return found


def _nothing_fits(text: str) -> InvalidInputError:
    if os.path.isdir(text):  # noqa: PTH112 - as below
        return InvalidInputError(
            f"there is no Parquet file in the folder {text!r}: name report files, or a folder that has some"
        )
    if "://" in text or text.lower().endswith(".parquet"):
        return InvalidInputError(f"no Parquet file fits {text!r}: check the path")
    return InvalidInputError(f"there is no file {text!r}, and no Parquet file fits it: check the path")


def _identity(name: str) -> str:
    """Return the one name of a file of this machine; elsewhere it has no other."""
    local = path_here(name)
    return name if local is None else os.path.realpath(local)


def _here(text: str) -> list[str]:
    if os.path.isfile(text):  # noqa: PTH113 - as below
        return [text]
    if os.path.isdir(text):  # noqa: PTH112  # a Path raises an error where a name is too long
        return [str(file) for file in Path(text).rglob("*.parquet") if _is_data(str(file.relative_to(text)))]
    if any(sign in text for sign in _WILD):
        start = "/".join(text.split("/")[: _fixed(text)]) or text[: text.startswith("/")] or "."
        return [
            name
            for name in glob.glob(text, recursive=True)  # noqa: PTH207  # patterns may be absolute
            if os.path.isfile(name) and _is_data(os.path.relpath(name, start))  # noqa: PTH113 - names, as glob gives them
        ]
    return [text]  # whether it can be read is said by who opens it


def _fixed(pattern: str) -> int:
    """Return how many folders a pattern names without a wildcard."""
    parts = pattern.split("/")
    return next((place for place, part in enumerate(parts) if any(c in part for c in _WILD)), len(parts))


def _fits(parts: list[str], pattern: list[str]) -> bool:
    """Whether folders and a name are those of a pattern, in which ** is any number of folders."""
    if not pattern:
        return not parts
    if pattern[0] == "**":
        return any(_fits(parts[skip:], pattern[1:]) for skip in range(len(parts) + 1))
    return bool(parts) and fnmatch.fnmatchcase(parts[0], pattern[0]) and _fits(parts[1:], pattern[1:])


def _is_data(name: str) -> bool:
    return not any(part.startswith((".", "_")) for part in Path(name).parts)


def _elsewhere(address: str) -> list[str]:
    """Return the files of an address such as s3://bucket/day=*/x.parquet, or below it."""
    from pyarrow.fs import FileSelector, FileSystem, FileType

    scheme, _, rest = address.partition("://")
    parts, fixed = rest.split("/"), _fixed(rest)
    try:
        system, root = FileSystem.from_uri(f"{scheme}://{'/'.join(parts[:fixed])}")
        start = system.get_file_info(root)
        if start.type == FileType.File:
            return [address]
        below = system.get_file_info(FileSelector(root, recursive=True, allow_not_found=True))
    except (OSError, ValueError) as error:
        raise InvalidInputError(f"cannot look for {address!r}: {error}") from None
    wanted = parts[fixed:] or ["**", "*.parquet"]
    names = ((each.path, each.path[len(root) :].lstrip("/")) for each in below if each.type == FileType.File)
    return [
        f"{scheme}://{path}" for path, inner in names if _is_data(inner) and _fits(inner.split("/"), wanted)
    ]


def folder_keys(path: str) -> dict[str, str | None]:
    """Return the keys that folders such as `day=2026-11-17` give to all rows of a file.

    Examples
    --------
    >>> folder_keys("lake/question=mood/day=2026-11-17/part-0.parquet")
    {'question': 'mood', 'day': '2026-11-17'}
    """
    found: dict[str, str | None] = {}
    for part in path.split("/")[:-1]:
        name, equals, value = part.partition("=")
        if name and equals:
            found[urllib.parse.unquote(name)] = None if value == _NONE else urllib.parse.unquote(value)
    return found
