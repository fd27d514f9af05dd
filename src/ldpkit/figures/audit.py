"""The picture of an audit: no epsilon that was found may pass a bound."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from ldpkit.assurance.audit import Audit
from ldpkit.assurance.audit.record import PERMANENT
from ldpkit.figures.canvas import new_figure
from ldpkit.figures.theme import BAD, INK, MAIN

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["audit_figure", "draw_audit"]

_NAMES = {
    "integers": "the sampler's integers",
    "channel": "every possible report",
    "attack": "an attack\n(lower bound)",
    "attack on memory": "an attack on devices\nwith memory\n(lower bound)",
    "attack by the partner": "an attack by the\npartner\n(lower bound)",
    PERMANENT: "all reports of a device,\nif its value\nnever changes",
}
_DASHES = {"stated": (0, (4, 2)), "limit": (0, (1, 1.5))}  # told apart without colours


def draw_audit(axes: Any, found: Audit) -> None:
    """Draw the epsilons that were found, with a line at what the mechanism states and one at the limit.

    What all reports of a device cost stands last: it is compared with the limit, not with what is
    stated for one report.
    """
    marks = [("integers", found.exact)]
    marks += [(check.name, check.epsilon) for check in found.checks[1:] if check.epsilon is not None]
    marks.sort(key=lambda mark: mark[0] == PERMANENT)
    broken = any(check.name == PERMANENT and check.outcome == "fail" for check in found.checks)
    shown = [(name, value) for name, value in marks if math.isfinite(value)]
    bounds = {"stated": found.stated, "limit": math.inf if found.limit is None else found.limit}
    bounds = {name: value for name, value in bounds.items() if math.isfinite(value)}
    places = range(len(shown))[::-1]
    smallest = min(bounds.values(), default=math.inf)
    for_all = bounds.get("limit", math.inf)
    passing = [broken or value > for_all if name == PERMANENT else value > smallest for name, value in shown]
    colours = [BAD if passes else MAIN for passes in passing]
    bars = axes.barh(places, [value for _, value in shown], color=colours, height=0.55)
    for bar, passes in zip(bars, passing, strict=True):
        if passes:
            bar.set_hatch("xxx")
    edge = max([*bounds.values(), *(value for _, value in shown)], default=1.0)
    for place, (name, value) in zip(places, shown, strict=True):  # beyond the lines, not across them
        text = f"{value:.4g}" if name.startswith("attack") else f"{value:.6g}"
        axes.text(1.03 * edge, place, text, va="center")
    memory = PERMANENT in dict(shown)
    one = " for one report" if memory else ""
    for name, value in bounds.items():
        told = f"stated by the mechanism{one}: {value:.6g}" if name == "stated" else f"limit: {value:.6g}"
        # the last bar is not about one report: the line ends above it
        ends = 0.5 if memory and name == "stated" else -0.45
        axes.vlines(
            value, ends, len(shown) - 0.55, color=INK, linestyle=_DASHES[name], linewidth=2, label=told
        )
    axes.set_ylim(-0.45, len(shown) - 0.55)
    axes.set_yticks(places, [_NAMES.get(name, name) for name, _ in shown])
    axes.tick_params(axis="y", length=0)
    axes.set_xlim(0, 1.25 * edge)
    axes.set_xlabel("epsilon")
    axes.set_title(found.title, loc="left", wrap=True)
    if bounds:
        rule = f"no bar may pass {'a line' if len(bounds) > 1 else 'the line'}"
        width, height = axes.figure.get_size_inches()
        below = -0.6 / max(height - 1.5, 1.0)  # inches, as a part of the axes
        across = len(bounds) if width > 6 else 1
        axes.legend(title=rule, loc="upper center", bbox_to_anchor=(0.5, below), ncols=across, frameon=False)


def audit_figure(found: Audit, *, across: int | None = None) -> Figure:
    """Return a figure as high as there are bars."""
    count = 1 + sum(check.epsilon is not None for check in found.checks[1:])
    figure = new_figure(4.4 if across == 1 else 8.0, 2.2 + 0.5 * count)
    draw_audit(figure.subplots(), found)
    return figure
