"""`script/faults`: try every fault on every command that writes; print a table; fail on any failure."""

from __future__ import annotations

import argparse
import os
import signal
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from faults import devices
from faults.found import SIGNALS, Found
from faults.scenarios import SCENARIOS
from faults.trials import Bench


def main() -> int:
    """Run the trials and return the exit code."""
    parser = argparse.ArgumentParser(prog="script/faults", description=__doc__)
    parser.add_argument("--kills", type=int, default=500, help="kills and signals in all (default: 500)")
    parser.add_argument("--seed", type=int, default=0, help="for the moments of the kills")
    parser.add_argument("--only", default="", help="scenarios whose name contains this")
    parser.add_argument("--cores", type=int, default=os.cpu_count() or 1, help="scenarios at a time")
    options = parser.parse_args()
    names = [name for name in (*(each.name for each in SCENARIOS), devices.NAME) if options.only in name]
    for number in SIGNALS.values():  # a shell has processes behind it ignore some, and commands inherit that
        if signal.getsignal(number) == signal.SIG_IGN:
            signal.signal(number, signal.SIG_DFL)
    start = time.monotonic()
    totals: dict[str, int] = {}
    failures = 0
    header = ("scenario", "seconds", "KILL", "TERM", "INT", "HUP", "early", "mid-write")
    header += ("full disk", "streams", "read-only", "races", "left", "failures")
    print("  ".join(f"{name:>9}" if place else f"{name:24}" for place, name in enumerate(header)))
    with ProcessPoolExecutor(options.cores) as pool:
        works = [
            pool.submit(
                _trials,
                name,
                (place + 1) * options.kills // len(names) - place * options.kills // len(names),
                options.seed,
            )
            for place, name in enumerate(names)
        ]
        for name, work in zip(names, works, strict=True):
            found = work.result()
            cells = {**found.counts, "failures": len(found.failures)}
            line = [f"{name:24}", f"{found.seconds:9.2f}"]
            line += [f"{cells.get(column, 0):9}" for column in header[2:]]
            print("  ".join(line), flush=True)
            failures += len(found.failures)
            for column, count in cells.items():
                totals[column] = totals.get(column, 0) + count
    line = [f"{'all':24}", " " * 9, *(f"{totals.get(name, 0):9}" for name in header[2:])]
    print("  ".join(line))
    signals = sum(totals.get(name, 0) for name in SIGNALS)
    print(f"{signals} kills and signals, {failures} failures, {time.monotonic() - start:.0f} s")
    return 1 if failures else 0


def _trials(name: str, kills: int, seed: int) -> Found:
    """Run the trials of one scenario in a folder of its own."""
    with tempfile.TemporaryDirectory(prefix="ldpkit-faults-") as folder:
        if name == devices.NAME:
            return devices.run(Path(folder), kills, seed)
        scenario = next(each for each in SCENARIOS if each.name == name)
        return Bench(Path(folder), seed).run(scenario, kills)


if __name__ == "__main__":
    sys.exit(main())
