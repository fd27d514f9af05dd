"""Figures of capacity planning: privacy against right decisions, and the spread of searches."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np

from ldpkit.core.typing import Floats
from ldpkit.figures.canvas import label_logs, label_percents, make_panels, name_line, new_figure
from ldpkit.figures.theme import BAD, MAIN, MUTED, style_of
from ldpkit.planning.capacity.plans import CapacityPlans
from ldpkit.planning.capacity.question import CapacityQuestion, Outcome
from ldpkit.planning.laws.totals import EstimatedTotal, cantelli, chebyshev, law_at
from ldpkit.planning.plan import Plan

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["draw_capacity", "lines_figure", "methods_figure", "spread_figure"]

_POINTS = 80
_MEANT = {
    Outcome.TP: "an overload is noticed",
    Outcome.FP: "a false alarm",
    Outcome.TN: "no overload and no alarm",
    Outcome.FN: "an overload goes unnoticed",
}
_MANY_VALUES = 20_000  # beyond, each point of a curve takes a while
_FEW_POINTS = 20
_SHORTEST = 0.01  # seconds: less is the clock and the machine, and tells nothing of a method


def draw_capacity(axes: Any, found: CapacityPlans) -> None:
    """Draw the probability of the bounded outcome over epsilon, with each plan's choice."""
    question, plans = found.asked, found.plans
    epsilons, curves = _kept_curves(found)
    for index, (plan, (laws, exact)) in enumerate(zip(plans, curves, strict=True)):
        look = style_of(index)
        chosen = "infeasible" if plan.epsilon is None else f"epsilon {plan.epsilon:.3g}"
        line = {"color": look["color"], "linestyle": look["linestyle"], "linewidth": 1.6}
        mark = {"marker": look["marker"], "markersize": 8}
        axes.plot(epsilons, exact, **line)
        # The entry of the legend has line and mark; on the line itself the mark stands where it was chosen.
        axes.plot([], [], label=f"{plan.protocol}: {chosen}", **line, **(mark if plan.epsilon else {}))
        if len(plans) == 1:
            for name, bound, dash in (("Chebyshev", chebyshev, "--"), ("Cantelli", cantelli, ":")):
                mistakes = np.array([bound(each, question) for each in laws])
                values = mistakes if question.outcome.is_mistake else 1 - mistakes
                axes.plot(epsilons, values, dash, color=MUTED, linewidth=1.1, label=f"{name} bound")
        if plan.epsilon is not None:
            at = question.of_outcome(plan.probability)
            axes.plot(plan.epsilon, at, color=look["color"], zorder=4, **mark)
    axes.axhline(question.bound, color=MUTED, linewidth=1.1, linestyle=(0, (1, 1.5)))
    label_percents(axes.yaxis)
    name_line(axes, question.bound, f"wanted: {100 * question.bound:g}%")
    axes.set_xscale("log")
    label_logs(axes.xaxis)
    axes.set_xlabel("epsilon (smaller is more private)")
    axes.set_ylabel(f"probability of a {question.outcome.words}:\n{_MEANT[question.outcome]}")
    people = f"total {question.total:,.10g}, capacity {question.capacity:,.10g}, {question.n:,} people"
    axes.set_title(people, loc="left", wrap=True)
    axes.legend()


_Curve = tuple[list[EstimatedTotal], list[float]]
_CURVES: WeakKeyDictionary[CapacityPlans, tuple[Floats, list[_Curve]]] = WeakKeyDictionary()


def _kept_curves(found: CapacityPlans) -> tuple[Floats, list[_Curve]]:
    """Return the curves, computed once: a page draws them twice, and --figure once more."""
    if found not in _CURVES:
        few = len(found.asked.amounts) > _MANY_VALUES
        epsilons = _range(found.plans, _FEW_POINTS if few else _POINTS)
        _CURVES[found] = epsilons, [_curve(found.asked, plan.protocol, epsilons) for plan in found.plans]
    return _CURVES[found]


def _curve(question: CapacityQuestion, protocol: str, epsilons: Floats) -> _Curve:
    """Return the law of the estimated total and the probability of the outcome at each epsilon."""
    laws = list(map(law_at(protocol, question), epsilons))
    return laws, [question.of_outcome(question.right(each.at_most(question.capacity))) for each in laws]


def spread_figure(chosen: Mapping[int, Sequence[float]], exact: float) -> Figure:
    """Return for each number of runs how often a search chose each epsilon, and the exact one.

    Parameters
    ----------
    chosen : mapping
        For a number of runs, the epsilon of every repetition.
    exact : float
        The epsilon of the exact method, which has no spread.
    """
    figure, panels = make_panels(len(chosen), 3.7, 2.8, sharex=True)
    for axes, (runs, epsilons) in zip(panels, chosen.items(), strict=True):
        counted = Counter(np.round(epsilons, 6).tolist())
        axes.bar(list(counted), list(counted.values()), width=0.006, color=MAIN)
        axes.axvline(exact, color=BAD, linewidth=1.2, linestyle=(0, (4, 2)))
        axes.set_title(f"{runs:,} runs: {len(counted)} different answers", loc="left")
        axes.set_xlabel("selected epsilon")
        axes.set_ylabel(f"of {len(epsilons)} repetitions")
    figure.suptitle(f"dashed: the exact answer, {exact:.4g}", fontsize=10)
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
            look = {"color": style_of(index)["color"], "marker": style_of(index)["marker"], "linestyle": ""}
            above.plot(places, [plan.epsilon or np.nan for plan in plans.values()], label=method, **look)
            seconds = [max(plan.seconds, _SHORTEST) for plan in plans.values()]
            below.plot(places, seconds, label=method, **look)
        thresholds = [f"{threshold:g}" for threshold in next(iter(methods.values()))]
        for axes, what in ((above, "epsilon"), (below, "seconds")):
            axes.set_xticks(range(len(thresholds)), thresholds)
            axes.set_ylabel(what)
            axes.set_xlabel("least probability of a true positive")
        below.set_yscale("log")
        below.axhline(_SHORTEST, color=MUTED, linewidth=0.8, linestyle=":")
        below.set_ylabel(f"seconds; {_SHORTEST:g} stands for that or less")
        above.set_title(protocol, loc="left")
    figure.legend(*panels[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=4)
    return figure


def lines_figure(
    panels: Mapping[str, Mapping[str, tuple[Sequence[float], Sequence[float]]]],
    x: str | Sequence[str],
    y: str,
) -> Figure:
    """Return a figure of panels, each with named lines; x is the name of an axis, or one for each panel."""
    names = [x] * len(panels) if isinstance(x, str) else x
    figure, grid = make_panels(len(panels), 5.0, 3.6, across=2)
    for axes, (title, lines), along in zip(grid, panels.items(), names, strict=True):
        for index, (name, (across, up)) in enumerate(lines.items()):
            axes.plot(across, up, label=name, **style_of(index))
        axes.set_title(title, loc="left")
        axes.set_xlabel(along)
        axes.set_ylabel(y)
        axes.legend()
    return figure


def _range(plans: Sequence[Plan], points: int) -> Floats:
    """Return epsilons around what the plans chose, or the whole range where they chose nothing."""
    chosen = [plan.epsilon for plan in plans if plan.epsilon is not None]
    tried = [trial.epsilon for plan in plans for trial in plan.trace]
    low = max(0.001, min(chosen) / 8) if chosen else max(0.001, min(tried))
    high = min(20.0, max(chosen) * 4) if chosen else min(20.0, max(tried))
    return np.geomspace(low, max(high, 2 * low), points)
