"""Text files line by line: packed or not, from a file or standard input, a block at a time.

However long a file is, no more than a block of it is in memory. What is not text is
refused with the line where it stands.
"""

from __future__ import annotations

import contextlib
import gzip
import sys
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from ldpkit.core.errors import InvalidInputError
from ldpkit.core.limits import VARIABLE, allowed_memory

__all__ = ["STANDARD_INPUT", "check_file", "check_kept_file", "file_title", "kept_limit", "line_blocks"]

STANDARD_INPUT = "-"

_BLOCK = 1 << 20  # bytes read at a time
_EMPTY = 1 << 16  # empty lines yielded at a time: packed, a million of them take a kilobyte
_LONGEST_LINE = 1 << 24
_TAKES = 16  # so many bytes of memory a byte of text takes until it is an array, at the most
_NEW_LINE = ord("\n")
_MARK = b"\xef\xbb\xbf"  # that some programs put before UTF-8


def line_blocks(path: str | Path, *, limit: int | None = None) -> Iterator[list[str]]:
    r"""Yield the lines of a text file, some at a time, with nothing behind the last one.

    Any of \n, \r\n and \r ends a line. Empty lines at the end are left out; those between
    others are not.

    Parameters
    ----------
    path : path
        A file, packed if its name ends in .gz, or `-` for standard input.
    limit : int, optional
        The most bytes that a packed file may unpack to, for who keeps all of them.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "a.txt"
    ...     _ = file.write_bytes(b"one\r\n\r\ntwo\n\n\n")
    ...     list(line_blocks(file))
    [['one', '', 'two']]
    """
    title, line, empty, is_first, length = file_title(path), 0, 0, True, 0
    with _refusing(path), _opened(path) as stream:
        for block in _whole_lines(stream, title):
            length += len(block) + 1
            if limit is not None and length > limit and str(path).lower().endswith(".gz"):
                raise _too_long(path, limit)
            if not block.strip(b"\n"):  # line ends only: they are counted without a list of them
                line += len(block) + 1
                empty += len(block) + 1
                continue
            text = _decoded(block, title, line)
            lines = text.split("\n")
            line += len(lines)
            held = len(lines)
            while held and not lines[held - 1]:
                held -= 1
            if held:
                while empty:
                    some = min(empty, _EMPTY)
                    yield [""] * some
                    empty -= some
                yield lines[:held]
                is_first, empty = False, len(lines) - held
            else:
                empty += len(lines)
    if is_first:
        raise InvalidInputError(f"{title} is empty: give at least one value")


def kept_limit(path: str | Path) -> int | None:
    """Return how much a packed file may hold for a reader who keeps all of it, or None for other files.

    It is the text of a .gz, or the memory that columns of a Parquet file take.
    """
    ending = Path(path).suffix.lower()
    if ending not in (".gz", ".parquet"):
        return None
    check_file(Path(path), file_title(path))
    length = Path(path).stat().st_size
    return allowed_memory(_TAKES * length) // _TAKES if ending == ".gz" else allowed_memory(length)


def _too_long(path: str | Path, limit: int) -> InvalidInputError:
    length = Path(path).stat().st_size
    return InvalidInputError(
        f"{file_title(path)} has {length} bytes and unpacks to more than {limit >> 20} MiB: "
        f"if you trust it, unpack it first, or set {VARIABLE} to {_TAKES} times its text, such as {_TAKES}G "
        "for a gigabyte"
    )


def file_title(path: str | Path) -> str:
    """Return what a file is called in a message."""
    return "standard input" if str(path) == STANDARD_INPUT else repr(str(path))


def check_file(file: Path, title: str) -> None:
    """Refuse a path that leads to no file."""
    try:
        if file.is_dir():
            raise InvalidInputError(f"{title} is a directory: give a file")
        if "\0" in str(file) or not file.exists():
            raise InvalidInputError(f"{title} does not exist: check the path")
    except OSError as error:  # too long for a name, or in a folder that may not be entered
        raise InvalidInputError(f"{title} cannot be read: {error.strerror or error}") from None


def check_kept_file(file: Path, title: str) -> None:
    """Refuse a path that leads to no file, or to a pipe or a device, which need not have an end."""
    check_file(file, title)
    if not file.is_file():
        raise InvalidInputError(f"{title} is not a file on a disk: save it first")


@contextlib.contextmanager
def _refusing(path: str | Path) -> Iterator[None]:
    title = file_title(path)
    try:
        yield
    except InvalidInputError:
        raise
    except (gzip.BadGzipFile, EOFError, zlib.error):
        raise InvalidInputError(f"{title} is not a complete gzip file: copy it again") from None
    except OSError as error:
        raise InvalidInputError(f"{title} cannot be read: {error.strerror or error}") from None


@contextlib.contextmanager
def _opened(path: str | Path) -> Iterator[IO[bytes]]:
    if str(path) == STANDARD_INPUT:
        yield sys.stdin.buffer
        return
    file = Path(path)
    check_file(file, file_title(path))
    with gzip.open(file) if file.suffix.lower() == ".gz" else file.open("rb") as stream:
        yield stream  # type: ignore[misc]  # gzip's own class reads bytes as well


def _whole_lines(stream: IO[bytes], title: str) -> Iterator[bytes]:
    r"""Yield blocks that end where a line does, without that end; \n ends every line."""
    rest, is_first = b"", True
    while data := stream.read(_BLOCK):
        data = data.removeprefix(_MARK) if is_first else rest + data
        is_first = False
        # A \r at the very end may be half of a \r\n: it waits for what follows.
        last = max(data.rfind(b"\n"), data.rfind(b"\r", 0, len(data) - 1))
        if last < 0:
            if len(data) > _LONGEST_LINE:
                raise InvalidInputError(f"{title} has a line of more than {_LONGEST_LINE} bytes: is it text?")
            rest = data
            continue
        rest = data[last + 1 :]
        yield _plain(data[:last].removesuffix(b"\r") if data[last] == _NEW_LINE else data[:last])
    if rest:
        yield _plain(rest)


def _plain(block: bytes) -> bytes:
    return block.replace(b"\r\n", b"\n").replace(b"\r", b"\n") if b"\r" in block else block


def _decoded(block: bytes, title: str, line: int) -> str:
    try:
        text = block.decode()
    except UnicodeDecodeError as error:
        at = line + block.count(b"\n", 0, error.start) + 1
        raise InvalidInputError(
            f"{title}, line {at}: byte 0x{block[error.start]:02x} is not UTF-8 text: save the file as UTF-8"
        ) from None
    if "\0" in text:
        raise InvalidInputError(f"{title} is binary, not text: give a text file of values")
    return text
