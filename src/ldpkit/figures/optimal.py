"""Pictures of errors and of optimal mechanisms: over epsilon, over the domain, and as densities."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ldpkit.figures.canvas import label_logs, new_figure
from ldpkit.mechanisms.kinds import is_circular, is_numeric, is_tabled
from ldpkit.mechanisms.numeric.ogpm import OGPM
from ldpkit.planning.optimal.errors import distance_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from ldpkit.planning.optimal.errors import ErrorComparison
    from ldpkit.planning.optimal.gpm import OptimalPieces
    from ldpkit.planning.optimal.minimax import Minimax

__all__ = ["draw_errors", "draw_minimax", "draw_pieces", "errors_figure", "minimax_figure"]

_MARKS = "osv^D<>P*X"
_POINTS = 257


def draw_errors(ax: Axes, found: ErrorComparison, what: str = "worst") -> None:
    """Draw the worst or the mean error over epsilon, a line for each mechanism; bars at a single epsilon."""
    axes: Any = ax
    names = list(dict.fromkeys(row.mechanism for row in found.found))
    epsilons = sorted({row.epsilon for row in found.found})
    if len(epsilons) == 1:
        rows = sorted(found.found, key=lambda row: -getattr(row, what))
        axes.barh([row.mechanism for row in rows], [getattr(row, what) for row in rows], color="C0")
        axes.set_xscale("log")
        label_logs(axes.xaxis)
        axes.set_xlabel(f"{what} expected {found.distance}, epsilon={epsilons[0]:g}")
        return
    for index, name in enumerate(names):
        errors = [getattr(row, what) for row in found.found if row.mechanism == name]
        mark = _MARKS[index % len(_MARKS)]
        style = "-" if index < len(_MARKS) else "--"
        axes.plot(epsilons, errors, style, marker=mark, markersize=4, linewidth=1.2, label=name)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xticks(epsilons, [f"{epsilon:g}" for epsilon in epsilons])
    axes.minorticks_off()
    label_logs(axes.yaxis)
    axes.set_xlabel("epsilon")
    axes.set_ylabel(f"{what} expected {found.distance}")
    axes.legend(fontsize=7, ncols=2 if len(names) > len(_MARKS) else 1)


def errors_figure(found: ErrorComparison) -> Figure:
    """Return the mean and the worst error side by side."""
    figure = new_figure(12.0, 5.2)
    left, right = figure.subplots(1, 2)
    for axes, what, title in (
        (left, "mean", "Over the whole domain"),
        (right, "worst", "At the worst value"),
    ):
        draw_errors(axes, found, what)
        axes.set_title(title)
    if right.get_legend() is not None and left.get_legend() is not None:
        left.get_legend().remove()
    figure.suptitle(found.title)
    return figure


def draw_minimax(ax: Axes, found: Minimax) -> None:
    """Draw the error over the domain, beside that of OGPM and the bound that nothing goes below."""
    axes: Any = ax
    mechanism = found.mechanism
    domain = mechanism.domain
    x = np.linspace(domain.low, domain.low + domain.width, _POINTS)
    axes.plot(x, mechanism.error(x, found.power), color="C0", label=mechanism.name)
    if is_numeric(mechanism) and found.closed_form > found.upper:
        ogpm = OGPM(mechanism.domain, mechanism.epsilon, power=found.power)
        axes.plot(x, ogpm.error(x, found.power), "--", color="C1", label="ogpm")
    if not found.prior:
        axes.axhline(found.lower, color="C3", linestyle=":", label="bound on the worst error of all")
    axes.set_ylim(bottom=0)
    axes.set_xlabel("value")
    axes.set_ylabel(f"expected {distance_text(found.power, around=is_circular(mechanism))}")
    axes.legend(fontsize=8)


def minimax_figure(found: Minimax) -> Figure:
    """Return the error over the domain, and the mechanism: its table, or a density."""
    figure = new_figure(12.0, 5.2)
    left, right = figure.subplots(1, 2)
    draw_minimax(left, found)
    if is_tabled(found.mechanism):
        _draw_table(right, found.mechanism)
    else:
        _draw_density(right, found.mechanism)
    figure.suptitle(found.title)
    return figure


def _draw_density(axes: Any, mechanism: Any) -> None:
    """Draw the density of a report of the middle of the domain."""
    domain = mechanism.domain
    high = domain.low + domain.width
    y = np.linspace(domain.low, high, 4 * _POINTS, endpoint=False)
    middle = (domain.low + high) / 2
    axes.plot(y, mechanism.pdf(y, middle), color="C0")
    axes.axvline(middle, color="black", linewidth=0.8)
    axes.set_ylim(bottom=0)
    axes.set_xlabel("output")
    axes.set_ylabel("density")
    axes.set_title(f"A report of the value {middle:g}")


def _draw_table(axes: Any, mechanism: Any) -> None:
    """Draw how likely each output is for each value: a dot for each, its area the probability."""
    table, domain = mechanism.table, mechanism.domain
    rows = np.linspace(domain.low, domain.high, table.bins + 1)
    shares = np.array(table.outputs) / mechanism.output_steps
    outputs = domain.low + domain.width * shares
    x, y = np.meshgrid(rows, outputs, indexing="ij")
    biggest = min(260.0, 9000.0 / max(len(rows), 1))
    axes.scatter(
        x.ravel(), y.ravel(), s=biggest * table.shares.ravel() / table.shares.max(), color="C0", lw=0
    )
    axes.plot([domain.low, domain.high], [domain.low, domain.high], color="black", linewidth=0.6)
    axes.set_xlabel("value (a row of the table)")
    axes.set_ylabel("output")
    axes.set_title(f"{len(outputs)} outputs: the area of a dot is a probability")


def draw_pieces(ax: Axes, found: OptimalPieces) -> None:
    """Draw the density of a report, and where the value is."""
    axes: Any = ax
    edges = [found.pieces[0].low, *(piece.high for piece in found.pieces)]
    axes.stairs([piece.density for piece in found.pieces], edges, fill=True, color="C0", alpha=0.4)
    axes.axvline(found.x, color="black", linewidth=0.8, label=f"x={found.x:g}")
    axes.set_ylim(bottom=0)
    axes.set_xlabel("output")
    axes.set_ylabel("density")
    axes.set_title(found.title)
    axes.legend(fontsize=8)
