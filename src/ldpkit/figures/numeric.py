"""Figures about numbers: densities, errors over epsilon, and the noise that AAA adds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ldpkit.bench.numeric_benchmark import NumericBenchmark
from ldpkit.bench.numeric_table import SCALES
from ldpkit.bench.summary import Mean
from ldpkit.core.typing import Floats
from ldpkit.figures.bins import BAND
from ldpkit.figures.canvas import label_logs, log_reach, make_panels, new_figure, outer_names, side_by_side
from ldpkit.figures.estimates import draw_density
from ldpkit.figures.theme import MUTED, style_of
from ldpkit.mechanisms.adaptive.table import NoiseTable

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["Curves", "curves_figure", "draw_numeric_benchmark", "noise_figure", "numeric_figure"]

Curves = Mapping[str, Mapping[str, Mapping[float, Mean]]]
"""For each panel, for each line, a mean at each place."""

_NAMES = {
    "mse": "mean squared error of the mean",
    "expected": "expected squared error of the mean",
    "coverage": "how often the 95% interval holds the mean",
    "wasserstein": "Wasserstein distance of the density",
}
_TOGETHER = 1  # densities that can be told apart in one panel


def draw_numeric_benchmark(axes: Any, found: NumericBenchmark) -> None:
    """Draw, for the first data, the density of each mechanism or the error of the mean over epsilon."""
    experiment = found.experiment
    if experiment.task == "density":
        first = experiment.cells()[: len(experiment.mechanisms)]
        for index, cell in enumerate(first):
            truth = experiment.numbers(cell.data).values if index == 0 else None
            density = experiment.density(cell)
            draw_density(axes, density, truth=truth, colour=style_of(index)["color"], name=cell.mechanism)
        return
    name = experiment.data[0].name
    _draw_lines(axes, _mean_curves(found)[name])
    axes.set_title(name, loc="left")
    axes.set_xlabel("epsilon")
    axes.set_ylabel(_error_name(found.metrics[0]))
    axes.legend()


def numeric_figure(found: NumericBenchmark, *, across: int | None = None) -> Figure:
    """Return the densities of the first collections, or the errors of a mean over epsilon for all data."""
    if found.experiment.task == "mean":
        return curves_figure(
            _mean_curves(found),
            along="epsilon",
            across=_error_name(found.metrics[0]),
            title=f"{found.caption}; bars: ±2 standard errors",
            across_panels=across,
        )
    experiment = found.experiment
    first = experiment.cells()[: len(experiment.mechanisms)]
    truth = experiment.numbers(first[0].data).values
    together = [first] if len(first) <= _TOGETHER else [[cell] for cell in first]
    wide = 8.0 if len(together) == 1 and across != 1 else 4.2
    height = 4.2 if len(together) == 1 else 3.2
    figure, panels = make_panels(len(together), wide, height, across=across, sharey=True)
    for axes, cells in zip(panels, together, strict=True):
        for index, cell in enumerate(cells):
            values = truth if index == 0 else None
            colour = style_of(index)["color"]
            draw_density(axes, experiment.density(cell), truth=values, colour=colour, name=cell.mechanism)
        if len(cells) == 1:
            axes.set_title(cells[0].mechanism, loc="left")
        axes.locator_params(axis="x", nbins=6)
    outer_names(panels, across)
    cell = first[0]
    told = f"{cell.data} at epsilon {cell.epsilon:g}, one collection of n = {len(truth):,}"
    figure.suptitle(f"{told}; {BAND}", fontsize=10)
    return figure


def _error_name(metric: str) -> str:
    """Return the name of an axis, with the scale of an error."""
    name = _NAMES.get(metric, metric)
    return f"{name},\non the scale of {SCALES[metric]}" if SCALES.get(metric) else name


def _mean_curves(found: NumericBenchmark) -> Curves:
    summary, experiment = found.summary(), found.experiment
    return {
        numbers.name: {
            name: {epsilon: summary.mean(numbers.name, epsilon, name) for epsilon in experiment.epsilons}
            for name in summary.mechanisms()
        }
        for numbers in experiment.data
    }


def curves_figure(
    curves: Curves,
    *,
    along: str | Mapping[str, str],
    across: str,
    title: str,
    across_panels: int | None = None,
) -> Figure:
    """Return a panel for each key of `curves`: means over a parameter, both axes logarithmic.

    Parameters
    ----------
    curves : mapping
        Panel title, then label of a line, then place and mean; bars are two standard errors.
    along : str or mapping
        The name of the horizontal axis, or one for each panel.
    across, title : str
        The name of the vertical axis, and what stands above.
    across_panels : int, optional
        How many panels stand side by side.
    """
    figure, panels = make_panels(len(curves), 4.2, 3.6, across=across_panels, sharey=True)
    explained: set[str] = set()
    for axes, (name, lines) in zip(panels, curves.items(), strict=True):
        _draw_lines(axes, lines)
        axes.set_title(name, loc="left")
        axes.set_xlabel(along if isinstance(along, str) else along[name])
        axes.set_ylabel(across)
        if set(lines) - explained:
            axes.legend(fontsize=7.5)
            explained = set(lines)
    outer_names(panels, across_panels)
    figure.suptitle(title, fontsize=10)
    return figure


def _draw_lines(axes: Any, lines: Mapping[str, Mapping[float, Mean]]) -> None:
    """Draw means over a parameter, a line for each label; bars are two standard errors."""
    for index, (label, means) in enumerate(lines.items()):
        places = sorted(means)
        values = [means[place].value for place in places]
        reach = log_reach(values, [means[place].stderr for place in places])
        apart = side_by_side(places, index, len(lines))
        axes.errorbar(apart, values, reach, label=label, capsize=2, **style_of(index))
    axes.set_xscale("log")
    axes.set_yscale("log")
    places = sorted({place for means in lines.values() for place in means})
    axes.set_xticks(places, [f"{place:g}" for place in places])
    axes.minorticks_off()
    label_logs(axes.yaxis)


def noise_figure(tables: Mapping[str, tuple[Floats, NoiseTable]], epsilon: float) -> Figure:
    """Return the noise that AAA's tables add: the descriptor above, the probability of noise by value below.

    Parameters
    ----------
    tables : mapping
        For each title, a descriptor and its table.
    epsilon : float
        Of the tables, for the title.
    """
    from matplotlib.colors import LogNorm

    figure = new_figure(4.2 * len(tables), 6)
    panels: Any = figure.subplots(
        2, len(tables), squeeze=False, sharex="col", gridspec_kw={"height_ratios": [1, 3]}
    )
    image = None
    for (above, below), (title, (descriptor, table)) in zip(panels.T, tables.items(), strict=True):
        above.bar(np.linspace(-1, 1, table.bins + 1), descriptor, width=2 / table.bins, color=MUTED)
        above.set_title(title.replace("^2", "²"), loc="left")
        image = _draw_noise(below, table, LogNorm(1e-4, 1))
    panels[0, 0].set_ylabel("share")
    panels[1, 0].set_ylabel("noise a = y - x")
    if image is not None:
        figure.colorbar(image, ax=list(panels[1]), label="probability of the noise, given x")
    figure.suptitle(f"The best unbiased noise at epsilon = {epsilon:g}", fontsize=11)
    return figure


def _draw_noise(axes: Any, table: NoiseTable, norm: Any) -> Any:
    """Draw the probability of each noise, a column for each input."""
    outputs, size = np.array(table.outputs), table.bins
    reach = int(max(outputs[-1], size - outputs[0]))
    picture = np.zeros((2 * reach + 1, size + 1))
    for own, row in enumerate(table.rows):
        weights = np.array(row, float)
        picture[outputs - own + reach, own] = weights / weights.sum()
    half = 1 / size
    axes.set_xlabel("value x")
    return axes.imshow(
        np.maximum(picture, norm.vmin),
        origin="lower",
        aspect="auto",
        extent=(-1 - half, 1 + half, -2 * reach / size - half, 2 * reach / size + half),
        norm=norm,
        cmap="magma",
        interpolation="nearest",
    )
