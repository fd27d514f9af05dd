"""What the planning commands share: options, and what follows every answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from ldpkit.cli.options import ResultOptions
from ldpkit.cli.pictures import Pictures
from ldpkit.cli.printing import deliver
from ldpkit.core.errors import InvalidParameterError

if TYPE_CHECKING:
    from ldpkit.planning.plan import Plans

__all__ = [
    "AtLeastOption",
    "AtMostOption",
    "MetricOption",
    "ProbabilityOption",
    "VerifyOption",
    "WithinOption",
    "check_bound",
    "conclude",
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
        help="The smallest agreement or probability allowed.",
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
    bool,
    typer.Option("--verify", help="Simulate 20,000 new collections at epsilon and at 0.9 times epsilon."),
]


def check_bound(at_most: float | None, at_least: float | None) -> None:
    """Refuse two bounds: a metric has one good side."""
    if at_most is not None and at_least is not None:
        raise InvalidParameterError("--at-most and --at-least cannot be given together: choose one")


def conclude(found: Plans, shown: ResultOptions, pictures: Pictures) -> None:
    """Show plans, draw them, and leave with 1 if there is no answer."""
    deliver(found, shown)
    pictures.save(found)
    if not found.feasible:
        raise typer.Exit(1)
