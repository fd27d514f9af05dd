"""Options that the planning commands share."""

from __future__ import annotations

from typing import Annotated

import typer

from ldpkit.core.errors import InvalidParameterError

__all__ = [
    "AtLeastOption",
    "AtMostOption",
    "MetricOption",
    "ProbabilityOption",
    "VerifyOption",
    "WithinOption",
    "check_bound",
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
