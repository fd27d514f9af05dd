"""Files that are there whole or not at all.

A process that is killed leaves its unfinished file behind. Such files have a name of their
own, and their writer holds a lock on them: one that nobody holds is stale, and the next
writer in that folder removes it.
"""

from __future__ import annotations

import contextlib
import errno
import io
import os
import stat
import time
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, TextIO

from ldpkit.core.errors import InvalidInputError, LdpkitError, WriteError
from ldpkit.core.forks import process
from ldpkit.core.locks import lock
from ldpkit.core.stopping import tidied

__all__ = [
    "cannot_write",
    "check_target",
    "create_file",
    "end_creation",
    "remove_unfinished",
    "sync_folder",
    "whole_copy",
    "whole_file",
    "whole_text",
    "whole_text_stream",
]

_PREFIX, _SUFFIX = ".ldpkit-", ".part"
_DAY = 86_400.0
_PAUSE = 0.002
_unfinished: dict[Path, tuple[int, int]] = {}  # neighbours that are being written, and by which process
_NO_LINKS = (errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS)  # as on a memory stick
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


@contextlib.contextmanager
def whole_file(path: str | Path) -> Iterator[IO[bytes]]:
    """Open a file that appears under its name only when it is complete.

    The bytes go to a temporary neighbour, which takes the name at the end of the `with`
    block, or goes away if the block is left by an exception or a signal. The file and its
    folder are on the disk before the block ends.

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
    target = check_target(path)
    with tidied(), _neighbour(target, path) as (part, raw):
        with io.BufferedWriter(raw) as stream:
            yield stream
            raw.check_process()
            stream.flush()
            with _refusing(path):
                if target.exists():
                    part.chmod(stat.S_IMODE(target.stat().st_mode))  # who may read it stays
                os.fsync(stream.fileno())
                part.replace(target)  # before the lock goes with the stream
        sync_folder(target.parent)


@contextlib.contextmanager
def whole_copy(path: str | Path) -> Iterator[Path]:
    """Yield an empty file for a writer that opens files itself, such as SQLite; it takes the name at the end.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with whole_copy(folder + "/a.db") as part:
    ...         _ = part.write_bytes(b"abc")
    ...     Path(folder, "a.db").read_bytes()
    b'abc'
    """
    target = check_target(path)
    with tidied(), _neighbour(target, path) as (part, raw):
        with raw:
            yield part
            raw.check_process()
            with _refusing(path):
                os.fsync(raw.fileno())
                part.replace(target)
        sync_folder(target.parent)


@contextlib.contextmanager
def _neighbour(target: Path, path: str | Path) -> Iterator[tuple[Path, _Part]]:
    """Yield a new file beside the target, locked; it goes away at the end, whatever happens."""
    _remove_stale(target.parent)
    part = target
    try:
        raw = None
        while raw is None:
            part = target.with_name(f"{_PREFIX}{_host()}-{os.urandom(8).hex()}{_SUFFIX}")
            _unfinished[part] = process()
            raw = _open_part(part, path)
            if raw is None:
                _remove(part)
        yield part, raw
    finally:
        if part != target:
            _remove(part)


def remove_unfinished() -> None:
    """Remove what this process began to write and will not finish, before it ends.

    Python may raise the exception of a signal after a `with` statement has entered its
    block and before it would leave it again.
    """
    for part in tuple(_unfinished):
        _remove(part)


def _remove(part: Path) -> None:
    if _unfinished.pop(part, None) == process():  # what the parent of this process is writing stays
        with contextlib.suppress(OSError):
            part.unlink(missing_ok=True)


@contextlib.contextmanager
def whole_text_stream(path: str | Path) -> Iterator[TextIO]:
    r"""Open a text file that appears under its name only when it is complete.

    A lone surrogate, which is no character, is written as an escape such as `\udcff`.
    """
    with whole_file(path) as stream:
        text = io.TextIOWrapper(stream, encoding="utf-8", errors="backslashreplace", newline="")
        yield text
        text.detach()  # flushes, and leaves it to the file to close


def whole_text(path: str | Path, text: str) -> None:
    """Write a text file, whole or not at all."""
    with whole_text_stream(path) as stream:
        stream.write(text)


def create_file(path: str | Path, data: bytes) -> bool:
    """Make a file that only its owner may read, whole or not at all; one that is there stays as it is.

    Returns
    -------
    bool
        Whether the file was made.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     create_file(folder + "/key", b"first"), create_file(folder + "/key", b"second")
    (True, False)
    """
    target = check_target(path)
    with tidied(), _refusing(path):
        with _neighbour(target, path) as (part, raw), io.BufferedWriter(raw) as stream:
            part.chmod(stat.S_IRUSR | stat.S_IWUSR)
            stream.write(data)
            stream.flush()  # writes all of it, where the system takes a part at a time
            os.fsync(stream.fileno())
            try:
                os.link(part, target)  # unlike a rename, it never takes the place of another file
            except OSError as error:
                if error.errno == errno.EEXIST:
                    return False
                if error.errno not in _NO_LINKS:
                    raise
                with _alone_in(target.parent):
                    if target.is_symlink() or target.exists():  # a link that leads nowhere is there, too
                        return False
                    part.replace(target)
        sync_folder(target.parent)
    return True


def end_creation(path: Path) -> None:
    """Remove the temporary name under which `create_file` wrote a file, if it still has it.

    It has both names for a moment, or until somebody looks if the process was killed then.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     part, file = Path(folder, ".ldpkit-0.part"), Path(folder, "key")
    ...     _ = part.write_bytes(b"first")
    ...     os.link(part, file)
    ...     end_creation(file)
    ...     os.listdir(folder)
    ['key']
    """
    facts = path.stat()
    for part in path.parent.glob(f"{_PREFIX}*{_SUFFIX}"):
        with contextlib.suppress(OSError):  # it has gone away meanwhile
            if os.path.samestat(part.lstat(), facts):
                part.unlink(missing_ok=True)


@contextlib.contextmanager
def _alone_in(folder: Path) -> Iterator[None]:
    """Keep out others who do the same, where the file system has locks, if not links."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        while lock(handle) is False:
            time.sleep(_PAUSE)
        yield
    finally:
        os.close(handle)


