"""Pictures of a benchmark: heat map, error over epsilon, truth against estimate."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ldpkit.bench.benchmark import Benchmark
from ldpkit.bench.experiment import Cell
from ldpkit.bench.summary import Summary
from ldpkit.core.text import number_text
from ldpkit.figures.canvas import new_figure
from ldpkit.simulation.metrics import metric_for

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["curves", "draw_benchmark", "heat_map", "overview", "truth_against_estimate"]

_MOST_VALUES = 200  # more points than this hide each other


def heat_map(axes: Any, summary: Summary) -> None:
    """Draw protocol by method, coloured by rank on a log scale, with the numbers written in."""
    from matplotlib.colors import LogNorm

    means = np.array([[summary.mean(p, m).value for m in summary.methods] for p in summary.protocols])
    positive = bool((means > 0).all())
    spread = positive and means.max() > means.min()
    image = axes.imshow(
        means,
        aspect="auto",
        cmap="viridis" if summary.larger_is_better else "viridis_r",
        norm=LogNorm() if spread else None,
    )
    axes.set_xticks(range(len(summary.methods)), summary.methods, rotation=30, ha="right")
    axes.set_yticks(range(len(summary.protocols)), summary.protocols)
    marks = "; * best of its row, ~ ties with it" if len(summary.methods) > 1 else ""
    axes.set_title(f"{metric_for(summary.metric).title}, epsilon = {summary.epsilon:g}{marks}")
    for row, column in np.ndindex(means.shape):
        red, green, blue, _ = image.cmap(image.norm(means[row, column]))
        dark = 0.3 * red + 0.59 * green + 0.11 * blue < 0.5
        axes.text(
            column,
            row,
            number_text(float(means[row, column]), 3)
            + summary.mark(summary.protocols[row], summary.methods[column]),
            ha="center",
            va="center",
            fontsize=8,
            color="white" if dark else "black",
        )
    axes.figure.colorbar(image, ax=axes, label=summary.metric, pad=0.01)


def curves(axes: Any, found: Benchmark, metric: str) -> None:
    """Draw each protocol's best method over epsilon, with a band of two standard errors."""
    epsilons = sorted(found.experiment.epsilons)
    summaries = [found.summary(epsilon, metric) for epsilon in epsilons]
    for protocol in summaries[0].protocols:
        method = summaries[len(summaries) // 2].best_method(protocol)
        means = [summary.mean(protocol, method) for summary in summaries]
        values = np.array([mean.value for mean in means])
        errors = np.nan_to_num(np.array([mean.stderr for mean in means]))
        ties = len(summaries[len(summaries) // 2].tied_methods(protocol)) - 1
        label = f"{protocol} + {method}" + (f" (ties with {ties})" if ties else "")
        (line,) = axes.plot(epsilons, values, marker="o", markersize=3, label=label)
        axes.fill_between(
            epsilons, values - 2 * errors, values + 2 * errors, color=line.get_color(), alpha=0.2
        )
    axes.set_xscale("log")
    axes.set_xticks(epsilons, [f"{epsilon:g}" for epsilon in epsilons])
    axes.minorticks_off()
    if not summaries[0].larger_is_better:
        axes.set_yscale("log")
    axes.set_xlabel("epsilon")
    axes.set_ylabel(metric_for(metric).title)
    axes.set_title("each protocol with its best method; bands: ±2 standard errors")
    axes.legend(fontsize=8, ncols=2)


def truth_against_estimate(axes: Any, found: Benchmark, summary: Summary) -> None:
    """Draw the true frequency of each value and the estimate of one collection of the best pair."""
    experiment, pairs = found.experiment, summary.tied_pairs()
    cell, method = Cell(summary.epsilon, pairs[0][0]), pairs[0][1]
    estimate = experiment.processed(cell, method, experiment.estimates(cell))[0]
    order = np.argsort(-experiment.truth, kind="stable")[:_MOST_VALUES]
    places = np.arange(len(order))
    axes.plot(places, estimate[order], ".", color="tab:orange", markersize=4, label="estimate")
    axes.plot(places, experiment.truth[order], color="tab:blue", linewidth=1.2, label="truth")
    axes.axhline(0, color="grey", linewidth=0.5)
    shown = "" if len(order) == len(experiment.truth) else f" ({len(order)} most frequent)"
    axes.set_xlabel(f"value, most frequent first{shown}")
    axes.set_ylabel("frequency")
    among = "" if len(pairs) == 1 else f" (one of {len(pairs)} that tie)"
    axes.set_title(f"{cell.protocol} + {method}{among}, epsilon = {cell.epsilon:g}, one collection")
    axes.legend(fontsize=8)


def draw_benchmark(axes: Any, found: Benchmark) -> None:
    """Draw protocol by method for the first metric, at the middle epsilon."""
    heat_map(axes, found.summary())


def overview(found: Benchmark) -> Figure:
    """Return one figure with all that there is to see of a benchmark's first metric."""
    summary, several = found.summary(), len(found.experiment.epsilons) > 1
    figure = new_figure(11, 10.5 if several else 7.5)
    panels: Any = figure.subplots(3 if several else 2, 1)
    heat_map(panels[0], summary)
    truth_against_estimate(panels[1], found, summary)
    if several:
        curves(panels[2], found, summary.metric)
    return figure
