"""A watch on what the interpreter does while an input is read: no writing elsewhere, no code from it."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

__all__ = ["Guard"]

_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_PATHS = (
    "os.mkdir",
    "os.rename",
    "os.remove",
    "os.rmdir",
    "os.link",
    "os.symlink",
    "os.truncate",
    "os.chmod",
)
_NEVER = (
    *("subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.spawn", "os.fork", "socket.connect"),
    *("pickle.find_class", "sqlite3.load_extension", "urllib.Request", "ftplib.connect"),
)
_SHORTEST_CODE = 5


class Guard:
    """An audit hook that notes what no input may cause. One is enough for a process: hooks stay for ever."""

    def __init__(self, folder: Path) -> None:
        self._folder = str(folder.resolve())
        self._data: bytes | None = None
        self.seen: list[str] = []
        sys.addaudithook(self._hook)

    def watch(self, data: bytes) -> None:
        """Begin to watch what an input causes."""
        self._data = data
        self.seen = []

    def leave(self) -> None:
        """Stop watching."""
        self._data = None

    @contextlib.contextmanager
    def aside(self) -> Iterator[None]:
        """Look away for a while."""
        data, self._data = self._data, None
        try:
            yield
        finally:
            self._data = data

    def _hook(self, event: str, arguments: tuple[Any, ...]) -> None:
        if self._data is None:
            return
        if event == "open":
            path, mode, flags = arguments
            is_writing = (flags & _WRITING) if flags else any(each in (mode or "") for each in "wax+")
            if is_writing and isinstance(path, (str, bytes)):
                self._check(event, path)
        elif event in _PATHS:
            for path in arguments[: 2 if event in ("os.rename", "os.link") else 1]:
                if isinstance(path, (str, bytes, os.PathLike)):
                    self._check(event, os.fspath(path))
        elif event in _NEVER:
            if event != "pickle.find_class" or not _is_within(f"{os.sep}numba{os.sep}"):
                self.seen.append(f"{event} {str(arguments)[:200]}")
        elif event == "compile":
            source = arguments[0]
            if isinstance(source, str):
                source = source.encode("utf-8", "surrogatepass")
            is_code = isinstance(source, bytes) and len(source) >= _SHORTEST_CODE
            if is_code and source in self._data and not _is_within(f"{os.sep}ast.py", "literal_eval"):
                self.seen.append(f"code of the input is compiled: {source[:100]!r}")

    def _check(self, event: str, path: str | bytes) -> None:
        name = os.path.abspath(os.fsdecode(path))  # noqa: PTH100 - Path.absolute keeps '..'
        if (
            not (name + os.sep).startswith(self._folder + os.sep)
            and name != os.devnull
            and not _is_cache(name)
        ):
            self.seen.append(f"{event} outside the folder: {name[:200]!r}")


def _is_within(file: str, function: str = "") -> bool:
    """Whether a function of some file is at work.

    Numba keeps its compiled code as pickles in a cache of its own. The head of an array is read by
    `ast.literal_eval`, which parses numbers and texts and runs nothing.
    """
    frame = sys._getframe()
    while frame.f_back is not None:
        frame = frame.f_back
        if file in frame.f_code.co_filename and function in frame.f_code.co_name:
            return True
    return False


def _is_cache(name: str) -> bool:
    """Whether a file is one in which Python or Numba keep what they compiled."""
    folder = os.environ.get("NUMBA_CACHE_DIR")
    is_within = bool(folder) and Path(name).is_relative_to(Path(str(folder)).absolute())
    return is_within or "__pycache__" in Path(name).parts or name.endswith((".nbi", ".nbc"))
