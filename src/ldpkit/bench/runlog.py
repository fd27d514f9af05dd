"""The log of a run: what the experiment is and its finished cells, in one file.

Beside a result file stands its log, `NAME.run`. The first line says what the rows depend
on, each further line is a finished cell, or the checksum of a result file about to be
written. Every line begins with a checksum over itself and the line before, so that a log
with a changed, lost or moved line is refused. A line that a killed process could not
finish is dropped. The log is locked while a run goes on.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import os
import stat
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

from ldpkit.bench.grid import CellResult, Grid
from ldpkit.bench.rows import Rows
from ldpkit.core.errors import FileFormatError, InvalidInputError, MismatchError
from ldpkit.core.locks import lock
from ldpkit.core.wholefile import cannot_write, check_target, sync_folder

__all__ = ["RunLog", "log_path"]

_VERSION = 1
_DIGEST = 64  # hexadecimal digits of SHA-256


def log_path(results: Path) -> Path:
    """Return where the log of a result file is; a link has none, but the file that it leads to."""
    target = check_target(results) if results.is_symlink() else results
    return target.with_name(target.name + ".run")


class RunLog:
    """The finished cells of an experiment, kept as soon as they are there.

    Make one with `RunLog.open`.

    Examples
    --------
    >>> import tempfile, numpy as np
    >>> from ldpkit.bench.experiment import Cell, Experiment
    >>> experiment = Experiment(np.array([6, 4]), [1.0], ["grr", "oue"], ["none"], ["mae"], repeats=2)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     results = Path(folder, "rows.csv")
    ...     with RunLog.open(results, experiment) as log:
    ...         log.add(experiment.run_cell(Cell(1.0, "grr")))
    ...     with RunLog.open(results, experiment, resume=True) as log:
    ...         [(cell.protocol, len(rows)) for cell, rows in log.cells.items()]
    [('grr', 2)]
    """

    def __init__(self, path: Path, stream: io.FileIO, experiment: Grid) -> None:
        self.path = path
        self.cells: dict[Any, Rows] = {}
        self._experiment = experiment
        self._stream = stream
        self._outputs: set[str] = set()
        # The checksum of the last whole line and where it ends: one value, so that no signal parts them.
        self._tip = ("", 0)

    @classmethod
    @contextlib.contextmanager
    def open(
        cls, results: Path, experiment: Grid, *, resume: bool = False, force: bool = False
    ) -> Iterator[RunLog]:
        """Open the log of a result file, for this process alone.

        Parameters
        ----------
        results : Path
            The result file.
        experiment : Grid
            What is run. A log of another experiment is refused.
        resume : bool
            Go on with the log that is there; else a log with finished cells is refused.
        force : bool
            Overwrite the result file, and without `resume` the log.
        """
        check_target(results)
        path = log_path(results)
        if results.exists() and not path.exists() and not force:
            raise FileFormatError(
                f"{str(results)!r} has no log {path.name!r} next to it and cannot be resumed: move it away"
            )
        with _open_locked(path) as stream:
            log = cls(path, stream, experiment)
            if resume:
                log._read()
            elif not force:
                log._refuse_run()
            if results.exists() and not force and not log._wrote(results):
                raise FileFormatError(
                    f"{str(results)!r} was changed since it was written: "
                    f"move it away, and --resume writes it again from {path.name!r}"
                )
            try:
                if not log._tip[0]:
                    log._append(log._description())
                    sync_folder(path.parent)
                yield log
            except BaseException:
                if not (log.cells or log._outputs):  # there is nothing to go on with
                    path.unlink(missing_ok=True)
                raise

    def add(self, result: CellResult) -> None:
        """Keep a finished cell."""
        self._append({"cell": list(result.cell), "values": result.rows.values.tolist()})
        self.cells[result.cell] = result.rows

    def will_write(self, digest: str) -> None:
        """Note the SHA-256 of the result file that is about to be written."""
        if digest not in self._outputs:
            self._append({"output": digest})
            self._outputs.add(digest)

    def _wrote(self, results: Path) -> bool:
        digest = hashlib.sha256()
        with results.open("rb") as stream:
            while data := stream.read(1 << 20):
                digest.update(data)
        return digest.hexdigest() in self._outputs

    def _description(self) -> dict[str, Any]:
        return {"ldpkit_bench": _VERSION, "experiment": self._experiment.fingerprint()}

    def _append(self, record: dict[str, Any]) -> None:
        before, end = self._tip
        line = _line(before, record)
        try:
            self._stream.seek(end)
            self._stream.truncate()  # what was begun before and not finished
            written = 0
            while written < len(line):
                written += self._stream.write(line[written:])
            os.fsync(self._stream.fileno())
        except OSError as error:
            with contextlib.suppress(OSError):
                self._stream.truncate(end)
            raise cannot_write(self.path, error) from error
        self._tip = (line[:_DIGEST].decode(), end + len(line))

    def _lines(self) -> Generator[bytes, None, None]:
        """Yield the whole lines, none longer than they can be; refuse a file that begins otherwise."""
        longest = 100_000 + 40 * self._longest_cell()
        number = 0
        with os.fdopen(os.dup(self._stream.fileno()), "rb") as reader:
            reader.seek(0)
            while line := reader.readline(longest):
                if not line.endswith(b"\n") and len(line) < longest:  # a process was killed while it wrote
                    if number or _line("", self._description()).startswith(line):
                        return
                    raise self._refuse(1)
                number += 1
                yield line

    def _refuse(self, number: int) -> FileFormatError:
        return FileFormatError(
            f"{str(self.path)!r}, line {number}: the log is damaged, or not a log of "
            "ldpkit, and cannot be resumed: start again with --force and without --resume"
        )

    def _refuse_run(self) -> None:
        """Refuse a log that has more than its first line."""
        with contextlib.closing(self._lines()) as lines:
            for number, line in enumerate(lines, 1):
                if number > 1:
                    raise InvalidInputError(
                        f"{str(self.path)!r} holds a run: continue it with --resume, or start again with "
                        "--force"
                    )
                if not line.startswith(_chained("", line[_DIGEST + 1 : -1]).encode()):
                    raise self._refuse(1)

    def _read(self) -> None:
        with contextlib.closing(self._lines()) as lines:
            for number, line in enumerate(lines, 1):
                try:
                    self._take(line)
                except MismatchError:
                    raise
                except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
                    raise self._refuse(number) from None

    def _longest_cell(self) -> int:
        return max(len(self._experiment.keys(cell)) for cell in self._experiment.cells())

    def _take(self, line: bytes) -> None:
        """Take in one line; ValueError and the like mean that it is no good."""
        (before, end), data = self._tip, line[_DIGEST + 1 : -1]
        digest = _chained(before, data)
        if line != digest.encode() + b" " + data + b"\n":
            raise ValueError
        record = json.loads(data)
        if _spelled(record) != data:  # such as 1e999, which is read as infinite and never written
            raise ValueError
        if not before:
            self._check_experiment(record)
        elif "output" in record:
            self._outputs.add(str(record["output"]))
        else:
            self._take_cell(record)
        self._tip = (digest, end + len(line))

    def _check_experiment(self, record: dict[str, Any]) -> None:
        found, expected = record["experiment"], self._experiment.fingerprint()
        if record["ldpkit_bench"] != _VERSION:
            raise ValueError
        differing = [name for name in expected if found.get(name) != expected[name]]
        if differing:
            raise MismatchError(
                f"{str(self.path)!r} holds another experiment (different {', '.join(differing)}): "
                "give the same options, or another output file"
            )

    def _take_cell(self, record: dict[str, Any]) -> None:
        experiment, values = self._experiment, record["values"]
        make: Any = experiment.cell_type
        cell = make(*record["cell"])
        if [*map(type, cell)] != [*map(type, experiment.cells()[0])] or cell in self.cells:
            raise ValueError
        if not isinstance(values, list) or {*map(type, values)} != {float}:
            raise ValueError
        if any(map(experiment.is_impossible, experiment.keys(cell), values)):
            raise ValueError
        self.cells[cell] = experiment.rows_of(cell, values)


def _chained(before: str, data: bytes) -> str:
    return hashlib.sha256(before.encode() + data).hexdigest()


def _spelled(record: dict[str, Any]) -> bytes:
    return json.dumps(record).encode()


def _line(before: str, record: dict[str, Any]) -> bytes:
    data = _spelled(record)
    return _chained(before, data).encode() + b" " + data + b"\n"


@contextlib.contextmanager
def _open_locked(path: Path) -> Iterator[io.FileIO]:
    flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOFOLLOW", 0)
    is_there = False
    while not is_there:
        try:
            handle = os.open(path, flags, 0o666)
        except OSError as error:
            raise cannot_write(path, error) from error
        with io.FileIO(handle, "r+") as stream:
            if not stat.S_ISREG(os.fstat(handle).st_mode):
                raise InvalidInputError(f"cannot write {str(path)!r}: it is not a file: choose another name")
            if lock(handle) is False:  # where the file system has no locks, it is None
                raise InvalidInputError(
                    f"another process is writing {str(path)!r}: wait for its end, or choose another name"
                )
            is_there = os.fstat(handle).st_nlink > 0  # else its owner removed it before the lock was ours
            if is_there:
                yield stream
