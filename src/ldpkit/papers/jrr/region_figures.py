"""Figures 4.1 and 4.2: which p and rho an epsilon allows, and what the best of them gains."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from ldpkit.mechanisms.joint.table import PairTable
from ldpkit.papers import write_csv
from ldpkit.papers.jrr.thesis import theorem_3
from ldpkit.planning.pairs.question import PairQuestion
from ldpkit.planning.pairs.search import Constraint, best_table, hidden_constraint

__all__ = ["choices", "draw_choices", "draw_region"]

PEOPLE = 10_000
_KNOWN = (0, 100, 200, 300, 400, 500, 600, 700, 800, 850, 900, 950, 1000, 1300, 1700, 2000)
_HALF = (0.0, 0.02, 0.05, 0.08, 0.1, 0.12, 0.15, 0.2, 0.3)
_SHARES = (*_HALF, 0.5, *(1 - share for share in reversed(_HALF)))
_MOST = 3.0  # epsilon, beyond which the lines of figure 4.2 leave the picture


def draw_region(folder: Path, *, quick: bool = False) -> None:
    """Draw figure 4.1: the variance over p and rho, and where epsilon is 1."""
    from ldpkit.figures.canvas import new_figure, save_figure

    figure = new_figure(11, 5.5)
    question = PairQuestion(PEOPLE, 1.0, ones=(100, 100))
    fine = 16 if quick else 61
    grid, rhos = np.linspace(0.65, 0.75, fine), np.linspace(-0.55, 0, fine)
    panels = figure.subplots(1, 2, sharey=True)
    for axes, known in zip(panels, (0, 500), strict=True):
        variance = np.full((len(rhos), len(grid)), np.nan)
        exact, thesis = np.full_like(variance, np.nan), np.full_like(variance, np.nan)
        ours, theirs = hidden_constraint(PEOPLE, known), theorem_3(PEOPLE, known)
        for i, rho in enumerate(rhos):
            for j, p in enumerate(grid):
                both = (1 - p) ** 2 + rho * p * (1 - p)
                if both >= 0:
                    table = PairTable(2, Fraction(p), Fraction(both))
                    variance[i, j] = question.variance(table) / question.response_variance(1.0)
                    exact[i, j], thesis[i, j] = (min(each(p, both), 50) for each in (ours, theirs))
        shown = axes.pcolormesh(grid, rhos, variance, cmap="Blues", shading="nearest", vmin=0.6, vmax=2.4)
        axes.contour(grid, rhos, exact, [1.0], colors="black")
        axes.contour(grid, rhos, thesis, [1.0], colors="C3", linestyles="dashed")
        axes.plot([], [], color="black", label="epsilon 1 exactly, pairing hidden")
        axes.plot([], [], "--", color="C3", label="epsilon 1 by Theorem 3")
        axes.plot(math.e / (1 + math.e), 0, "o", color="hotpink", label="RR at epsilon 1", clip_on=False)
        axes.set_title(f"{known} people known (m = {known})")
        axes.set_xlabel("p, the probability of a true report")
    panels[0].set_ylabel("rho, the correlation within a pair")
    panels[0].legend(fontsize=8, loc="lower right")
    figure.colorbar(shown, ax=panels, label="variance over that of RR at epsilon 1")
    figure.suptitle(f"Figure 4.1: variance for {PEOPLE:,} people with 100 ones; lines bound what is allowed")
    figure.supxlabel(
        "Privacy: left of a line, epsilon is at most 1 against a collector who knows the values of m people "
        "and not the pairing.\nTowards a partner it is more wherever rho is not 0, and infinite on the lower "
        "edge, rho = 1 - 1/p, where the thesis goes.",
        fontsize=8,
    )
    save_figure(figure, folder / "figure-4.1.png")


def choices(known: int, share: float) -> dict[str, tuple[float, float, float]]:
    """Return the variance over RR, and epsilon with a hidden pairing and towards a partner, of each choice.

    Parameters
    ----------
    known : int
        How many people's values the collector knows.
    share : float
        The share of ones.
    """
    ones = round(PEOPLE * share)
    question = PairQuestion(PEOPLE, 1.0, known=known, ones=(ones, ones))
    exact = hidden_constraint(PEOPLE, known)

    def told(table: PairTable | None) -> tuple[float, float, float]:
        if table is None:  # no pairs are better than randomised response
            return 1.0, 1.0, 1.0
        ratio = question.variance(table) / question.response_variance(1.0)
        return ratio, exact(float(table.truthful), float(table.both)), table.epsilon()

    def best(constraint: Constraint | None) -> PairTable | None:
        return best_table(question, constraint)

    return {
        "heuristic": told(PairTable.of_epsilons(2, 1.0, math.inf)),
        "best by Theorem 3": told(best(theorem_3(PEOPLE, known))),
        "best by the exact epsilon": told(best(None)),
    }


def draw_choices(folder: Path, *, quick: bool = False) -> None:
    """Draw figure 4.2, and write its numbers to a table: the thesis' choices and the right one."""
    from ldpkit.figures.canvas import new_figure, save_figure

    knowns, shares = _KNOWN[:: 5 if quick else 1], _SHARES[:: 6 if quick else 1]
    by_known = {known: choices(known, 0.1) for known in knowns}
    by_share = {share: choices(500, share) for share in shares}
    write_csv(
        [
            {
                "known": known,
                "share": share,
                "choice": name,
                "variance_over_rr": ratio,
                "epsilon_hidden": towards,
                "epsilon_partner": partner,
            }
            for known, share, found in [
                *((known, 0.1, found) for known, found in by_known.items()),
                *((500, share, found) for share, found in by_share.items()),
            ]
            for name, (ratio, towards, partner) in found.items()
        ],
        folder / "figure-4.2.csv",
    )
    figure = new_figure(11, 8)
    (top_left, top_right), (left, right) = figure.subplots(2, 2, sharex="col")
    _column(top_left, left, [100 * known / PEOPLE for known in knowns], list(by_known.values()))
    _column(top_right, right, shares, list(by_share.values()))
    top_left.set_title("10% ones (for 90% the same)", fontsize=10)
    top_right.set_title("500 of 10,000 people known (5%)", fontsize=10)
    left.set_xlabel("people whose value the collector knows, per cent")
    right.set_xlabel("share of ones, n1/n")
    top_left.set_ylabel("variance over that of RR")
    left.set_ylabel("exact epsilon, pairing hidden")
    top_right.legend(fontsize=8, loc="lower center")
    figure.suptitle(f"Figure 4.2: what pairs of {PEOPLE:,} people gain where epsilon 1 is asked for")
    figure.supxlabel(
        "Privacy: the lower panels, against a collector who does not know the pairing. Only the choice under "
        "the exact epsilon keeps 1.\nTowards a partner all pairs that gain here are infinite; RR has "
        "epsilon 1 towards everybody.",
        fontsize=8,
    )
    save_figure(figure, folder / "figure-4.2.png")


def _column(
    top: Any, bottom: Any, places: Sequence[float], found: Sequence[dict[str, tuple[float, float, float]]]
) -> None:
    styles = {
        "heuristic": ("C1", ":", "thesis' heuristic, p = e/(1+e), rho = 1 - 1/p"),
        "best by Theorem 3": ("C3", "--", "best p and rho under Theorem 3"),
        "best by the exact epsilon": ("C0", "-", "best p and rho under the exact epsilon"),
    }
    for name, (color, style, label) in styles.items():
        top.plot(places, [each[name][0] for each in found], style, color=color, label=label)
        bottom.plot(places, [min(each[name][1], 50) for each in found], style, color=color)
    top.axhline(1, color="black", linewidth=0.8, label="RR at epsilon 1")
    bottom.axhline(1, color="black", linewidth=0.8)
    highest = max(each[name][1] for each in found for name in styles)
    bottom.set_ylim(0.98, min(highest, _MOST) + 0.02)
