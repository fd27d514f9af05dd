"""Engines and modes against one process: CPU, wall time and memory of the same tally, which must be equal.

`python benchmarks/bench_cluster.py --reports 20000000` makes a lake of OLH reports (k=1024, epsilon 1) in
Parquet files of a million each, and counts it with every engine and mode that is installed. CPU is that of
the whole tree of processes while the tally is made, warm: sessions, clusters and compiled code are there
already. `--units` prints the unit costs of `ldpkit plan cluster` instead, `--likelihood` compares maximum
likelihood on Dask with that of one process.
"""

from __future__ import annotations

import argparse
import datetime
import os
import shutil
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pyarrow as pa
import pyarrow.parquet as pq

import ldpkit
from ldpkit.engines import local
from ldpkit.engines.lake import find_files
from ldpkit.engines.likelihood import FilePart
from ldpkit.engines.simulation import SimulatedUsers
from ldpkit.estimation.evidence import Evidence
from ldpkit.files.arrow import report_column, write_parquet
from ldpkit.files.description import described
from ldpkit.mechanisms.categorical.oracle import FrequencyOracle
from ldpkit.mechanisms.tally import Tally
from ldpkit.planning.cluster import MEASURED, measure
from timing import peak_megabytes, print_table

K = 1024
LIKELY = 256  # values in the comparison of likelihoods
A_FILE = 16 * 65_536  # reports of a file: a little over a million
A_BLOCK = 4096  # reports of a row in the mode of blocks
Work = Callable[[], Tally]


