"""Pictures of estimates by group: the same bars for each, or a row of means."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ldpkit.estimation.estimate import Estimate
from ldpkit.figures.canvas import make_panels, new_figure
from ldpkit.figures.estimates import draw_frequencies
from ldpkit.figures.theme import MAIN

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ldpkit.engines.tallies import GroupEstimates

__all__ = ["draw_groups", "groups_figure"]

_MOST = 12  # groups that can be seen at once
_MOST_VALUES = 20


def draw_groups(axes: Any, found: GroupEstimates) -> None:
    """Draw the first number of each group with its interval: a mean, or the share of the commonest value."""
    names, rows = [], []
    overall = _commonest(found)
    for keys, each in list(found.groups.items())[: 2 * _MOST]:
        if isinstance(each, Estimate):
            row = next(row for row in each.rows() if row["value"] == overall)
            rows.append((row["frequency"], row["low"], row["high"]))
        else:
            row = each.rows()[0]
            rows.append((row["value"], row["low"], row["high"]))
        names.append(", ".join(map(str, keys)))
    places = np.arange(len(rows))[::-1]
    middle, low, high = (np.array(column, float) for column in zip(*rows, strict=True))
    axes.errorbar(middle, places, xerr=[middle - low, high - middle], fmt="o", color=MAIN, capsize=4)
    axes.set_yticks(places, names)
    axes.set_ylim(-0.6, len(rows) - 0.4)
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="x")
    axes.set_xlabel("mean" if overall is None else f"share of people who have {overall}")
    axes.set_ylabel(", ".join(found.by))


def groups_figure(found: GroupEstimates, *, across: int | None = None) -> Figure:
    """Return a panel with bars for each group, or one with a row of means."""
    shown = list(found.groups.items())[:_MOST]
    if not all(isinstance(each, Estimate) for _, each in shown):
        figure = new_figure(4.4 if across == 1 else 8.0, 1.2 + 0.32 * min(len(found.groups), 2 * _MOST))
        draw_groups(figure.subplots(), found)
        return figure
    order = _order(found)
    figure, panels = make_panels(
        len(shown), 4.2, 1.2 + 0.26 * len(order), across=across or 2, sharex=True, sharey=True
    )
    for axes, (keys, each) in zip(panels, shown, strict=True):
        draw_frequencies(axes, each, order=order)
        name = ", ".join(f"{by} {key}" for by, key in zip(found.by, keys, strict=True))
        axes.set_title(f"{name}: n = {each.n:,}", loc="left")
    for axes in panels[: -(across or 2)]:  # the ones below them have the same axis
        axes.set_xlabel("")
    level = next(iter(found.groups.values())).level
    more = f"; {_MOST} of {len(found.groups):,} groups" if len(found.groups) > _MOST else ""
    figure.suptitle(f"{100 * level:g}% intervals for each group on its own{more}", fontsize=10)
    return figure


def _commonest(found: GroupEstimates) -> Any:
    """Return the value that most people of all groups hold; None where groups are about numbers."""
    total = _totals(found)
    return max(total, key=lambda label: total[label]) if total else None


def _order(found: GroupEstimates) -> list[Any]:
    """Return the values as all panels show them: numbers in their order, others by how many hold them."""
    total = _totals(found)
    first = sorted(total, key=lambda label: -total[label])[:_MOST_VALUES]
    return sorted(first) if all(isinstance(label, (int, float)) for label in first) else first


def _totals(found: GroupEstimates) -> dict[Any, float]:
    """Return how many people of all groups hold each value; nothing where groups are about numbers."""
    total: dict[Any, float] = {}
    for each in found.groups.values():
        if isinstance(each, Estimate):
            for label, count in zip(each.labels, each.counts.tolist(), strict=True):
                total[label] = total.get(label, 0.0) + count
    return total
