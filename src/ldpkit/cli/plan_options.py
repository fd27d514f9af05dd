"""What the planning commands share: options, and what follows every answer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ldpkit.cli.options import Format
from ldpkit.cli.printing import note, show

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ldpkit.planning.plan import Plan

__all__ = [
    "AtLeastOption",
    "AtMostOption",
    "MetricOption",
    "ProbabilityOption",
    "VerifyOption",
    "WithinOption",
    "conclude",
    "save_drawn",
]

AtMostOption = Annotated[
    float | None,
    typer.Option(
        "--at-most", metavar="OMEGA", help="The largest error or probability allowed.", show_default=False
    ),
]
AtLeastOption = Annotated[
    float | None,
    typer.Option(
        "--at-least",
        metavar="OMEGA",
        help="The least agreement or probability wanted.",
        show_default=False,
    ),
]
MetricOption = Annotated[
    str | None, typer.Option("--metric", "-u", help="What must be accurate.", show_default="mae")
]
ProbabilityOption = Annotated[
    float | None,
    typer.Option(
        "--probability",
        metavar="PI",
        help="How often the bound must hold.",
        show_default="0.9; for a mean 0.95",
    ),
]
WithinOption = Annotated[
    float | None,
    typer.Option("--within", help="For a mean of numbers: how far off it may be.", show_default=False),
]
VerifyOption = Annotated[
    bool, typer.Option("--verify", help="Simulate 20,000 new collections at epsilon and at 0.9 times it.")
]

_ON_THE_EDGE = (
    "epsilon stands on the edge, so its probability is near the wanted one, and holds mostly 'open'; "
    "at 0.9 times it, it must not hold"
)


def conclude(
    plans: Sequence[Plan],
    output: Format,
    *,
    checks: Sequence[dict[str, Any]],
    warnings: Sequence[str],
    figure: Path | None,
    draw: Callable[[], Figure],
) -> None:
    """Show the verification, say what is infeasible and what to beware of, draw, and leave with 1 for no."""
    if checks and output is Format.table:
        show(
            checks,
            output,
            title="Independent simulation at epsilon and at 0.9 times it",
            caption=_ON_THE_EDGE,
        )
    for plan in plans:
        if not plan.feasible:
            note(str(plan))
    for warning in warnings:
        note(f"warning: {warning}")
    save_drawn(figure, draw)
    if not any(plan.feasible for plan in plans):
        raise typer.Exit(1)


def save_drawn(figure: Path | None, draw: Callable[[], Figure]) -> None:
    """Draw and save a figure, if one is wanted."""
    if figure is not None:
        from ldpkit.figures.experiment import save_figure

        save_figure(draw(), figure)
        note(f"wrote {figure}")
