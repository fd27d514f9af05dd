"""Timing for benchmarks: the best of several runs, and tables of ratios."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

__all__ = ["best_in_turns", "best_seconds", "peak_megabytes", "print_table"]


def best_seconds(work: Callable[[], Any], repeats: int = 5) -> float:
    """Return the shortest of some runs, after one that is not counted."""
    work()
    best = float("inf")
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - start)
    return best


def best_in_turns(works: Mapping[str, Callable[[], Any]], turns: int) -> dict[str, float]:
    """Return the shortest run of each work, timed in turns: so all meet the same moods of the machine."""
    best = dict.fromkeys(works, float("inf"))
    for _ in range(turns):
        best = {name: min(best[name], best_seconds(work, 1)) for name, work in works.items()}
    return best


def peak_megabytes() -> float:
    """Return the most memory that this process has held.

    Linux counts what a parent held at the start of a child into the child's `ru_maxrss`,
    but not into the high-water mark of its own memory.
    """
    try:
        status = Path("/proc/self/status").read_text()
    except OSError:
        import resource

        unit = 1 << 20 if sys.platform == "darwin" else 1 << 10  # macOS counts bytes
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit
    return int(status.split("VmHWM:")[1].split()[0]) / 1024


def print_table(title: str, rows: list[dict[str, Any]]) -> None:
    """Print rows with the same keys as an aligned table."""
    from rich.console import Console
    from rich.table import Table

    table = Table(title=title, title_justify="left")
    for name in rows[0]:
        table.add_column(name, justify="right" if name not in ("work", "peer", "target") else "left")
    for row in rows:
        table.add_row(
            *(f"{value:,.3g}" if isinstance(value, float) else str(value) for value in row.values())
        )
    Console(width=140).print(table)
