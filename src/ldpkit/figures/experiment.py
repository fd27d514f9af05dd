"""Pictures of a benchmark: heat map, error over epsilon, truth against estimate."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ldpkit.bench.benchmark import Benchmark
from ldpkit.bench.experiment import Cell
from ldpkit.bench.summary import Summary
from ldpkit.figures.canvas import (
    label_ends,
    label_logs,
    label_percents,
    log_reach,
    new_figure,
    roomy,
    side_by_side,
    three_digits,
)
from ldpkit.figures.estimates import plain_label
from ldpkit.figures.theme import FAINT, MAIN, MUTED, ON_DARK, ON_LIGHT, style_of
from ldpkit.simulation.metrics import metric_for

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["curves", "draw_benchmark", "heat_map", "overview", "truth_against_estimate"]

_MOST_NAMED, _FEW_NAMED = 24, 6  # values whose names fit below their bars, and side by side
_MOST_VALUES = 60  # more bars than this cannot be told apart
_NUMBERED = re.compile(r"[<>=≤≥+\-\s]*\d")


def heat_map(axes: Any, summary: Summary, among: str = "") -> None:
    """Draw protocol by method, coloured on a log scale, with the numbers written in.

    `among` says of which epsilons this is one.
    """
    from matplotlib.colors import LogNorm

    means = np.array([[summary.mean(p, m).value for m in summary.methods] for p in summary.protocols])
    spread = bool((means > 0).all()) and means.max() > means.min()
    image = axes.imshow(
        means,
        aspect="auto",
        cmap="viridis" if summary.larger_is_better else "viridis_r",
        norm=LogNorm() if spread else None,
    )
    many = len(summary.methods) > _FEW_NAMED
    axes.set_xticks(range(len(summary.methods)), summary.methods)
    axes.tick_params(axis="x", rotation=30 if many else 0)
    if many:
        for name in axes.get_xticklabels():
            name.set_horizontalalignment("right")
    axes.set_yticks(range(len(summary.protocols)), summary.protocols)
    marks = "; * best of its row, ~ tied with it" if len(summary.methods) > 1 else ""
    told = f"{metric_for(summary.metric).title}, epsilon = {summary.epsilon:g}{among}{marks}"
    if spread:
        axes.set_xlabel("colours: yellow is best, dark violet is worst")
    axes.set_title(told, loc="left", wrap=True)
    axes.spines[:].set_visible(False)
    axes.tick_params(length=0)
    for row, column in np.ndindex(means.shape):
        red, green, blue, _ = image.cmap(image.norm(means[row, column]))
        dark = 0.3 * red + 0.59 * green + 0.11 * blue < 0.5
        axes.text(
            column,
            row,
            three_digits(float(means[row, column]))
            + summary.mark(summary.protocols[row], summary.methods[column]),
            ha="center",
            va="center",
            fontsize=8,
            color=ON_DARK if dark else ON_LIGHT,
        )


def curves(axes: Any, found: Benchmark, metric: str) -> None:
    """Draw each protocol's best method over epsilon, with two standard errors, named at its end."""
    epsilons = sorted(found.experiment.epsilons)
    summaries = [found.summary(epsilon, metric) for epsilon in epsilons]
    middle = summaries[len(summaries) // 2]
    ends = []
    for index, protocol in enumerate(middle.protocols):
        method = middle.best_method(protocol)
        means = [summary.mean(protocol, method) for summary in summaries]
        values = np.array([mean.value for mean in means])
        errors = np.nan_to_num(np.array([mean.stderr for mean in means]))
        reach = 2 * errors if middle.larger_is_better else log_reach(values, errors)
        label = f"{protocol} ({_methods_in_words(method, middle.tied_methods(protocol))})"
        look = style_of(index)
        places = side_by_side(epsilons, index, len(middle.protocols))
        axes.errorbar(places, values, reach, capsize=2, **look)
        ends.append((float(places[-1]), float(values[-1]), label, look["color"]))
    axes.set_xscale("log")
    axes.set_xticks(epsilons, [f"{epsilon:g}" for epsilon in epsilons])
    axes.minorticks_off()
    if not middle.larger_is_better:
        axes.set_yscale("log")
        label_logs(axes.yaxis)
    axes.set_xlabel("epsilon")
    axes.set_ylabel(metric_for(metric).title)
    axes.set_title(
        "each mechanism with its best method (or those tied with it); bars: ±2 standard errors",
        loc="left",
        wrap=True,
    )
    label_ends(axes, ends)


def truth_against_estimate(axes: Any, found: Benchmark, summary: Summary) -> None:
    """Draw the true frequency of each value as a bar, and one collection's estimate by the best pair."""
    experiment, pairs = found.experiment, summary.tied_pairs()
    cell, method = Cell(summary.epsilon, pairs[0][0]), pairs[0][1]
    estimate = experiment.processed(cell, method, experiment.estimates(cell))[0]
    natural = len(experiment.truth) <= _MOST_VALUES and _are_ordered(found.labels)
    order = np.argsort(-experiment.truth, kind="stable")[:_MOST_VALUES]
    order = np.arange(len(experiment.truth)) if natural else order
    places = np.arange(len(order))
    axes.bar(places, experiment.truth[order], color=FAINT, width=0.8, linewidth=0, label="truth")
    axes.plot(places, estimate[order], "o", color=MAIN, markersize=5, label="estimate")
    axes.axhline(0, color=MUTED, linewidth=0.6)
    label_percents(axes.yaxis)
    axes.set_xlim(-0.7, len(order) - 0.3)
    if len(order) <= _MOST_NAMED and found.labels:
        axes.set_xticks(places, [plain_label(found.labels[place]) for place in order.tolist()])
        axes.tick_params(axis="x", length=0, rotation=30 if len(order) > _FEW_NAMED else 0)
    shown = "" if len(order) == len(experiment.truth) else f" ({len(order)} of {len(experiment.truth):,})"
    axes.set_xlabel("values" if natural else f"values, most frequent first{shown}")
    axes.set_ylabel("share of people")
    tied = "" if len(pairs) == 1 else f" (one of {len(pairs)} that are tied)"
    told = (
        f"{cell.protocol}, {method}{tied}: one collection, epsilon = {cell.epsilon:g}{found.among_epsilons}"
    )
    axes.set_title(told, loc="left", wrap=True)
    axes.legend()


def _methods_in_words(best: str, tied: tuple[str, ...]) -> str:
    """Return a protocol's best method with those that tie with it.

    Examples
    --------
    >>> _methods_in_words("none", ("none", "norm_sub")), _methods_in_words("none", ("norm", "none", "power"))
    ('none or norm_sub', 'none or 2 others')
    """
    others = [each for each in tied if each != best]
    if not others:
        return best
    return f"{best} or {others[0] if len(others) == 1 else f'{len(others)} others'}"


def _are_ordered(labels: Sequence[Any]) -> bool:
    """Whether values are numbers, or text that begins with one, such as '18-24': they have an order.

    Examples
    --------
    >>> _are_ordered((1, 2.5)), _are_ordered(("0-17", "18+")), _are_ordered(("red", "blue")), _are_ordered(())
    (True, True, False, False)
    """
    return bool(labels) and all(_NUMBERED.match(str(label)) for label in labels)


def draw_benchmark(axes: Any, found: Benchmark) -> None:
    """Draw protocol by method for the first metric, at the middle epsilon."""
    heat_map(axes, found.summary(), found.among_epsilons)


def overview(found: Benchmark, *, across: int | None = None) -> Figure:
    """Return one figure with all that there is to see of a benchmark's first metric."""
    summary, several = found.summary(), len(found.experiment.epsilons) > 1
    narrow = across == 1
    heights = [1.3 + 0.36 * len(summary.protocols), 3.2, *([3.6] if several else [])]
    width = 9.0 if not narrow else max(4.6, 1.6 + 0.62 * len(summary.methods))
    figure = roomy(new_figure(width, sum(heights)))
    panels: Any = figure.subplots(len(heights), 1, gridspec_kw={"height_ratios": heights})
    heat_map(panels[0], summary, found.among_epsilons)
    truth_against_estimate(panels[1], found, summary)
    if several:
        curves(panels[2], found, summary.metric)
    return figure
