"""Pictures of plans: privacy against accuracy, with the epsilon that each plan chose."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np

from ldpkit.core.random import seeded
from ldpkit.core.typing import Floats
from ldpkit.figures.canvas import (
    label_ends,
    label_logs,
    make_panels,
    name_line,
    new_figure,
    outer_names,
    with_unit,
)
from ldpkit.figures.theme import BAD, FAINT, MAIN, MARKS, MUTED, style_of
from ldpkit.planning.frequencies.plans import BudgetPlans
from ldpkit.planning.mean.plans import MeanPlans
from ldpkit.planning.plan import Plan
from ldpkit.planning.searches import TrialRunner

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["budget_figure", "draw_budget", "draw_mean_plans", "draw_plan"]

_POINTS = 25
_RUNS = 100
_MANY_VALUES = 20_000  # beyond, there are fewer epsilons, and fewer collections at each of them
_FEW_POINTS, _FEW_RUNS = 10, 10
_TOGETHER = 2  # bands that can be told apart in one panel


def draw_plan(axes: Any, plan: Plan) -> None:
    """Draw the probability at every epsilon that was tried, and the one that was chosen."""
    trials = sorted(plan.trace, key=lambda trial: trial.epsilon)
    axes.plot([each.epsilon for each in trials], [each.probability for each in trials], "o", color=MAIN)
    axes.axhline(plan.wanted, color=MUTED, linewidth=1, linestyle=(0, (4, 2)))
    name_line(axes, plan.wanted, f"wanted: {plan.wanted:g}")
    if plan.epsilon is not None:
        axes.axvline(plan.epsilon, color=BAD, linewidth=1.2, label=f"epsilon {plan.epsilon:.3g}")
        axes.legend(loc="lower right")
    axes.set_xscale("log")
    label_logs(axes.xaxis)
    axes.set_xlabel("epsilon (smaller is more private)")
    axes.set_ylabel("probability that the constraint holds")
    axes.set_title(f"{plan.protocol}, {plan.method}: {plan.goal}", loc="left", wrap=True)


def draw_budget(axes: Any, found: BudgetPlans) -> None:
    """Draw accuracy over epsilon for each protocol, with the epsilon that each plan chose."""
    curves = _kept_curves(found)
    for index, name in enumerate(curves):
        _draw_curve(axes, found, curves[name], name, index, band=len(curves) <= _TOGETHER)
    _budget_axes(axes, found)
    axes.legend()


def budget_figure(found: BudgetPlans, *, across: int | None = None) -> Figure:
    """Return one panel, or of several protocols one for each: bands on each other cannot be told apart."""
    curves = _kept_curves(found)
    if len(curves) <= _TOGETHER:
        figure = new_figure(*((4.4, 4.4) if across == 1 else (8.0, 4.6)))
        draw_budget(figure.subplots(), found)
        return figure
    figure, panels = make_panels(
        len(curves), 4.4 if across == 1 else 3.6, 3.1, across=across, sharex=True, sharey=True
    )
    for index, (axes, name) in enumerate(zip(panels, curves, strict=True)):
        for other in curves:
            if other != name:
                axes.plot(curves[other].epsilons, curves[other].line, color=FAINT, linewidth=1, zorder=1)
        _draw_curve(axes, found, curves[name], name, index, band=True)
        _budget_axes(axes, found)
        axes.tick_params(labelbottom=True)  # below each other, the numbers of the last would be far away
        axes.set_title("", loc="left")
        chosen = [plan.epsilon for plan in found.plans if plan.protocol == name and plan.epsilon is not None]
        told = f"epsilon {min(chosen):.3g}" if chosen else "infeasible"
        axes.set_title(f"{name}: {told}", loc="left")
    outer_names(panels, across)
    figure.suptitle(f"{_budget_title(found)}; grey: the others", fontsize=10)
    return figure


@dataclass(frozen=True)
class _Curve:
    """What simulated collections of a protocol say at some epsilons."""

    epsilons: Floats
    line: Floats
    low: Floats
    high: Floats


_CURVES: WeakKeyDictionary[BudgetPlans, dict[str, _Curve]] = WeakKeyDictionary()


def _kept_curves(found: BudgetPlans) -> dict[str, _Curve]:
    """Return the curves, simulated once: a page draws them twice, and --figure once more."""
    if found not in _CURVES:
        _CURVES[found] = _budget_curves(found)
    return _CURVES[found]


def _budget_curves(found: BudgetPlans) -> dict[str, _Curve]:
    """Return for each protocol the metric that the wanted share of collections is at least as good as.

    It is that of 100 simulated collections at each of 25 epsilons; the band holds eight in ten. Of
    more than 20,000 values it is 10 epsilons, and down to 10 collections: their metrics differ less. Of
    several plans for one protocol, the first gives the curve.
    """
    questions, plans, rng = found.questions, found.plans, seeded(0).derive("figure")
    values = len(questions[0].counts)
    points = _POINTS if values <= _MANY_VALUES else _FEW_POINTS
    runs = max(_FEW_RUNS, min(_RUNS, _RUNS * _MANY_VALUES // values))
    lowest = min(question.epsilon_min for question in questions)
    highest = max(question.epsilon_max for question in questions)
    epsilons = _range(lowest, highest, plans, points)
    curves: dict[str, _Curve] = {}
    for question, plan in zip(questions, plans, strict=True):
        if plan.protocol not in curves:
            runner = TrialRunner(question, rng)
            drawn = [runner.draw(float(epsilon), runs) for epsilon in epsilons]
            line = np.array([question.constraint.quantile(values) for values in drawn])
            low, high = np.quantile(drawn, [0.1, 0.9], axis=1)
            curves[plan.protocol] = _Curve(epsilons, line, low, high)
    return curves


def _draw_curve(axes: Any, found: BudgetPlans, curve: _Curve, name: str, index: int, *, band: bool) -> None:
    look = style_of(index)
    line = {"color": look["color"], "linestyle": look["linestyle"], "linewidth": 1.6}
    axes.plot(curve.epsilons, curve.line, label=name, **line)
    if band:
        axes.fill_between(curve.epsilons, curve.low, curve.high, color=look["color"], alpha=0.15, linewidth=0)
    for place, plan in enumerate(plan for plan in found.plans if plan.protocol == name):
        if plan.epsilon is not None:
            omega = found.questions[0].constraint.omega
            label = f"{name}: epsilon {plan.epsilon:.3g} ({plan.method})"
            mark = MARKS[(index + place) % len(MARKS)]
            axes.plot(plan.epsilon, omega, mark, color=look["color"], markersize=8, label=label)


def _budget_title(found: BudgetPlans) -> str:
    question = found.questions[0]
    wanted = question.constraint
    goal = f"{wanted.measure.title} {wanted.direction} {wanted.omega:g}"
    often = f"in {wanted.probability:.0%} of collections or more"
    return f"{goal} {often}; n = {question.n:,}; bands: middle 80%"


def _budget_axes(axes: Any, found: BudgetPlans) -> None:
    constraint = found.questions[0].constraint
    axes.axhline(constraint.omega, color=MUTED, linewidth=1, linestyle=(0, (4, 2)))
    name_line(axes, constraint.omega, f"wanted: {constraint.omega:g}")
    axes.set_xscale("log")
    label_logs(axes.xaxis)
    if not constraint.measure.larger_is_better:
        axes.set_yscale("log")
        label_logs(axes.yaxis)
    axes.set_xlabel("epsilon (smaller is more private)")
    reached = "reached" if constraint.measure.larger_is_better else "not exceeded"
    often = f"{reached} in {constraint.probability:.0%} of collections"
    axes.set_ylabel(f"{constraint.measure.title},\n{often}")
    axes.set_title(_budget_title(found), loc="left", wrap=True)


def draw_mean_plans(axes: Any, found: MeanPlans, *, unit: str = "") -> None:
    """Draw how far off a mean is over epsilon for each mechanism, with the epsilon that was chosen."""
    questions, plans = found.questions, found.plans
    first = questions[0]
    epsilons = _range(first.epsilon_min, first.epsilon_max, plans)
    ends = []
    # Two mechanisms may be one and the same below some epsilon: a broken line leaves the other to be seen.
    for index, (question, plan) in enumerate(zip(questions, plans, strict=True)):
        look = style_of(index)
        errors = [question.error(float(epsilon)) for epsilon in epsilons]
        chosen = "infeasible" if plan.epsilon is None else f"epsilon {plan.epsilon:.3g}"
        line = {"color": look["color"], "linestyle": look["linestyle"], "linewidth": 1.6}
        axes.plot(epsilons, errors, label=f"{plan.protocol}: {chosen}", **line)
        ends.append((float(epsilons[-1]), errors[-1], f"{plan.protocol}: {chosen}", look["color"]))
        if plan.epsilon is not None:
            axes.plot(plan.epsilon, question.within, look["marker"], color=look["color"], markersize=8)
    axes.axhline(first.within, color=MUTED, linewidth=1, linestyle=(0, (4, 2)))
    name_line(axes, first.within, f"wanted: {first.within:g}{f' {unit}' if unit else ''}")
    axes.set_yscale("log")
    label_logs(axes.yaxis)
    axes.set_xscale("log")
    label_logs(axes.xaxis)
    axes.set_xlabel("epsilon (smaller is more private)")
    error = with_unit("error of the mean", unit)
    axes.set_ylabel(f"{error},\nnot exceeded in {first.probability:.0%} of collections")
    goal = first.with_unit(first.goal, unit)
    axes.set_title(f"{goal}; n = {first.n:,}, {first.scope}", loc="left", wrap=True)
    label_ends(axes, ends)


def _range(low: float, high: float, plans: Sequence[Plan], points: int = _POINTS) -> Floats:
    """Return epsilons around the chosen ones, or over all that is allowed if none was found."""
    chosen = [plan.epsilon for plan in plans if plan.epsilon is not None]
    if chosen:
        low, high = max(low, min(chosen) / 4), min(high, max(chosen) * 2)
    return np.asarray(np.clip(np.geomspace(low, high, points), low, high))
