"""Files that are there whole or not at all."""

from __future__ import annotations

import contextlib
import os
import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from ldpkit.core.errors import InvalidInputError

__all__ = ["whole_file"]


@contextlib.contextmanager
def whole_file(path: str | Path) -> Iterator[IO[bytes]]:
    """Open a file that appears under its name only when it is complete.

    The bytes go to a temporary neighbour, which takes the name at the end of the `with`
    block, or goes away if the block is left by an exception or Ctrl-C.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with whole_file(folder + "/a.bin") as stream:
    ...         _ = stream.write(b"abc")
    ...         hidden = not Path(folder, "a.bin").exists()
    ...     hidden, Path(folder, "a.bin").read_bytes()
    (True, b'abc')
    """
    target = Path(os.path.realpath(path))  # a link keeps pointing where it points
    if target.exists() and not target.is_file():
        raise InvalidInputError(f"cannot write {str(path)!r}: it is not a file: choose another name")
    part = target.with_name(f".{target.name}.{secrets.token_hex(4)}.part")
    try:
        stream = part.open("xb")
    except OSError as error:
        raise InvalidInputError(
            f"cannot write {str(path)!r}: {error.strerror}: choose a folder that exists and can be written to"
        ) from error
    try:
        with stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        part.replace(target)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