def make_lake(folder: Path, reports: int, *, blocks: bool, size: int = K) -> None:
    """Write simulated reports; what they say does not matter here."""
    oracle = ldpkit.OLH(size, epsilon=1)
    users = SimulatedUsers(oracle, np.full(size, -(-reports // size)), seed=1)
    folder.mkdir(parents=True)
    each = A_FILE // 65_536
    for start in range(0, users.blocks, each):
        made = np.concatenate(
            [users.reports(block) for block in range(start, min(start + each, users.blocks))]
        )
        column = report_column(oracle, made)
        if blocks:
            data, width = oracle.encode(made), oracle.report_bytes * A_BLOCK
            column = pa.array([data[place : place + width] for place in range(0, len(data), width)])
        table = pa.table({"report": column})
        schema = described(table.schema, oracle, ldpkit.Provenance("seeded", "stated"))
        pq.write_table(table.cast(schema), folder / f"part-{start:06d}.parquet", compression="none")


class Meter:
    """CPU seconds and the most memory of this process and all its children, those included that end."""

    def __init__(self) -> None:
        self.root = psutil.Process()
        self.peak = 0.0
        self._seen: dict[int, float] = {}
        self._stop = threading.Event()

    def look(self) -> None:
        """Add what there is to see now."""
        total = 0
        for process in [self.root, *self.root.children(recursive=True)]:
            with suppress(psutil.Error):
                used = process.cpu_times()
                self._seen[process.pid] = used.user + used.system
                total += process.memory_info().rss
        self.peak = max(self.peak, total / 1e6)

    @contextmanager
    def running(self) -> Iterator[None]:
        """Look five times a second while something runs."""

        def watch() -> None:
            while not self._stop.wait(0.2):
                self.look()

        thread = threading.Thread(target=watch, daemon=True)
        thread.start()
        try:
            yield
        finally:
            self._stop.set()
            thread.join()
            self.look()

    @property
    def cpu(self) -> float:
        """CPU seconds of all processes that were seen."""
        return sum(self._seen.values())


def timed(work: Work) -> tuple[Tally, float, float, float]:
    """Return the tally, CPU seconds, wall seconds and the peak of memory, after a run that is not counted."""
    work()
    before = Meter()
    before.look()
    meter, start = Meter(), time.perf_counter()
    with meter.running():
        found = work()
    return found, meter.cpu - before.cpu, time.perf_counter() - start, meter.peak


def spark_works(rows: Path, blocks: Path) -> Iterator[tuple[str, Work]]:
    from pyspark.sql import SparkSession

    from ldpkit.engines import spark

    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.builder.master("local[2]").appName("bench")
    for name, value in (
        ("spark.ui.enabled", "false"),
        ("spark.ui.showConsoleProgress", "false"),
        ("spark.driver.host", "127.0.0.1"),
        ("spark.driver.bindAddress", "127.0.0.1"),
    ):
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    oracle = ldpkit.OLH(K, epsilon=1)
    yield "spark paths", lambda: spark.tally(rows, oracle, session=session).total()
    read = session.read.parquet
    yield "spark blocks", lambda: spark.tally(read(str(blocks)), oracle, blocks=True).total()
    yield "spark rows", lambda: spark.tally(read(str(rows)), oracle).total()
    session.stop()


def likelihoods(reports: int) -> None:
    """Compare maximum likelihood on two Dask workers with that of one process: bits, CPU and memory."""
    import distributed

    from ldpkit.engines import dask

    with tempfile.TemporaryDirectory() as folder:
        lake = Path(folder, "lake")
        make_lake(lake, reports, blocks=False, size=LIKELY)
        parts = [
            FilePart(file, ldpkit.OLH(LIKELY, epsilon=1), "report", "refuse") for file in find_files(lake)
        ]
        start, used = time.perf_counter(), time.process_time()
        evidence = Evidence.merge([part.evidence() for part in parts])
        one = evidence.estimate("mle")
        wall, used = time.perf_counter() - start, time.process_time() - used
        table = [
            {"work": "one process", "CPU s": used, "wall s": wall, "peak MB": f"{peak_megabytes():,.0f}"}
        ]
        with (
            distributed.LocalCluster(
                n_workers=2, threads_per_worker=1, host="127.0.0.1", dashboard_address=None, memory_limit=0
            ) as cluster,
            distributed.Client(cluster) as client,
        ):
            before, meter, start = Meter(), Meter(), time.perf_counter()
            before.look()
            with meter.running():
                other = dask.likelihood(lake, client=client).estimate("mle")
            peak = max(client.run(peak_megabytes).values())
            told = {"CPU s": meter.cpu - before.cpu, "wall s": time.perf_counter() - start}
        table.append({"work": "Dask, the larger worker", **told, "peak MB": f"{peak:,.0f}"})
        equal = bool((one.values == other.values).all() and (one.stderr == other.stderr).all())
        title = f"mle of {one.n:,} OLH reports, k={LIKELY}, {one.diagnostics['iterations']} steps"
        print_table(f"{title}; equal to the last bit: {'yes' if equal else 'NO'}", table)


def dask_works(rows: Path) -> Iterator[tuple[str, Work]]:
    import distributed

    from ldpkit.engines import dask

    oracle = ldpkit.OLH(K, epsilon=1)
    yield "dask, threads", lambda: dask.tally(rows, oracle).total()
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, host="127.0.0.1", dashboard_address=None, memory_limit=0
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield "dask paths", lambda: dask.tally(rows, oracle, client=client).total()


def units() -> None:
    """Print what `ldpkit.planning.cluster.MEASURED` holds, measured here and now."""
    print(f"measured on {datetime.date.today().isoformat()}, nanoseconds of one core a report")
    for name in MEASURED:
        few, many = (measure(ldpkit.get(name, size, epsilon=1.0)) for size in (64, 1024))
        value = max(0.0, (many - few) / (1024 - 64))
        print(f'    "{name}": UnitCost({max(few - 64 * value, 0):.1f}, {value:.4f}),')
    few, many = (step(ldpkit.OLH(size, epsilon=1)) for size in (64, 1024))
    value = (many - few) / (1024 - 64)
    print(f"LIKELIHOOD_STEP = UnitCost({max(few - 64 * value, 0):.1f}, {value:.4f})")


def step(oracle: FrequencyOracle, reports: int = 300_000) -> float:
    """Return the nanoseconds of one core that a step of maximum likelihood takes a report."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "a.parquet")
        made = oracle.privatize(np.arange(reports) % oracle.size, rng=ldpkit.random.seeded(1))
        write_parquet(file, oracle, [made], ldpkit.Provenance("seeded"))
        part, uniform = FilePart(str(file), oracle, "report", "refuse"), np.full(oracle.size, 1 / oracle.size)
        part.expectations(uniform, True)
        start = time.process_time()
        part.expectations(uniform, True)
        return (time.process_time() - start) / reports * 1e9


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--reports", type=int, default=20_000_000)
    parser.add_argument("--engines", nargs="*", default=["dask", "spark"])
    parser.add_argument("--units", action="store_true")
    parser.add_argument("--likelihood", action="store_true")
    chosen = parser.parse_args()
    if chosen.units:
        units()
        return
    if chosen.likelihood:
        likelihoods(chosen.reports)
        return
    with tempfile.TemporaryDirectory() as folder:
        rows, blocks = Path(folder, "rows"), Path(folder, "blocks")
        make_lake(rows, chosen.reports, blocks=False)
        make_lake(blocks, chosen.reports, blocks=True)
        whole, cpu, wall, peak = timed(lambda: local.tally(rows).total())
        table = [_row("one process", whole, whole, cpu, cpu, wall, peak)]
        works = [dask_works(rows)] if "dask" in chosen.engines else []
        if "spark" in chosen.engines and shutil.which("java"):
            works.append(spark_works(rows, blocks))
        for name, work in (each for some in works for each in some):
            found, used, wall, peak = timed(work)
            table.append(_row(name, found, whole, used, cpu, wall, peak))
        files = len(list(rows.iterdir()))
        print_table(f"A tally of {whole.n:,} OLH reports, k={K}, in {files} files", table)


def _row(
    name: str, found: Tally, whole: Tally, used: float, one: float, wall: float, peak: float
) -> dict[str, Any]:
    return {
        "work": name,
        "CPU s": used,
        "CPU ratio": f"{used / one:.2f}",
        "wall s": wall,
        "peak MB": f"{peak:,.0f}",
        "equal": "yes" if found == whole else "NO",
    }


if __name__ == "__main__":
    main()
