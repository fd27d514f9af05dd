"""Pictures of the adversary: what more epsilon gives away."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ldpkit.assurance.adversary.compare import Risks
from ldpkit.assurance.adversary.risk_record import Risk
from ldpkit.figures.canvas import make_panels
from ldpkit.figures.theme import BAD, FAINT, MAIN, MUTED, style_of

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
        color=[FAINT, BAD],
        width=0.6,
    )
    axes.bar_label(axes.containers[0], [f"{each:.1%}" for each in (found.blind, found.success)], padding=3)
    axes.set_ylabel("how often the guess is right")
    axes.set_ylim(0, 1.08)
    axes.set_title(f"{found.mechanism}: epsilon {found.epsilon:.4g}", loc="left", wrap=True)


def draw_risks(axes: Any, found: Risks, measure: str = "success") -> None:
    """Draw one measure over epsilon, a line for each mechanism; at a single epsilon, a bar for each."""
    first = found.risks[0]
    budgets = [each.epsilon for each in found.risks]
    blind = {"success": first.blind, "squared_error": first.blind_squared_error}.get(measure)
    suffix = "" if blind is not None else f" of 'at most {first.eta:g}'"
    named = found.by_mechanism()
    if max(budgets) - min(budgets) < 0.01 or len(found.risks) == len(named):
        _draw_bars(axes, found, measure, blind)
        axes.set_xlabel(_MEASURES[measure] + suffix)
        return
    for index, (name, risks) in enumerate(named.items()):
        values = [getattr(each, measure) for each in risks]
        shown = [float("nan") if value is None else value for value in values]
        axes.plot([each.epsilon for each in risks], shown, label=name, **style_of(index))
    if blind is not None:
        axes.axhline(blind, color=MUTED, linewidth=1, linestyle=(0, (1, 1.5)), label="without a report")
    axes.set_xlabel("epsilon")
    axes.set_ylabel(_MEASURES[measure] + suffix)
    axes.set_ylim(bottom=0)
    axes.grid(axis="y")
    axes.legend()


def _draw_bars(axes: Any, found: Risks, measure: str, blind: float | None) -> None:
    """Draw a bar for each mechanism: they are categories, and equal ones are equally long."""
    values = [getattr(each, measure) for each in found.risks]
    places = range(len(values))[::-1]
    one = len({round(each.epsilon, 2) for each in found.risks}) == 1
    names = [each.name if one else f"{each.name}, epsilon {each.epsilon:.3g}" for each in found.risks]
    bars = axes.barh(places, [value or 0.0 for value in values], height=0.6, color=MAIN)
    texts = ["never says yes" if value is None else f"{value:.3g}" for value in values]
    axes.bar_label(bars, texts, padding=4, fontsize=8.5)
    axes.set_yticks(places, names)
    axes.tick_params(axis="y", length=0)
    axes.margins(x=0.18)
    if blind is not None:
        axes.axvline(blind, color=BAD, linewidth=1.2, linestyle=(0, (4, 2)), label="without a report")
        axes.set_xlim(right=max(axes.get_xlim()[1], 1.1 * blind))
        axes.legend(loc="lower right", bbox_to_anchor=(1, 1.0), borderaxespad=0.2)


def risks_figure(found: Risks, *, across: int | None = None) -> Figure:
    """Return success, error and, where asked for, precision, recall and F-score over epsilon."""
    first = found.risks[0]
    asked = list(_MEASURES)[: 2 if first.eta is None else None]
    measures = [name for name in asked if name != "squared_error" or first.squared_error is not None]
    width = 4.4 if across == 1 else 7.0 if len(measures) == 1 else 4.4
    figure, panels = make_panels(len(measures), width, 3.6, across=across)
    for axes, measure in zip(panels, measures, strict=True):
        draw_risks(axes, found, measure)
    for axes in panels[1:]:  # the lines of all panels are the same
        if axes.get_legend() is not None and found.risks[0].eta is not None:
            axes.get_legend().remove()
    return figure
