"""Engines and modes against one process: CPU, wall time and memory of the same tally, which must be equal.

`python benchmarks/bench_cluster.py --reports 20000000` makes a lake of OLH reports (k=1024, epsilon 1) in
Parquet files of a million each, and counts it with every engine and mode that is installed. CPU is that of
the whole tree of processes while the tally is made, warm: sessions, clusters and compiled code are there
already. `--units` prints the unit costs of `ldpkit plan cluster` instead, `--likelihood` compares maximum
likelihood on Dask with that of one process.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager, nullcontext
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import ldpkit
from cluster_units import print_units
from ldpkit.engines import local
from ldpkit.engines.lake import find_files
from ldpkit.engines.likelihood import FilePart
from ldpkit.engines.simulation import SimulatedUsers
from ldpkit.estimation.evidence import Evidence
from ldpkit.files.arrow import report_column
from ldpkit.files.description import described
from ldpkit.mechanisms.tally import Tally
from metering import Meter, Used, metered
from timing import peak_megabytes, print_table

K = 1024
LIKELY = 256  # values in the comparison of likelihoods
A_FILE = 16 * 65_536  # reports of a file: a little over a million
_WARM = 4  # files that are counted before anything is measured
A_BLOCK = 4096  # reports of a row in the mode of blocks
MODES = ["dask-threads", "dask", "spark", "spark-blocks", "spark-rows"]
Work = Callable[[list[str]], Tally]
"""Counts some files."""


def make_lake(folder: Path, reports: int, *, blocks: bool, size: int = K) -> None:
    """Write simulated reports of values of which the v-th is held by about 1/v of the people."""
    oracle = ldpkit.OLH(size, epsilon=1)
    shares = 1 / np.arange(1, size + 1)
    users = SimulatedUsers(oracle, np.ceil(reports * shares / shares.sum()).astype(np.int64), seed=1)
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


class Cost(NamedTuple):
    """What a tally took."""

    tally: Tally
    used: Used
    wall: float


def count_alone(files: list[str]) -> Cost:
    """Count files in this process, when it has counted a few of them already."""
    local.tally(files[:_WARM])
    start, before = time.perf_counter(), time.process_time()
    found = local.tally(files).total()
    cpu, wall = time.process_time() - before, time.perf_counter() - start
    return Cost(found, Used(cpu, cpu, peak_megabytes(), 0.0), wall)


def alone(files: list[str]) -> Cost:
    """Count files in a process of its own: in this one the scheduler of Dask runs too."""
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as process:
        return process.submit(count_alone, files).result()


def turns(work: Work, files: list[str], repeats: int) -> tuple[Cost, Cost]:
    """Return what the work and one process alone took, at best, when both have counted a few files.

    They run in turns, so both meet the same moods of the machine.
    """
    mine, ours = list[Cost](), list[Cost]()
    for _ in range(repeats):
        ours.append(alone(files))
        if not mine:
            work(files[:_WARM])
        work(files[:_WARM])  # also where workers were idle for so long that their engine has ended them
        start = time.perf_counter()
        found, used = metered(partial(work, files))
        mine.append(Cost(found, used, time.perf_counter() - start))
        last, base = mine[-1].used.cpu, ours[-1].used.cpu  # how far turns differ is worth knowing
        print(f"  a turn: {last:.2f} CPU s, alone {base:.2f}, ratio {last / base:.2f}", file=sys.stderr)
    return min(mine, key=lambda cost: cost.used.cpu), min(ours, key=lambda cost: cost.used.cpu)


def spark_works(modes: list[str]) -> Iterator[tuple[str, Work]]:
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
    read = session.read.parquet
    works: dict[str, Work] = {
        "spark": lambda files: spark.tally(files, oracle, session=session).total(),
        "spark-blocks": lambda files: spark.tally(read(*in_blocks(files)), oracle, blocks=True).total(),
        "spark-rows": lambda files: spark.tally(read(*files), oracle).total(),
    }
    yield from ((name, work) for name, work in works.items() if name in modes)
    session.stop()


def likelihoods(reports: int) -> None:
    """Compare maximum likelihood on two Dask workers with that of one process: bits, CPU and memory."""
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
        with two_workers() as client:
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


def dask_works(modes: list[str]) -> Iterator[tuple[str, Work]]:
    from ldpkit.engines import dask

    oracle = ldpkit.OLH(K, epsilon=1)
    if "dask-threads" in modes:
        yield "dask-threads", lambda files: dask.tally(files, oracle).total()
    if "dask" in modes:
        with two_workers() as client:
            yield "dask", lambda files: dask.tally(files, oracle, client=client).total()


@contextmanager
def two_workers() -> Iterator[Any]:
    """Yield the client of two worker processes with a thread each."""
    import distributed

    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, host="127.0.0.1", dashboard_address=None, memory_limit=0
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--reports", type=int, default=20_000_000)
    parser.add_argument("--modes", nargs="*", choices=MODES, default=MODES)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--lake", help="where reports are kept for another run; by default nowhere")
    parser.add_argument("--units", action="store_true")
    parser.add_argument("--likelihood", action="store_true")
    chosen = parser.parse_args()
    if chosen.units:
        print_units()
        return
    if chosen.likelihood:
        likelihoods(chosen.reports)
        return
    with nullcontext(chosen.lake) if chosen.lake else tempfile.TemporaryDirectory() as folder:
        compare(Path(folder), chosen.reports, chosen.modes, chosen.repeats)


def compare(folder: Path, reports: int, modes: list[str], repeats: int) -> None:
    """Print the table of engines and modes."""
    rows = folder / "rows"
    for place, blocks in ((rows, False), (folder / "blocks", True)):
        if not place.exists() and (not blocks or "spark-blocks" in modes):
            make_lake(place, reports, blocks=blocks)
    files = find_files(rows)
    cost = alone(files)
    whole = cost.tally
    table = [_row("one process", cost, cost, whole)]
    works = [dask_works(modes)]
    if shutil.which("java") and any(mode.startswith("spark") for mode in modes):
        works.append(spark_works(modes))
    for name, work in (each for some in works for each in some):
        table.append(_row(name, *turns(work, files, repeats), whole))
        print(f"{name}: {table[-1]}", file=sys.stderr, flush=True)
    print_table(f"A tally of {whole.n:,} OLH reports, k={K}, in {len(files)} files", table)


def in_blocks(files: list[str]) -> list[str]:
    """Return the files that hold the same reports, many in a row."""
    return [str(Path(file).parents[1] / "blocks" / Path(file).name) for file in files]


def _row(name: str, mine: Cost, ours: Cost, whole: Tally) -> dict[str, Any]:
    return {
        "work": name,
        "CPU s": mine.used.cpu,
        "CPU ratio": f"{mine.used.cpu / ours.used.cpu:.2f}",
        "more s": mine.used.cpu - ours.used.cpu,
        "wall s": mine.wall,
        "all MB": f"{mine.used.megabytes:,.0f}",
        "a worker MB": f"{mine.used.worker:,.0f}",
        "equal": "yes" if mine.tally == whole == ours.tally else "NO",
    }


if __name__ == "__main__":
    main()
