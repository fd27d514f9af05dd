"""Small files that a person or a command wrote: descriptions, settings and keys, each read whole.

What is no file on a disk need not have an end, and a pipe waits for a writer who may never
come, so both are refused before anything is read; so is a file that is too large to be meant.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path

from ldpkit.core.errors import InvalidInputError

__all__ = ["MOST_BYTES", "read_small_file", "without_waiting"]

MOST_BYTES = 1 << 22
"""How long a file may be, where nothing else is said."""


def without_waiting(path: str, flags: int) -> int:
    """Open a path as `open` does, but never wait for somebody to write into a pipe."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def read_small_file(path: str | Path, what: str, most: int = MOST_BYTES) -> bytes:
    """Return the bytes of a file, or refuse what is no file, or has more of them.

    Parameters
    ----------
    path : path
        The file.
    what : str
        What it should hold, for the message.
    most : int
        How many bytes it may have.

    Examples
    --------
    >>> read_small_file("/dev/zero", "the settings")
    Traceback (most recent call last):
    ...
    ldpkit.core.errors.InvalidInputError: '/dev/zero' is not a file on a disk: save the settings first
    """
    name = repr(str(path))
    try:
        with open(path, "rb", opener=without_waiting) as stream:
            if not stat.S_ISREG(os.fstat(stream.fileno()).st_mode):
                raise InvalidInputError(f"{name} is not a file on a disk: save {what} first")
            data = stream.read(most + 1)
    except IsADirectoryError:
        raise InvalidInputError(f"{name} is a directory: give the file with {what}") from None
    except (OSError, ValueError) as error:  # a NUL in a path is a ValueError
        if isinstance(error, InvalidInputError):
            raise
        reason = error.strerror if isinstance(error, OSError) else error
        raise InvalidInputError(f"cannot read {name}: {reason}: check the path") from None
    if len(data) > most:
        raise InvalidInputError(
            f"{name} has more than the {most:,} bytes that are read: give the file with {what}"
        )
    return data
