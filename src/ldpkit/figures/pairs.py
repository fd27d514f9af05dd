"""What correlation gains and what it gives away, in one picture."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from ldpkit.mechanisms.joint.table import PairTable
from ldpkit.planning.pairs.plans import PairPlan

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["draw_pairs"]

_FARTHEST = 8.0  # epsilon towards a partner, beyond which the line leaves the picture
_POINTS = 80


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
    spent = np.linspace(alone, _FARTHEST, _POINTS + 1)[1:]
    tables = [PairTable.of_epsilons(2, alone, float(each)) for each in spent]
    ratios = [question.variance(table) / base for table in tables]
    axes.plot(
        [alone, *spent], [1.0, *ratios], color="C0", label=f"pairs (JRR), each report epsilon {alone:g}"
    )
    for wanted in (2.0, 4.0):
        if alone < wanted < _FARTHEST:
            table = PairTable.of_epsilons(2, alone, wanted)
            ratio = question.variance(table) / base
            axes.plot(wanted, ratio, "o", color="C0", markersize=4)
            axes.annotate(f"rho {float(table.rho):.2f}", (wanted, ratio), (4, 6), textcoords="offset points")
    thesis = plan["thesis"]
    axes.axhline(thesis.ratio, color="C3", linestyle=":", linewidth=1.2)
    axes.annotate(
        f"the thesis' choice, rho {thesis.rho:.2f}: a partner can learn the value (epsilon infinite)",
        (_FARTHEST, thesis.ratio),
        (-4, -12),
        textcoords="offset points",
        ha="right",
        color="C3",
        fontsize=8,
    )
    plain = [(math.exp(each) / (math.exp(each) - 1) ** 2) for each in (alone, *spent)]
    axes.plot(
        [alone, *spent],
        [each / plain[0] for each in plain],
        "--",
        color="C1",
        label="everybody alone (RR) at the epsilon on the axis: always less noise",
    )
    axes.plot(alone, 1.0, "s", color="black", label=f"RR at epsilon {alone:g}")
    axes.plot(alone, plan["group"].ratio, "D", color="C2", label=f"joint count of two at epsilon {alone:g}")
    axes.set_xlim(0, _FARTHEST)
    axes.set_ylim(0, max(1.1, *ratios) + 0.02)
    axes.set_xlabel("epsilon towards a partner who knows everything but the value: less is more private")
    axes.set_ylabel(f"variance, over that of RR at epsilon {alone:g}")
    low, high = question.range
    spread = f"{low:,} ones" if low == high else f"{low:,} to {high:,} ones, the worst of them"
    axes.set_title(f"What pairs gain, and what they tell the partner ({question.n:,} people, {spread})")
    axes.legend(fontsize=8)
