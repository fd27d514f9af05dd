"""`ldpkit recommend`: what to use, ranked, with what it costs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from ldpkit.cli import options as opt
from ldpkit.cli import plan_options as plan_opt
from ldpkit.cli.inputs import load_people
from ldpkit.cli.parsing import ManyValuesCommand, domain_file, parse_domain, refuse_options, split
from ldpkit.cli.pictures import Pictures
from ldpkit.cli.printing import deliver, note, progress_bar
from ldpkit.core.errors import InvalidParameterError
from ldpkit.core.limits import MOST_REPEATS

if TYPE_CHECKING:
    from ldpkit.planning.mean.recommendation import MeanRecommendation
    from ldpkit.simulation.datasets import Dataset

__all__ = ["add_to"]

_EXAMPLES = """
\b
Examples:
  ldpkit recommend -d answers.csv -e 1
  ldpkit recommend --n 100000 --domain 64 -u mae --at-most 0.002
  ldpkit recommend -d zipf:k=128,n=1000000 -u kendall_tau --at-least 0.8
  ldpkit recommend --n 100000 --low 0 --high 100 --within 0.5
"""


def add_to(app: typer.Typer) -> None:
    """Add the command."""
    app.command("recommend", cls=ManyValuesCommand, epilog=_EXAMPLES)(opt.spread(recommend))


def recommend(
    who: opt.PeopleOptions = opt.PeopleOptions(),
    people: opt.PeopleOption = None,
    domain: opt.DomainOption = None,
    low: opt.LowOption = None,
    high: opt.HighOption = None,
    epsilon: opt.EpsilonOption = None,
    metric: plan_opt.MetricOption = None,
    at_most: plan_opt.AtMostOption = None,
    at_least: plan_opt.AtLeastOption = None,
    within: plan_opt.WithinOption = None,
    probability: plan_opt.ProbabilityOption = None,
    mechanism: opt.MechanismsOption = None,
    repeats: Annotated[
        int, typer.Option("--repeat", "-r", min=2, max=MOST_REPEATS, help="Simulated collections.")
    ] = 200,
    top: Annotated[int, typer.Option(min=0, help="Rows to add below the best one of every mechanism.")] = 0,
    seed: opt.RepeatableSeedOption = 0,
    pictured: opt.UnitPictureOptions = opt.UnitPictureOptions(),
    shown: opt.ResultOptions = opt.ResultOptions(),
) -> None:
    """Rank mechanisms and methods for your data, and say why.

    It ranks combinations of mechanism, estimator and post-processing. If you have no data, give the
    number of people with --n and the values with --domain. For a mean of numbers give --low, --high
    and --n.
    """
    pictures = Pictures.wanted(*pictured, shown=shown, inputs=[who.data, domain_file(domain)], seed=seed)
    if low is not None or high is not None:
        refuse_options("for a mean of numbers, 'ldpkit plan budget' takes data", data=who.data)
        refuse_options(
            "the mean of numbers has --within for how far off it may be",
            at_most=at_most,
            at_least=at_least,
            domain=domain,
            metric=metric,
            mechanism=mechanism,
        )
        chance = 0.95 if probability is None else probability
        about_mean = _recommend_mean(low, high, people, epsilon, within, chance)
        deliver(about_mean, shown)
        pictures.save(about_mean)
        return
    refuse_options("frequencies have no interval", within=within)
    from ldpkit.core import random
    from ldpkit.planning.frequencies.recommend import recommend as rank

    plan_opt.check_bound(at_most, at_least)
    if (epsilon is None) == (at_most is None and at_least is None):
        raise InvalidParameterError("give either --epsilon, or the accuracy with --at-most or --at-least")
    with progress_bar() as watch:
        found = rank(
            _people(who, people, domain),
            metric or "mae",
            epsilon=epsilon,
            at_most=at_most,
            at_least=at_least,
            probability=0.9 if probability is None else probability,
            protocols=split(mechanism or ["all"]),
            repeats=repeats,
            rng=random.seeded(seed),
            watch=watch,
        )
    deliver(found, shown, top=top if shown.format is opt.Format.table else None)
    pictures.save(found)


def _people(who: opt.PeopleOptions, people: int | None, domain: str | None) -> Dataset:
    """Return the people, or a population that stands in for them."""
    from ldpkit.core.parameters import check_people

    data = who.data
    if data is None:
        if people is None or domain is None:
            raise InvalidParameterError("say who will be asked: give -d DATA, or --n and --domain")
        data = f"zipf:k={len(parse_domain(domain))},n={check_people(people)}"
        note(f"you gave no data, so the population {data} stands in for it")
    elif people is not None or domain is not None:
        raise InvalidParameterError(
            "the data already give the people and the values: leave out --n and --domain, or --data"
        )
    return load_people(data, who.column, who.missing)


def _recommend_mean(
    low: float | None,
    high: float | None,
    people: int | None,
    epsilon: float | None,
    within: float | None,
    probability: float,
) -> MeanRecommendation:
    from ldpkit.planning.mean.recommendation import recommend_mean

    if low is None or high is None or people is None:
        raise InvalidParameterError("for a mean of numbers give --low, --high and --n")
    if (epsilon is None) == (within is None):
        raise InvalidParameterError("give either --epsilon, or with --within how far off the mean may be")
    return recommend_mean((low, high), people, epsilon=epsilon, within=within, probability=probability)
