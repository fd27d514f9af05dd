"""The picture of an audit: what was shown must not pass what was stated."""

from __future__ import annotations

import math
from typing import Any

from ldpkit.assurance.audit import Audit
from ldpkit.figures.theme import BAD, FAINT, INK, MAIN

__all__ = ["draw_audit"]

_NAMES = {
    "integers": "the sampler's integers",
    "channel": "all reports, one by one",
    "attack": "an attack, at least",
}


def draw_audit(axes: Any, found: Audit) -> None:
    """Draw the epsilons that were found beside the one that was stated."""
    marks = [("stated", found.stated), ("integers", found.exact)]
    marks += [(check.name, check.epsilon) for check in found.checks[1:] if check.epsilon is not None]
    shown = [(name, value) for name, value in marks if math.isfinite(value)]
    places = range(len(shown))[::-1]
    colours = [FAINT if name == "stated" else BAD if value > found.stated else MAIN for name, value in shown]
    bars = axes.barh(places, [value for _, value in shown], color=colours, height=0.55)
    for bar, (_, value) in zip(bars, shown, strict=True):
        if value > found.stated:
            bar.set_hatch("xxx")
    edge = max(value for _, value in shown)
    for place, (name, value) in zip(places, shown, strict=True):  # beyond the dashed line, not across it
        text = f"{value:.4g}" if name.startswith("attack") else f"{value:.6g}"
        axes.text(1.03 * edge, place, text, va="center")
    if math.isfinite(found.stated):
        axes.axvline(found.stated, color=INK, linestyle=(0, (4, 2)), linewidth=1)
    axes.set_yticks(places, [_NAMES.get(name, name) for name, _ in shown])
    axes.tick_params(axis="y", length=0)
    axes.set_xlim(0, 1.25 * edge)
    axes.set_xlabel("epsilon: nothing may pass the dashed line")
    axes.set_title(found.title, loc="left", wrap=True)
