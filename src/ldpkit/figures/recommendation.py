"""The figure of a recommendation: each option with its interval, or with its epsilon."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ldpkit.figures.canvas import new_figure
from ldpkit.planning.frequencies.recommendation import Recommendation

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["draw"]


def draw(found: Recommendation, top: int) -> Figure:
    """Return a figure with the best options on top, those that tie marked, and learning nothing as a line."""
    options = found.options[:top]
    figure = new_figure(9, 1.2 + 0.34 * len(options))
    axes = figure.subplots()
    places = np.arange(len(options))[::-1]
    if found.wanted is not None:
        axes.barh(
            places,
            [each.epsilon for each in options],
            xerr=[2 * each.epsilon_stderr for each in options],
            height=0.6,
        )
        axes.set_xlabel("epsilon that gives the wanted accuracy, ±2 standard errors (smaller is better)")
    else:
        middle = np.array([each.error for each in options])
        reach = np.abs(np.array([[each.low for each in options], [each.high for each in options]]) - middle)
        axes.errorbar(middle, places, xerr=reach, fmt="o", capsize=3)
        axes.axvline(found.nothing.error, color="grey", linestyle="--", label="learning nothing")
        axes.legend(fontsize=8)
        axes.set_xlabel(f"{found.metric.title}: mean, and where 95 of 100 collections lie")
    tie = " *" if len(found.ties) > 1 else ""
    axes.set_yticks(places, [each.name + (tie if each.tied else "") for each in options])
    if tie:
        axes.set_title("* tie: their differences are within the noise", fontsize=9)
    axes.grid(axis="x", alpha=0.3)
    return figure
