"""Pictures of relaxations: how much noise each rule takes, and what it keeps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ldpkit.figures.theme import MAIN

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ldpkit.assurance.classifier.relaxations import Relaxations

__all__ = ["draw_relaxations"]


def draw_relaxations(ax: Axes, found: Relaxations) -> None:
    """Draw sigma of each rule, with both of its deltas."""
    axes: Any = ax
    rows = found.rows()[::-1]
    bars = axes.barh([row["rule"] for row in rows], [row["sigma"] for row in rows], color=MAIN)
    texts = [
        f"sigma {row['sigma']:.3f}\nPAC delta {row['pac']:.2g}\nDP delta {row['dp']:.2g}" for row in rows
    ]
    axes.bar_label(bars, texts, padding=4, fontsize=8)
    axes.tick_params(axis="y", length=0)
    axes.set_xlim(0, 1.9 * max(row["sigma"] for row in rows))
    axes.set_xlabel("sigma, as a part of the width of a column")
    axes.set_title(found.title, loc="left", wrap=True)
