"""The published bound and its samples: what a model that passes the published test can still do."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ldpkit.assurance.classifier.blackbox import densest_mass, zero_failure_tests
from ldpkit.assurance.classifier.columns import as_private_column
from ldpkit.mechanisms.numeric.ogpm import OGPM
from ldpkit.papers import Claim
from ldpkit.papers.classifier.claims import number
from ldpkit.papers.classifier.published import samples

__all__ = ["bound_claims"]


def bound_claims() -> Iterator[Claim]:
    """Yield the product (1 - tau) P(B) against the worst that the same test allows."""
    law = as_private_column(OGPM((0, 1), epsilon=4)).outputs(np.array([0.5]))
    inside = float(law.between(np.array([0.2]), np.array([0.8]))[0])
    for columns in (1, 5):
        ends = [0.2] * columns, [0.8] * columns
        worst = densest_mass([law] * columns, *ends, 0.01 * 0.6**columns)
        yield number(
            f"7.3.3: PM, eps=4, theta=0.3, tau=0.01, {columns} column{'s' if columns > 1 else ''}",
            0.99 * inside**columns,
            inside**columns - worst,
            1e-6,
            "points are uniform and reports are not: a model that passes the test can keep as little as this",
            wrong=True,
        )
    yield number(
        "7.3.2: samples that show tau=0.01 at omega=0.05",
        samples(0.05, 0.005),
        zero_failure_tests(0.01, 0.05),
        1,
        "that many without a failure are enough for one box; a search shares omega among its boxes",
        wrong=True,
    )
