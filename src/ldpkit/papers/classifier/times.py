"""Table 7.2: what a point of a curve costs, drawn or computed."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

import numpy as np

from ldpkit.core.random import seeded
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


def time_claims(study: Study, record: int) -> Iterator[Claim]:
    """Yield the table with our times; they are those of this machine, and only their order is compared."""
    rows = np.repeat(study.rows[record : record + 1], DRAWS, axis=0)
    centre = study.centres[record : record + 1]
    box = tuple(each[record : record + 1] for each in study.found)
    region = study.region.take(np.array([record]))
    for name, (drawing, computing) in _PUBLISHED.items():
        column, source = MECHANISMS[name](4.0), seeded(72)

        def draw(column=column, source=source) -> None:  # type: ignore[no-untyped-def]
            for position in study.positions:
                column.draw(rows[:, position], source)

        def bound(column=column) -> None:  # type: ignore[no-untyped-def]
            published_bound([column, column], centre, (box[0], box[1]))

        def exact(column=column) -> None:  # type: ignore[no-untyped-def]
            region.probability([column.outputs(centre[:, axis]) for axis in (0, 1)])

        sampled, asked = _milliseconds(draw), _milliseconds(lambda: study.model.predict(rows))
        computed, truth = _milliseconds(bound), _milliseconds(exact)
        yield holds(
            f"table 7.2: {name}: drawing {DRAWS:,} reports and asking takes longer than computing (ms)",
            f"{drawing} beside {computing}",
            f"{sampled:.2f} + {asked:.2f} beside {computed:.2f}",
            so=sampled + asked > computed,
            note=f"CPU time of this machine; the exact utility takes {truth:.2f} ms",
        )
    yield ours(
        "table 7.2: the one-time cost of the box, ms",
        _milliseconds(lambda: study.boxes()) / len(study.rows),
        "the published search for all 1,000 records at once, shares computed; a record's part of it",
        None,
    )
