"""What a classifier keeps over epsilon, a line for each mechanism, and over records."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import numpy as np

from ldpkit.figures.canvas import label_logs, label_percents, make_panels, name_line
from ldpkit.figures.theme import BAD, BAR, INK, MUTED, PAPER, style_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from ldpkit.assurance.classifier.utility import Utilities
    from ldpkit.planning.classifier.results import ClassifierPlans

__all__ = ["classifier_figure", "draw_classifier", "draw_utilities"]


def draw_classifier(ax: Axes, found: ClassifierPlans, what: str = "average") -> None:
    """Draw the utility over total epsilon: each mechanism with its best split, and the label response."""
    axes: Any = ax
    column = 1 if what == "average" else 2
    seen: set[str] = set()
    looks = itertools.count()
    for plan in found.plans:  # in order of the epsilon they need, so the first of a mechanism is its best
        if plan.mechanism in seen or not plan.curve:
            continue
        seen.add(plan.mechanism)
        epsilons = [point[0] for point in plan.curve]
        values = [point[column] for point in plan.curve]
        label = f"{plan.mechanism} ({plan.split})" if plan.shares[1:] else plan.mechanism
        if not plan.shares:
            axes.plot(epsilons, values, color=INK, linestyle="--", linewidth=1.2, label=label)
        elif plan.how == "corrected":
            if what == "average":
                axes.plot(epsilons, values, ":", color=INK, marker="x", markersize=4, label=label)
        elif what == "average" and plan.drawn:
            look = style_of(next(looks))
            axes.plot(epsilons, values, label=label, **{**look, "marker": ""})
            at, means, lows, highs = (np.array(each) for each in zip(*plan.drawn, strict=True))
            axes.errorbar(
                at,
                means,
                yerr=[means - lows, highs - means],
                fmt=look["marker"],
                markersize=4,
                markerfacecolor=PAPER,
                color=look["color"],
                capsize=2,
            )
        else:
            look = style_of(next(looks))
            marked = look["marker"] if found.method == "drawn" else ""
            axes.plot(epsilons, values, label=label, **{**look, "marker": marked})
    for value, name in ((found.keep, "wanted"), (found.constant, "constant")):
        if name == "wanted" or what == "average":
            axes.axhline(value, color=MUTED, linewidth=0.9, linestyle=(0, (4, 2)))
            name_line(axes, value, f"{name}: {value:.3g}")
    axes.set_xscale("log")
    label_logs(axes.xaxis)
    axes.set_ylim(0, 1.02)
    axes.set_xlabel(f"total epsilon for {', '.join(found.sensitive)}")
    axes.set_ylabel("probability of the same prediction")
    axes.legend(loc="lower right")


def classifier_figure(found: ClassifierPlans, *, across: int | None = None) -> Figure:
    """Return the average and the worst record side by side."""
    figure, (left, right) = make_panels(2, 4.4 if across == 1 else 5.2, 4.6, across=across)
    draw_classifier(left, found, "average")
    how = "marks: simulated, 95% intervals" if found.method != "drawn" else "simulated"
    left.set_title(f"Average of {found.records:,} records; {how}", loc="left", wrap=True)
    draw_classifier(right, found, "worst")
    right.set_title("For the worst record", loc="left")
    legend = right.get_legend()
    if legend is not None:
        legend.remove()
    return figure


def draw_utilities(ax: Axes, found: Utilities) -> None:
    """Draw how many records have which utility, from below the worst of them on."""
    axes: Any = ax
    average, worst = found.average.value, found.worst.value
    least = max(0.0, np.floor(10 * worst - 0.5) / 10)
    axes.hist(found.values, bins=np.linspace(least, 1, 41), color=BAR)
    top = axes.get_ylim()[1]
    for value, name, colour, dash in ((average, "average", INK, "-"), (worst, "worst", BAD, (0, (4, 2)))):
        axes.axvline(value, color=colour, linewidth=1.4, linestyle=dash)
        axes.annotate(
            f"{name} {value:.1%}",
            (value, 1.1 * top),
            (-4 if name == "average" else 4, 0),
            textcoords="offset points",
            ha="right" if name == "average" else "left",
            va="center",
            color=colour,
        )
    axes.set_ylim(0, 1.18 * top)
    axes.set_xlim(least, 1)
    label_percents(axes.xaxis)
    axes.set_xlabel("probability of the same prediction")
    axes.set_ylabel("records")
    budget = (
        f"inputs at epsilon {found.epsilon:.4g}" if np.isfinite(found.epsilon) else "noise without epsilon"
    )
    axes.set_title(f"{len(found):,} records, {budget}", loc="left", wrap=True)
