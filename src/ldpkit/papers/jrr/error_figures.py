"""Figures 4.3 to 4.6 and B.1: errors, and in each caption what the same setting tells whom."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ldpkit.figures.canvas import label_logs, new_figure, save_figure
from ldpkit.mechanisms.categorical.grr import GRR
from ldpkit.papers.jrr.runs import RUNS, Run
from ldpkit.papers.jrr.thesis import TABLE_4_3, choice, hidden

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["draw_real", "draw_shares", "draw_synthetic"]

_ABOVE, _LEGEND = "above each panel", "in the legend"


def draw_real(folder: Path, runs: Mapping[tuple[str, float], Run]) -> None:
    """Draw figures 4.3 and 4.4, the four data sets."""
    epsilons = sorted({epsilon for _, epsilon in runs})
    bars, curves = new_figure(11, 7.5), new_figure(11, 7.5)
    panels = zip(TABLE_4_3.items(), bars.subplots(2, 2).flat, curves.subplots(2, 2).flat, strict=True)
    for (name, (n, ones)), bar, curve in panels:
        title = f"{name}: {n:,} people, {ones:,} ones\nepsilon with 5 known: {_known(epsilons, n)}"
        places = np.arange(len(epsilons))
        here = [runs[name, epsilon] for epsilon in epsilons]
        bar.bar(places - 0.2, [run.mse[1] for run in here], 0.38, color="C7", label="RR")
        bar.bar(places + 0.2, [run.mse[0] for run in here], 0.38, color="C0", label="JRR")
        bar.plot(places + 0.2, [run.theorem_4 for run in here], "k_", markersize=22, label="Theorem 4")
        for place, run in zip(places, here, strict=True):
            bar.annotate(
                f"{run.mse[0] / run.mse[1]:.2f} of RR",
                (place + 0.2, run.mse[0]),
                (0, 4),
                ha="center",
                fontsize=8,
                textcoords="offset points",
            )
        bar.set_yscale("log")
        bar.set_ylim(top=3 * max(run.mse[1] for run in here))
        bar.set_xticks(places, [f"epsilon {epsilon:g}" for epsilon in epsilons])
        bar.set_ylabel("MSE of the count")
        bar.set_title(title, fontsize=10)
        for color, run in zip(("C0", "C1", "C2"), here, strict=True):
            levels = np.arange(1, RUNS + 1) * 100 / RUNS
            curve.plot(run.are[0], levels, color=color, label=f"JRR, epsilon {run.epsilon:g}")
            curve.plot(run.are[1], levels, "--", color=color, label=f"RR, epsilon {run.epsilon:g}")
        curve.set_xscale("log")
        curve.set_xlabel("average relative error (ARE)")
        curve.set_ylabel("per cent of runs at most")
        curve.set_title(title, fontsize=10)
    bar.legend(fontsize=8)
    curve.legend(fontsize=8, loc="upper left")
    _finish(bars, f"Figure 4.3: mean squared error, {RUNS:,} runs", folder / "figure-4.3.png")
    _finish(curves, f"Figure 4.4: percentiles of the ARE, {RUNS:,} runs", folder / "figure-4.4.png")


def draw_synthetic(folder: Path, runs: Mapping[tuple[int, float, float], Run]) -> None:
    """Draw figures 4.5 and 4.6, synthetic data of up to two million people."""
    people, shares, epsilons = (sorted({key[place] for key in runs}) for place in range(3))
    squared, relative = new_figure(11, 8), new_figure(11, 8)
    for n, left, right in zip(people, squared.subplots(2, 2).flat, relative.subplots(2, 2).flat, strict=True):
        title = f"{n:,.0f} people\nepsilon 0.01, 0.1, 1 with 5 known: {_known((0.01, 0.1, 1.0), int(n))}"
        for place, share in enumerate(shares):
            here = [runs[int(n), share, epsilon] for epsilon in epsilons]
            left.plot(epsilons, [run.theorem_4 for run in here], color=f"C{place}", linewidth=1)
            left.plot(
                epsilons,
                [run.mse[0] for run in here],
                "o",
                markersize=4,
                color=f"C{place}",
                label=f"JRR, n1/n = {share:g}",
            )
            if share in (0.01, 0.1):
                means = [[float(errors.mean()) for errors in run.are] for run in here]
                right.plot(
                    epsilons,
                    [each[0] for each in means],
                    "o-",
                    color=f"C{place}",
                    label=f"JRR, n1/n = {share:g}",
                    markersize=4,
                )
                right.plot(
                    epsilons,
                    [each[1] for each in means],
                    "s--",
                    color=f"C{place}",
                    label=f"RR, n1/n = {share:g}",
                    markersize=4,
                )
        left.plot(epsilons, [run.rr_variance for run in here], "--", color="black", label="RR, any n1/n")
        for axes, quantity in ((left, "MSE of the count"), (right, "average relative error (ARE)")):
            axes.set_xscale("log")
            axes.set_yscale("log")
            label_logs(axes.xaxis)
            axes.set_xlabel("epsilon of one report on its own")
            axes.set_ylabel(quantity)
            axes.set_title(title, fontsize=10)
    left.legend(fontsize=8)
    right.legend(fontsize=8)
    _finish(
        squared,
        f"Figure 4.5: mean squared error, points {RUNS:,} runs, lines Theorem 4",
        folder / "figure-4.5.png",
    )
    _finish(relative, f"Figure 4.6: average relative error, {RUNS:,} runs", folder / "figure-4.6.png")


def draw_shares(folder: Path) -> None:
    """Draw figure B.1: the variance against the share of ones."""
    figure = new_figure(8, 5.5)
    axes = figure.subplots()
    shares = np.linspace(0, 1, 401)
    for n in (20, 100, 10_000):
        ratio = choice(1.0).variance(shares, n) / GRR(2, epsilon=1).variance(0.5, n)
        axes.plot(shares, ratio, label=f"{n:,} people; epsilon with 5 known: {_known([1.0], n)}")
    axes.axhline(1, color="black", linewidth=0.8)
    axes.annotate("RR at epsilon 1", (0, 1), (2, 4), textcoords="offset points", fontsize=8)
    axes.set_xlabel("share of ones, n1/n")
    axes.set_ylabel("variance of JRR over that of RR")
    axes.legend(fontsize=8, loc="lower center")
    _finish(
        figure,
        "Figure B.1: JRR gains unless nearly half are ones; epsilon 1 for one report on its own",
        folder / "figure-B.1.png",
        _LEGEND,
        100,
    )


def _known(epsilons: Iterable[float], n: int) -> str:
    return ", ".join(f"{hidden(epsilon, n):.5g}" for epsilon in epsilons)


def _finish(figure: Figure, title: str, path: Path, where: str = _ABOVE, width: int = 140) -> None:
    caption = (
        "Privacy of JRR here (rho = 1 - 1/p): epsilon is that of one report on its own. With 5 people known "
        f"and the pairing hidden it is the number {where}. Towards a partner, or anyone who knows the "
        "pairing, it is infinite. RR: epsilon towards everybody."
    )
    figure.suptitle(title)
    figure.supxlabel(textwrap.fill(caption, width), fontsize=8)
    save_figure(figure, path)
