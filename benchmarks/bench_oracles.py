"""The six frequency oracles against multi-freq-ldpy, pure-ldp and a Python loop, in one run, on one core."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np

import ldpkit
from peers import EPSILON, PEERS, K
from timing import best_seconds, print_table

PEOPLE = 20_000
TURNS = 3
ORACLES = ("grr", "sue", "oue", "blh", "olh", "ss")
SIDES = ("device", "collector")
TARGETS = {("grr", "device"): 50, ("sue", "device"): 30, ("oue", "device"): 30, ("olh", "collector"): 1000}
"""How many times faster than every package, by oracle and side."""

SIZES = ((1_000_000, 128), (1_000_000, 1024), (10_000_000, 128))

Times = dict[tuple[str, str], dict[str, float]]  # by oracle and side, then by who: ns a user


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--figure", type=Path, help="write a .png, .svg or .pdf figure")
    figure = options.parse_args().figure
    times = _all_times()
    print_table(
        f"n={PEOPLE:,}, k={K}, epsilon={EPSILON:g}: ns a user, and how many times ldpkit's that is",
        [_row(oracle, side, found) for (oracle, side), found in times.items()],
    )
    print_table("ldpkit alone, each in a process of its own", [_at_scale(*size) for size in _sizes()])
    print_table("What else is wanted", [_olh_at_scale(), _secure_against_seeded()])
    if figure is not None:
        _draw(times, figure)
        print(f"wrote {figure}")


def _all_times() -> Times:
    """Time everybody in turns, so that all meet the same moods of the machine; the best counts."""
    values = np.random.default_rng(1).integers(0, K, PEOPLE)
    times: Times = {(oracle, side): {} for oracle in ORACLES for side in SIDES}
    left_out: set[str] = set()
    for oracle in ORACLES:
        for who in ["ldpkit", *PEERS] * TURNS:
            if who in left_out:
                continue
            try:
                pair = _our_times(oracle, values) if who == "ldpkit" else _their_times(who, oracle, values)
            except KeyError:
                continue  # it has no such oracle
            except Exception as error:  # a peer that does not run here is left out, with its reason
                print(f"{who} left out: {type(error).__name__}: {error}", file=sys.stderr)
                left_out.add(who)
                continue
            for side, seconds in zip(SIDES, pair, strict=True):
                found = times[oracle, side]
                found[who] = min(found.get(who, np.inf), seconds / PEOPLE * 1e9)
    return times


def _our_times(name: str, values: np.ndarray[Any, Any]) -> tuple[float, float]:
    oracle = ldpkit.get(name, K, epsilon=EPSILON)
    reports = oracle.privatize(values)
    return best_seconds(lambda: oracle.privatize(values), 9), best_seconds(lambda: oracle.tally(reports), 9)


def _their_times(peer: str, name: str, values: np.ndarray[Any, Any]) -> tuple[float, float]:
    device, collector = PEERS[peer](name)
    people = values.tolist()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        collector(device(people[:50]))  # whatever is loaded on first use
        start = time.perf_counter()
        reports = device(people)
        middle = time.perf_counter()
        collector(reports)
    return middle - start, time.perf_counter() - middle


def _row(oracle: str, side: str, found: dict[str, float]) -> dict[str, Any]:
    row: dict[str, Any] = {"work": f"{oracle}, {side}", "ldpkit": f"{found['ldpkit']:,.1f}"}
    ratios = {peer: found[peer] / found["ldpkit"] for peer in PEERS if peer in found}
    for peer in PEERS:
        row[peer] = f"{found[peer]:,.0f} ({ratios[peer]:,.0f} x)" if peer in found else "-"
    least = TARGETS.get((oracle, side))
    packages = [ratio for peer, ratio in ratios.items() if peer != "Python loop"]
    row["target"] = ""
    if least is not None:
        met = "met" if packages and min(packages) >= least else "MISSED" if packages else "no package here"
        row["target"] = f">= {least} x every package: {met}"
    return row


def _sizes() -> list[tuple[str, int, int]]:
    return [(oracle, n, k) for n, k in SIZES for oracle in ORACLES]


_STREAM = """
import json, sys, time, numpy as np, ldpkit
from timing import peak_megabytes
name, n, k = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
oracle = ldpkit.get(name, k, epsilon=1.0)
values = np.arange(n, dtype=np.uint32) % k
oracle.tally(oracle.privatize(values[:1000]))
device = collector = 0.0
chunks, tally = oracle.privatize_chunks(values), None
while True:
    start = time.perf_counter()
    reports = next(chunks, None)
    if reports is None:
        break
    middle = time.perf_counter()
    part = oracle.tally(reports)
    tally = part if tally is None else tally + part
    device, collector = device + middle - start, collector + time.perf_counter() - middle
