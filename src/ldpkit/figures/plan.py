"""Pictures of plans: privacy against accuracy, with the epsilon that each plan chose."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ldpkit.core.random import seeded
from ldpkit.core.typing import Floats
from ldpkit.figures.canvas import label_logs
from ldpkit.planning.frequencies.plans import BudgetPlans
from ldpkit.planning.mean.plans import MeanPlans
from ldpkit.planning.plan import Plan
from ldpkit.planning.searches import TrialRunner

__all__ = ["draw_budget", "draw_mean_plans", "draw_plan"]

_POINTS = 25
_RUNS = 100
_MARKERS = "osD^vPX"


def draw_plan(axes: Any, plan: Plan) -> None:
    """Draw the probability at every epsilon that was tried, and the one that was chosen."""
    trials = sorted(plan.trace, key=lambda trial: trial.epsilon)
    axes.plot([each.epsilon for each in trials], [each.probability for each in trials], "o-", markersize=3)
    axes.axhline(plan.wanted, color="grey", linewidth=0.8, linestyle="--", label="wanted")
    if plan.epsilon is not None:
        axes.axvline(plan.epsilon, color="tab:red", linewidth=1, label=f"epsilon {plan.epsilon:.3g}")
    axes.set_xscale("log")
    label_logs(axes.xaxis)
    axes.set_xlabel("epsilon: less is more private")
    axes.set_ylabel("probability that the constraint holds")
    axes.set_title(f"{plan.protocol}, {plan.method}: {plan.goal}", fontsize=10)
    axes.legend(fontsize=8)


def draw_budget(axes: Any, found: BudgetPlans) -> None:
    """Draw accuracy over epsilon for each protocol, with the epsilon that each plan chose.

    The line is the metric that the wanted share of the collections is at least as good
    as, from 100 simulated collections at each of 25 epsilons; the band holds eight in ten.
    Of several plans for one protocol, the first gives the curve.
    """
    questions, plans, rng = found.questions, found.plans, seeded(0).derive("figure")
    lowest = min(question.epsilon_min for question in questions)
    highest = max(question.epsilon_max for question in questions)
    epsilons = _range(lowest, highest, plans)
    colours: dict[str, Any] = {}
    markers: dict[str, str] = {}
    for question, plan in zip(questions, plans, strict=True):
        constraint = question.constraint
        if plan.protocol not in colours:
            runner = TrialRunner(question, rng)
            drawn = [runner.draw(float(epsilon), _RUNS) for epsilon in epsilons]
            (line,) = axes.plot(
                epsilons, [constraint.quantile(values) for values in drawn], label=plan.protocol
            )
            colours[plan.protocol] = line.get_color()
            low, high = np.quantile(drawn, [0.1, 0.9], axis=1)
            axes.fill_between(epsilons, low, high, color=line.get_color(), alpha=0.15)
        if plan.epsilon is not None:
            marker = markers.setdefault(plan.method, _MARKERS[len(markers) % len(_MARKERS)])
            axes.plot(
                plan.epsilon,
                constraint.omega,
                marker,
                color=colours[plan.protocol],
                label=f"{plan.protocol}: epsilon {plan.epsilon:.3g} ({plan.method})",
            )
    constraint = questions[0].constraint
    axes.axhline(constraint.omega, color="grey", linewidth=0.8, linestyle="--")
    axes.set_xscale("log")
    label_logs(axes.xaxis)
    if not constraint.measure.larger_is_better:
        axes.set_yscale("log")
        label_logs(axes.yaxis)
    axes.set_xlabel("epsilon: less is more private")
    axes.set_ylabel(f"{constraint.measure.title}, as good in {constraint.probability:.0%} of collections")
    axes.set_title(f"{constraint}; n = {questions[0].n:,}")
    axes.legend(fontsize=8)


def draw_mean_plans(axes: Any, found: MeanPlans) -> None:
    """Draw how far off a mean is over epsilon for each mechanism, with the epsilon that was chosen."""
    questions, plans = found.questions, found.plans
    first = questions[0]
    epsilons = _range(first.epsilon_min, first.epsilon_max, plans)
    # Two mechanisms may be one and the same below some epsilon: a broken line leaves the other to be seen.
    styles = ("-", "--", "-.", ":")
    for index, (question, plan) in enumerate(zip(questions, plans, strict=True)):
        errors = [question.error(float(epsilon)) for epsilon in epsilons]
        chosen = "infeasible" if plan.epsilon is None else f"epsilon {plan.epsilon:.3g}"
        (line,) = axes.plot(epsilons, errors, styles[index % len(styles)], label=f"{plan.protocol}: {chosen}")
        if plan.epsilon is not None:
            marker = _MARKERS[index % len(_MARKERS)]
            axes.plot(plan.epsilon, question.within, marker, color=line.get_color())
    axes.axhline(first.within, color="grey", linewidth=0.8, linestyle="--")
    axes.annotate(
        f"wanted: {first.within:g}",
        (1, first.within),
        xycoords=axes.get_yaxis_transform(),
        xytext=(-4, 4),
        textcoords="offset points",
        ha="right",
        color="grey",
    )
    axes.set_yscale("log")
    label_logs(axes.yaxis)
    axes.set_xscale("log")
    label_logs(axes.xaxis)
    axes.set_xlabel("epsilon: less is more private")
    axes.set_ylabel(f"error of the mean, not exceeded in {first.probability:.0%} of collections")
    axes.set_title(f"{first.goal}; n = {first.n:,}, {first.scope}")
    axes.legend(fontsize=8)


def _range(low: float, high: float, plans: Sequence[Plan]) -> Floats:
    """Return epsilons around the chosen ones, or over all that is allowed if none was found."""
    chosen = [plan.epsilon for plan in plans if plan.epsilon is not None]
    if chosen:
        low, high = max(low, min(chosen) / 4), min(high, max(chosen) * 2)
    return np.asarray(np.clip(np.geomspace(low, high, _POINTS), low, high))
