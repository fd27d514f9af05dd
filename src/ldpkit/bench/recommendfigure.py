"""The figure of a recommendation: each option with its interval, or with its epsilon."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ldpkit.bench.figures import new_figure
from ldpkit.planning.recommend import Option

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["draw"]


def draw(options: Sequence[Option], metric: str, by_epsilon: bool) -> Figure:
    """Return a figure with the best option on top."""
    figure = new_figure(9, 1.2 + 0.34 * len(options))
    axes = figure.subplots()
    places = np.arange(len(options))[::-1]
    if by_epsilon:
        axes.barh(places, [each.epsilon for each in options], height=0.6)
        axes.set_xlabel("epsilon that gives the wanted accuracy (smaller is better)")
    else:
        middle = np.array([each.error for each in options])
        reach = np.abs(np.array([[each.low for each in options], [each.high for each in options]]) - middle)
        axes.errorbar(middle, places, xerr=reach, fmt="o", capsize=3)
        axes.set_xlabel(f"{metric}: mean, and where 95 of 100 collections lie")
    axes.set_yticks(places, [each.name for each in options])
    axes.grid(axis="x", alpha=0.3)
    return figure
