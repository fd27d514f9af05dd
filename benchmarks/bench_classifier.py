"""What a classifier keeps under many mechanisms and epsilons, against drawing from the mechanisms.

Run `python benchmarks/bench_classifier.py [records] [epsilons]`. Two columns are sensitive and six
mechanisms are compared, as in `ldpkit plan classifier`: the model is read once, and each mechanism at
each epsilon costs its law and one sum. Beside it stands what drawing costs: 4,000 reports a record,
timed for one mechanism at one epsilon and multiplied.
"""

from __future__ import annotations

import sys
import time
from typing import Any

import numpy as np

from ldpkit.assurance.classifier.table import Sensitive, record_table
from ldpkit.assurance.classifier.utility import DRAWS, KeptRegions, drawn_utility
from ldpkit.core.domains.interval import IntervalDomain
from ldpkit.core.random import seeded
from ldpkit.planning.classifier.choices import USUAL, column_of
from timing import print_table

PIECES = 128  # as in a plan
DRAWN_RECORDS = 20
LIMITS = {"logistic regression": 10, "100 trees": 60}


def models(rows: Any, labels: Any) -> dict[str, Any]:
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.neural_network import MLPClassifier

    return {
        "logistic regression": LogisticRegression().fit(rows, labels),
        "100 trees": RandomForestClassifier(100, random_state=0).fit(rows, labels),
        "network of 16 units": MLPClassifier((16,), solver="lbfgs", random_state=0).fit(rows, labels),
    }


def exact_seconds(model: Any, rows: Any, epsilons: Any) -> tuple[float, float]:
    """Return the CPU seconds of reading the model, and of all mechanisms and epsilons."""
    start = time.process_time()
    table = record_table(model, rows)
    kept = KeptRegions(table, table.predict(table.values), [0, 1])
    read = time.process_time()
    domain = IntervalDomain(0, 1)
    for name in USUAL:
        for epsilon in epsilons:
            column = column_of(name, domain, epsilon)
            kept.probability([column, column], PIECES)
    return read - start, time.process_time() - read


def drawn_seconds(model: Any, rows: Any) -> float:
    """Return the CPU seconds that draws take for one mechanism at one epsilon."""
    table = record_table(model, rows[:DRAWN_RECORDS])
    column = column_of("ogpm", IntervalDomain(0, 1), 1.0)
    chosen = [Sensitive(place, place, column) for place in (0, 1)]
    start = time.process_time()
    drawn_utility(table, table.predict(table.values), chosen, DRAWS, 0.95, seeded(0))
    return (time.process_time() - start) * len(rows) / DRAWN_RECORDS


def main(count: int = 1000, epsilons: int = 80) -> None:
    rng = np.random.default_rng(0)
    rows = rng.random((count, 4))
    labels = rows[:, 0] + 0.3 * rows[:, 1] + 0.2 * rng.normal(size=count) > 0.7
    grid = np.geomspace(0.1, 10, epsilons).tolist()
    choices = len(USUAL) * epsilons
    title = f"{count:,} records, {epsilons} epsilons x {len(USUAL)} mechanisms, CPU seconds"
    table = []
    for name, model in models(rows, labels).items():
        read, rest = exact_seconds(model, rows, grid if name in LIMITS else grid[::16])
        rest *= 1 if name in LIMITS else epsilons / len(grid[::16])
        drawn = drawn_seconds(model, rows) * choices
        table.append(
            {
                "work": name,
                "reading": read,
                "all choices": rest,
                "limit": LIMITS.get(name, ""),
                "drawing": drawn,
                "ratio": drawn / (read + rest),
            }
        )
    print_table(title, table)


if __name__ == "__main__":
    main(*(int(each) for each in sys.argv[1:]))
