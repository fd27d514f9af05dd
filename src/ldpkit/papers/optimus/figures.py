"""The figures of Optimus: selected epsilon and time over tau, and over the parameters of the methods."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ldpkit.figures.canvas import label_logs, new_figure, save_figure
from ldpkit.papers.optimus.grid import OptimusStudy
from ldpkit.planning.plan import Plan

__all__ = ["grid_figures", "probability_figure", "sweep_figure"]


def grid_figures(
    study: OptimusStudy, plans: Mapping[tuple[str, float], Sequence[Plan]], folder: Path
) -> None:
    """Draw the selected epsilon and the seconds of each method over tau, a panel for each protocol."""
    folder.mkdir(parents=True, exist_ok=True)
    for number, what in ((study.figure, "epsilon"), (study.time_figure, "seconds")):
        figure = new_figure(3.4 * len(study.protocols), 3.6)
        panels: Any = figure.subplots(1, len(study.protocols), squeeze=False)[0]
        for axes, protocol in zip(panels, study.protocols, strict=True):
            for place, method in enumerate([plan.method for plan in plans[protocol, study.taus[0]]]):
                values = [getattr(plans[protocol, tau][place], what) for tau in study.taus]
                axes.plot(study.taus, values, marker="o", markersize=3, label=method)
            axes.set_title(protocol)
            margin = 0.05 * (max(study.taus) - min(study.taus))
            axes.set_xlim(min(study.taus) - margin, max(study.taus) + margin)  # the same for all
            axes.set_xlabel("Kendall's tau at least")
            if what == "seconds":
                axes.set_yscale("log")
        panels[0].set_ylabel(what)
        panels[0].legend(fontsize=7)
        figure.suptitle(f"figure {number}: {study.dataset}")
        save_figure(figure, folder / f"figure-{number}-{study.dataset}.png")


def probability_figure(
    chosen: Mapping[tuple[str, str, float], float], chances: Sequence[float], folder: Path
) -> None:
    """Draw the epsilon of binary search (points) and of the analytic method (lines) over pi, by protocol."""
    folder.mkdir(parents=True, exist_ok=True)
    figure = new_figure(6, 4)
    axes: Any = figure.subplots()
    for protocol in dict.fromkeys(protocol for protocol, _, _ in chosen):
        lines = {
            method: [chosen[protocol, method, chance] for chance in chances] for method in ("analytic", "bs")
        }
        (line,) = axes.plot(chances, lines["analytic"], label=protocol)
        axes.plot(chances, lines["bs"], "o", markersize=4, color=line.get_color())
    axes.set_yscale("log")
    label_logs(axes.yaxis)
    axes.set_xticks(chances)
    axes.set_xlabel("probability pi that Kendall's tau is at least 0.3")
    axes.set_ylabel("epsilon")
    axes.set_title("figure 5.5: emoji; points: binary search, lines: analytic", fontsize=10)
    figure.legend(loc="outside right upper", fontsize=8)
    save_figure(figure, folder / "figure-5.5-emoji.png")


def sweep_figure(
    sweeps: Mapping[tuple[str, str], tuple[Sequence[float], Sequence[Plan]]], folder: Path
) -> None:
    """Draw the selected epsilon and the seconds over a parameter of a method, a panel for each."""
    folder.mkdir(parents=True, exist_ok=True)
    figure = new_figure(4.2 * max(1, len(sweeps)), 3.6)
    panels: Any = figure.subplots(1, max(1, len(sweeps)), squeeze=False)[0]
    for axes, ((method, name), (values, plans)) in zip(panels, sweeps.items(), strict=True):
        axes.plot(values, [plan.epsilon for plan in plans], "o-", color="tab:blue", markersize=3)
        beside = axes.twinx()
        beside.plot(values, [plan.seconds for plan in plans], "s--", color="tab:orange", markersize=3)
        if max(values) > 1000 * min(values):
            axes.set_xscale("log")
        axes.set_title(f"{method}, {name}")
        axes.set_xlabel(name)
        axes.set_ylabel("epsilon", color="tab:blue")
        beside.set_ylabel("seconds", color="tab:orange")
    figure.suptitle("figure 5.6: emoji, grr, tau at least 0.7")
    save_figure(figure, folder / "figure-5.6-emoji.png")
