"""The best of all mechanisms on [0, 1]: bounds and CPU seconds over the grid, and pieces by SCIP."""

from __future__ import annotations

import time
from typing import Any

from ldpkit.planning.optimal.gpm import gpm
from ldpkit.planning.optimal.minimax import minimax
from timing import print_table

CASES = [(epsilon, power) for power in (1.0, 2.0) for epsilon in (1.0, 2.0, 4.0)]
GRIDS = (16, 32, 64, 128)


def main() -> None:
    print_table(
        "Bounds on the worst expected |y - x|^power, on one core",
        [_bounds(epsilon, power, intervals) for epsilon, power in CASES for intervals in GRIDS],
    )
    print_table(
        "Pieces by SCIP, at most 10 seconds each",
        [_pieces(x, count) for x in (0.0, 0.3) for count in (3, 4, 5)],
    )


def _bounds(epsilon: float, power: float, intervals: int) -> dict[str, Any]:
    start = time.process_time()
    found = minimax((0, 1), epsilon, power=power, intervals=intervals, time_limit=600)
    return {
        "work": f"eps={epsilon:g}, power {power:g}, {intervals} intervals",
        "bound": f"{found.lower:.6f}",
        "optimal": f"{found.upper:.6f}",
        "gap": f"{found.gap:.3%}",
        "ogpm": f"{found.closed_form:.6f}",
        "cpu s": time.process_time() - start,
    }


def _pieces(x: float, count: int) -> dict[str, Any]:
    start = time.process_time()
    found = gpm(1.0, x, pieces=count, at=x, time_limit=10)
    return {
        "work": f"eps=1, x={x:g}, {count} pieces",
        "found": f"{found.incumbent_loss:.7f}",
        "closed form": f"{found.closed_form:.7f}",
        "gap": f"{found.gap:.2g}",
        "cpu s": time.process_time() - start,
    }


if __name__ == "__main__":
    main()
