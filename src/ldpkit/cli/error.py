"""`ldpkit error`: how far a report is from the value, for mechanisms beside each other."""

from __future__ import annotations

from typing import Annotated

import typer

from ldpkit.cli import options as opt
from ldpkit.cli.parsing import ManyValuesCommand, parse_budgets, parse_circle, parse_interval, split
from ldpkit.cli.pictures import Pictures
from ldpkit.cli.printing import deliver, progress_bar

__all__ = ["add_to"]

_EXAMPLES = """
\b
Examples:
  ldpkit error -p ogpm optimal compressed_pm compressed_sw -e 1 2 4
  ldpkit error -e 0.5 1 2 4 8 --power 2 --figure error.png
  ldpkit error -p ogpm pm laplace -e 1 --low 0 --high 120 -o error.csv
  ldpkit error --period 360 -p circular_ogpm compressed_pm -e 2 4
"""


def add_to(app: typer.Typer) -> None:
    """Register the command."""
    app.command("error", cls=ManyValuesCommand, epilog=_EXAMPLES)(opt.spread(error))


def error(
    mechanism: opt.MechanismsOption = None,
    epsilon: opt.EpsilonsOption = None,
    where: opt.SpaceOptions = opt.SpaceOptions(),
    power: opt.PowerOption = 1.0,
    points: Annotated[
        int,
        typer.Option(
            "--points", min=3, max=10_001, help="At how many values of the domain the error is computed."
        ),
    ] = 257,
    pictured: opt.UnitPictureOptions = opt.UnitPictureOptions(),
    shown: opt.ResultOptions = opt.ResultOptions(),
) -> None:
    """Compare the error of one report among mechanisms.

    The error is the distance of the report from the value: on average over the domain, and in the
    worst case. Nothing is simulated: errors are computed from the distribution of each mechanism's
    reports. The domain is an interval, by default from 0 to 1, or with --period a circle, where the
    distance is the shorter arc. By default the command compares all mechanisms that need no
    parameter but epsilon.
    """
    pictures = Pictures.wanted(*pictured, shown=shown)
    circle = parse_circle(*where)
    interval = None if circle is not None else parse_interval(where.low, where.high)
    from ldpkit.planning.optimal.errors import compare_errors

    with progress_bar() as watch:
        found = compare_errors(
            split(mechanism or []) or "all",
            parse_budgets(epsilon or []) or [1.0],
            interval or (0.0, 1.0),
            circle=circle,
            power=power,
            points=points,
            watch=watch,
        )
    deliver(found, shown, top=None)
    pictures.save(found)
