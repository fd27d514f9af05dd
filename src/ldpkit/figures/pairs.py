"""What correlation gains and what it gives away, in one picture."""

from __future__ import annotations

import math
import textwrap
from typing import TYPE_CHECKING, Any

import numpy as np

from ldpkit.figures.canvas import new_figure
from ldpkit.figures.theme import BAD, COLOURS, INK, MAIN
from ldpkit.mechanisms.joint.table import PairTable
from ldpkit.planning.pairs.plans import PairPlan

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["draw_pairs", "pairs_figure"]

_FARTHEST = (
    8.0  # epsilon towards a partner, beyond which the line leaves the picture, if it starts well before
)
_POINTS = 80
_LETTERS = 56  # of a line of the legend, on a phone


def pairs_figure(plan: PairPlan, *, across: int | None = None) -> Figure:
    """Return the picture; on a phone what the marks mean stands below it."""
    figure = new_figure(*((4.4, 6.0) if across == 1 else (8.0, 4.8)))
    axes: Any = figure.subplots()
    draw_pairs(axes, plan)
    if across == 1:
        axes.get_legend().remove()
        for text in axes.texts:
            text.remove()
        axes.set_title("", loc="left")
        for text in figure.legend(loc="outside lower left", fontsize=8).get_texts():
            text.set_text(textwrap.fill(text.get_text(), _LETTERS))
    return figure


def draw_pairs(ax: Axes, plan: PairPlan) -> None:
    """Draw the variance of pairs against what a knowing partner learns, along the correlation.

    Everybody's single report keeps `epsilon_alone` along the whole line. It begins at
    randomised response, where partners are independent, and ends at infinity, the choice
    of the thesis. Beside it are the two honest ways to spend as much on a partner: plain
    randomised response at that epsilon, and the joint count of two.
    """
    axes: Any = ax
    question = plan.question
    alone = question.epsilon_alone
    base = plan["rr"].variance
    farthest = max(_FARTHEST, 2 * alone)
    spent = np.linspace(alone, farthest, _POINTS + 1)[1:]
    tables = [PairTable.of_epsilons(2, alone, float(each)) for each in spent]
    ratios = [question.variance(table) / base for table in tables]
    axes.plot(
        [alone, *spent],
        [1.0, *ratios],
        color=MAIN,
        label=f"correlated answers of pairs (JRR); on its own each has epsilon {alone:g}",
    )
    for wanted in (2.0, 4.0):
        if alone < wanted < farthest:
            table = PairTable.of_epsilons(2, alone, wanted)
            ratio = question.variance(table) / base
            axes.plot(wanted, ratio, "o", color=MAIN, markersize=4)
            axes.annotate(
                f"correlation {float(table.rho):.2f}", (wanted, ratio), (4, 6), textcoords="offset points"
            )
    thesis = plan["thesis"]
    axes.axhline(
        thesis.ratio,
        color=BAD,
        linestyle=":",
        linewidth=1.4,
        label=f"strongest correlation, {thesis.rho:.2f}: a partner can learn the value (epsilon infinite)",
    )
    plain = [(math.exp(each) / (math.exp(each) - 1) ** 2) for each in (alone, *spent)]
    axes.plot(
        [alone, *spent],
        [each / plain[0] for each in plain],
        "--",
        color=COLOURS[2],
        label="no pairs: randomised response (RR) at the epsilon on the axis",
    )
    axes.plot(alone, 1.0, "s", color=INK, label=f"RR at epsilon {alone:g}")
    axes.plot(
        alone,
        plan["group"].ratio,
        "D",
        color=COLOURS[3],
        label=f"one joint count from each pair (GroupCount), epsilon {alone:g}",
    )
    axes.set_xlim(0, farthest)
    axes.set_ylim(0, max(1.1, *ratios) + 0.02)
    axes.set_xlabel("epsilon towards a partner who knows all but your value (left: more private)")
    axes.set_ylabel(f"variance, RR at epsilon {alone:g} = 1 (lower: better)")
    low, high = question.range
    spread = f"{low:,} ones" if low == high else f"{low:,} to {high:,} ones (worst case)"
    axes.set_title(
        f"What answering in pairs gains, and what your partner learns\n{question.n:,} people, {spread}",
        loc="left",
    )
    axes.legend(loc="center right", bbox_to_anchor=(1.0, 0.36))  # below the pairs, above the dashed line
