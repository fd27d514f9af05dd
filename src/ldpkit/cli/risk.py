"""`ldpkit risk`: what an epsilon means, as the success of an adversary who guesses."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ldpkit.cli import options as opt
from ldpkit.cli.circles import read_angles
from ldpkit.cli.inputs import load_people, read_numbers
from ldpkit.cli.making import check_named, is_for_numbers, make_mechanism, refuse_circular
from ldpkit.cli.parsing import (
    ManyValuesCommand,
    domain_file,
    parse_budgets,
    parse_circle,
    parse_domain,
    parse_interval,
    parse_parameters,
    refuse_options,
    split,
)
from ldpkit.cli.pictures import Pictures
from ldpkit.cli.printing import deliver, progress_bar
from ldpkit.cli.reading import Reads
from ldpkit.cli.tallies import is_collected
from ldpkit.core.errors import InvalidParameterError

if TYPE_CHECKING:
    from ldpkit.core.domains.interval import IntervalDomain
    from ldpkit.core.typing import Floats
    from ldpkit.mechanisms.base import Mechanism

__all__ = ["add_to"]

_UNIFORM = "uniform"
BINS = 16
_EXAMPLES = """
\b
Examples:
  ldpkit risk -p grr -e 1 --domain 10
  ldpkit risk -d water.csv -e 0.5 1 2 4 --eta 5 --figure risk.png
  ldpkit risk -d water.csv --prior uniform -p grr oue ss -e 1
  ldpkit risk -p oue -e 0.5 --domain 10 --reports 20
  ldpkit risk -p lgrr --parameter epsilon_inf=2 --parameter epsilon_1=1 \\
    --domain 10 --reports 20
  ldpkit risk -p pm sw -e 1 --low 0 --high 100 --bins 20
  ldpkit risk -p circular_ogpm -e 1 2 --period 360 --bins 8
  ldpkit risk -p jrr --parameter epsilon_alone=1 -e 2 --domain 4
  ldpkit risk -d ages.csv --column age --low 0 --high 120 -p all
"""


def add_to(app: typer.Typer) -> None:
    """Register the command."""
    app.command("risk", cls=ManyValuesCommand, epilog=_EXAMPLES)(opt.spread(risk))


def risk(
    mechanism: opt.MechanismsOption = None,
    epsilon: opt.EpsilonsOption = None,
    domain: opt.DomainOption = None,
    where: opt.SpaceOptions = opt.SpaceOptions(),
    bins: Annotated[
        int | None,
        typer.Option(
            "--bins",
            min=2,
            max=256,
            help="For numbers: the cells of the interval or circle that the adversary tells apart.",
            show_default="16",
        ),
    ] = None,
    data: opt.DataOption = None,
    column: opt.ColumnOption = None,
    clip: opt.ClipOption = False,
    wrap: opt.WrapOption = False,
    missing: opt.MissingOption = opt.Missing.refuse,
    prior: Annotated[
        str | None,
        typer.Option(
            help="What the adversary believes beforehand: 'uniform', or a table of counts; "
            "by default the frequencies of --data.",
            show_default=False,
        ),
        Reads(),
    ] = None,
    eta: Annotated[
        float | None,
        typer.Option(help="Also ask whether the value is at most this.", show_default=False),
    ] = None,
    reports: Annotated[
        int, typer.Option("--reports", help="How many reports of one person the adversary sees.")
    ] = 1,
    devices: Annotated[
        int, typer.Option("--devices", help="How many people to attack, if it takes a simulation.")
    ] = 10_000,
    parameter: opt.ParameterOption = None,
    seed: opt.RepeatableSeedOption = 0,
    pictured: opt.PictureOptions = opt.PictureOptions(),
    shown: opt.ResultOptions = opt.ResultOptions(),
) -> None:
    """Show how often an adversary guesses a value from its report.

    The adversary knows the mechanism, has a prior belief, and makes the best possible guess. For
    numbers (--low and --high) and values on a circle (--period), the adversary guesses the cell in
    which the value lies.
    """
    inputs = [data, domain_file(domain), None if prior == _UNIFORM else prior]
    pictures = Pictures.wanted(*pictured, shown=shown, inputs=inputs, seed=seed)
    from ldpkit.assurance.adversary.compare import risk as attack
    from ldpkit.core.random import seeded

    names = split(mechanism or []) or None
    circle = parse_circle(*where, clip=clip, wrap=wrap)
    interval = None if circle is not None else parse_interval(where.low, where.high)
    first = "all" if names is None else names[0]
    if first != "all" and is_for_numbers(first) and interval is None and circle is None:
        raise InvalidParameterError(f"{first} is for numbers: give the interval with --low and --high")
    if first != "all" and circle is None:
        refuse_circular(first)
    about: dict[str, Any] = {}
    if circle is not None:
        refuse_options("values on a circle have a --period", domain=domain)
        about = {"circle": circle, "bins": bins or BINS}
        if data is not None:
            about["numbers"] = read_angles([Path(data)], column, circle, wrap=wrap, missing=missing).values
    elif interval is not None:
        refuse_options("numbers have a --low and a --high", domain=domain)
        about = {"interval": interval, "bins": bins or BINS}
        if data is not None:
            about["numbers"] = _numbers(data, column, interval, clip=clip, missing=missing)
    else:
        refuse_options("categories have a --domain, numbers a --low and a --high", bins=bins, clip=clip)
        if data is not None:
            refuse_options("the data have their own values", domain=domain)
            about["data"] = load_people(data, column, missing)
        elif domain is None:
            raise InvalidParameterError(
                "the adversary needs values to guess: give --domain, --data, or --low and --high"
            )
        else:
            about["domain"] = parse_domain(domain)
    budgets = parse_budgets(epsilon or [])
    texts = parse_parameters(parameter)
    if not texts and first != "all":
        for name in names or []:
            check_named(name, 1.0, {})
    with progress_bar() as watch:
        found = attack(
            names if not texts else _made(names or [], budgets, texts, about),
            epsilon=budgets or None,
            prior=prior if prior in (None, _UNIFORM) else _counts(prior),
            eta=eta,
            reports=reports,
            devices=devices,
            rng=seeded(seed),
            watch=watch,
            **about,
        )
    deliver(found, shown)
    pictures.save(found)


def _numbers(
    data: str, column: str | None, interval: IntervalDomain, *, clip: bool, missing: opt.Missing
) -> Floats:
    if is_collected(Path(data)):
        raise InvalidParameterError(f"{data} has reports, not numbers: give a number for each person")
    found = read_numbers([Path(data)], column, interval.low, interval.high, clip=clip, missing=missing)
    assert found is not None
    found.note_moved()
    return found.values


def _counts(table: str) -> dict[Any, Any]:
    """Return what the adversary believes of each value, from a table of counts."""
    from ldpkit.files.readers import read_counts

    labels, counts = read_counts(table)
    return dict(zip(labels, counts.tolist(), strict=True))


def _made(
    names: list[str], budgets: list[float], texts: dict[str, str], about: dict[str, Any]
) -> list[Mechanism]:
    """Return mechanisms with the parameters that the user gave, for every budget."""
    if not names or "all" in names:
        raise InvalidParameterError("--parameter is for mechanisms that are named: name them with -p")
    space = about.get("circle") or about.get("interval") or about.get("domain") or about["data"].domain
    every: list[float | None] = [*sorted(budgets)] or [None]
    return [make_mechanism(name, space, budget, texts) for name in names for budget in every]
