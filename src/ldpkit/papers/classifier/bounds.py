"""The published bound where it is above the truth, and the relaxations of section 7.4."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from ldpkit.assurance.classifier.blackbox import densest_mass, zero_failure_tests
from ldpkit.assurance.classifier.columns import as_private_column
from ldpkit.mechanisms.numeric.ogpm import OGPM
from ldpkit.papers import Claim, Verdict
from ldpkit.papers.classifier.worked import number

__all__ = ["bound_claims", "relaxation_claims"]


def bound_claims() -> Iterator[Claim]:
    """Yield the product (1 - tau) P(B) against the worst that the same test allows."""
    law = as_private_column(OGPM((0, 1), epsilon=4)).outputs(np.array([0.5]))
    inside = float(law.between(np.array([0.2]), np.array([0.8]))[0])
    for columns in (1, 5):
        ends = [0.2] * columns, [0.8] * columns
        worst = densest_mass([law] * columns, *ends, 0.01 * 0.6**columns)
        yield number(
            f"7.3.3: PM, eps=4, theta=0.3, tau=0.01, {columns} columns",
            0.99 * inside**columns,
            inside**columns - worst,
            1e-6,
            "points are uniform and reports are not: a model that passes the test can keep as little as this",
            wrong=True,
        )
    yield number(
        "7.3.2: samples that show tau=0.01 at omega=0.05",
        math.log(2 / 0.05) / (2 * 0.005**2),
        zero_failure_tests(0.01, 0.05),
        1,
        "that many without a failure are enough for one box; a search shares omega among its boxes",
        wrong=True,
    )


def relaxation_claims() -> Iterator[Claim]:
    """Yield Theorems 17 and 18: laws for analysis only, which privatize nothing here."""
    from scipy.stats import norm

    k, epsilon, delta = 10, 2.0, 0.1
    kept = math.exp(epsilon) / (k - 1 + math.exp(epsilon))
    other = (1 - kept) / (k - 1)
    own, foreign = delta + (1 - delta) * kept, (1 - delta) * other
    loss = math.log(own / foreign)
    yield number(
        "theorem 17: how often k-RR with the indicator loses more than epsilon (k=10, eps=2, delta=0.1)",
        delta,
        own if loss > epsilon else 0.0,
        1e-6,
        f"the loss is {loss:.4f}; with probability delta the raw record is sent, so it is not offered here",
        wrong=True,
    )
    root = math.log(2 / delta)
    printed = math.sqrt(2) / 2 * (math.sqrt(root + epsilon) + math.sqrt(root)) / epsilon
    z = float(norm.ppf(1 - delta))
    exact = (z + math.sqrt(z * z + 2 * epsilon)) / (2 * epsilon)
    yield Claim(
        "theorem 18: sigma at eps=2, delta=0.1, with the radicand of its proof",
        round(printed, 6),
        round(exact, 6),
        0.0,
        Verdict.CORRECTED,
        f"the least sigma with that promise is {printed / exact:.3f} times smaller",
    )
