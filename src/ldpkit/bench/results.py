"""Result files: the tidy table of an experiment as CSV, JSON or Parquet."""

from __future__ import annotations

import csv
import hashlib
import io
import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ldpkit.bench.grid import Row
from ldpkit.core.errors import InvalidParameterError, MissingDependencyError
from ldpkit.core.wholefile import whole_file

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


def as_text(rows: Iterable[Row], kind: str) -> str:
    """Return rows as CSV or JSON text."""
    if kind == "json":
        return json.dumps([row._asdict() for row in rows], indent=1) + "\n"
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(Row._fields)
    writer.writerows(rows)
    return text.getvalue()


def save(path: Path, rows: Sequence[Row], log: RunLog | None = None) -> None:
    """Write rows, whole or not at all; a log is told first what will stand in the file."""
    kind = format_of(path)
    data = _as_parquet(rows) if kind == "parquet" else as_text(rows, kind).encode()
    if log is not None:
        log.will_write(hashlib.sha256(data).hexdigest())
    with whole_file(path) as stream:
        stream.write(data)


def _as_parquet(rows: Sequence[Row]) -> bytes:
    parquet, arrow = _parquet()
    stream = io.BytesIO()
    parquet.write_table(
        arrow.table({name: [getattr(row, name) for row in rows] for name in Row._fields}), stream
    )
    return stream.getvalue()


def _parquet() -> tuple[Any, Any]:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise MissingDependencyError("pyarrow", "writing Parquet files", "frames") from None
    return pyarrow.parquet, pyarrow
