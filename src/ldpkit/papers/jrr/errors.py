"""The errors of the thesis: examples 2-3, and figures 4.3 to 4.6 and B.1."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction

import numpy as np

from ldpkit.core.random import seeded
from ldpkit.mechanisms.categorical.grr import GRR
from ldpkit.mechanisms.joint.group_count import GroupCount
from ldpkit.mechanisms.joint.jrr import JRR
from ldpkit.mechanisms.joint.table import PairTable
from ldpkit.papers import Claim, Settings, Verdict, compare, write_csv
from ldpkit.papers.jrr.error_figures import draw_real, draw_shares, draw_synthetic
from ldpkit.papers.jrr.runs import RUNS, Run, measure
from ldpkit.papers.jrr.thesis import TABLE_4_3, choice, in_words

__all__ = ["example_claims", "real_claims", "synthetic_claims"]

EPSILONS = (0.01, 0.1, 1.0)
SYNTHETIC_EPSILONS = tuple(float(each) for each in np.geomspace(0.01, 1, 9))
PEOPLE = (10_000, 40_000, 80_000, 2_000_000)
SHARES = (0.01, 0.1, 0.3, 0.5, 1.0)
_SE = math.sqrt(2 / RUNS)  # of a variance, over itself


def example_claims(settings: Settings) -> Iterator[Claim]:
    """Yield examples 2 and 3: two people with a one, p = 0.8."""
    p = Fraction(4, 5)
    table = PairTable.correlated(2, p, 1 - 1 / p)
    alone = 2 * p * (1 - p) / (2 * p - 1) ** 2
    joint = alone + 2 * table.covariance / (2 * p - 1) ** 2
    for name, printed, found in (("2: RR", 0.89, alone), ("3: JRR", 0.67, joint)):
        yield Claim(
            f"example {name}, variance",
            printed,
            round(float(found), 6),
            0.0,
            Verdict.REPRODUCED
            if compare(printed, float(found), 0, rounding=0.005)
            else Verdict.NOT_REPRODUCED,
        )
    yield Claim(
        "example 3: epsilon",
        "ln 4",
        "infinite" if math.isinf(table.epsilon()) else round(table.epsilon(), 6),
        0.0,
        Verdict.CORRECTED if table.epsilon() > math.log(4) + 1e-9 else Verdict.REPRODUCED,
        f"{table.epsilon_alone():.6f} is that of one report alone; table 4.1 never lets both be untruthful, "
        "so a partner who is untruthful knows the other's value",
    )


def real_claims(settings: Settings) -> Iterator[Claim]:
    """Yield figures 4.3 and 4.4 on the four data sets of table 4.3."""
    source = seeded(settings.seed).derive("jrr real data")
    runs = {
        (name, epsilon): measure(name, n, ones, epsilon, source)
        for name, (n, ones) in TABLE_4_3.items()
        for epsilon in EPSILONS
    }
    for (name, epsilon), run in runs.items():
        wanted, found = run.theorem_4 / run.rr_variance, run.mse[0] / run.rr_variance
        agrees = compare(wanted, found, wanted * _SE, most=4)
        yield Claim(
            f"figure 4.3, {name}, epsilon {epsilon:g}: MSE of JRR over RR",
            "below 1",
            round(found, 6),
            round(wanted * _SE, 6),
            Verdict.REPRODUCED if agrees and wanted < 1 else Verdict.NOT_REPRODUCED,
            f"by Theorem 4 {wanted:.6f}; {in_words(choice(epsilon), run.n)}",
        )
    for who, printed, errors in zip(("JRR", "RR"), (0.7, 1.45), runs["Kosarak", 0.1].are, strict=True):
        quantile = float(np.quantile(errors, 0.8))
        agrees = compare(printed, quantile, 0.03 * printed, rounding=0.05)
        yield Claim(
            f"figure 4.4, Kosarak, epsilon 0.1: 80th percentile of the ARE of {who}",
            printed,
            round(quantile, 4),
            round(0.03 * printed, 4),
            Verdict.REPRODUCED if agrees else Verdict.NOT_REPRODUCED,
            "read off a curve",
        )
    n, ones = TABLE_4_3["Kosarak"]
    base = GRR(2, epsilon=1).variance(ones / n, n)
    for what, variance, note in (
        ("JRR(2, 1, 2)", JRR(2, 1, 2).variance(ones / n, n), in_words(JRR(2, 1, 2), n)),
        ("the joint count of two", GroupCount(2, 1).variance(ones / n, n), "epsilon 1 towards everybody"),
    ):
        yield Claim(
            f"Kosarak, not in the thesis: variance of {what} over RR at 1",
            None,
            round(variance / base, 6),
            0.0,
            Verdict.NOT_IN_PAPER,
            note,
        )
    if settings.folder is not None:
        write_csv([run.row() for run in runs.values()], settings.folder / "errors-real.csv")
        draw_real(settings.folder, runs)


def synthetic_claims(settings: Settings) -> Iterator[Claim]:
    """Yield figures 4.5, 4.6 and B.1 on synthetic data, up to two million people."""
    source = seeded(settings.seed).derive("jrr synthetic data")
    epsilons = EPSILONS if settings.quick else SYNTHETIC_EPSILONS
    runs = {
        (n, share, epsilon): measure(f"n1/n={share:g}", n, round(n * share), epsilon, source)
        for n in PEOPLE
        for share in SHARES
        for epsilon in epsilons
    }
    for epsilon, printed in zip((epsilons[0], epsilons[len(epsilons) // 2]), (0.01, 0.10), strict=True):
        run = runs[10_000, 1.0, epsilon]
        wanted, found = run.theorem_4 / run.rr_variance, run.mse[0] / run.rr_variance
        yield Claim(
            f"figure 4.5, all ones, epsilon {epsilon:g}: MSE of JRR over RR",
            printed,
            round(found, 6),
            round(wanted * _SE, 6),
            Verdict.REPRODUCED
            if compare(printed, found, wanted * _SE, rounding=printed / 10)
            else Verdict.NOT_REPRODUCED,
            f"by Theorem 4 {wanted:.6f}; {in_words(choice(epsilon), run.n)}; the ARE of a count of zero is "
            "undefined",
        )
    yield _all_agree(list(runs.values()))
    for n, printed in ((10_000, 0.211), (40_000, 0.203), (80_000, 0.202)):
        oracle, rr = choice(0.01), GRR(2, epsilon=0.01)
        least = math.sqrt(oracle.variance(0.01, n) / rr.variance(0.01, n))
        ratios = [
            float(first.mean() / second.mean())
            for first, second in (runs[n, 0.01, epsilon].are for epsilon in epsilons)
        ]
        yield Claim(
            f"figure 4.6, n={n:,}, 1% ones: ARE of JRR over RR, average over epsilon",
            printed,
            round(least, 4),
            0.0,
            Verdict.CORRECTED if least > printed + 0.0005 else Verdict.REPRODUCED,
            "cannot be: Theorem 4 allows no less than this at epsilon 0.01, and more above; simulated "
            f"{ratios[0]:.3f} there, {sum(ratios) / len(ratios):.3f} on average over {len(ratios)} epsilons",
        )
    n = 2_000_000
    run = measure("n1/n=0.005", n, n // 200, 1.0, source)
    wanted, found = run.theorem_4 / run.rr_variance, run.mse[0] / run.rr_variance
    yield Claim(
        f"n={n:,}, 0.5% ones, 1,000 collections: MSE of JRR over RR",
        "below 1",
        round(found, 6),
        round(wanted * _SE, 6),
        Verdict.REPRODUCED if compare(wanted, found, wanted * _SE, most=4) else Verdict.NOT_REPRODUCED,
        in_words(choice(1.0), n),
    )
    oracle, rr = choice(1.0), GRR(2, epsilon=1)
    shares = np.arange(0, 10_001) / 10_000
    worse = oracle.variance(shares, 10_000) > rr.variance(shares, 10_000)
    yield Claim(
        "figure B.1, n=10,000: the width of n1/n around one half where JRR is worse",
        0.01,
        round(float(worse.sum()) / 10_000, 4),
        0.0,
        Verdict.REPRODUCED if abs(worse.mean() - 0.01) <= 2e-4 else Verdict.NOT_REPRODUCED,
        "1/sqrt(n); there a positive correlation helps instead",
    )
    if settings.folder is not None:
        write_csv([each.row() for each in [*runs.values(), run]], settings.folder / "errors-synthetic.csv")
        draw_synthetic(settings.folder, runs)
        draw_shares(settings.folder)


def _all_agree(runs: list[Run]) -> Claim:
    """Return whether the simulated errors of every setting are those of Theorem 4."""
    worst = max(abs(run.mse[0] / run.theorem_4 - 1) / _SE for run in runs)
    return Claim(
        f"figure 4.5, all {len(runs)} settings: simulated MSE against Theorem 4, largest distance in "
        "standard errors",
        None,
        round(worst, 2),
        None,
        Verdict.REPRODUCED if worst < 5 else Verdict.NOT_REPRODUCED,
        f"n = {', '.join(f'{n:,}' for n in PEOPLE)}; n1/n = {', '.join(f'{each:g}' for each in SHARES)}; "
        f"{RUNS:,} runs each; errors-synthetic.csv has all, with the ARE and its percentiles",
    )
