"""What the thesis' settings tell whom: Theorem 3, figures 4.1 and 4.2, and the price of correlation."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction

import numpy as np

from ldpkit.assurance.joint import Adversary, guarantee
from ldpkit.mechanisms.categorical.grr import GRR
from ldpkit.mechanisms.joint.jrr import JRR
from ldpkit.mechanisms.joint.matchings import hidden_epsilon
from ldpkit.mechanisms.joint.table import PairTable
from ldpkit.papers import Claim, Settings, Verdict
from ldpkit.papers.jrr.region_figures import draw_choices, draw_region
from ldpkit.papers.jrr.thesis import TABLE_4_3, choice, theorem_3
from ldpkit.planning.pairs.plans import pairs
from ldpkit.planning.pairs.question import PairQuestion
from ldpkit.planning.pairs.search import best_table, gain_ends

__all__ = ["privacy_claims", "trade_claims"]


def privacy_claims(settings: Settings) -> Iterator[Claim]:
    """Yield Theorem 3 against exact sums over all pairings, and what follows for figures 4.1 and 4.2."""
    p = Fraction(3, 4)
    for n, m, rho in ((4, 2, Fraction(-1, 5)), (6, 2, Fraction(-1, 5)), (4, 2, Fraction(-1, 3))):
        table = PairTable.correlated(2, p, rho)
        stated, exact = theorem_3(n, m)(float(p), float(table.both)), hidden_epsilon(table, n, m)
        assert exact is not None
        yield Claim(
            f"Theorem 3: n={n}, m={m}, p=0.75, rho={float(rho):.4g}, pairing hidden",
            round(stated, 6),
            "infinite" if math.isinf(exact) else round(exact, 6),
            0.0,
            Verdict.CORRECTED if exact > stated + 1e-6 else Verdict.REPRODUCED,
            "the truthfulness of the known people tells who may be paired with whom",
        )
    stated_to_partner = theorem_3(10_000, 1)(choice(1.0).p, 0.0)
    partner = guarantee(choice(1.0), Adversary(known=1, knows_grouping=True), 10_000).epsilon
    yield Claim(
        "Theorem 3, its own adversary: m=1 who learns its partner, rho=1-1/p",
        round(stated_to_partner, 6),
        "infinite" if math.isinf(partner) else round(partner, 6),
        0.0,
        Verdict.CORRECTED if partner > stated_to_partner + 1e-6 else Verdict.REPRODUCED,
        "the thesis averages over partners that the adversary knows not to be the partner",
    )
    n, ones = TABLE_4_3["Kosarak"]
    made = guarantee(choice(1.0), Adversary(knows_grouping=True, share=ones / n), n)
    yield Claim(
        "Kosarak, epsilon 1, rho=1-1/p: a collector that made the pairs and knows the share of ones",
        1.0,
        round(made.epsilon, 6),
        0.0,
        Verdict.CORRECTED if made.epsilon > 1 + 1e-6 else Verdict.REPRODUCED,
        "and the estimate tells the share to everybody",
    )
    yield from _optimum(settings)


def _optimum(settings: Settings) -> Iterator[Claim]:
    question = PairQuestion(10_000, 1.0, known=500, ones=(100, 100))
    theirs, ours = best_table(question, theorem_3(10_000, 500)), best_table(question)
    assert theirs is not None
    assert ours is not None
    exact = hidden_epsilon(theirs, 10_000, 500)
    assert exact is not None
    yield Claim(
        "figure 4.1, m=500: epsilon of the optimum under Theorem 3",
        1.0,
        round(exact, 6),
        0.0,
        Verdict.CORRECTED if exact > 1 else Verdict.NOT_REPRODUCED,
        f"exactly 1 allows a variance {question.variance(ours) / question.variance(theirs):.4f} times "
        "that one; "
        "towards a partner both are infinite",
    )
    asked = PairQuestion(10_000, 1.0, ones=(1000, 1000))
    ends = (gain_ends(asked) or 0) / 10_000
    for share, printed in ((0.1, "17%"), (0.9, "10%")):
        yield Claim(
            f"figure 4.2: colluders up to whom pairs gain, n1/n={share:g}",
            printed,
            f"{ends:.1%}",
            0.0,
            Verdict.REPRODUCED if abs(ends - int(printed[:-1]) / 100) < 0.005 else Verdict.CORRECTED,
            "the variance is symmetric in n1/n, so the two cannot differ; Theorem 3 would say 9.3%",
        )
    if settings.folder is not None:
        draw_region(settings.folder, quick=settings.quick)
        draw_choices(settings.folder, quick=settings.quick)


def trade_claims(settings: Settings) -> Iterator[Claim]:
    """Yield that at equal epsilon towards a partner nothing is gained, and draw the price of correlation."""
    least = math.inf
    for epsilon in (0.1, 0.5, 1.0, 2.0, 4.0):
        rr = GRR(2, epsilon=epsilon)
        for part in np.linspace(0.05, 0.99, 12):
            for sign in ("negative", "positive"):
                oracle = JRR(2, float(max(part * epsilon, 0.001)), epsilon, correlation=sign)
                for ones in (0, 10, 400, 500):
                    least = min(least, oracle.variance(ones / 1000, 1000) / rr.variance(ones / 1000, 1000))
    yield Claim(
        "JRR at the same epsilon as RR: least variance over RR, epsilon towards a knowing partner",
        "below 1",
        round(least, 6),
        0.0,
        Verdict.CORRECTED if least >= 1 else Verdict.REPRODUCED,
        "over five epsilons, twelve correlations of each sign and four shares: no rho beats RR",
    )
    if settings.folder is not None:
        from ldpkit.figures.canvas import save_figure

        n, ones = TABLE_4_3["Kosarak"]
        plan = pairs(n, 1.0, ones=(ones, ones), gain=False)
        save_figure(plan.figure(), settings.folder / "price-of-pairs.png")
