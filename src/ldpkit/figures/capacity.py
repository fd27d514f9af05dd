"""Figures of capacity planning: privacy against right decisions, and the spread of searches."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ldpkit.core.typing import Floats
from ldpkit.figures.canvas import label_logs, new_figure
from ldpkit.planning.capacity.plans import CapacityPlans
from ldpkit.planning.laws.totals import cantelli, chebyshev, law_at
from ldpkit.planning.plan import Plan

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["draw_capacity", "lines_figure", "methods_figure", "spread_figure"]

_POINTS = 80


def draw_capacity(axes: Any, found: CapacityPlans) -> None:
    """Draw the probability of the bounded outcome over epsilon, with each plan's choice."""
    question, plans = found.asked, found.plans
    epsilons = _range(plans)
    for plan in plans:
        law = law_at(plan.protocol, question)
        laws = [law(epsilon) for epsilon in epsilons]
        exact = [question.of_outcome(question.right(each.at_most(question.capacity))) for each in laws]
        chosen = "infeasible" if plan.epsilon is None else f"epsilon {plan.epsilon:.3g}"
        (line,) = axes.plot(epsilons, exact, label=f"{plan.protocol}, exact: {chosen}")
        if len(plans) == 1:
            for name, bound in (("Chebyshev", chebyshev), ("Cantelli", cantelli)):
                mistakes = np.array([bound(each, question) for each in laws])
                values = mistakes if question.outcome.is_mistake else 1 - mistakes
                axes.plot(epsilons, values, "--", linewidth=1, label=f"{plan.protocol}, {name} bound")
        if plan.epsilon is not None:
            axes.plot(plan.epsilon, question.of_outcome(plan.probability), "o", color=line.get_color())
    axes.axhline(question.bound, color="grey", linewidth=0.8, label="the wanted bound")
    axes.set_xscale("log")
    label_logs(axes.xaxis)
    axes.set_xlabel("epsilon: less is more private")
    axes.set_ylabel(f"probability of a {question.outcome.words}")
    axes.set_title(f"total {question.total:,.10g}, capacity {question.capacity:,.10g}, {question.n:,} people")
    axes.legend(fontsize=8)


def spread_figure(chosen: Mapping[int, Sequence[float]], exact: float) -> Figure:
    """Return for each number of runs how often a search chose each epsilon, and the exact one.

    Parameters
    ----------
    chosen : mapping
        For a number of runs, the epsilon of every repetition.
    exact : float
        The epsilon of the exact method, which has no spread.
    """
    columns = 3
    rows = -(-len(chosen) // columns)
    figure = new_figure(11, 3 * rows)
    panels: Any = figure.subplots(rows, columns, sharex=True, squeeze=False)
    for axes, (runs, epsilons) in zip(panels.flat, chosen.items(), strict=False):
        counted = Counter(np.round(epsilons, 6).tolist())
        axes.bar(list(counted), list(counted.values()), width=0.006)
        axes.axvline(exact, color="tab:red", linewidth=1, label=f"exact: {exact:.4g}")
        axes.set_title(f"{runs:,} runs: {len(counted)} different answers", fontsize=9)
        axes.legend(fontsize=7)
    for axes in panels[-1]:
        axes.set_xlabel("selected epsilon")
    for axes in panels[:, 0]:
        axes.set_ylabel(f"of {len(next(iter(chosen.values())))} repetitions")
    return figure


def methods_figure(found: Mapping[str, Mapping[str, Mapping[float, Plan]]]) -> Figure:
    """Return the epsilon that methods choose over a threshold, and their seconds, a column a protocol.

    Parameters
    ----------
    found : mapping
        By protocol, method and threshold, the plan.
    """
    figure = new_figure(4.5 * len(found), 6)
    panels: Any = figure.subplots(2, len(found), squeeze=False)
    for (protocol, methods), (above, below) in zip(found.items(), panels.T, strict=True):
        for index, (method, plans) in enumerate(methods.items()):
            # Side by side: the answers hardly differ, and would lie on each other.
            places = [place + 0.15 * (index - 1.5) for place in range(len(plans))]
            above.plot(places, [plan.epsilon or np.nan for plan in plans.values()], "o", label=method)
            below.plot(places, [plan.seconds for plan in plans.values()], "o", label=method)
        thresholds = [f"{threshold:g}" for threshold in next(iter(methods.values()))]
        for axes, what in ((above, "epsilon"), (below, "seconds")):
            axes.set_xticks(range(len(thresholds)), thresholds)
            axes.set_ylabel(what)
            axes.set_xlabel("least probability of a true positive")
        below.set_yscale("log")
        above.set_title(protocol)
    figure.legend(*panels[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=4)
    return figure


def lines_figure(
    panels: Mapping[str, Mapping[str, tuple[Sequence[float], Sequence[float]]]],
    x: str | Sequence[str],
    y: str,
) -> Figure:
    """Return a figure of panels, each with named lines; x is the name of an axis, or one for each panel."""
    names = [x] * len(panels) if isinstance(x, str) else x
    columns = min(2, len(panels))
    rows = -(-len(panels) // columns)
    figure = new_figure(5.5 * columns, 3.8 * rows)
    grid: Any = figure.subplots(rows, columns, squeeze=False)
    for axes, (title, lines), along in zip(grid.flat, panels.items(), names, strict=False):
        for name, (across, up) in lines.items():
            axes.plot(across, up, marker="o", markersize=3, label=name)
        axes.set_title(title, fontsize=9)
        axes.set_xlabel(along)
        axes.set_ylabel(y)
        axes.legend(fontsize=7)
    return figure


def _range(plans: Sequence[Plan]) -> Floats:
    """Return epsilons around what the plans chose, or the whole range where they chose nothing."""
    chosen = [plan.epsilon for plan in plans if plan.epsilon is not None]
    tried = [trial.epsilon for plan in plans for trial in plan.trace]
    low = max(0.001, min(chosen) / 8) if chosen else max(0.001, min(tried))
    high = min(20.0, max(chosen) * 4) if chosen else min(20.0, max(tried))
    return np.geomspace(low, max(high, 2 * low), _POINTS)
