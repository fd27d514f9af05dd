"""Pictures of curves: one panel a model, one colour a mechanism, exact lines and published ones dotted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ldpkit.core.typing import Floats
from ldpkit.figures.canvas import new_figure, save_figure

__all__ = ["Curve", "curve_figure"]

_MARKS = "osv^DPX"


@dataclass(frozen=True, eq=False)
class Curve:
    """A line of a panel; curves with the same name have the same colour.

    `style` is one of "exact" (solid), "published" (dotted) and "drawn" (points with bars).
    """

    name: str
    x: Any
    y: Any
    style: str = "exact"
    stderr: Any = None


def curve_figure(
    path: Path,
    panels: Mapping[str, Sequence[Curve]],
    xlabel: str,
    ylabel: str,
    *,
    top: float | None = 1.02,
    width: float = 5.4,
) -> None:
    """Draw panels side by side with one legend."""
    figure = new_figure(width * len(panels), 4.6)
    names = list(dict.fromkeys(curve.name for curves in panels.values() for curve in curves))
    styles = {curve.style for curves in panels.values() for curve in curves}
    shared = figure.subplots(1, len(panels), sharey=True, squeeze=False)[0]
    for axes, (title, curves) in zip(shared, panels.items(), strict=True):
        for curve in curves:
            place = names.index(curve.name)
            look: dict[str, Any] = {"color": f"C{place}", "markersize": 4}
            x, y = np.asarray(curve.x, float), np.asarray(curve.y, float)
            if curve.style == "drawn":
                axes.errorbar(x, y, 2 * _bars(curve), fmt=_MARKS[place % len(_MARKS)], **look)
            elif curve.style == "published":
                axes.plot(x, y, ":", linewidth=1.8, **look)
            else:
                axes.plot(x, y, marker=_MARKS[place % len(_MARKS)], markevery=max(len(x) // 8, 1), **look)
        axes.set_title(title)
        axes.set_xlabel(xlabel)
        if top is not None:
            axes.set_ylim(0, top)
    shared[0].set_ylabel(ylabel)
    _legend(figure, names, styles)
    save_figure(figure, path)


def _bars(curve: Curve) -> Floats:
    return np.zeros(len(np.asarray(curve.x))) if curve.stderr is None else np.asarray(curve.stderr, float)


def _legend(figure: Any, names: Sequence[str], styles: set[str]) -> None:
    from matplotlib.lines import Line2D

    handles = [
        Line2D([], [], color=f"C{place}", marker=_MARKS[place % len(_MARKS)], markersize=4, label=name)
        for place, name in enumerate(names)
    ]
    words: dict[str, tuple[Any, str]] = {
        "published": (":", "published bound"),
        "drawn": ("", "drawn, two standard errors"),
    }
    for style, (line, label) in words.items():
        if style in styles:
            mark = "o" if style == "drawn" else None
            handles.append(
                Line2D([], [], color="0.3", linestyle=line, marker=mark, markersize=4, label=label)
            )
    figure.legend(handles=handles, loc="outside right center", fontsize=8)
