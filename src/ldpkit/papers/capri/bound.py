"""Figure 4.1: Chebyshev's bound, the printed simulations, and the exact probability."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from ldpkit.core.random import RandomSource, seeded
from ldpkit.mechanisms.categorical.grr import GRR
from ldpkit.papers import Claim, Settings, Verdict, compare
from ldpkit.planning.capacity.question import CapacityQuestion, Outcome
from ldpkit.planning.capacity.search import RUNS
from ldpkit.planning.capacity.totals import right_decisions
from ldpkit.planning.laws.totals import cantelli, chebyshev, total_law

__all__ = ["ROWS", "bound_claims", "formula"]

PEOPLE = 1000
ROUNDING = 0.0005

ROWS = (
    (500, 100, 0.4, 0.037, 0.0),
    (500, 600, 0.8, 0.148, 0.012),
    (400, 500, 0.4, 0.588, 0.108),
    (500, 100, 0.1, 0.975, 0.0),
    (500, 200, 0.1, 1.000, 0.0),
)
"""Capacity, total, epsilon, Chebyshev and CAPRI as printed in figure 4.1(a)."""


def formula(capacity: float, total: float, epsilon: float) -> float:
    """Return the thesis' bound p q N / ((p - q)^2 (TTC - cap)^2), at most 1, whichever side the total is on.

    Examples
    --------
    >>> [round(formula(*row[:3]), 6) for row in ROWS]
    [0.038546, 0.148177, 0.616733, 0.624479, 1.0]
    """
    oracle = GRR(2, epsilon=epsilon)
    p, q = oracle.p, oracle.q
    return min(1.0, p * q * PEOPLE / ((p - q) ** 2 * (total - capacity) ** 2))


def bound_claims(settings: Settings) -> Iterator[Claim]:
    """Yield the bound, the exact probability and a simulation for each row of figure 4.1(a)."""
    source = seeded(settings.seed).derive("figure 4.1")
    for capacity, total, epsilon, printed_bound, printed in ROWS:
        name = f"figure 4.1a: cap {capacity}, TTC {total}, epsilon {epsilon:g}"
        bound = formula(capacity, total, epsilon)
        agrees = compare(printed_bound, bound, 0.0, rounding=ROUNDING)
        yield Claim(
            f"{name}: Chebyshev bound",
            printed_bound,
            round(bound, 6),
            0.0,
            Verdict.REPRODUCED if agrees else Verdict.CORRECTED,
            "" if agrees else "the printed number does not follow from the formula",
        )
        yield from _probability(name, capacity, total, epsilon, printed, source)
    yield Claim(
        "figure 4.1d: cap = TTC = 500",
        "a curve",
        "FN cannot happen",
        None,
        Verdict.CORRECTED,
        "a total at the capacity does not exceed it, and the formula divides by zero",
    )
    _draw(settings)


def _probability(
    name: str, capacity: int, total: int, epsilon: float, printed: float, source: RandomSource
) -> Iterator[Claim]:
    if total <= capacity:
        note = "the total does not exceed the capacity, so FN cannot happen; the question is refused"
        yield Claim(f"{name}: P(FN)", printed, 0.0, 0.0, Verdict.REPRODUCED, note)
        return
    question = _question(capacity, total)
    oracle = GRR(2, epsilon=epsilon)
    law = total_law(oracle, question)
    exact = law.at_most(capacity)
    stderr = math.sqrt(exact * (1 - exact) / RUNS)
    yield Claim(
        f"{name}: P(FN)",
        printed,
        round(exact, 8),
        0.0,
        Verdict.REPRODUCED if compare(printed, exact, stderr, rounding=ROUNDING) else Verdict.CORRECTED,
        f"exact; Chebyshev {chebyshev(law, question):.6f}, Cantelli {cantelli(law, question):.6f}",
    )
    simulated = 1 - right_decisions(oracle, question, RUNS, source) / RUNS
    yield Claim(
        f"{name}: exact P(FN) against {RUNS:,} simulated collections",
        round(exact, 8),
        simulated,
        round(stderr, 6),
        Verdict.REPRODUCED if compare(exact, simulated, stderr) else Verdict.NOT_REPRODUCED,
        f"{(simulated - exact) / stderr:+.1f} standard errors",
    )


def _question(capacity: float, total: int) -> CapacityQuestion:
    amounts, counts = np.array([0.0, 1.0]), np.array([PEOPLE - total, total])
    return CapacityQuestion(amounts, counts, capacity, Outcome.FN, at_most=0.05)


def _draw(settings: Settings) -> None:
    if settings.folder is None:
        return
    from ldpkit.figures.canvas import save_figure
    from ldpkit.figures.capacity import lines_figure

    panels = {}
    epsilons = np.linspace(0.1, 1.5, 29).tolist()
    for capacity, total in ((500, 600), (400, 500)):
        question = _question(capacity, total)
        laws = [total_law(GRR(2, epsilon=epsilon), question) for epsilon in epsilons]
        panels[f"cap = {capacity}, TTC = {total}"] = {
            "Chebyshev": (epsilons, [chebyshev(law, question) for law in laws]),
            "Cantelli": (epsilons, [cantelli(law, question) for law in laws]),
            "exact": (epsilons, [law.at_most(capacity) for law in laws]),
        }
    save_figure(lines_figure(panels, "epsilon", "P(FN)"), settings.folder / "figure-4.1.png")