assert tally.n == n
print(json.dumps([device / n * 1e9, collector / n * 1e9, oracle.report_bytes, peak_megabytes()]))
"""

_AGGREGATE = """
import json, numpy as np, ldpkit
from timing import best_seconds, peak_megabytes
oracle = ldpkit.OLH(1024, epsilon=1.0)
reports = oracle.privatize(np.arange(1_000_000, dtype=np.uint32) % 1024)
seconds = best_seconds(lambda: oracle.tally(reports), 3)
print(json.dumps([seconds / (1_000_000 * 1024) * 1e9, peak_megabytes()]))
"""


def _in_own_process(script: str, *arguments: object) -> list[float]:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", script, *map(str, arguments)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    found: list[float] = json.loads(done.stdout)
    return found


def _at_scale(name: str, n: int, k: int) -> dict[str, Any]:
    """Make and count reports chunk by chunk, as a collection that never fills the memory."""
    device, collector, report_bytes, megabytes = _in_own_process(_STREAM, name, n, k)
    return {
        "work": f"{name}, n={n:,}, k={k}",
        "device ns a user": device,
        "collector ns a report": collector,
        "bytes a report": str(report_bytes),
        "peak MB": f"{megabytes:.0f}",
    }


def _olh_at_scale() -> dict[str, Any]:
    """Aggregate a million reports that are all in memory."""
    _in_own_process(_AGGREGATE)  # the first may still have to compile
    nanoseconds, megabytes = _in_own_process(_AGGREGATE)
    met = nanoseconds < 0.5 and megabytes < 200
    return {
        "work": "OLH aggregation, n=1e6, k=1024",
        "measured": f"{nanoseconds:.3f} ns per report, value and core; peak {megabytes:.0f} MB",
        "target": f"< 0.5 ns, < 200 MB: {'met' if met else 'MISSED'}",
    }


def _secure_against_seeded() -> dict[str, Any]:
    values = np.arange(1_000_000, dtype=np.uint32) % K
    oracle = ldpkit.GRR(K, epsilon=EPSILON)
    secure = best_seconds(lambda: oracle.privatize(values))
    seeded = best_seconds(lambda: oracle.privatize(values, rng=ldpkit.random.seeded(1)))
    return {
        "work": "secure against seeded randomness, GRR",
        "measured": f"{secure / seeded:.2f} times the time",
        "target": f"<= 1.5: {'met' if secure <= 1.5 * seeded else 'MISSED'}",
    }


def _draw(times: Times, path: Path) -> None:
    from ldpkit.figures.canvas import new_figure, save_figure

    figure = new_figure(10, 4.5)
    panels: Any = figure.subplots(1, 2, sharey=True)
    whos = ["ldpkit", *PEERS]
    for axes, side in zip(panels, SIDES, strict=True):
        for place, who in enumerate(whos):
            known = [(index, times[oracle, side].get(who)) for index, oracle in enumerate(ORACLES)]
            bars = [(index + 0.2 * (place - 1.5), height) for index, height in known if height is not None]
            axes.bar([at for at, _ in bars], [height for _, height in bars], width=0.2, label=who)
        axes.set_yscale("log")
        axes.set_xticks(range(len(ORACLES)), ORACLES)
        axes.set_title(f"{side}, n = {PEOPLE:,}, k = {K}, epsilon = {EPSILON:g}")
    panels[0].set_ylabel("nanoseconds a user, one core")
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=len(whos))
    save_figure(figure, path)


if __name__ == "__main__":
    main()
