"""Result files: the tidy table of an experiment as CSV, JSON or Parquet.

Beside a result file stands a manifest, `NAME.run.json`, with what the rows depend on,
so that a later run goes on only with rows that belong to it.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from ldpkit.bench.grid import Cell, Experiment, Row
from ldpkit.core.errors import FileFormatError, InvalidParameterError, MismatchError, MissingDependencyError
from ldpkit.core.wholefile import whole_file

__all__ = ["FORMATS", "as_text", "finished", "format_of", "load", "save"]

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


def save(path: Path, rows: Sequence[Row], experiment: Experiment) -> None:
    """Write rows and their manifest; an interrupted write leaves the old file as it was."""
    kind = format_of(path)
    with whole_file(path) as stream:
        if kind == "parquet":
            parquet, arrow = _parquet()
            columns = {name: [getattr(row, name) for row in rows] for name in Row._fields}
            parquet.write_table(arrow.table(columns), stream)
        else:
            stream.write(as_text(rows, kind).encode())
    with whole_file(_manifest(path)) as stream:
        stream.write((json.dumps(experiment.fingerprint(), indent=1) + "\n").encode())


def load(path: Path, experiment: Experiment) -> list[Row]:
    """Return the rows of an earlier run of the same experiment; refuse those of another."""
    try:
        manifest = json.loads(_manifest(path).read_text())
    except (OSError, ValueError):
        raise FileFormatError(
            f"{path} has no readable {_manifest(path).name} beside it: it cannot be resumed"
        ) from None
    expected = experiment.fingerprint()
    differing = [name for name in expected if manifest.get(name) != expected[name]]
    if differing:
        raise MismatchError(
            f"{path} holds another experiment (different {', '.join(differing)}): "
            "give the same options, or another output file"
        )
    return [_row(record, path) for record in _records(path)]


def finished(rows: Iterable[Row], experiment: Experiment) -> list[Cell]:
    """Return the cells all of whose rows are there."""
    wanted = len(experiment.methods) * len(experiment.metrics) * experiment.repeats
    seen: dict[Cell, int] = {}
    for row in rows:
        cell = Cell(row.epsilon, row.protocol)
        seen[cell] = seen.get(cell, 0) + 1
    return [cell for cell, count in seen.items() if count == wanted]


def _manifest(path: Path) -> Path:
    return path.with_name(path.name + ".run.json")


def _records(path: Path) -> list[dict[str, Any]]:
    kind = format_of(path)
    if kind == "parquet":
        rows: list[dict[str, Any]] = _parquet()[0].read_table(path).to_pylist()
        return rows
    if kind == "json":
        return list(json.loads(path.read_text()))
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def _row(record: dict[str, Any], path: Path) -> Row:
    try:
        return Row(
            float(record["epsilon"]),
            str(record["protocol"]),
            str(record["method"]),
            str(record["metric"]),
            int(record["repeat"]),
            float(record["value"]),
        )
    except (KeyError, TypeError, ValueError):
        raise FileFormatError(f"{path} is not a result file: it cannot be resumed") from None


def _parquet() -> tuple[Any, Any]:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise MissingDependencyError("pyarrow", "writing Parquet files", "frames") from None
    return pyarrow.parquet, pyarrow
