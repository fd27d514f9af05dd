"""`ldpkit optimal`: the best mechanism for an error, and how far from the optimum it can be."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ldpkit.cli import options as opt
from ldpkit.cli.inputs import moved_in_words, read_numbers
from ldpkit.cli.outputs import (
    check_ending,
    is_standard_output,
    write_text,
)
from ldpkit.cli.parsing import parse_circle, parse_interval, refuse_options
from ldpkit.cli.pictures import Pictures
from ldpkit.cli.printing import note, present
from ldpkit.cli.reading import Writes
from ldpkit.cli.tallies import is_collected
from ldpkit.core.errors import InvalidParameterError

if TYPE_CHECKING:
    from ldpkit.core.domains.interval import IntervalDomain
    from ldpkit.core.typing import Floats
    from ldpkit.planning.optimal.gpm import OptimalPieces

__all__ = ["add_to"]

_EXAMPLES = """
\b
Examples:
  ldpkit optimal -e 1
  ldpkit optimal -e 2 --low 0 --high 120 --power 2 --figure optimal.png
  ldpkit optimal -e 2 --low 0 --high 120 --prior census.csv --column age \\
    -o age.json
  ldpkit privatize ages.csv -p @age.json -o ages.ldp
  ldpkit optimal -e 1 --intervals 64 --format json
  ldpkit optimal -e 2 --period 360
  ldpkit optimal -e 2 --pieces 3 --x 0.25 --at 0.25
"""


def add_to(app: typer.Typer) -> None:
    """Register the command."""
    app.command("optimal", epilog=_EXAMPLES)(opt.spread(optimal))


def optimal(
    epsilon: Annotated[float, typer.Option("--epsilon", "-e", help="The privacy budget.")],
    where: opt.SpaceOptions = opt.SpaceOptions(),
    power: opt.PowerOption = 1.0,
    prior: Annotated[
        Path | None,
        typer.Option(
            help="A file of public numbers: minimise the mean error over them, not the worst error.",
            show_default=False,
        ),
    ] = None,
    column: opt.ColumnOption = None,
    clip: opt.ClipOption = False,
    missing: opt.MissingOption = opt.Missing.refuse,
    intervals: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="The cells of the mechanism's grid, at most 128.",
            show_default="16, 32 or 64, by epsilon",
        ),
    ] = None,
    pieces: Annotated[
        int | None,
        typer.Option(
            help="Find the best density of this many pieces with SCIP, instead of the best mechanism of all.",
            show_default=False,
        ),
    ] = None,
    x: Annotated[
        float | None,
        typer.Option("--x", help="With --pieces: the value whose density is shown; by default --low."),
    ] = None,
    at: Annotated[
        float | None,
        typer.Option("--at", help="With --pieces: the value it is best for; by default the worst one."),
    ] = None,
    time_limit: Annotated[
        float, typer.Option("--time-limit", min=0.01, help="Seconds for a solver.")
    ] = 120.0,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", help="Write the mechanism, for 'privatize -p @FILE'.", show_default=False
        ),
        Writes(takes_dash=True),  # only to say where the result goes
    ] = None,
    pictured: opt.UnitPictureOptions = opt.UnitPictureOptions(),
    force: opt.ForceOption = False,
    shown: opt.FormatOption = opt.Format.table,
) -> None:
    """Find the mechanism with the least error of all.

    On an interval, by default from 0 to 1, a linear program over all mechanisms minimises the worst
    error, or the mean error over a public --prior. No mechanism with this epsilon can be better
    than the bound that is shown. On a circle the optimum has a closed form. With --pieces only
    densities with a uniform floor are considered, as in the thesis.
    """
    pictures = Pictures.wanted(*pictured, force=force, inputs=[prior], outputs={"--output": output})
    if is_standard_output(output):
        raise InvalidParameterError("the result is printed on standard output: give --output a file")
    check_ending(output, "--output", [".json"])
    if prior is None:
        refuse_options("there is no --prior to read", column=column, clip=clip and where.period is None)
    elif is_collected(prior):
        raise InvalidParameterError(f"{prior} has reports, not numbers: give a file of public numbers")
    circle = parse_circle(*where, clip=clip)
    if circle is not None:
        refuse_options(
            "the optimum on a circle is a closed form for the worst case",
            prior=prior,
            intervals=intervals,
            pieces=pieces,
        )
    from ldpkit.core.domains.interval import IntervalDomain

    interval = (None if circle else parse_interval(where.low, where.high)) or IntervalDomain(0, 1)
    if pieces is not None:
        refuse_options(
            "--pieces looks for a density of some shape", prior=prior, intervals=intervals, output=output
        )
        density = _pieces(epsilon, interval, pieces, power, x, at, time_limit)
        present(density, shown)
        pictures.save(density)
        return
    refuse_options("--x and --at are for --pieces", x=x, at=at)
    from ldpkit.planning.optimal.minimax import circle_optimum, minimax

    if circle is not None:
        found = circle_optimum(circle, epsilon, power=power)
    else:
        numbers = None if prior is None else _prior(prior, column, interval, clip=clip, missing=missing)
        found = minimax(
            interval, epsilon, power=power, prior=numbers, intervals=intervals, time_limit=time_limit
        )
    present(found, shown)
    if output is not None:
        write_text(output, json.dumps(found.mechanism.spec(), indent=1) + "\n")
        note(f"wrote {output}: {found.mechanism!r}, {found.mechanism.promise()}")
    pictures.save(found)


def _pieces(
    epsilon: float,
    interval: IntervalDomain,
    pieces: int,
    power: float,
    x: float | None,
    at: float | None,
    time_limit: float,
) -> OptimalPieces:
    from ldpkit.planning.optimal.gpm import gpm

    return gpm(
        epsilon,
        interval.low if x is None else x,
        pieces=pieces,
        power=power,
        inputs=interval,
        at=at,
        time_limit=time_limit,
    )


def _prior(
    file: Path, column: str | None, interval: IntervalDomain, *, clip: bool, missing: opt.Missing
) -> Floats:
    """Return the public numbers of a file."""
    found = read_numbers([file], column, interval.low, interval.high, clip=clip, missing=missing)
    assert found is not None  # reports were refused before
    if found.moved:
        note(f"note: {moved_in_words(found.moved, len(found.values))}")
    return found.values
