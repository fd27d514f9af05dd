"""`script/faults`: try every fault on every command that writes; print a table; fail on any failure."""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

from faults.scenarios import SCENARIOS
from faults.trials import Bench


def main() -> int:
    """Run the trials and return the exit code."""
    parser = argparse.ArgumentParser(prog="script/faults", description=__doc__)
    parser.add_argument("--kills", type=int, default=500, help="kills and signals in all (default: 500)")
    parser.add_argument("--seed", type=int, default=0, help="for the moments of the kills")
    parser.add_argument("--only", default="", help="scenarios whose name contains this")
    options = parser.parse_args()
    chosen = [each for each in SCENARIOS if options.only in each.name]
    start = time.monotonic()
    failures: list[str] = []
    totals: dict[str, int] = {}
    header = (
        "scenario",
        "seconds",
        "KILL",
        "TERM",
        "INT",
        "HUP",
        "early",
        "mid-write",
        "full disk",
        "streams",
    )
    header += ("read-only", "races", "left", "failures")
    print("  ".join(f"{name:>9}" if place else f"{name:24}" for place, name in enumerate(header)))
    with tempfile.TemporaryDirectory(prefix="ldpkit-faults-") as folder:
        bench = Bench(Path(folder), options.seed)
        for place, scenario in enumerate(chosen):
            kills = (place + 1) * options.kills // len(chosen) - place * options.kills // len(chosen)
            found = bench.run(scenario, kills)
            cells = {**found.counts, "failures": len(found.failures)}
            line = [f"{scenario.name:24}", f"{found.seconds:9.2f}"]
            line += [f"{cells.get(name, 0):9}" for name in header[2:]]
            print("  ".join(line), flush=True)
            failures += found.failures
            for name, count in cells.items():
                totals[name] = totals.get(name, 0) + count
    line = [f"{'all':24}", " " * 9, *(f"{totals.get(name, 0):9}" for name in header[2:])]
    print("  ".join(line))
    signals = sum(totals.get(name, 0) for name in ("KILL", "TERM", "INT", "HUP"))
    print(f"{signals} kills and signals, {len(failures)} failures, {time.monotonic() - start:.0f} s")
    return 1 if failures else 0


sys.exit(main())
