"""Labelled curves side by side, as most figures of the thesis are."""

from __future__ import annotations

from ldpkit.core.typing import Floats
from ldpkit.papers import Settings

__all__ = ["Lines", "draw_curves"]

Lines = dict[str, tuple[Floats, Floats]]
"""For each label, where a curve runs."""


def draw_curves(
    settings: Settings, file: str, panels: dict[str, Lines], *, along: str, across: str, log: bool = False
) -> None:
    """Draw curves in one panel for each title, if there is a folder for figures.

    A label is what is shown and, behind a comma, how it is scored: curves of one thing have
    one colour, and those behind the first are dotted.
    """
    if settings.folder is None:
        return
    from ldpkit.figures.canvas import new_figure, save_figure

    figure = new_figure(5.5 * len(panels), 4.7)
    for axes, (title, lines) in zip(
        figure.subplots(1, len(panels), squeeze=False)[0], panels.items(), strict=True
    ):
        colours: dict[str, str] = {}
        for label, (x, y) in lines.items():
            thing, again = label.partition(",")[0], label.partition(",")[0] in colours
            colour = colours.setdefault(thing, f"C{len(colours)}")
            style = ":" if again else "-" if colour == "C0" else "--"
            axes.plot(x, y, style, color=colour, linewidth=2 if again else 1.5, label=label)
        if log:
            axes.set_yscale("log")
        axes.set_title(title, fontsize=10)
        axes.set_xlabel(along)
        axes.set_ylabel(across)
        axes.legend(fontsize=8)
    name = file.removesuffix(".png").replace("-", " ")
    figure.suptitle(name[0].upper() + name[1:])
    save_figure(figure, settings.folder / file)
