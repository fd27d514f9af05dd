"""The log that `bench --resume` reads: lines that are chained by their checksums."""

from __future__ import annotations

import functools
import hashlib
import json
import random
from pathlib import Path
from typing import Any

import numpy as np

from fuzz.mutate import change_bytes, change_json_text
from fuzz.target import Target, require
from ldpkit.bench.experiment import Cell, Experiment, Row
from ldpkit.bench.grid import CellResult
from ldpkit.bench.runlog import RunLog

__all__ = ["RUNLOGS", "chained"]

_OUTPUT = b"epsilon,protocol\n"


@functools.cache
def _experiment() -> Experiment:
    return Experiment(np.array([6, 4]), [1.0, 2.0], ["grr", "oue"], ["none", "norm_sub"], ["mae"], repeats=2)


def chained(records: list[bytes]) -> bytes:
    """Return a log of some records, each behind a checksum that fits."""
    made, before = b"", ""
    for record in records:
        before = hashlib.sha256(before.encode() + record).hexdigest()
        made += before.encode() + b" " + record + b"\n"
    return made


def _records(data: bytes) -> list[bytes] | None:
    """Return the records of a log whose checksums all fit, without the line that was not finished."""
    lines = data.split(b"\n")[:-1]
    records = [line[65:] for line in lines]
    return records if chained(records) == b"".join(line + b"\n" for line in lines) else None


def _seeds() -> list[bytes]:
    experiment = _experiment()
    first = json.dumps({"ldpkit_bench": 1, "experiment": experiment.fingerprint()}).encode()
    cells = [
        json.dumps({"cell": [1.0, name], "values": [0.1, 0.2, 0.3, 0.4]}).encode() for name in ("grr", "oue")
    ]
    output = json.dumps({"output": hashlib.sha256(_OUTPUT).hexdigest()}).encode()
    return [chained([first]), chained([first, *cells]), chained([first, *cells, output]), b""]


def _mutate(rng: random.Random, data: bytes) -> bytes:
    records = _records(data)
    kind = rng.randrange(10)
    if not records or kind < 2:
        return change_bytes(rng, data)
    at = rng.randrange(len(records))
    if kind == 2:
        records.insert(at, records[rng.randrange(len(records))])
    elif kind == 3:
        del records[at]
    elif kind == 4:
        rng.shuffle(records)
    elif kind == 5:
        records[at] = change_bytes(rng, records[at]).replace(b"\n", b"")
    else:
        try:
            records[at] = change_json_text(
                rng, json.loads(records[at]), ("cell", "values", "output")
            ).replace(b"\n", b"")
        except (ValueError, RecursionError):
            records[at] = b"{}"
    made = chained(records)
    return made[: rng.randrange(len(made) + 1)] if rng.random() < 0.1 else made


def _check(data: bytes, folder: Path) -> None:
    results, experiment = folder / "rows.csv", _experiment()
    (folder / "rows.csv.run").write_bytes(data)
    if len(data) % 3 == 0:
        results.write_bytes(_OUTPUT)
    with RunLog.open(results, experiment, resume=True) as log:
        cells: dict[Cell, list[Row]] = dict(log.cells)
        whole = data[: data.rfind(b"\n") + 1]
        records = _records(whole)
        require(records is not None, "a log is accepted whose checksums do not fit")
        told: list[Any] = [json.loads(record) for record in (records or [])[1:]]
        expected = [each["values"] for each in told if "output" not in each]
        require(
            [[row.value for row in rows] for rows in cells.values()] == expected or _has_nan(cells),
            "other rows",
        )
        for cell, rows in cells.items():
            require(len(rows) == 4 and all(type(row.value) is float for row in rows), f"rows of {cell}")
        fresh = Cell(2.0, "grr")
        if fresh not in cells:
            log.add(CellResult(fresh, experiment.rows_of(fresh, [0.5] * 4), 0.0))
    results.unlink(missing_ok=True)
    with RunLog.open(results, experiment, resume=True) as log:
        require({*cells, fresh} == {*log.cells}, "a finished cell is lost")


def _has_nan(cells: dict[Cell, list[Row]]) -> bool:
    return any(row.value != row.value for rows in cells.values() for row in rows)


RUNLOGS = Target("run logs", _seeds, _mutate, _check)
