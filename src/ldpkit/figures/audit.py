"""The picture of an audit: what was shown must not pass what was stated."""

from __future__ import annotations

import math
from typing import Any

from ldpkit.assurance.audit import Audit
from ldpkit.figures.theme import BAD, INK, MAIN, MUTED

__all__ = ["draw_audit"]

_NAMES = {
    "integers": "realised by the integers",
    "channel": "every report listed",
    "attack": "attack, at least",
}


def draw_audit(axes: Any, found: Audit) -> None:
    """Draw the epsilons that were found beside the one that was stated."""
    marks = [("stated", found.stated), ("integers", found.exact)]
    marks += [(check.name, check.epsilon) for check in found.checks[1:] if check.epsilon is not None]
    shown = [(name, value) for name, value in marks if math.isfinite(value)]
    places = range(len(shown))[::-1]
    colours = [MUTED if name == "stated" else BAD if value > found.stated else MAIN for name, value in shown]
    bars = axes.barh(places, [value for _, value in shown], color=colours, height=0.55)
    for bar, (_, value) in zip(bars, shown, strict=True):
        if value > found.stated:
            bar.set_hatch("xxx")
    axes.bar_label(bars, [f"{value:.6g}" for _, value in shown], padding=5, fontsize=8.5)
    if math.isfinite(found.stated):
        axes.axvline(found.stated, color=INK, linestyle=(0, (4, 2)), linewidth=1)
    axes.set_yticks(places, [_NAMES.get(name, name) for name, _ in shown])
    axes.tick_params(axis="y", length=0)
    axes.margins(x=0.2)
    axes.set_xlabel("epsilon: nothing may pass the dashed line")
    axes.set_title("PASSED" if found.passed else "FAILED", loc="left")
