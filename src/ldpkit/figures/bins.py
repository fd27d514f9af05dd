"""The share of people in each bin of an estimated distribution, with the scatter of the reports."""

from __future__ import annotations

from typing import Any

import numpy as np

from ldpkit.core.typing import Floats
from ldpkit.estimation.binned_density import BinnedDensity
from ldpkit.figures.canvas import label_percents
from ldpkit.figures.theme import INK

__all__ = ["BAND", "draw_bins"]

BAND = "band: ±2 standard errors, noise alone"
"""What the band of a density is: it leaves out how far smoothing moves it."""


def draw_bins(
    axes: Any,
    found: BinnedDensity,
    *,
    colour: str,
    name: str = "estimate",
    truth: Floats | None = None,
    unit: str = "",
    first: int = 0,
) -> Floats:
    """Draw how many people are in each bin, and return the edges of the bins as they were drawn.

    Shares can be read by who has never met a density: a bin of 5% holds 5% of the people.

    Parameters
    ----------
    axes : matplotlib axes
        Where to draw.
    found : BinnedDensity
        What to draw.
    colour, name : str
        Of the estimate.
    truth : array, optional
        The values, where a simulation knows them: drawn as an outline, since filled they would tint the band.
    unit : str
        What the numbers are measured in.
    first : int
        The bin that the axis begins with, on a circle; those before it come a turn later.
    """
    wide = float(np.diff(found.edges).min())
    part = wide / np.diff(found.edges)  # of a wider bin, as much as lies in one of the least width
    turn = found.edges[-1] - found.edges[0]
    edges = np.concatenate([found.edges[first:], found.edges[1 : first + 1] + turn])
    if truth is not None:
        counts, _ = np.histogram(truth, bins=found.edges)
        shares = np.roll(counts * part / max(len(truth), 1), -first)
        axes.stairs(shares, edges, color=INK, linewidth=1.1, linestyle=(0, (3, 1.5)), label="true values")
    shown = np.roll(found.masses * part, -first)
    axes.stairs(shown, edges, color=colour, linewidth=1.8, label=name)
    error = 2 * np.roll(found.stderr * part, -first)
    if np.isfinite(error).all():
        base = np.maximum(shown - error, 0)
        axes.stairs(shown + error, edges, baseline=base, color=colour, alpha=0.2, fill=True)
    axes.set_ylim(bottom=0)
    label_percents(axes.yaxis)
    width = f"{wide:,.4g} {unit}" if unit else f"width {wide:,.4g}"
    axes.set_ylabel(f"share of people in bins of {width}")
    return np.asarray(edges)
