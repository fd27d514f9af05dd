"""`ldpkit collection simulate`: the whole collection on invented people, before it is launched."""

from __future__ import annotations

from typing import Annotated

import typer

from ldpkit.cli import options as opt
from ldpkit.cli.collection_check import CollectionArgument
from ldpkit.cli.outputs import check_page, check_result, write_text
from ldpkit.cli.pictures import command_line
from ldpkit.cli.printing import deliver, note, progress_bar
from ldpkit.core.errors import InvalidParameterError
from ldpkit.core.limits import MOST_REPEATS

__all__ = ["add_to"]

_EXAMPLES = """
\b
Examples:
  ldpkit collection simulate commute.toml --n 20000
  ldpkit collection simulate commute.json --n 20000 --report page.html
"""


def add_to(app: typer.Typer) -> None:
    """Register the command."""
    app.command("simulate", epilog=_EXAMPLES)(opt.spread(simulate))


def simulate(
    file: CollectionArgument,
    people: opt.PeopleOption = None,
    repeats: Annotated[
        int, typer.Option("--repeat", "-r", min=1, max=MOST_REPEATS, help="How often they are asked.")
    ] = 20,
    seed: opt.RepeatableSeedOption = 0,
    report: opt.PageOption = None,
    shown: opt.ResultOptions = opt.ResultOptions(),
) -> None:
    """Run a collection on invented people: errors, coverage, and the page as it will look."""
    check_result(shown)
    check_page(report, force=shown.force)
    from ldpkit.core.random import seeded
    from ldpkit.protocols.collection.files import expected_people, load_collection
    from ldpkit.simulation.rehearsal import rehearse

    collection = load_collection(file)
    count = people or expected_people(file)
    if count is None:
        raise InvalidParameterError("how many people will be asked? give --n, or people = ... in the file")
    with progress_bar() as watch:
        trials = rehearse(collection, count, repeats=repeats, rng=seeded(seed), watch=watch)
    deliver(trials, shown)
    if report is not None:
        from ldpkit.figures.collection_page import collection_page

        write_text(report, collection_page(collection, trials, command=command_line()))
        note(f"wrote {report}")
