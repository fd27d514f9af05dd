"""The picture of an audit: what was shown must not pass what was stated."""

from __future__ import annotations

import math
from typing import Any

from ldpkit.assurance.audit import Audit

__all__ = ["draw_audit", "shown_epsilons"]


def shown_epsilons(found: Audit) -> list[tuple[str, float]]:
    """Return the epsilons of an audit by name, those that are finite."""
    marks = [("stated", found.stated), ("integers", found.exact)]
    marks += [(check.name, check.epsilon) for check in found.checks[1:] if check.epsilon is not None]
    return [(name, value) for name, value in marks if math.isfinite(value)]


def draw_audit(axes: Any, found: Audit) -> None:
    """Draw the epsilons that were found beside the one that was stated."""
    marks = shown_epsilons(found)
    places = range(len(marks))[::-1]
    colours = ["tab:red" if value > found.stated else "C0" for _, value in marks]
    axes.barh(places, [value for _, value in marks], color=colours, height=0.5)
    axes.axvline(found.stated, color="black", linestyle="--", linewidth=1)
    axes.set_yticks(places, [f"{name}, at least" if name == "attack" else name for name, _ in marks])
    axes.set_xlabel("epsilon")
    axes.set_title(found.title, fontsize=10)
