"""Files that are there whole or not at all."""

from __future__ import annotations

import contextlib
import io
import os
import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, cast

from ldpkit.core.errors import InvalidInputError, WriteError

__all__ = ["whole_file"]


@contextlib.contextmanager
def whole_file(path: str | Path) -> Iterator[IO[bytes]]:
    """Open a file that appears under its name only when it is complete.

    The bytes go to a temporary neighbour, which takes the name at the end of the `with`
    block, or goes away if the block is left by an exception or Ctrl-C. Where the disk is
    full, a `WriteError` says so.

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
    if "\0" in str(path):
        raise InvalidInputError(f"cannot write {str(path)!r}: a path has no NUL: choose another name")
    target = Path(os.path.realpath(path))  # a link keeps pointing where it points
    if target.exists() and not target.is_file():
        raise InvalidInputError(f"cannot write {str(path)!r}: it is not a file: choose another name")
    part = target.with_name(f".{target.name}.{secrets.token_hex(4)}.part")
    try:
        raw = _Raw(part, "xb")
    except OSError as error:
        raise InvalidInputError(
            f"cannot write {str(path)!r}: {error.strerror}: choose a folder that exists and can be written to"
        ) from error
    raw.target = str(path)
    stream = io.BufferedWriter(raw)
    try:
        yield cast("IO[bytes]", stream)
        try:
            stream.flush()
            os.fsync(stream.fileno())
            stream.close()
            part.replace(target)
        except OSError as error:
            raise _refuse(str(path), error) from error
    except BaseException:
        raw.close()  # before the stream, which else would try to write what it still holds
        part.unlink(missing_ok=True)
        raise


class _Raw(io.FileIO):
    """A file that says which one it is when it cannot be written to."""

    target: str

    def write(self, data: Any, /) -> int:
        try:
            return super().write(data)
        except OSError as error:
            raise _refuse(self.target, error) from error


def _refuse(path: str, error: OSError) -> WriteError:
    return error if isinstance(error, WriteError) else WriteError(path, error.strerror or str(error))
