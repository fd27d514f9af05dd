"""Small lakes for the tests of engines."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import ldpkit
from ldpkit.engines.partial import Job, Partial
from ldpkit.files.arrow import report_column
from ldpkit.files.description import described

OLH = ldpkit.OLH(64, epsilon=1)
GRR = ldpkit.GRR(["good", "fair", "bad"], epsilon=2)
DAYS = ("2026-11-16", "2026-11-17")
REGIONS = ("north", "south", None)


def values(n: int, k: int, seed: int) -> Any:
    return np.random.default_rng(seed).integers(0, k, n)


def write_table(file: Path, mechanism: Any, reports: Any, kind: str = "fixed", **columns: Any) -> None:
    """Write reports with columns beside them; `kind` is how the reports lie."""
    column = report_column(mechanism, reports)
    if kind == "blocks":
        data, width = mechanism.encode(reports), mechanism.report_bytes
        column = pa.array([data[start : start + 100 * width] for start in range(0, len(data), 100 * width)])
    elif kind == "binary":
        column = column.cast(pa.binary())
    elif kind == "large":
        column = column.cast(pa.large_binary())
    table = pa.table({"report": column, **columns})
    schema = described(table.schema, mechanism, ldpkit.Provenance("secure", "stated"))
    file.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(table.cast(schema), file)


def make_lake(folder: Path, *, kind: str = "fixed", n: int = 3000) -> dict[str, Any]:
    """Write two questions on two days in two files each, with a column of regions; return mechanisms."""
    asked = {"app": OLH, "mood": GRR}
    for number, (name, mechanism) in enumerate(asked.items()):
        for day in DAYS:
            for part in range(2):
                seed = 100 * number + 10 * DAYS.index(day) + part
                held = values(n, mechanism.size, seed)
                reports = mechanism.privatize(held, rng=ldpkit.random.seeded(seed))
                beside = {} if kind == "blocks" else {"region": [REGIONS[row % 3] for row in range(n)]}
                where = folder / f"question={name}" / f"day={day}" / f"part-{part}.parquet"
                write_table(where, mechanism, reports, kind, **beside)
    return asked


@dataclass(frozen=True)
class Killed(Job):
    """A job whose first task kills its worker when it has counted; then it is an ordinary one."""

    mark: str = ""
    """A folder in which tasks leave traces."""

    def count_paths(self, paths: Iterable[str], kept: Any = None) -> list[Partial]:
        made = super().count_paths(paths, kept)
        return self._die_once(made)

    def _die_once(self, made: list[Partial]) -> list[Partial]:
        # What an accumulator does: a task changes a counter that outlives it.
        with Path(self.mark, "counter").open("a") as counter:
            counter.write(f"{sum(partial.n for partial in made)}\n")
        killed = Path(self.mark, "killed")
        if not killed.exists():
            killed.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return made

    def accumulated(self) -> int:
        """Return what the counter says, which counts a task twice that ran twice."""
        return sum(map(int, Path(self.mark, "counter").read_text().split()))