def check_target(path: str | Path) -> Path:
    """Return the file that a path leads to, or refuse a place where no file can be written.

    Examples
    --------
    >>> check_target("/no/such/folder/a.csv")
    Traceback (most recent call last):
    ...
    ldpkit.core.errors.InvalidInputError: cannot write '/no/such/folder/a.csv': No such file or \
directory: choose a folder that exists and can be written to
    """
    if "\0" in str(path):
        raise InvalidInputError(
            f"cannot write {str(path)!r}: there is a NUL in the name: choose another name"
        )
    try:
        os.fsencode(path)
    except UnicodeEncodeError:
        raise InvalidInputError(
            f"cannot write {str(path)!r}: there is an unpaired surrogate, half of a character, in the "
            "name: choose another name"
        ) from None
    with _refusing(path):
        target = Path(os.path.realpath(path))  # a link keeps pointing where it points
        if target.exists() and not target.is_file():
            folder = "it is this folder, for which an empty name stands too"
            why = folder if str(path) in ("", ".") else "it is not a file"
            raise InvalidInputError(f"cannot write {str(path)!r}: {why}: choose another name")
        if not target.parent.exists():
            raise OSError(errno.ENOENT, os.strerror(errno.ENOENT))
    return target


def cannot_write(path: str | Path, error: OSError) -> LdpkitError:
    """Return the refusal of a file that cannot be written, with the remedy."""
    reason = error.strerror or str(error)
    if error.errno in _NO_ROOM:
        return WriteError(str(path), reason)
    remedy = "choose a folder that exists and can be written to"
    return InvalidInputError(f"cannot write {str(path)!r}: {reason}: {remedy}")


@contextlib.contextmanager
def _refusing(path: str | Path) -> Iterator[None]:
    try:
        yield
    except LdpkitError:
        raise
    except OSError as error:
        raise cannot_write(path, error) from error


class _Part(io.FileIO):
    """The neighbour; what it cannot take is refused under the name that the file shall have."""

    def __init__(self, handle: int, path: str | Path) -> None:
        super().__init__(handle, "w")
        self._path, self._process = path, process()

    def check_process(self) -> None:
        """Refuse to finish what the parent of this process has begun."""
        if self._process != process():
            raise InvalidInputError(
                f"cannot write {str(self._path)!r}: it was opened before this process was forked: write a "
                "file of its own in each process"
            )

    def seek(self, place: int, whence: int = os.SEEK_SET, /) -> int:
        """Go to another place; not in a forked process, which shares it with its parent."""
        self.check_process()
        return super().seek(place, whence)

    def truncate(self, size: int | None = None, /) -> int:
        """Cut the file; not in a forked process."""
        self.check_process()
        return super().truncate(size)

    def write(self, data: Any) -> int:
        """Write some bytes; not in a forked process, which has a copy of what its parent has yet to write."""
        if self._process != process():
            return len(memoryview(data).cast("B"))
        with _refusing(self._path):
            return super().write(data)


def _open_part(part: Path, path: str | Path) -> _Part | None:
    """Return the new neighbour, locked, or None if another process took it for a stale one before."""
    with _refusing(path):
        handle = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0), 0o666)
    held = lock(handle)  # False: somebody looks whether it is stale, and will remove it
    if held is None or (held and os.fstat(handle).st_nlink):
        return _Part(handle, path)
    os.close(handle)
    return None


def _host() -> str:
    """Return a short name of this machine, in which nothing can be looked up."""
    return f"{zlib.crc32(os.uname().nodename.encode() if hasattr(os, 'uname') else b''):08x}"


def _remove_stale(folder: Path) -> None:
    """Remove what killed processes left in a folder; never a foreign file, nor one that is being written."""
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.startswith(_PREFIX) and entry.name.endswith(_SUFFIX):
                _remove_if_stale(entry.path, is_ours=entry.name.startswith(f"{_PREFIX}{_host()}-"))


def _remove_if_stale(path: str, *, is_ours: bool) -> None:
    with contextlib.suppress(OSError):
        handle = os.open(path, os.O_WRONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
        try:
            facts = os.fstat(handle)
            # The locks of another machine need not reach this one: its files must be old as well.
            is_old = is_ours or time.time() - facts.st_mtime > _DAY
            if stat.S_ISREG(facts.st_mode) and is_old and lock(handle) is True:
                Path(path).unlink()
        finally:
            os.close(handle)


def sync_folder(folder: Path) -> None:
    """Bring the names of a folder onto the disk, where the system can."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
