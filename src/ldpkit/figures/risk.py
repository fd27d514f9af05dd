"""Figures of the adversary: what more epsilon gives away."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ldpkit.assurance.adversary import Risk
from ldpkit.figures.canvas import new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["risk_figure"]

_MEASURES = {
    "success": "attack success rate",
    "squared_error": "mean squared error of the guess",
    "precision": "precision",
    "recall": "recall",
    "f_score": "F-score",
}


def risk_figure(risks: Mapping[str, Sequence[Risk]]) -> Figure:
    """Return success, error and, where asked for, the F-score over epsilon, a line for each mechanism.

    Parameters
    ----------
    risks : mapping
        For the name of a mechanism, what was found at ascending epsilons.
    """
    first = next(iter(risks.values()))[0]
    measures = list(_MEASURES)[: 2 if first.eta is None else None]
    figure = new_figure(5 * len(measures), 4)
    panels: Any = figure.subplots(1, len(measures), squeeze=False)[0]
    for axes, measure in zip(panels, measures, strict=True):
        for name, found in risks.items():
            epsilons = [each.epsilon for each in found]
            values = [getattr(each, measure) for each in found]
            axes.plot(
                epsilons, [float("nan") if value is None else value for value in values], "o-", label=name
            )
        blind = {"success": first.blind, "squared_error": first.blind_squared_error}.get(measure)
        if blind is not None:
            axes.axhline(blind, color="grey", linewidth=0.8, label="without a report")
        axes.set_xlabel("epsilon")
        suffix = "" if measure in ("success", "squared_error") else f" of 'at most {first.eta:g}'"
        axes.set_ylabel(_MEASURES[measure] + suffix)
        axes.legend(fontsize=8)
    return figure
