"""Result files: the tidy table of a benchmark as CSV, JSON or Parquet."""

from __future__ import annotations

import csv
import hashlib
import io
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ldpkit.core.errors import InvalidParameterError, MissingDependencyError
from ldpkit.core.results import Result
from ldpkit.core.wholefile import whole_file
from ldpkit.files.spreadsheet import harmless_cell

if TYPE_CHECKING:
    from ldpkit.bench.runlog import RunLog

__all__ = ["FORMATS", "as_text", "format_of", "save"]

FORMATS = ("csv", "json", "parquet")


def format_of(path: Path) -> str:
    """Return the format that a file name asks for."""
    suffix = path.suffix.lower().lstrip(".")
    if suffix not in FORMATS:
        raise InvalidParameterError(f"results are written as .csv, .json or .parquet, got {str(path)!r}")
    return suffix


def as_text(found: Result, kind: str) -> str:
    """Return the rows of a benchmark as CSV, or the whole of it as JSON."""
    if kind == "json":
        return found.to_json() + "\n"
    text, rows = io.StringIO(), found.rows()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(rows[0] if rows else ())
    writer.writerows(map(harmless_cell, row.values()) for row in rows)
    return text.getvalue()


def save(path: Path, found: Result, log: RunLog | None = None) -> None:
    """Write a benchmark, whole or not at all; a log is told first what will stand in the file."""
    kind = format_of(path)
    data = _as_parquet(found.rows()) if kind == "parquet" else as_text(found, kind).encode()
    if log is not None:
        log.will_write(hashlib.sha256(data).hexdigest())
    with whole_file(path) as stream:
        stream.write(data)


def _as_parquet(rows: list[dict[str, Any]]) -> bytes:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise MissingDependencyError("pyarrow", "writing Parquet files", "frames") from None
    stream = io.BytesIO()
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows), stream)
    return stream.getvalue()
