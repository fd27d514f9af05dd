"""How figures look: colours that survive grey and colour-blindness, marks beside them, and dark mode.

Lines and bars take the colours of Okabe and Ito, each with a mark, a dash and a hatch of its own, so
that no figure depends on colour alone. A figure is drawn in light colours. As SVG it carries a style
sheet that exchanges them where a reader prefers dark: every colour of the theme has a partner there.
"""

from __future__ import annotations

from typing import Any

__all__ = [
    "BAD",
    "BAR",
    "COLOURS",
    "DASHES",
    "FAINT",
    "GRID",
    "HATCHES",
    "INK",
    "MAIN",
    "MARKS",
    "MUTED",
    "ON_DARK",
    "ON_LIGHT",
    "PAPER",
    "SETTINGS",
    "dark_rules",
    "style_of",
]

INK, PAPER = "#1f2328", "#ffffff"
MUTED, FAINT, GRID = "#5b6470", "#c9ced6", "#e3e6ea"
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")
"""Okabe and Ito's, without black and yellow."""
MAIN, BAD = COLOURS[0], COLOURS[1]
BAR = "#6baed6"
"""Of bars that error bars are drawn on, which must be seen on it."""
MARKS = ("o", "s", "^", "D", "v", "P", "X", "*")
DASHES = ("-", (0, (5, 1.5)), (0, (1.5, 1.2)), (0, (5, 1.5, 1.2, 1.5)), (0, (8, 2)), (0, (3, 1, 1, 1, 1, 1)))
HATCHES = ("", "///", "\\\\\\", "xxx", "...", "+++")
ON_DARK, ON_LIGHT = "#fdfdfd", "#0b0b0b"  # on a coloured ground, which stays as it is in dark mode

SETTINGS: dict[str, Any] = {
    "axes.edgecolor": MUTED,
    "axes.labelcolor": INK,
    "axes.titlecolor": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": False,
    "axes.axisbelow": True,
    "axes.titlesize": 10,
    "axes.labelsize": 9.5,
    "axes.unicode_minus": True,
    "figure.facecolor": PAPER,
    "axes.facecolor": "none",
    "font.size": 9.5,
    "grid.color": GRID,
    "legend.frameon": False,
    "legend.fontsize": 8.5,
    "legend.labelcolor": INK,
    "text.color": INK,
    "xtick.color": MUTED,
    "xtick.labelcolor": INK,
    "ytick.color": MUTED,
    "ytick.labelcolor": INK,
    "svg.hashsalt": "ldpkit",  # the same figure gives the same file
}
"""What is set while a figure is made; a user's own settings are not touched."""

_DARK = {
    PAPER: "#15181c",
    INK: "#e6e8eb",
    "#000000": "#e6e8eb",  # of axes that somebody made without the theme
    MUTED: "#a3acb8",
    FAINT: "#454d58",
    GRID: "#2b3138",
    BAR: "#2d6f9c",
    "#0072b2": "#4ba3e3",
    "#d55e00": "#f0803c",
    "#009e73": "#2fc08f",
}


def dark_rules(inside: str = "") -> str:
    """Return rules of CSS that exchange the colours of a figure where a reader prefers dark.

    Parameters
    ----------
    inside : str
        A selector of what holds the figures, with a space behind it.

    Examples
    --------
    >>> dark_rules("figure ").count("!important")
    20
    """
    pairs = [(part, light, dark) for light, dark in _DARK.items() for part in ("fill", "stroke")]
    # A mark is a copy of one that is defined once: no selector sees what holds the copy.
    rules = "".join(f'[style*="{part}: {light}"]{{{part}:{dark}!important}}' for part, light, dark in pairs)
    # The ground of a hatched bar, and what is drawn by hand, have their colours as attributes.
    rules += "".join(f'{inside}[{part}="{light}"]{{{part}:{dark}}}' for part, light, dark in pairs)
    return f"@media (prefers-color-scheme: dark) {{{inside}svg{{fill:{_DARK[INK]}}}{rules}}}"


def style_of(index: int) -> dict[str, Any]:
    """Return how the line of a place in a list looks: a colour, a mark and a dash.

    Examples
    --------
    >>> style_of(1)["color"], style_of(1)["marker"], style_of(1)["markersize"]
    ('#d55e00', 's', 4.5)
    """
    return {
        "color": COLOURS[index % len(COLOURS)],
        "marker": MARKS[index % len(MARKS)],
        "linestyle": DASHES[index % len(DASHES)],
        "markersize": 4.5,
        "linewidth": 1.4,
    }
