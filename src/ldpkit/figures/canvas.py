"""Empty figures, the marks of their axes, and whole files of them."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ldpkit.core.errors import InvalidParameterError, MissingDependencyError
from ldpkit.core.wholefile import whole_file

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["check_figure_path", "label_logs", "new_figure", "save_figure"]

_SUFFIXES = (".png", ".svg", ".pdf")


def new_figure(width: float, height: float) -> Figure:
    """Return an empty figure that needs no display."""
    try:
        import matplotlib
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingDependencyError("matplotlib", "drawing figures", "plots") from None
    matplotlib.rcParams["svg.hashsalt"] = "ldpkit"  # the same figure gives the same file
    return Figure(figsize=(width, height), layout="constrained")


def check_figure_path(path: Path) -> Path:
    """Return a path whose suffix names a figure format, or refuse it."""
    if path.suffix.lower() not in _SUFFIXES:
        raise InvalidParameterError(f"a figure is written as .png, .svg or .pdf, got {str(path)!r}")
    return path


def save_figure(figure: Figure, path: Path) -> None:
    """Write a figure in the format of its suffix, whole or not at all."""
    kind = check_figure_path(path).suffix.lower().removeprefix(".")
    drawn = io.BytesIO()
    figure.savefig(drawn, format=kind, dpi=150, metadata={"Date": None} if kind == "svg" else None)
    with whole_file(path) as stream:
        stream.write(drawn.getbuffer())


def label_logs(axis: Any) -> None:
    """Write plain numbers at 1, 2 and 5 times the powers of ten of a logarithmic axis."""
    from matplotlib.ticker import LogLocator, NullFormatter, StrMethodFormatter

    axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    axis.set_major_formatter(StrMethodFormatter("{x:g}"))
    axis.set_minor_formatter(NullFormatter())
