"""Empty figures, the marks of their axes, and whole files of them."""

from __future__ import annotations

import contextlib
import io
import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ldpkit.core.errors import InvalidParameterError, MissingDependencyError
from ldpkit.core.text import as_html, visible
from ldpkit.core.typing import Floats
from ldpkit.core.wholefile import whole_file
from ldpkit.figures.theme import COLOURS, INK, MUTED, PAPER, SETTINGS, dark_rules

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = [
    "ACROSS",
    "check_figure_path",
    "label_ends",
    "label_logs",
    "label_numbers",
    "label_percents",
    "log_reach",
    "make_panels",
    "name_line",
    "new_figure",
    "outer_names",
    "roomy",
    "save_figure",
    "side_by_side",
    "svg_text",
    "themed",
    "three_digits",
    "with_unit",
]

_SUFFIXES = (".png", ".svg", ".pdf")
_NO_METADATA = dict.fromkeys(("Date", "Creator", "Format", "Type"))
_LETTER, _LINE, _LEADER = 4.6, 11.0, 26.0  # points: a letter of a name, its line, and the way to it
_APART = 1.02  # of neighbouring error bars on a logarithmic axis
ACROSS = 3
"""Panels side by side, where nobody says otherwise."""


@contextlib.contextmanager
def themed() -> Iterator[None]:
    """Make and draw figures in the colours of the theme; a user's own settings come back behind it."""
    try:
        import matplotlib
    except ImportError:
        raise MissingDependencyError("matplotlib", "drawing figures", "plots") from None
    from cycler import cycler

    settings: Any = {**SETTINGS, "axes.prop_cycle": cycler(color=COLOURS)}
    with matplotlib.rc_context(settings):
        yield


def new_figure(width: float, height: float) -> Figure:
    """Return an empty figure that needs no display, whose axes have the colours of the theme."""
    with themed():
        from matplotlib.axes import Axes
        from matplotlib.figure import Figure

        class ThemedAxes(Axes):
            """Axes whose legend is made in the theme, whoever asks for it."""

            def legend(self, *args: Any, **options: Any) -> Any:
                """Add a legend."""
                with themed():
                    return super().legend(*args, **options)

        class Themed(Figure):
            """A figure whose axes are made in the theme, whoever makes them."""

            def add_subplot(self, *args: Any, **options: Any) -> Any:
                """Add axes."""
                with themed():
                    if not options.get("projection"):
                        options.setdefault("axes_class", ThemedAxes)
                    return super().add_subplot(*args, **options)

            def legend(self, *args: Any, **options: Any) -> Any:
                """Add a legend of all axes."""
                with themed():
                    return super().legend(*args, **options)

        return Themed(figsize=(width, height), layout="constrained", facecolor=PAPER)


def roomy(figure: Figure) -> Figure:
    """Return a figure whose rows of panels stand apart, so that a title belongs to what is below it."""
    engine: Any = figure.get_layout_engine()
    engine.set(hspace=0.06)
    return figure


def outer_names(panels: Sequence[Any], across: int | None) -> None:
    """Leave the names of vertical axes that panels share to the first of each row."""
    for place, axes in enumerate(panels):
        if place % max(1, min(across or ACROSS, len(panels))):
            axes.set_ylabel("")


