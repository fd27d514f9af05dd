"""Pictures of the adversary: what more epsilon gives away."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ldpkit.assurance.adversary.compare import Risks
from ldpkit.assurance.adversary.risk_record import Risk
from ldpkit.figures.canvas import new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["draw_risk", "draw_risks", "risks_figure"]

_MEASURES = {
    "success": "attack success rate",
    "squared_error": "mean squared error of the guess",
    "precision": "precision",
    "recall": "recall",
    "f_score": "F-score",
}


def draw_risk(axes: Any, found: Risk) -> None:
    """Draw how often the guess is right with and without a report."""
    axes.bar(
        ["without a report", "with it" if found.reports == 1 else f"with {found.reports}"],
        [found.blind, found.success],
        color=["0.7", "C3"],
    )
    axes.set_ylabel("how often the guess is right")
    axes.set_ylim(0, 1)
    axes.set_title(f"{found.mechanism}: epsilon {found.epsilon:.4g}", fontsize=10)


def draw_risks(axes: Any, found: Risks, measure: str = "success") -> None:
    """Draw one measure over epsilon, a line for each mechanism."""
    first = found.risks[0]
    for name, risks in found.by_mechanism().items():
        values = [getattr(each, measure) for each in risks]
        shown = [float("nan") if value is None else value for value in values]
        axes.plot([each.epsilon for each in risks], shown, "o-", label=name)
    blind = {"success": first.blind, "squared_error": first.blind_squared_error}.get(measure)
    if blind is not None:
        axes.axhline(blind, color="grey", linewidth=0.8, label="without a report")
    budgets = [each.epsilon for each in found.risks]
    if max(budgets) - min(budgets) < 0.01:  # one epsilon, as exactly as each mechanism realises it
        axes.set_xlim(min(budgets) - 0.5, max(budgets) + 0.5)
    axes.set_xlabel("epsilon")
    suffix = "" if blind is not None else f" of 'at most {first.eta:g}'"
    axes.set_ylabel(_MEASURES[measure] + suffix)
    axes.legend(fontsize=8)


def risks_figure(found: Risks) -> Figure:
    """Return success, error and, where asked for, precision, recall and F-score over epsilon."""
    first = found.risks[0]
    asked = list(_MEASURES)[: 2 if first.eta is None else None]
    measures = [name for name in asked if name != "squared_error" or first.squared_error is not None]
    figure = new_figure(5 * len(measures), 4)
    panels: Any = figure.subplots(1, len(measures), squeeze=False)[0]
    for axes, measure in zip(panels, measures, strict=True):
        draw_risks(axes, found, measure)
    return figure
