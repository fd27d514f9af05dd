"""Result files: the tidy table of a benchmark as CSV, JSON or Parquet."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Iterable
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, TextIO

from ldpkit.core.errors import InvalidParameterError, MissingDependencyError
from ldpkit.core.results import Columns, Result
from ldpkit.core.wholefile import whole_file
from ldpkit.files.writing import write_csv, write_json

if TYPE_CHECKING:
    from ldpkit.bench.runlog import RunLog

__all__ = ["FORMATS", "format_of", "save", "write_text"]

_GROUP = 1 << 17  # rows, at least, of a group in a Parquet file
FORMATS = ("csv", "json", "parquet")


def format_of(path: Path) -> str:
    """Return the format that a file name asks for."""
    suffix = path.suffix.lower().lstrip(".")
    if suffix not in FORMATS:
        raise InvalidParameterError(f"results are written as .csv, .json or .parquet, got {str(path)!r}")
    return suffix


def write_text(found: Result, kind: str, target: TextIO) -> None:
    """Write the rows of a benchmark as CSV, or the whole of it as JSON."""
    if kind == "json":
        write_json(found.envelope(), found.iter_columns(), target)
    else:
        write_csv(found.iter_columns(), target)


class _Digested(io.BufferedIOBase):
    """A stream that knows the SHA-256 of what went through it."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream, self.digest = stream, hashlib.sha256()

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self.digest.update(data)
        return self._stream.write(data)


def save(path: Path, found: Result, log: RunLog | None = None) -> None:
    """Write a benchmark, whole or not at all; a log is told first what will stand in the file."""
    kind = format_of(path)
    with whole_file(path) as stream:
        digested: Any = _Digested(stream)
        if kind == "parquet":
            digested.write(_as_parquet(found.iter_columns()))
        else:
            text = io.TextIOWrapper(digested, "utf-8", newline="\n")
            write_text(found, kind, text)
            text.detach()
        if log is not None:
            log.will_write(digested.digest.hexdigest())


def _as_parquet(parts: Iterable[Columns]) -> bytes:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise MissingDependencyError("pyarrow", "writing Parquet files", "frames") from None
    stream, tables = io.BytesIO(), (pyarrow.table(dict(part)) for part in parts)
    first = next(tables)
    with pyarrow.parquet.ParquetWriter(stream, first.schema) as writer:
        group = [first]
        for table in tables:
            if sum(map(len, group)) >= _GROUP:
                writer.write_table(pyarrow.concat_tables(group))
                group = []
            group.append(table)
        writer.write_table(pyarrow.concat_tables(group))
    return stream.getvalue()
