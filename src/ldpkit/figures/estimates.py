"""Pictures of estimates: frequencies, means, densities and quantiles, each with its errors."""

from __future__ import annotations

from typing import Any

import numpy as np

from ldpkit.core.tables import cell_text
from ldpkit.core.typing import Floats
from ldpkit.estimation.density import Density, Quantile
from ldpkit.estimation.estimate import Estimate
from ldpkit.estimation.numeric import NumericEstimate
from ldpkit.protocols.adaptive_mean import AdaptiveEstimate

__all__ = ["draw_density", "draw_frequencies", "draw_mean", "draw_quantile"]

_MOST_BARS = 40  # more of them cannot be read


def draw_frequencies(axes: Any, found: Estimate) -> None:
    """Draw the most frequent values as bars, with their intervals."""
    rows = found.rows(_MOST_BARS, sort="frequency")
    places = np.arange(len(rows))
    middle = np.array([row["frequency"] for row in rows])
    ends = np.array([[row["low"] for row in rows], [row["high"] for row in rows]])
    axes.bar(places, middle, yerr=np.abs(ends - middle), capsize=2, color="C0", ecolor="0.3")
    labels = [cell_text(row["value"]).replace("$", r"\$") for row in rows]
    axes.set_xticks(
        places, labels, rotation=45 if len(rows) > 8 else 0, ha="right" if len(rows) > 8 else "center"
    )
    axes.set_ylabel("frequency")
    shown = f", the {len(rows)} most frequent of {len(found)}" if len(rows) < len(found) else ""
    axes.set_title(f"n = {found.n:,}{shown}; {100 * found.level:g}% intervals", fontsize=10)


def draw_mean(axes: Any, found: NumericEstimate | AdaptiveEstimate) -> None:
    """Draw the mean with its interval, in the interval where the numbers may lie."""
    domain = found.domain if isinstance(found, NumericEstimate) else found.second.domain
    low, high = found.interval()
    axes.errorbar([found.mean], [0], xerr=[[found.mean - low], [high - found.mean]], fmt="o", capsize=5)
    axes.set_xlim(domain.low, domain.high)
    axes.set_yticks([])
    axes.set_xlabel("value")
    axes.set_title(f"mean {found.mean:.5g}, n = {found.n:,}; {100 * found.level:g}% interval", fontsize=10)


def draw_density(axes: Any, found: Density, *, truth: Floats | None = None, colour: str = "C0") -> None:
    """Draw a density with the scatter of the reports, and its quantiles with their intervals.

    Parameters
    ----------
    axes : matplotlib axes
        Where to draw.
    found : Density
        What to draw.
    truth : array, optional
        The values, where a simulation knows them; drawn as a histogram in the same bins.
    colour : str
        Of the density.
    """
    if truth is not None:
        axes.hist(truth, bins=found.edges, density=True, color="0.85", label="values")
    label = ", ".join(str(found.made_by[name]) for name in ("mechanism", "method") if name in found.made_by)
    axes.stairs(found.heights, found.edges, color=colour, linewidth=1.6, label=label)
    error = 2 * found.stderr / np.diff(found.edges)
    if np.isfinite(error).all():
        base = np.maximum(found.heights - error, 0)
        axes.stairs(found.heights + error, found.edges, baseline=base, color=colour, alpha=0.2, fill=True)
    for index, each in enumerate(found.quantiles):
        axes.axvline(each.value, color="C3", linewidth=1, label="quantiles" if index == 0 else None)
        axes.axvspan(each.low, each.high, color="C3", alpha=0.12, linewidth=0)
    axes.set_xlim(found.domain.low, found.domain.high)
    axes.set_ylim(bottom=0)
    axes.set_xlabel("value")
    axes.set_ylabel("density")
    axes.set_title(f"n = {found.n:,}; band: scatter alone, ±2 standard errors", fontsize=10)
    axes.legend(fontsize=8)


def draw_quantile(axes: Any, found: Quantile) -> None:
    """Draw a quantile with its interval."""
    reach = [[found.value - found.low], [found.high - found.value]]
    axes.errorbar([found.value], [found.q], xerr=reach, fmt="o", capsize=5)
    axes.set_ylim(0, 1)
    axes.set_xlabel("value")
    axes.set_ylabel("share of people below")
    axes.set_title(f"{100 * found.level:g}% interval", fontsize=10)
