"""Figures 1 to 4 of the IBU paper, ours as published and right, and its tables as heat maps."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ldpkit.figures.canvas import new_figure, save_figure
from ldpkit.papers.ibu.paper import AVERAGE, METRICS, REAL, IbuTable
from ldpkit.papers.ibu.study import IbuStudy

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["bars", "draw", "heat_maps", "scatter"]

_MSE = METRICS.index("mse")
_SUBSTITUTE = "income substitute"
_BARS = {
    "published_mi": ("MI, scaled", "tab:grey"),
    "published_ibu": ("IBU as published", "tab:orange"),
    "norm_sub": ("right: MI, Norm-Sub", "tab:green"),
    "ibu_limit": ("right: IBU to its limit", "tab:blue"),
}
_PAIRS = {
    "as published": ("published_ibu", "published_mi"),
    "right chains, update run to its limit": ("ibu_limit", "mi"),
}


def draw(study: IbuStudy, table: IbuTable, folder: Path) -> None:
    """Write the figures that belong to a table."""
    folder.mkdir(parents=True, exist_ok=True)
    number = table.number - 1  # table 2 goes with figures 1 and 3, table 3 with figures 2 and 4
    save_figure(bars(study), folder / f"figure-{number}.png")
    save_figure(scatter(study), folder / f"figure-{number + 2}.png")
    save_figure(heat_maps(study, table), folder / f"table-{table.number}.png")


def bars(study: IbuStudy) -> Figure:
    """Draw figure 1 or 2: the error of every mechanism on incomes, n = 20,000, k = 100."""
    grid = study.grid
    place = grid.distributions.index(REAL), grid.people.index(20_000), grid.sizes.index(100)
    figure = new_figure(15, 4.2)
    panels: Any = figure.subplots(1, len(grid.epsilons), sharey=True)
    positions, width = np.arange(len(grid.mechanisms)), 0.8 / len(_BARS)
    for at, (axes, epsilon) in enumerate(zip(panels, grid.epsilons, strict=True)):
        means = {name: study.errors[name][_MSE][place][at].mean(axis=-1) for name in _BARS}
        for shift, (name, (label, colour)) in enumerate(_BARS.items()):
            axes.bar(positions + (shift - 1.5) * width, means[name], width, label=label, color=colour)
        gains = 100 * np.maximum(1 - means["published_ibu"] / means["published_mi"], 0)
        top = np.max([*means.values()], axis=0)
        for position, gain in zip(positions, gains, strict=True):
            axes.text(position, 1.12 * top[position], f"{gain:.0f}%", ha="center", fontsize=8)
        axes.set_yscale("log")
        axes.set_xticks(positions, grid.mechanisms)
        axes.set_title(f"{_SUBSTITUTE}, epsilon = {epsilon:g}, average gain {gains.mean():.0f}%", fontsize=10)
    panels[0].set_ylabel("mean squared error")
    panels[0].margins(y=0.15)
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=4)
    return figure


def scatter(study: IbuStudy) -> Figure:
    """Draw figure 3 or 4: every gain by distribution, coloured by epsilon, n and k."""
    grid = study.grid
    figure = new_figure(15, 7.5)
    panels: Any = figure.subplots(2, 3, sharex=True, sharey=True)
    levels = (("epsilon", grid.epsilons, 3), ("n", grid.people, 1), ("k", grid.sizes, 2))
    for row, (title, pair) in zip(panels, _PAIRS.items(), strict=True):
        gains = study.gains(*pair)[_MSE].mean(axis=-1)
        for axes, (name, values, axis) in zip(row, levels, strict=True):
            _points(axes, gains, name, values, axis)
            axes.set_title(f"{title}, by {name}", fontsize=10)
            axes.set_xticks(range(len(grid.distributions)), grid.distributions, rotation=20)
            axes.legend(fontsize=8, ncols=len(values), loc="upper right")
        row[0].set_ylabel("gain in MSE, %")
        row[0].set_ylim(-3, 118)
    return figure


def _points(axes: Any, gains: Any, name: str, values: Any, axis: int) -> None:
    """Draw the gains beside each other, a column for each level of one axis."""
    from matplotlib import colormaps

    colours = colormaps["viridis"](np.linspace(0, 0.9, len(values)))
    for level, value in enumerate(values):
        part = gains.take(level, axis=axis).reshape(len(gains), -1)
        shift = (level - (len(values) - 1) / 2) * 0.8 / len(values)
        places = np.repeat(np.arange(len(gains)) + shift, part.shape[1])
        axes.plot(places, part.ravel(), "o", color=colours[level], alpha=0.35, markersize=4, mew=0)
        axes.plot(np.arange(len(gains)) + shift, part.mean(axis=1), "_", color=colours[level], markersize=14,
                  mew=2.5, label=f"{name} = {value:,g}")  # fmt: skip


def heat_maps(study: IbuStudy, table: IbuTable) -> Figure:
    """Draw a table three times: the paper's, ours as published, and right."""
    rows, columns = (*study.grid.distributions, AVERAGE), (*table.mechanisms, AVERAGE)
    figure = new_figure(16, 4.6)
    panels: Any = figure.subplots(1, 3, sharey=True)
    shown = {"the paper": [[table.gain(row, column, "mse") for column in columns] for row in rows]}
    for title, pair in _PAIRS.items():
        shown[f"ours, {title}"] = [
            [round(study.table(row, column, "mse", *pair).value) for column in columns] for row in rows
        ]
    for axes, (title, gains) in zip(panels, shown.items(), strict=True):
        axes.imshow(gains, vmin=0, vmax=60, cmap="Blues", aspect="auto")
        axes.set_xticks(range(len(columns)), columns)
        axes.set_yticks(range(len(rows)), rows)
        axes.set_title(f"table {table.number}, gain in MSE (%): {title}", fontsize=10)
        for y, x in np.ndindex(len(rows), len(columns)):
            axes.text(
                x, y, gains[y][x], ha="center", va="center", color="white" if gains[y][x] > 35 else "black"
            )
    return figure
