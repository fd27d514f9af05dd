"""`ldpkit plan budget`: the smallest epsilon for a wanted accuracy of frequencies, or of a mean."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from ldpkit.cli import options as opt
from ldpkit.cli import plan_options as plan_opt
from ldpkit.cli.inputs import load_people
from ldpkit.cli.outputs import check_extra
from ldpkit.cli.parsing import parse_numbers, refuse_options, split
from ldpkit.cli.pictures import Pictures
from ldpkit.cli.plan_mean import plan_mean
from ldpkit.cli.printing import deliver, note, progress_bar
from ldpkit.core.errors import InvalidParameterError

if TYPE_CHECKING:
    from ldpkit.planning.plan import Plans

__all__ = ["EXAMPLES", "budget", "conclude"]

DEFAULT_DATA = "zipf:k=128,n=100000"

EXAMPLES = """
\b
Examples:
  ldpkit plan budget -d counts.csv -p oue -u mae --at-most 0.005
  ldpkit plan budget -d msnbc -p grr sue oue blh olh -u kendall_tau \\
    --at-least 0.5 --probability 0.95
  ldpkit plan budget -d counts.csv -p olh -u max_error --at-most 0.01 \\
    --consistency norm_sub --verify
  ldpkit plan budget -d counts.csv -p all --at-most 0.01 --search analytic
  ldpkit plan budget -d counts.csv -p grr --at-most 0.01 --search rbs \\
    --parameter g=6 --format json
  ldpkit plan budget --low 0 --high 100 --within 0.5 --n 100000 -p all
  ldpkit plan budget -d ages.csv --column age --low 0 --high 120 \\
    --within 1 -p hm pm --figure budget.png

Several values may follow -p and --search, be separated by commas, or the option be repeated. The exit
code is 1 if no mechanism can do what is wanted.
"""


def budget(
    who: opt.PeopleOptions = opt.PeopleOptions(),
    mechanism: opt.MechanismsOption = None,
    metric: plan_opt.MetricOption = None,
    at_most: plan_opt.AtMostOption = None,
    at_least: plan_opt.AtLeastOption = None,
    low: opt.LowOption = None,
    high: opt.HighOption = None,
    within: plan_opt.WithinOption = None,
    people: opt.PeopleOption = None,
    clip: opt.ClipOption = False,
    probability: plan_opt.ProbabilityOption = None,
    search: Annotated[
        list[str] | None,
        typer.Option(
            "--search",
            metavar="NAME...",
            help="The search method, or 'all': sequential, analytic, bs, rbs, dbs, mpass, bayes.",
            show_default="sequential",
        ),
    ] = None,
    consistency: opt.ConsistencyOption = None,
    eps_min: opt.EpsilonMinOption = 0.001,
    eps_max: opt.EpsilonMaxOption = 20.0,
    tolerance: Annotated[
        float | None, typer.Option("--tolerance", help="How precisely to find epsilon.", show_default=False)
    ] = None,
    parameter: Annotated[
        list[str] | None,
        typer.Option("--parameter", metavar="NAME=VALUE", help="A parameter of the search. Repeatable."),
    ] = None,
    verify: plan_opt.VerifyOption = False,
    pictured: opt.UnitPictureOptions = opt.UnitPictureOptions(),
    seed: opt.RepeatableSeedOption = 0,
    shown: opt.ResultOptions = opt.ResultOptions(),
) -> None:
    """Find the smallest epsilon that gives a wanted accuracy.

    The accuracy must be reached as often as --probability says. The command simulates whole
    collections on a stand-in for the people; nobody is asked. For the mean of numbers give --low,
    --high and --within. CSV has the plans, JSON also every epsilon that was tried.
    """
    pictures = Pictures.wanted(*pictured, shown=shown, inputs=[who.data], seed=seed)
    from ldpkit.core.random import seeded

    if clip or any(each is not None for each in (low, high, within, people)):
        refuse_options(
            "the mean of numbers has --within for how far off it may be",
            metric=metric,
            at_most=at_most,
            at_least=at_least,
            search=search,
            consistency=consistency,
            tolerance=tolerance,
            parameter=parameter,
        )
        about_mean = plan_mean(
            split(mechanism or ["hm"]),
            low,
            high,
            within,
            people,
            who,
            clip=clip,
            probability=0.95 if probability is None else probability,
            epsilon_min=eps_min,
            epsilon_max=eps_max,
            verified=verify,
            rng=seeded(seed),
        )
        conclude(about_mean, shown, pictures)
        return
    from ldpkit.planning.frequencies.plans import budget as plan

    searches = split(search or ["sequential"])
    if "bayes" in searches:
        check_extra("bayes_opt")
    plan_opt.check_bound(at_most, at_least)
    if at_most is None and at_least is None:
        raise _no_bound(metric or "mae")
    people_asked = load_people(who.data or DEFAULT_DATA, who.column, who.missing)
    with progress_bar() as watch:
        found = plan(
            people_asked,
            split(mechanism or ["oue"]),
            metric=metric or "mae",
            at_most=at_most,
            at_least=at_least,
            probability=0.9 if probability is None else probability,
            search=searches,
            parameters=parse_numbers(parameter) | ({} if tolerance is None else {"tolerance": tolerance}),
            consistency=consistency,
            epsilon_min=eps_min,
            epsilon_max=eps_max,
            verified=verify,
            rng=seeded(seed),
            watch=watch,
        )
    if mechanism is None:
        note("no mechanism was named, so only oue was tried: -p grr oue olh compares several")
    conclude(found, shown, pictures)


def _no_bound(metric: str) -> InvalidParameterError:
    from ldpkit.simulation.metrics import metric_for

    option = "--at-least" if metric_for(metric).larger_is_better else "--at-most"
    return InvalidParameterError(f"how good must {metric} be? give {option} OMEGA")


def conclude(found: Plans, shown: opt.ResultOptions, pictures: Pictures) -> None:
    """Show plans, draw them, and leave with 1 if there is no answer."""
    deliver(found, shown)
    pictures.save(found)
    if not found.feasible:
        raise typer.Exit(1)
