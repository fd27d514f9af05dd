"""Pictures of repeated reports: their epsilon, and how many devices an attack finds."""

from __future__ import annotations

import itertools
import math
import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ldpkit.assurance.exposure import Exposure
from ldpkit.figures.canvas import label_logs, label_percents, make_panels
from ldpkit.figures.theme import BAD, INK, MAIN, MUTED, style_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["draw_longitudinal", "longitudinal_figure"]

_POINTS = 150  # of a curve
_LETTERS = 13  # of a legend, in an inch
# Below the axes: curves that grow for ever and curves that do not leave no corner free.
_LEGEND: dict[str, Any] = {"fontsize": 8, "loc": "upper left", "bbox_to_anchor": (0, -0.13)}


def longitudinal_figure(found: Exposure, *, across: int | None = None) -> Figure:
    """Return the privacy loss and the attack's success over the number of reports."""
    figure, (loss, success) = make_panels(2, 4.4 if across == 1 else 6.0, 5.8, across=across)
    _draw_loss(loss, found)
    draw_longitudinal(success, found)
    figure.suptitle(f"{found.mechanism!r}: what {found.device.reports:,} reports of one device give away")
    return figure


def draw_longitudinal(axes: Any, found: Exposure) -> None:
    """Draw how many devices the attack finds after 1, 2, ... reports about a value that stays."""
    attack = found.attack
    steps = _steps(found)
    for curve, colour, label in (
        (attack.fresh, INK, "without memoization"),
        (attack.kept, MAIN, "memoized"),
    ):
        shares = curve[np.subtract(steps, 1)]
        axes.plot(steps, shares, color=colour, label=label)
        axes.fill_between(steps, *attack.ends(shares), color=colour, alpha=0.2, linewidth=0)
    axes.axhline(attack.bound, color=BAD, linestyle="--", label=f"bound {attack.bound:.3f}, memoized")
    guess = 1 / found.mechanism.size
    axes.axhline(guess, color=MUTED, linestyle=":", label=f"a blind guess, {guess:.3g}")
    axes.set(xscale="log", xlabel="reports", ylabel="share of devices whose value is found")
    label_logs(axes.xaxis)
    axes.set_ylim(0, 1.03)
    label_percents(axes.yaxis)
    axes.set_title(f"attack on {attack.repeats:,} devices; bands: 95% intervals", loc="left")
    axes.legend(**_LEGEND)


def _draw_loss(axes: Any, found: Exposure) -> None:
    """Draw the epsilon of all reports together, in each of the cases."""
    device = found.device
    steps = _steps(found)
    without = [loss.without_memo for loss in device.losses(0, steps)]
    axes.plot(steps, without, "--", color=INK, label="without memoization, against every history")
    _draw_headline(axes, found, steps)
    for colour, count in enumerate((count for count in found.changes if count), start=1):
        epsilons = [loss.same_pattern for loss in device.losses(count, steps)]
        label = f"memoized, against histories with the same pattern of states, {_changes(count)}"
        axes.plot(steps, epsilons, **_line(colour), linewidth=2, label=label)
    fixed = [loss.epsilon for loss in device.losses(0, steps, fixed=True)]
    axes.plot(steps, fixed, color=MAIN, linewidth=2, label="memoized, fixed to the first value for ever")
    permanent = found.mechanism.exact_permanent_epsilon()
    label = f"epsilon_inf = {permanent:.4g}"
    axes.axhline(permanent, color=MUTED, linewidth=1, linestyle=":", label=label)
    axes.set(xscale="log", yscale="log", xlabel="reports", ylabel="epsilon of all reports together")
    label_logs(axes.xaxis)
    label_logs(axes.yaxis)
    axes.set_title("privacy loss (against every history: at most)", loc="left")
    letters = int(_LETTERS * axes.figure.get_size_inches()[0] / axes.get_gridspec().ncols)
    handles, labels = axes.get_legend_handles_labels()
    axes.legend(handles, [textwrap.fill(each, letters) for each in labels], **_LEGEND)


def _draw_headline(axes: Any, found: Exposure, steps: Sequence[int]) -> None:
    """Draw the loss against every history; it hardly depends on how often the own value changes."""
    curves: dict[tuple[float, ...], list[int]] = {}
    for count in found.changes:
        curves.setdefault(tuple(loss.epsilon for loss in found.device.losses(count, steps)), []).append(count)
    for style, (epsilons, counts) in zip(itertools.cycle(("-", "-.", ":")), curves.items(), strict=False):
        label = f"memoized, against every history, {_changes(*counts)}"
        finite = sum(math.isfinite(epsilon) for epsilon in epsilons)
        if finite < len(steps):
            label += f": infinite from report {steps[finite]}"
            axes.axvline(steps[finite], color=BAD, linestyle=style, linewidth=2)
        axes.plot(steps[:finite], epsilons[:finite], linestyle=style, color=BAD, linewidth=2, label=label)


def _steps(found: Exposure) -> list[int]:
    """Return the numbers of reports at which curves are drawn."""
    steps: list[int] = np.unique(np.geomspace(1, found.device.reports, _POINTS).round().astype(int)).tolist()
    return steps


def _line(index: int) -> dict[str, Any]:
    look = style_of(index + 1)
    return {"color": look["color"], "linestyle": look["linestyle"]}


def _changes(*counts: int) -> str:
    return f"{' or '.join(map(str, counts))} change{'' if counts == (1,) else 's'}"
