"""`ldpkit plan capacity`: the epsilon with which a noisy total still tells whether a capacity suffices."""

from __future__ import annotations

import enum
from typing import Annotated

import typer

from ldpkit.cli import options as opt
from ldpkit.cli.inputs import load_people
from ldpkit.cli.outputs import check_extra
from ldpkit.cli.parsing import split
from ldpkit.cli.pictures import Pictures
from ldpkit.cli.plan_budget import conclude
from ldpkit.cli.plan_options import AtLeastOption, AtMostOption, VerifyOption
from ldpkit.cli.printing import progress_bar
from ldpkit.core.errors import InvalidInputError, InvalidParameterError

__all__ = ["EXAMPLES", "capacity"]


class OutcomeName(enum.StrEnum):
    """What is bounded."""

    tp = "tp"
    fp = "fp"
    tn = "tn"
    fn = "fn"


class SearchName(enum.StrEnum):
    """How to look for epsilon."""

    exact = "exact"
    capri = "capri"
    capri_r = "capri_r"
    bayes = "bayes"


EXAMPLES = """
\b
Examples:
  ldpkit plan capacity -d water.csv --capacity 1400000 --constraint fn \\
    --at-most 0.05
  ldpkit plan capacity -d water.csv --capacity 1800000 --constraint tn \\
    --at-least 0.99 -p grr oue ss --verify
  ldpkit plan capacity -d water.csv --capacity 1400000 --constraint fn \\
    --at-most 0.05 --search capri --runs 50000
  ldpkit plan capacity -d poisson:k=41,n=98511,mean=16 --capacity 1500000 \\
    --constraint fn --at-most 0.1 --figure plan.png

The file is a table with a column 'amount' or 'value' and a column 'count'. The exit code is 1 if no
mechanism can do what is wanted.
"""


def capacity(
    limit: Annotated[float, typer.Option("--capacity", help="What is available for all people together.")],
    constraint: Annotated[
        OutcomeName,
        typer.Option(
            help="The outcome to bound: true or false positive (capacity exceeded), true or false negative."
        ),
    ],
    who: opt.PeopleOptions = opt.PeopleOptions(),
    at_most: AtMostOption = None,
    at_least: AtLeastOption = None,
    mechanism: opt.MechanismsOption = None,
    search: Annotated[SearchName, typer.Option("--search", help="The search method.")] = SearchName.exact,
    runs: Annotated[
        int, typer.Option(help="Collections to simulate at every epsilon; not for exact.")
    ] = 50_000,
    eps_min: opt.EpsilonMinOption = 0.001,
    eps_max: opt.EpsilonMaxOption = 10.0,
    precision: Annotated[float, typer.Option(help="The precision of epsilon; not for exact.")] = 0.01,
    delta: Annotated[float, typer.Option(help="How far capri_r steps back each time.")] = 0.05,
    outliers: Annotated[
        float | None,
        typer.Option(
            help="Count every amount above this quantile as the quantile itself.", show_default=False
        ),
    ] = None,
    compensate: Annotated[
        bool, typer.Option(help="Add what --outliers cuts off back to the estimated total.")
    ] = True,
    verify: VerifyOption = False,
    seed: opt.RepeatableSeedOption = 0,
    pictured: opt.PictureOptions = opt.PictureOptions(),
    shown: opt.ResultOptions = opt.ResultOptions(),
    old_place: Annotated[str | None, typer.Argument(hidden=True)] = None,
) -> None:
    """Find the smallest epsilon with which a total decides rightly.

    The collector adds up the estimated amounts of all people, and warns if the total is above the
    capacity. That decision must be right often enough.
    """
    data, column, missing = who
    if data is None:
        raise InvalidParameterError(f"whose amounts? give them with -d {old_place or 'FILE'}")
    pictures = Pictures.wanted(*pictured, shown=shown, inputs=[data], seed=seed)
    if search is SearchName.bayes:
        check_extra("bayes_opt")
    from ldpkit.core.random import seeded
    from ldpkit.planning.capacity.plans import capacity as plan

    people = load_people(data, column, missing)
    for label in people.domain.labels:
        if isinstance(label, str):
            raise InvalidInputError(
                f"{data!r}: the value {label!r} is not an amount: name the column of numbers with --column"
            )
    with progress_bar() as watch:
        found = plan(
            people,
            limit,
            constraint.value,
            split(mechanism or ["grr"]),
            at_most=at_most,
            at_least=at_least,
            search=search.value,
            runs=runs,
            epsilon_min=eps_min,
            epsilon_max=eps_max,
            precision=precision,
            delta=delta,
            outliers=outliers,
            compensate=compensate,
            verified=verify,
            rng=seeded(seed),
            watch=watch,
        )
    conclude(found, shown, pictures)