def make_panels(
    count: int, width: float, height: float, *, across: int | None = None, **shared: Any
) -> tuple[Figure, list[Any]]:
    """Return a figure with so many panels of a size, and their axes.

    Parameters
    ----------
    count : int
        How many panels.
    width, height : float
        Of one panel, in inches.
    across : int, optional
        How many stand side by side at most: 1 on a phone, 3 by default.
    shared
        What `subplots` takes, such as `sharex`.
    """
    columns = max(1, min(across or ACROSS, count))
    rows = -(-count // columns)
    figure = roomy(new_figure(width * columns, height * rows))
    panels: Any = figure.subplots(rows, columns, squeeze=False, **shared)
    for axes in panels.ravel()[count:]:
        axes.set_axis_off()
    return figure, list(panels.ravel()[:count])


def check_figure_path(path: Path) -> Path:
    """Return a path whose suffix names a figure format, or refuse it."""
    if path.suffix.lower() not in _SUFFIXES:
        raise InvalidParameterError(f"a figure is written as .png, .svg or .pdf, got {str(path)!r}")
    return path


def save_figure(figure: Figure, path: Path, *, alt: str = "") -> None:
    """Write a figure in the format of its suffix, whole or not at all.

    Parameters
    ----------
    figure : Figure
        What to write.
    path : Path
        Where to.
    alt : str
        What the figure shows, in words, for who cannot see it; it is kept in the file.
    """
    kind = check_figure_path(path).suffix.lower().removeprefix(".")
    drawn = io.BytesIO()
    write_out(figure)
    if kind == "svg":
        drawn.write(f'<?xml version="1.0" encoding="utf-8"?>\n{svg_text(figure, alt, dark=True)}'.encode())
    else:
        key = "Description" if kind == "png" else "Subject"
        told: dict[str, Any] = {key: alt} if alt else {}
        dates = {"CreationDate": None} if kind == "pdf" else {}
        with themed():
            figure.savefig(drawn, format=kind, dpi=150, metadata={**told, **dates})
    with whole_file(path) as stream:
        stream.write(drawn.getbuffer())


def write_out(figure: Figure) -> None:
    """Write out the control characters in the texts of a figure: an SVG file may not have them."""
    from matplotlib.text import Text
    from matplotlib.ticker import FixedFormatter, FuncFormatter

    for text in figure.findobj(Text):
        text.set_text(visible(text.get_text()))
    for axes in figure.axes:
        for axis in axes.xaxis, axes.yaxis:
            named = axis.get_major_formatter()
            if isinstance(named, FixedFormatter):
                named.seq = [visible(str(each)) for each in named.seq]
            elif isinstance(named, FuncFormatter):  # as `set_ticks` makes it of labels
                named.func = partial(_visible_label, named.func)


def _visible_label(label: Callable[..., str], *place: Any) -> str:
    return visible(label(*place))


def svg_text(figure: Figure, alt: str = "", *, name: str = "", dark: bool = False) -> str:
    """Return a figure as an SVG element that names what it shows.

    Parameters
    ----------
    figure : Figure
        What to draw.
    alt : str
        What it shows, in words.
    name : str
        What stands before the ids in it, so that several can be on one page.
    dark : bool
        Whether it brings the rules for dark mode itself, as a file of its own must.
    """
    text = io.StringIO()
    write_out(figure)
    with themed():
        figure.savefig(text, format="svg", metadata=_NO_METADATA)
    found = text.getvalue()
    found = found[found.index("<svg") :]
    if name:
        found = re.sub(r'(\bid="|href="#|url\(#)', rf"\g<1>{name}-", found)
    label = f' role="img" aria-label="{as_html(alt)}"' if alt else ""
    rules = f"<style>{dark_rules().replace('svg{', ':root{')}</style>" if dark else ""
    title = f"<title>{as_html(alt)}</title>" if alt and dark else ""
    head, end, rest = found.partition(">")
    return head + label + end + title + rules + rest


def label_logs(axis: Any) -> None:
    """Write plain numbers at 1, 2 and 5 times the powers of ten of a logarithmic axis."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    axis.set_major_formatter(FuncFormatter(lambda value, _: _plain(value)))
    axis.set_minor_formatter(NullFormatter())


def _plain(value: float) -> str:
    """Return the number of a tick, with its zeros where these can be counted.

    Examples
    --------
    >>> _plain(0.00005), _plain(200000.0), _plain(5e-7)
    ('0.00005', '200000', '5e-07')
    """
    return np.format_float_positional(value, 6, trim="-") if 1e-5 <= value < 1e7 else f"{value:g}"


def label_numbers(axis: Any) -> None:
    """Write numbers in full, their thousands set apart."""
    from matplotlib.ticker import FuncFormatter

    axis.set_major_formatter(FuncFormatter(lambda number, _: f"{round(number, 10):,.10g}"))


def label_percents(axis: Any, most: int = 6) -> None:
    """Write shares on an axis in percent, with decimals only where steps are smaller than one."""
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    axis.set_major_locator(MaxNLocator(most, steps=[1, 2, 5, 10]))
    axis.set_major_formatter(FuncFormatter(lambda share, _: f"{round(100 * share, 6):g}%"))


def three_digits(value: float) -> str:
    """Return what stands beside a bar: three digits, zeros among them, so that bars have numbers alike.

    Examples
    --------
    >>> three_digits(0.2), three_digits(1.4), three_digits(100.0), three_digits(12345.0)
    ('0.200', '1.40', '100', '12345')
    """
    return f"{value:.0f}" if abs(value) >= 1000 else f"{value:#.3g}".removesuffix(".")


def side_by_side(places: Sequence[float], index: int, count: int) -> Floats:
    """Return places on a logarithmic axis moved a little, so that the error bars of lines stand apart.

    Parameters
    ----------
    places : sequence of float
        Where the points of every line are.
    index, count : int
        Which line of how many.

    Examples
    --------
    >>> side_by_side([1.0, 2.0], 0, 1).tolist(), side_by_side([1.0], 1, 2).round(3).tolist()
    ([1.0, 2.0], [1.01])
    """
    moved: Floats = np.asarray(places, float) * _APART ** (index - (count - 1) / 2)
    return moved


def log_reach(values: Sequence[float] | Floats, errors: Sequence[float] | Floats) -> Floats:
    """Return how far error bars of two standard errors go down and up on a logarithmic axis.

    They are those of the logarithm: an error that is as large as the value has an end all the same.

    Examples
    --------
    >>> log_reach([1.0], [0.01]).round(4).tolist()
    [[0.0198], [0.0202]]
    """
    middle = np.asarray(values, float)
    ratio = np.exp(2 * np.nan_to_num(np.asarray(errors, float)) / np.where(middle > 0, middle, 1.0))
    return np.array([middle - middle / ratio, middle * ratio - middle])


def name_line(axes: Any, value: float, name: str, colour: str = MUTED, *, upright: bool = False) -> None:
    """Write the name of a horizontal line at its right end, or that of an upright one at its top."""
    place, offset = ((value, 1), (-4, -3)) if upright else ((1, value), (-4, 3))
    note = axes.annotate(
        name,
        place,
        offset,
        xycoords=axes.get_xaxis_transform() if upright else axes.get_yaxis_transform(),
        textcoords="offset points",
        ha="right",
        va="top" if upright else "bottom",
        color=colour,
        fontsize=8.5,
        bbox={"boxstyle": "square,pad=0.1", "facecolor": PAPER, "edgecolor": "none", "alpha": 0.8},
    )
    note.set_in_layout(False)


def with_unit(name: str, unit: str) -> str:
    """Return the name of an axis with its unit, if that is known.

    Examples
    --------
    >>> with_unit("mean", "years"), with_unit("mean", "")
    ('mean (years)', 'mean')
    """
    return f"{name} ({unit})" if unit else name


def _drop_ticks_beyond(axes: Any, last: float) -> None:
    """Mark no places of an axis where only names are."""
    from matplotlib.ticker import FixedLocator

    low, high = axes.get_xlim()
    shown = [tick for tick in axes.get_xticks() if low <= tick <= high]
    kept = [tick for tick in shown if tick <= last * (1 + 1e-9)]
    if len(kept) < len(shown):
        axes.xaxis.set_major_locator(FixedLocator(kept))


def label_ends(axes: Any, ends: Sequence[tuple[float, float, str, str]]) -> None:
    """Write names beside the right ends of lines, apart from each other where lines end together.

    Parameters
    ----------
    axes : matplotlib axes
        Whose scales are set; its right limit is moved, so that the names have room.
    ends : sequence of tuple
        Of each line: where it ends, across and up, its name and its colour.
    """
    figure = axes.figure
    figure.canvas.draw()  # only now it is known how large the axes are
    box = axes.get_window_extent()
    width, height = (size * 72 / figure.dpi for size in (box.width, box.height))
    needed = (_LETTER * max(len(name) for _, _, name, _ in ends) + _LEADER) / width
    low, high = axes.transData.transform([(axes.get_xlim()[0], 0.5), (max(x for x, *_ in ends), 0.5)])[:, 0]
    right = low + (high - low) / max(1 - needed, 0.35)
    axes.set_xlim(right=axes.transData.inverted().transform((right, box.y0))[0])
    _drop_ticks_beyond(axes, max(x for x, *_ in ends))
    heights = axes.transAxes.inverted().transform(axes.transData.transform([(x, y) for x, y, *_ in ends]))[
        :, 1
    ]
    order = sorted(range(len(ends)), key=lambda each: heights[each])
    places = [float(heights[each]) * height for each in order]
    for _ in range(60):  # push neighbours apart until all have room
        for one in range(len(places) - 1):
            missing = _LINE - (places[one + 1] - places[one])
            if missing > 0:
                places[one] -= missing / 2
                places[one + 1] += missing / 2
    for each, place in zip(order, places, strict=True):
        x, y, name, colour = ends[each]
        note = axes.annotate(
            name,
            (x, y),
            (1, place / height),
            textcoords="axes fraction",
            color=INK,
            ha="right",
            va="center",
            fontsize=8.5,
            annotation_clip=False,
            arrowprops={"arrowstyle": "-", "color": colour, "linewidth": 0.8, "shrinkA": 1, "shrinkB": 4},
        )
        note.set_in_layout(False)
