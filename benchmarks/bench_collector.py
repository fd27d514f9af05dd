"""The collector under load: server CPU for a report, beside a plain FastAPI, JSON and INSERT server.

Both servers run on this machine with the same number of reports in a request, both answer when the
report is on the disk, and both refuse duplicates. What is compared is the CPU time of the server's
process, which a busy machine changes little; reports per second are told beside it.

    python benchmarks/bench_collector.py                      # the table
    python benchmarks/bench_collector.py --postgres URL       # the collector on PostgreSQL too
    python benchmarks/bench_collector.py --soak 30            # minutes at half the rate, and memory
    python benchmarks/bench_collector.py --stored 10000000    # with so many reports stored before
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import datetime
import json
import os
import secrets
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ldpkit.client.collection import Collection
from ldpkit.client.upload import UploadHeader
from ldpkit.collector.database import open_database
from ldpkit.collector.remote import Collector
from ldpkit.collector.tokens import ADMIN, new_token
from ldpkit.figures.canvas import label_ends, new_figure, save_figure
from ldpkit.figures.theme import BAD, DASHES, MAIN
from ldpkit.protocols.collection.building import compile_toml, mechanism_of
from ldpkit.protocols.collection.files import seal

DOMAIN = 128
TOML = """
id = "load"
version = 1
purpose = "To see how much it takes."
rounds = {every = "%s", start = %s, count = %d}
[[questions]]
id = "page"
text = "Which page?"
domain = 128
mechanism = "olh"
epsilon = 1
"""
CONNECTIONS = 64
ROUNDS, SLICE = 6, 5  # of a soak, and the seconds between two looks at the memory


class Load(NamedTuple):
    """What a run of uploads cost the server."""

    reports: int
    seconds: float
    cpu: float

    @property
    def rate(self) -> float:
        """Reports a second, by the clock."""
        return self.reports / self.seconds

    @property
    def microseconds(self) -> float:
        """Server CPU for one report."""
        return 1e6 * self.cpu / self.reports


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def cpu_of(process: subprocess.Popen[bytes]) -> float:
    """Return the CPU seconds that a process has used, all threads together."""
    fields = Path(f"/proc/{process.pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def memory_of(process: subprocess.Popen[bytes]) -> float:
    """Return the resident megabytes of a process."""
    return int(Path(f"/proc/{process.pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


@contextlib.contextmanager
def server(words: list[str], port: int, path: str) -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen([sys.executable, *words])
    try:
        for _ in range(1200):
            with contextlib.suppress(OSError):
                urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=5).close()
                break
            if process.poll() is not None:
                raise SystemExit("the server did not start")
            time.sleep(0.05)
        yield process
    finally:
        process.terminate()
        process.wait()


async def send(port: int, path: str, bodies: list[bytes], rate: float | None = None) -> float:
    """Post bodies over kept connections, and return the seconds it took; every answer must be 200."""
    waiting = iter(bodies)
    start = time.perf_counter()
    sent = 0

    async def connection() -> None:
        nonlocal sent
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        for body in waiting:
            if rate is not None:
                await asyncio.sleep(max(0.0, start + sent / rate - time.perf_counter()))
            sent += 1
            head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n\r\n"
            writer.write(head.encode() + body)
            await writer.drain()
            answer = await reader.readuntil(b"\r\n\r\n")
            if not answer.startswith(b"HTTP/1.1 200"):
                raise SystemExit(f"the server answered {answer[:200]!r}")
            length = int(answer.lower().split(b"content-length:")[1].split(b"\r\n")[0])
            await reader.readexactly(length)
        writer.close()

    await asyncio.gather(*(connection() for _ in range(min(CONNECTIONS, len(bodies)))))
    return time.perf_counter() - start


class Reports:
    """Reports of new devices, as either server wants them."""

    def __init__(self, every: str = "once", start: datetime.date = datetime.date(2026, 1, 1)) -> None:
        text = TOML % (every, start.isoformat(), 1 if every == "once" else 100)
        self.envelope = seal(compile_toml(text.encode()))
        self._question = Collection.read(self.envelope).question("page")
        self.mechanism = mechanism_of(self._question)
        self.round = 0

    @property
    def header(self) -> bytes:
        """What uploads of the present round begin with."""
        return UploadHeader(1, 0, self.round, self._question.fingerprint).encode()

    def made(self, count: int) -> tuple[np.ndarray[tuple[int], np.dtype[np.uint64]], bytes]:
        """Return ids and reports."""
        ids = np.frombuffer(secrets.token_bytes(8 * count), np.uint64)
        values = np.random.default_rng().integers(0, DOMAIN, count)
        return ids, self.mechanism.encode(self.mechanism.privatize(values))

    def uploads(self, requests: int, batch: int) -> list[bytes]:
        """Return bodies for the collector."""
        ids, reports = self.made(requests * batch)
        length = self.mechanism.report_bytes
        table = np.empty((requests * batch, 8 + length), np.uint8)
        table[:, :8] = ids.view(np.uint8).reshape(-1, 8)
        table[:, 8:] = np.frombuffer(reports, np.uint8).reshape(-1, length)
        rows = table.reshape(requests, -1)
        return [self.header + row.tobytes() for row in rows]

    def json_bodies(self, requests: int, batch: int) -> list[bytes]:
        """Return bodies for the plain server."""
        ids, reports = self.made(requests * batch)
        length = self.mechanism.report_bytes
        rows = [
            {
                "id": f"{ids[i]:016x}",
                "question": "page",
                "round": 0,
                "report": reports[i * length : (i + 1) * length].hex(),
            }
            for i in range(requests * batch)
        ]
        return [json.dumps({"reports": rows[i * batch : (i + 1) * batch]}).encode() for i in range(requests)]


def measure(process: subprocess.Popen[bytes], port: int, path: str, bodies: list[bytes], batch: int) -> Load:
    before = cpu_of(process)
    seconds = asyncio.run(send(port, path, bodies))
    return Load(len(bodies) * batch, seconds, cpu_of(process) - before)


@contextlib.contextmanager
def collector(
    folder: Path, reports: Reports, data: str | None = None
) -> Iterator[tuple[subprocess.Popen[bytes], int]]:
    port = free_port()
    (folder / "load.json").write_bytes(reports.envelope)
    words = [
        "-m",
        "ldpkit",
        "serve",
        str(folder / "load.json"),
        "--data",
        data or str(folder / "data"),
        "--port",
        str(port),
    ]
    with server(words, port, "/readyz") as process:
        yield process, port


UPLOAD = "/v1/collections/load/reports"


def compare(postgres: str | None) -> None:
    reports = Reports()
    sizes = {
        1: (4000, 1500),
        100: (3000, 40),
        10_000: (200, 2),
    }  # requests to the collector, to the plain server
    print(f"{'reports a request':>18} {'server':>22} {'CPU us a report':>16} {'reports/s':>12} {'ratio':>8}")
    for batch, (many, few) in sizes.items():
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            port = free_port()
            plain_words = [
                str(Path(__file__).with_name("plain_collector.py")),
                str(folder / "plain.db"),
                str(port),
            ]
            with server(plain_words, port, "/openapi.json") as process:
                bodies = reports.json_bodies(few, batch)
                plain = measure(process, port, "/reports", bodies, batch)
            _row(batch, "plain", plain, plain)
            for label, data in (("SQLite", None), *((("PostgreSQL", postgres),) if postgres else ())):
                with collector(folder, reports, data) as (process, port):
                    measure(
                        process, port, UPLOAD, reports.uploads(20, batch), batch
                    )  # kernels are loaded now
                    _row(
                        batch,
                        f"ldpkit, {label}",
                        measure(process, port, UPLOAD, reports.uploads(many, batch), batch),
                        plain,
                    )


def _row(batch: int, label: str, load: Load, plain: Load) -> None:
    ratio = plain.microseconds / load.microseconds
    print(
        f"{batch:>18,} {label:>22} {load.microseconds:>16.2f} {load.rate:>12,.0f} {ratio:>8.1f}",
        flush=True,
    )


class Moment(NamedTuple):
    """What a soak has seen."""

    minutes: float
    memory: float
    ids: int
    reports: int


def soak(minutes: float, figure: Path) -> None:
    """Send at half the highest rate, in six rounds that are closed one by one, and watch the memory."""
    today = datetime.datetime.now(datetime.UTC).date()
    reports = Reports("daily", today - datetime.timedelta(days=ROUNDS - 1))
    with tempfile.TemporaryDirectory() as name, collector(Path(name), reports) as (process, port):
        connection = open_database(Path(name) / "data").connect()
        admin = new_token(connection, "soak", ADMIN)
        connection.close()
        warm = measure(process, port, UPLOAD, reports.uploads(200, 10), 10)  # kernels are loaded now
        top = measure(process, port, UPLOAD, reports.uploads(4000, 10), 10)
        rate = top.reports / top.seconds / 2 / 10
        print(f"half of the highest rate: {10 * rate:,.0f} reports a second")
        seen: list[Moment] = []
        start, sent = time.perf_counter(), warm.reports + top.reports
        while (now := time.perf_counter() - start) < 60 * minutes:
            if now > 60 * minutes * (reports.round + 1) / ROUNDS:
                closing = time.perf_counter()
                Collector(f"http://127.0.0.1:{port}", admin).close("load", reports.round)
                print(f"round {reports.round} closed in {time.perf_counter() - closing:.1f} s", flush=True)
                reports.round += 1
            bodies = reports.uploads(max(1, round(rate * SLICE)), 10)
            asyncio.run(send(port, UPLOAD, bodies, rate))
            sent += 10 * len(bodies)
            ids = int(metric(port, "ldpkit_ids"))
            seen.append(Moment((time.perf_counter() - start) / 60, memory_of(process), ids, sent))
            print(
                f"{seen[-1].minutes:6.1f} min {seen[-1].memory:8.1f} MB {ids:>12,} ids {sent:>12,} reports",
                flush=True,
            )
        _draw(seen, figure)


def metric(port: int, name: str) -> str:
    """Return what the service says of one of its counters."""
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics") as stream:
        text: str = stream.read().decode()
    return next(line.split()[1] for line in text.splitlines() if line.startswith(f"{name} "))


def _draw(seen: list[Moment], figure: Path) -> None:
    minutes, memory, ids, _ = np.array(seen).T
    made = new_figure(5.2, 3.0)
    axes = made.subplots()
    axes.plot(minutes, memory, color=MAIN)
    axes.plot(minutes, 8 * ids / 1e6, color=BAD, linestyle=DASHES[1])
    axes.set(xlabel="minutes", ylabel="megabytes", ylim=(0, 1.15 * memory.max()))
    axes.set_title("half of the highest rate, six rounds", loc="left")
    label_ends(
        axes,
        [
            (minutes[-1], memory[-1], "memory", MAIN),
            (minutes[-1], 8 * ids[-1] / 1e6, "open ids", BAD),
        ],
    )
    told = (
        f"The collector's memory in {minutes[-1]:.0f} minutes: from {memory[0]:.0f} to at most "
        f"{memory.max():.0f} megabytes; the ids of the open round take {8 * ids.max() / 1e6:.0f} at most."
    )
    save_figure(made, figure, alt=told)
    print(f"wrote {figure}")


def stored(count: int) -> None:
    """Fill a database, start the service again, and compare its rate with that of an empty one."""
    reports = Reports()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with collector(folder, reports) as (process, port):
            measure(process, port, UPLOAD, reports.uploads(20, 10_000), 10_000)
            empty = measure(process, port, UPLOAD, reports.uploads(100, 10_000), 10_000)
            first = reports.uploads(1, 10_000)
            asyncio.run(send(port, UPLOAD, first))
            for _ in range(max(0, count // 1_000_000 - 1)):
                asyncio.run(send(port, UPLOAD, reports.uploads(100, 10_000)))
        start = time.perf_counter()
        with collector(folder, reports) as (process, port):
            ready, cpu = time.perf_counter() - start, cpu_of(process)
            asyncio.run(send(port, UPLOAD, first))
            again, held = metric(port, "ldpkit_duplicates_total"), metric(port, "ldpkit_ids")
            measure(process, port, UPLOAD, reports.uploads(20, 10_000), 10_000)
            full = measure(process, port, UPLOAD, reports.uploads(100, 10_000), 10_000)
            print(f"start-up: {ready:.1f} s, {cpu:.1f} CPU s; memory {memory_of(process):,.0f} MB")
            print(f"{int(held):,} ids; 10,000 sent again, {int(again):,} of them duplicates")
            print(f"CPU us a report: {empty.microseconds:.3f} empty, {full.microseconds:.3f} full")
            print(f"reports/s: {empty.rate:,.0f} empty, {full.rate:,.0f} full")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--postgres", help="also on this PostgreSQL database, which must be empty")
    parser.add_argument("--soak", type=float, metavar="MINUTES")
    parser.add_argument("--stored", type=int, metavar="REPORTS")
    parser.add_argument("--figure", type=Path, default=Path("collector-memory.png"))
    options = parser.parse_args()
    if options.soak:
        soak(options.soak, options.figure)
    elif options.stored:
        stored(options.stored)
    else:
        compare(options.postgres)


if __name__ == "__main__":
    main()
