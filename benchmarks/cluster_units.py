"""The unit costs of `ldpkit plan cluster`, measured: CPU of a report, memory of a worker, bytes of a file."""

from __future__ import annotations

import datetime
import multiprocessing
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np

import ldpkit
from ldpkit.engines.likelihood import FilePart
from ldpkit.engines.local import tally
from ldpkit.engines.partial import ROWS_AT_ONCE
from ldpkit.files.arrow import write_parquet
from ldpkit.mechanisms.categorical.oracle import FrequencyOracle
from ldpkit.planning.cluster import MEASURED, measure
from timing import peak_megabytes

__all__ = ["print_units"]

_FEW, _MANY = 64, 1024  # sizes of the domain between which the cost of a value is measured


def print_units() -> None:
    """Print what `ldpkit.planning.cluster` holds, measured here and now."""
    print(f'MEASURED_ON = "{datetime.date.today().isoformat()}"')
    print("MEASURED = {")
    for name in MEASURED:
        few, many = (measure(ldpkit.get(name, size, epsilon=1.0)) for size in (_FEW, _MANY))
        print(f'    "{name}": {unit_cost(few, many)},')
    print("}")
    few, many = (step(ldpkit.OLH(size, epsilon=1)) for size in (_FEW, _MANY))
    print(f"LIKELIHOOD_STEP = {unit_cost(few, many)}")
    copies, stored = list[float](), list[float]()
    for name in MEASURED:
        oracle = ldpkit.get(name, _MANY, epsilon=1.0)
        assert isinstance(oracle, FrequencyOracle)
        base, copy, overhead = memory(oracle)
        print(f"# {name}: a worker {base:.0f} MB, {copy:.1f} times the rows it decodes, files {overhead:.4f}")
        copies.append(copy)
        stored.append(overhead)
    print(f"WORKER_BYTES = {round(base)}_000_000\nCOPIES = {max(copies):.1f}\nSTORED = {max(stored):.4f}")


def unit_cost(few: float, many: float) -> str:
    """Return the costs with few and with many values as one of a report and one of a value."""
    value = max(0.0, (many - few) / (_MANY - _FEW))
    return f"UnitCost({max(few - _FEW * value, 0):.1f}, {value:.4f})"


def step(oracle: FrequencyOracle, reports: int = 300_000) -> float:
    """Return the nanoseconds of one core that a step of maximum likelihood takes a report."""
    with tempfile.TemporaryDirectory() as folder:
        file = write(Path(folder, "a.parquet"), oracle, reports)
        part, uniform = FilePart(file, oracle, "report", "refuse"), np.full(oracle.size, 1 / oracle.size)
        part.expectations(uniform, True)
        start = time.process_time()
        part.expectations(uniform, True)
        return (time.process_time() - start) / reports * 1e9


def memory(oracle: FrequencyOracle) -> tuple[float, float, float]:
    """Return the megabytes of a worker, copies of the rows it decodes, and bytes stored for each of a report.

    Each worker is a new process. The first counts a few reports, the second four times as many as are
    decoded at once.
    """
    rows = 4 * ROWS_AT_ONCE
    with tempfile.TemporaryDirectory() as folder:
        few, many = (write(Path(folder, f"{n}.parquet"), oracle, n) for n in (1000, rows))
        base, peak = (peak_of(file) for file in (few, many))
        stored = Path(many).stat().st_size
    decoded = ROWS_AT_ONCE * oracle.report_bytes / 1e6
    return base, (peak - base) / decoded, stored / (rows * oracle.report_bytes)


def peak_of(file: str) -> float:
    """Return the most megabytes that a new process takes to count a file."""
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        return pool.submit(_count, file).result()


def _count(file: str) -> float:
    tally(file)
    return peak_megabytes() * (1 << 20) / 1e6


def write(file: Path, oracle: FrequencyOracle, reports: int) -> str:
    """Write the reports of people who hold all values equally."""
    made = oracle.privatize(np.arange(reports) % oracle.size, rng=ldpkit.random.seeded(1))
    write_parquet(file, oracle, [made], ldpkit.Provenance("seeded"))
    return str(file)
