"""Table 7.2: what a point of a curve costs, drawn or computed."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from ldpkit.assurance.classifier.columns import PrivateColumn
from ldpkit.core.random import RandomSource, seeded
from ldpkit.core.typing import Floats
from ldpkit.papers import Claim
from ldpkit.papers.classifier.claims import holds, ours
from ldpkit.papers.classifier.published import published_bound
from ldpkit.papers.classifier.study import MECHANISMS, Study
from ldpkit.papers.classifier.thesis import DRAWS

__all__ = ["time_claims"]

_PUBLISHED = {
    "PM": ("6.56 + 1.38", 0.24),
    "Exponential": ("859.83 + 1.53", 0.94),
    "Laplace": ("11.29 + 1.53", 0.30),
}
"""Milliseconds: drawing and asking the model, and computing the bound."""
_TIMES = 7


def _milliseconds(run: Callable[[], object]) -> float:
    """Return the median CPU time of a call, after one that warms up."""
    run()
    found = []
    for _ in range(_TIMES):
        start = time.process_time()
        run()
        found.append(1000 * (time.process_time() - start))
    return float(np.median(found))


def _draw(column: PrivateColumn, values: Floats, source: RandomSource) -> None:
    for axis in (0, 1):
        column.draw(values[:, axis], source)


def _exact(column: PrivateColumn, region: Any, centre: Floats) -> None:
    region.probability([column.outputs(centre[:, axis]) for axis in (0, 1)])


def time_claims(study: Study, record: int) -> Iterator[Claim]:
    """Yield the table with our times; they are those of this machine, and only their order is compared."""
    rows = np.repeat(study.rows[record : record + 1], DRAWS, axis=0)
    centre = study.centres[record : record + 1]
    low, high = (each[record : record + 1] for each in study.found)
    region = study.region.take(np.array([record]))
    asked = _milliseconds(partial(study.model.predict, rows))
    for name, (drawing, computing) in _PUBLISHED.items():
        column = MECHANISMS[name](4.0)
        sampled = _milliseconds(partial(_draw, column, rows[:, study.positions], seeded(72)))
        computed = _milliseconds(partial(published_bound, [column, column], centre, (low, high)))
        truth = _milliseconds(partial(_exact, column, region, centre))
        yield holds(
            f"table 7.2: {name}: drawing {DRAWS:,} reports and asking takes longer than computing (ms)",
            f"{drawing} beside {computing}",
            f"{sampled:.2f} + {asked:.2f} beside {computed:.2f}",
            so=sampled + asked > computed,
            note=f"CPU time of this machine; the exact utility takes {truth:.2f} ms",
        )
    yield ours(
        "table 7.2: the one-time cost of the box, ms",
        _milliseconds(study.boxes) / len(study.rows),
        "the published search for all 1,000 records at once, shares computed; a record's part of it",
        None,
    )
