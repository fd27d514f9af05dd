"""What a classifier keeps over epsilon, a line for each mechanism, and over records."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ldpkit.figures.canvas import label_logs, new_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from ldpkit.assurance.classifier.utility import Utilities
    from ldpkit.planning.classifier.results import ClassifierPlans

__all__ = ["classifier_figure", "draw_classifier", "draw_utilities"]

_MARKS = "osv^D<>P*X"


def draw_classifier(ax: Axes, found: ClassifierPlans, what: str = "average") -> None:
    """Draw the utility over total epsilon: each mechanism with its best split, and the label response."""
    axes: Any = ax
    column = 1 if what == "average" else 2
    seen: set[str] = set()
    marks = iter(_MARKS * 3)
    for plan in found.plans:  # in order of the epsilon they need, so the first of a mechanism is its best
        if plan.mechanism in seen or not plan.curve:
            continue
        seen.add(plan.mechanism)
        epsilons = [point[0] for point in plan.curve]
        values = [point[column] for point in plan.curve]
        label = f"{plan.mechanism} ({plan.split})" if plan.shares[1:] else plan.mechanism
        if not plan.shares:
            axes.plot(epsilons, values, "k--", linewidth=1.0, label=label)
        elif plan.how == "corrected":
            if what == "average":
                axes.plot(epsilons, values, "k:", marker="x", markersize=4, linewidth=1.2, label=label)
        else:
            (line,) = axes.plot(epsilons, values, linewidth=1.2, label=label)
            mark = next(marks)
            if what == "average" and plan.drawn:
                at, means, lows, highs = (np.array(each) for each in zip(*plan.drawn, strict=True))
                axes.errorbar(
                    at,
                    means,
                    yerr=[means - lows, highs - means],
                    fmt=mark,
                    markersize=4,
                    markerfacecolor="white",
                    color=line.get_color(),
                    capsize=2,
                )
            else:
                line.set_marker(mark)
                line.set_markersize(4)
    axes.axhline(found.keep, color="grey", linewidth=0.8, linestyle=":")
    if what == "average":
        axes.axhline(
            found.constant, color="grey", linewidth=0.8, linestyle="--", label="always the commonest label"
        )
    axes.set_xscale("log")
    label_logs(axes.xaxis)
    axes.set_ylim(0, 1.02)
    axes.set_xlabel(f"total epsilon for {', '.join(found.sensitive)}")
    axes.set_ylabel("probability of the same prediction")
    axes.legend(fontsize=7, loc="lower right")


def classifier_figure(found: ClassifierPlans) -> Figure:
    """Return the average and the worst record side by side."""
    figure = new_figure(12.0, 5.2)
    left, right = figure.subplots(1, 2)
    draw_classifier(left, found, "average")
    how = "lines exact, marks drawn with 95% intervals" if found.method != "drawn" else "drawn"
    left.set_title(f"On average over {found.records:,} records: {how}", fontsize=10)
    draw_classifier(right, found, "worst")
    right.set_title("For the worst record", fontsize=10)
    legend = right.get_legend()
    if legend is not None:
        legend.remove()
    figure.suptitle(found.title)
    return figure


def draw_utilities(ax: Axes, found: Utilities) -> None:
    """Draw how many records have which utility."""
    axes: Any = ax
    axes.hist(found.values, bins=np.linspace(0, 1, 41), color="C0", alpha=0.7)
    axes.axvline(
        found.average.value, color="black", linewidth=1.0, label=f"average {found.average.value:.3f}"
    )
    axes.axvline(
        found.worst.value, color="C3", linewidth=1.0, linestyle="--", label=f"worst {found.worst.value:.3f}"
    )
    axes.set_xlim(0, 1)
    axes.set_xlabel("probability of the same prediction")
    axes.set_ylabel("records")
    axes.set_title(found.title)
    axes.legend(fontsize=8)
