"""From a result to its picture: which function draws which kind.

`result.plot()` and `result.figure()` arrive here. A function draws the main picture of its
kind on given axes; where one pair of axes is too few for all there is to see, another
makes a whole figure.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from ldpkit.core.errors import MissingDependencyError
from ldpkit.figures.canvas import new_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from ldpkit.core.results import Result

__all__ = ["DRAWN", "WHOLE", "figure", "plot"]

DRAWN = {
    "frequencies": "ldpkit.figures.estimates:draw_frequencies",
    "mean": "ldpkit.figures.estimates:draw_mean",
    "adaptive mean": "ldpkit.figures.estimates:draw_mean",
    "density": "ldpkit.figures.estimates:draw_density",
    "direction": "ldpkit.figures.circle:draw_direction",
    "circular density": "ldpkit.figures.circle:draw_circular_density",
    "heat map": "ldpkit.figures.plane:draw_heatmap",
    "hotspots": "ldpkit.figures.plane:draw_hotspots",
    "origins and destinations": "ldpkit.figures.plane:draw_flows",
    "private trajectories": "ldpkit.figures.trajectories:draw_private",
    "trajectory evaluation": "ldpkit.figures.trajectories:draw_evaluation",
    "location recommendation": "ldpkit.figures.trajectories:draw_location_recommendation",
    "quantile": "ldpkit.figures.estimates:draw_quantile",
    "plan": "ldpkit.figures.plan:draw_plan",
    "plan budget": "ldpkit.figures.plan:draw_budget",
    "plan mean": "ldpkit.figures.plan:draw_mean_plans",
    "plan capacity": "ldpkit.figures.capacity:draw_capacity",
    "plan pairs": "ldpkit.figures.pairs:draw_pairs",
    "plan classifier": "ldpkit.figures.classifier:draw_classifier",
    "classifier utility": "ldpkit.figures.classifier:draw_utilities",
    "relaxations": "ldpkit.figures.relaxations:draw_relaxations",
    "errors": "ldpkit.figures.optimal:draw_errors",
    "minimax": "ldpkit.figures.optimal:draw_minimax",
    "optimal pieces": "ldpkit.figures.optimal:draw_pieces",
    "recommendation": "ldpkit.figures.recommendation:draw_recommendation",
    "mean recommendation": "ldpkit.figures.recommendation:draw_mean_recommendation",
    "risk": "ldpkit.figures.risk:draw_risk",
    "risks": "ldpkit.figures.risk:draw_risks",
    "audit": "ldpkit.figures.audit:draw_audit",
    "benchmark": "ldpkit.figures.experiment:draw_benchmark",
    "numeric benchmark": "ldpkit.figures.numeric:draw_numeric_benchmark",
}
"""For each kind of result, what draws its main picture on given axes."""

WHOLE = {
    "plan classifier": "ldpkit.figures.classifier:classifier_figure",
    "errors": "ldpkit.figures.optimal:errors_figure",
    "minimax": "ldpkit.figures.optimal:minimax_figure",
    "heat map": "ldpkit.figures.plane:heatmap_figure",
    "trajectory evaluation": "ldpkit.figures.trajectories:evaluation_figure",
    "risks": "ldpkit.figures.risk:risks_figure",
    "benchmark": "ldpkit.figures.experiment:overview",
    "numeric benchmark": "ldpkit.figures.numeric:numeric_figure",
}
"""For kinds with more to see than one pair of axes shows, what makes the whole figure."""

_SIZE = (9.0, 5.5)


def plot(result: Result, ax: Axes | None = None, **options: Any) -> Axes:
    """Draw the main picture of a result, by default in a new figure of pyplot; return its axes.

    Options go to the function that draws it.
    """
    if ax is None:
        try:
            from matplotlib import pyplot
        except ImportError:
            raise MissingDependencyError("matplotlib", "drawing figures", "plots") from None
        ax = pyplot.subplots(figsize=_SIZE, layout="constrained")[1]
    _find(DRAWN[result.kind])(ax, result, **options)
    return ax


def figure(result: Result) -> Figure:
    """Return a figure with all there is to see of a result; it needs no display."""
    if result.kind in WHOLE:
        whole: Figure = _find(WHOLE[result.kind])(result)
        return whole
    made = new_figure(*_SIZE)
    plot(result, made.subplots())
    return made


def _find(place: str) -> Any:
    module, _, name = place.partition(":")
    return getattr(importlib.import_module(module), name)
