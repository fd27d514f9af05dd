"""The picture of an audit: no epsilon that was found may pass a bound."""

from __future__ import annotations

import math
from typing import Any

from ldpkit.assurance.audit import Audit
from ldpkit.figures.theme import BAD, INK, MAIN

__all__ = ["draw_audit"]

_NAMES = {
    "integers": "the sampler's integers",
    "channel": "all reports, one by one",
    "attack": "an attack, at least",
}
_DASHES = {"stated": (0, (4, 2)), "limit": (0, (1, 1.5))}  # told apart without colours


def draw_audit(axes: Any, found: Audit) -> None:
    """Draw the epsilons that were found, with a line at what the mechanism states and one at the limit."""
    marks = [("integers", found.exact)]
    marks += [(check.name, check.epsilon) for check in found.checks[1:] if check.epsilon is not None]
    shown = [(name, value) for name, value in marks if math.isfinite(value)]
    bounds = {"stated": found.stated, "limit": math.inf if found.limit is None else found.limit}
    bounds = {name: value for name, value in bounds.items() if math.isfinite(value)}
    places = range(len(shown))[::-1]
    smallest = min(bounds.values(), default=math.inf)
    passing = [value > smallest for _, value in shown]
    colours = [BAD if passes else MAIN for passes in passing]
    bars = axes.barh(places, [value for _, value in shown], color=colours, height=0.55)
    for bar, passes in zip(bars, passing, strict=True):
        if passes:
            bar.set_hatch("xxx")
    edge = max([*bounds.values(), *(value for _, value in shown)], default=1.0)
    for place, (name, value) in zip(places, shown, strict=True):  # beyond the lines, not across them
        text = f"{value:.4g}" if name.startswith("attack") else f"{value:.6g}"
        axes.text(1.03 * edge, place, text, va="center")
    for name, value in bounds.items():
        told = f"stated by the mechanism: {value:.6g}" if name == "stated" else f"limit: {value:.6g}"
        axes.axvline(value, color=INK, linestyle=_DASHES[name], linewidth=2, label=told)
    axes.set_yticks(places, [_NAMES.get(name, name) for name, _ in shown])
    axes.tick_params(axis="y", length=0)
    axes.set_xlim(0, 1.25 * edge)
    axes.set_xlabel(f"epsilon: no bar may pass {'a line' if len(bounds) > 1 else 'the line'}")
    axes.set_title(found.title, loc="left", wrap=True)
    if bounds:
        axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.22), ncols=len(bounds), frameon=False)
