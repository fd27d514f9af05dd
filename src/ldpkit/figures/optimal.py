"""Pictures of errors and of optimal mechanisms: over epsilon, over the domain, and as densities."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ldpkit.figures.canvas import label_ends, label_logs, make_panels, outer_names, three_digits, with_unit
from ldpkit.figures.theme import BAD, INK, MAIN, MUTED, style_of
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

_FEW = 8
_POINTS = 257


def draw_errors(ax: Axes, found: ErrorComparison, what: str = "worst", *, unit: str = "") -> None:
    """Draw the worst or the mean error over epsilon, a line for each mechanism; bars at a single epsilon."""
    axes: Any = ax
    names = list(dict.fromkeys(row.mechanism for row in found.found))
    epsilons = sorted({row.epsilon for row in found.found})
    if len(epsilons) == 1:
        rows = sorted(found.found, key=lambda row: -getattr(row, what))
        axes.barh([row.mechanism for row in rows], [getattr(row, what) for row in rows], color=MAIN)
        axes.bar_label(
            axes.containers[0], [three_digits(getattr(row, what)) for row in rows], padding=4, fontsize=8.5
        )
        axes.tick_params(axis="y", length=0)
        axes.margins(x=0.16)
        axes.set_xlabel(with_unit(f"{what} expected {found.distance}, epsilon={epsilons[0]:g}", unit))
        return
    ends = []
    for index, name in enumerate(names):
        errors = [getattr(row, what) for row in found.found if row.mechanism == name]
        look = style_of(index)
        axes.plot(epsilons, errors, label=name, **look)
        ends.append((epsilons[-1], errors[-1], name, look["color"]))
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xticks(epsilons, [f"{epsilon:g}" for epsilon in epsilons])
    axes.minorticks_off()
    label_logs(axes.yaxis)
    axes.set_xlabel("epsilon")
    axes.set_ylabel(with_unit(f"expected error of one report, {found.distance}", unit))
    if len(names) > _FEW:
        axes.legend(ncols=2)
    else:
        label_ends(axes, ends)


def errors_figure(found: ErrorComparison, *, across: int | None = None, unit: str = "") -> Figure:
    """Return the mean and the worst error side by side."""
    one = len({row.epsilon for row in found.found}) == 1
    width = 4.4 if across == 1 else 5.2
    figure, (left, right) = make_panels(2, width, 4.6, across=across, sharex=one, sharey=not one)
    for axes, what, title in (
        (left, "mean", "Mean over the whole domain"),
        (right, "worst", "At the worst value"),
    ):
        draw_errors(axes, found, what, unit=unit)
        axes.set_title(title, loc="left")
    if not one:
        outer_names((left, right), across)
    if right.get_legend() is not None and left.get_legend() is not None:
        left.get_legend().remove()
    return figure


def draw_minimax(ax: Axes, found: Minimax, *, unit: str = "") -> None:
    """Draw the error over the domain, beside that of OGPM and the bound that nothing goes below."""
    axes: Any = ax
    mechanism = found.mechanism
    domain = mechanism.domain
    x = np.linspace(domain.low, domain.low + domain.width, _POINTS)
    axes.plot(x, mechanism.error(x, found.power), color=MAIN, label=mechanism.name)
    if is_numeric(mechanism) and found.closed_form > found.upper:
        ogpm = OGPM(mechanism.domain, mechanism.epsilon, power=found.power)
        axes.plot(x, ogpm.error(x, found.power), "--", color=BAD, label="ogpm")
    if not found.prior:
        axes.axhline(found.lower, color=MUTED, linestyle=":", label="no mechanism has a smaller worst error")
    axes.set_ylim(bottom=0)
    axes.set_xlabel(with_unit("value", unit))
    distance = distance_text(found.power, around=is_circular(mechanism))
    axes.set_ylabel(with_unit(f"expected error of one report, {distance}", unit if found.power == 1 else ""))
    axes.legend()


def minimax_figure(found: Minimax, *, across: int | None = None, unit: str = "") -> Figure:
    """Return the error over the domain, and the mechanism: its table, or a density."""
    figure, (left, right) = make_panels(2, 4.4 if across == 1 else 5.2, 4.4, across=across)
    draw_minimax(left, found, unit=unit)
    left.set_title("Error at each value", loc="left")
    if is_tabled(found.mechanism):
        _draw_table(right, found.mechanism, unit)
    else:
        _draw_density(right, found.mechanism, unit)
    return figure


def _draw_density(axes: Any, mechanism: Any, unit: str) -> None:
    """Draw the density of a report of the middle of the domain."""
    domain = mechanism.domain
    high = domain.low + domain.width
    y = np.linspace(domain.low, high, 4 * _POINTS, endpoint=False)
    middle = (domain.low + high) / 2
    axes.plot(y, mechanism.pdf(y, middle), color=MAIN)
    axes.axvline(middle, color=INK, linewidth=0.8)
    axes.set_ylim(bottom=0)
    axes.set_xlabel(with_unit("output", unit))
    axes.set_ylabel("density")
    axes.set_title(f"A report of the value {middle:g}", loc="left")


def _draw_table(axes: Any, mechanism: Any, unit: str) -> None:
    """Draw how likely each output is for each value: a dot for each, its area the probability."""
    table, domain = mechanism.table, mechanism.domain
    rows = np.linspace(domain.low, domain.high, table.bins + 1)
    shares = np.array(table.outputs) / mechanism.output_steps
    outputs = domain.low + domain.width * shares
    x, y = np.meshgrid(rows, outputs, indexing="ij")
    biggest = min(260.0, 9000.0 / max(len(rows), 1))
    axes.scatter(
        x.ravel(), y.ravel(), s=biggest * table.shares.ravel() / table.shares.max(), color=MAIN, lw=0
    )
    axes.plot([domain.low, domain.high], [domain.low, domain.high], color=INK, linewidth=0.8)
    axes.set_xlabel(with_unit("value", unit))
    axes.set_ylabel(with_unit("output", unit))
    told = f"{len(outputs)} outputs; dot area: probability; line: output = value"
    axes.set_title(told, loc="left", wrap=True)


def draw_pieces(ax: Axes, found: OptimalPieces, *, unit: str = "") -> None:
    """Draw the density of a report, and where the value is."""
    axes: Any = ax
    edges = [found.pieces[0].low, *(piece.high for piece in found.pieces)]
    axes.stairs([piece.density for piece in found.pieces], edges, fill=True, color=MAIN, alpha=0.4)
    axes.axvline(found.x, color=INK, linewidth=0.8, label=f"x={found.x:g}")
    axes.set_ylim(bottom=0)
    axes.set_xlabel(with_unit("output", unit))
    axes.set_ylabel("density")
    axes.set_title(found.title, loc="left", wrap=True)
    axes.legend()
