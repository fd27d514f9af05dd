"""`ldpkit recommend`: what to use, ranked, with what it costs."""

from __future__ import annotations

import math
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ldpkit.cli.arguments import FigureOption, ForceOption, check_figure
from ldpkit.cli.output import Format, FormatOption, note, show
from ldpkit.cli.plan_mean import refuse
from ldpkit.cli.repeatable import ManyValuesCommand, split
from ldpkit.core.errors import InvalidParameterError

if TYPE_CHECKING:
    from ldpkit.core.typing import Counts
    from ldpkit.planning.constraint import Constraint
    from ldpkit.planning.frequencies.recommendation import Recommendation

__all__ = ["add_to"]

_EXAMPLES = """
\b
Examples:
  ldpkit recommend -d answers.csv -e 1
  ldpkit recommend --n 100000 --k 64 -u mae --at-most 0.002
  ldpkit recommend -d zipf:k=128,n=1000000 -u kendall_tau --at-least 0.8 --probability 0.9
  ldpkit recommend --n 100000 --low 0 --high 100 --within 0.5
"""


def add_to(app: typer.Typer) -> None:
    """Add the command."""
    app.command("recommend", cls=ManyValuesCommand, epilog=_EXAMPLES)(recommend)


def recommend(
    data: Annotated[
        str | None,
        typer.Option("--dataset", "-d", help="A file, a known set or a population.", show_default=False),
    ] = None,
    column: Annotated[str | None, typer.Option(help="The column of a table.", show_default=False)] = None,
    people: Annotated[
        int | None, typer.Option("--n", min=1, help="Without data: the number of people.", show_default=False)
    ] = None,
    size: Annotated[
        int | None, typer.Option("--k", min=2, help="Without data: the number of values.", show_default=False)
    ] = None,
    low: Annotated[
        float | None, typer.Option(help="For a mean of numbers: the least.", show_default=False)
    ] = None,
    high: Annotated[float | None, typer.Option(help="Of a mean: the greatest.", show_default=False)] = None,
    epsilon: Annotated[
        float | None, typer.Option("--epsilon", "-e", help="The budget.", show_default=False)
    ] = None,
    metric: Annotated[str, typer.Option("--metric", "-u", help="What to be good at.")] = "mae",
    at_most: Annotated[
        float | None,
        typer.Option(help="The error that is allowed, not an epsilon.", show_default=False),
    ] = None,
    at_least: Annotated[
        float | None, typer.Option(help="The agreement that is wanted.", show_default=False)
    ] = None,
    within: Annotated[
        float | None, typer.Option(help="How far off a mean of numbers may be.", show_default=False)
    ] = None,
    probability: Annotated[
        float | None,
        typer.Option(help="How often it must hold; 0.9, of means 0.95.", show_default=False),
    ] = None,
    protocol: Annotated[
        list[str], typer.Option("--protocol", "-p", metavar="NAME...", help="Protocols, or 'all'.")
    ] = ["all"],
    repeats: Annotated[int, typer.Option("--repeat", "-r", min=2, help="Simulated collections.")] = 200,
    top: Annotated[int, typer.Option(min=1, help="How many to show in a table.")] = 12,
    seed: Annotated[int, typer.Option(help="Makes the simulations repeatable.")] = 0,
    figure: FigureOption = None,
    force: ForceOption = False,
    output: FormatOption = Format.table,
) -> None:
    """Rank protocols and methods for your data, and say why.

    The ranking is of protocols, estimators and post-processing together.
    """
    if low is not None or high is not None:
        refuse(at_most=at_most, at_least=at_least, k=size)
        if data is not None or figure is not None:
            raise InvalidParameterError(
                "for a mean, -d and --figure are options of 'ldpkit plan budget': it takes --low, --high and "
                "--within too"
            )
        chance = 0.95 if probability is None else probability
        _recommend_mean(low, high, people, epsilon, within, chance, output)
        return
    check_figure(figure, force=force, inputs=[data])
    from ldpkit.cli.progress import track
    from ldpkit.core import random
    from ldpkit.planning.frequencies.recommend import recommend as rank
    from ldpkit.simulation.datasets import load

    if data is None:
        if people is None or size is None:
            raise InvalidParameterError("say who will be asked: give -d DATA, or --n and --k")
        data = f"zipf:k={size},n={people}"
        note(f"nothing is known of the data: the population {data} stands in for it")
    counts = load(data, column=column).counts
    wanted = _constraint(metric, at_most, at_least, 0.9 if probability is None else probability)
    if (epsilon is None) == (wanted is None):
        raise InvalidParameterError("give either --epsilon, or the accuracy with --at-most or --at-least")
    names = split(protocol)
    found = rank(
        counts,
        metric,
        epsilon=epsilon,
        wanted=wanted,
        protocols=names,
        repeats=repeats,
        rng=random.seeded(seed),
        watch=track,
    )
    _show(found, output, top, data, counts, epsilon)
    for reason in found.reasons():
        note(reason)
    for warning in found.warnings:
        note(f"warning: {warning}")
    if figure is not None:
        from ldpkit.figures.canvas import save_figure

        save_figure(found.figure(), figure)
        note(f"wrote {figure}")


_LEGEND = (
    "low, high: of a single collection, 95 of 100 times",
    "device_bytes: randomness drawn for a report",
    "server_steps: values touched for a report",
    "attack: how often the best guess from one report is right",
    "nothing: an answer that asks nobody",
)


def _show(
    found: Recommendation, output: Format, top: int, data: str, counts: Counts, epsilon: float | None
) -> None:
    """Print the options with learning nothing among them; it is in the table wherever it stands."""
    options = found.ranked()
    told = f", {found.wanted}" if found.wanted else f" at epsilon {epsilon:g}"
    if output is not Format.table:
        about = {
            "data": data,
            "people": int(counts.sum()),
            "values": len(counts),
            "metric": found.metric.name,
            "wanted": None if found.wanted is None else str(found.wanted),
            "teaches": found.teaches,
            "best": [option.name for option in found.ties],
            "left_out": list(found.left_out),
            "reasons": list(found.reasons()),
            "warnings": list(found.warnings),
        }
        show([asdict(option) for option in options], output, about=about)
        return
    shown = options[:top] if found.nothing in options[:top] else (*options[:top], found.nothing)
    rows = [asdict(option) for option in shown]
    for row in rows:
        del row["tied"]
        if found.wanted is None:
            del row["epsilon"], row["epsilon_stderr"]
    column = "error" if found.wanted is None else "epsilon"
    best = {place: column for place, option in enumerate(shown) if option.tied}
    tie = "* best" if found.teaches else "* best of the collections"
    if len(found.ties) > 1:
        tie = f"* these {len(found.ties)} tie: their differences are within the noise"
    show(
        rows,
        output,
        title=f"{data}: {found.metric.title}{told}",
        caption="; ".join([tie, *_LEGEND]),
        best=best,
    )


def _constraint(
    metric: str, at_most: float | None, at_least: float | None, probability: float
) -> Constraint | None:
    from ldpkit.planning.constraint import Constraint

    if at_most is not None and at_least is not None:
        raise InvalidParameterError("give --at-most or --at-least, not both: a metric has one good side")
    if at_most is not None:
        return Constraint(metric, "at most", at_most, probability)
    return None if at_least is None else Constraint(metric, "at least", at_least, probability)


def _recommend_mean(
    low: float | None,
    high: float | None,
    people: int | None,
    epsilon: float | None,
    within: float | None,
    probability: float,
    output: Format,
) -> None:
    from ldpkit.assurance.adversary import epsilon_warnings
    from ldpkit.core.domains.interval import IntervalDomain
    from ldpkit.core.numbertext import number_text
    from ldpkit.planning.mean.mechanisms import mean_options, mean_warnings, smallest_epsilon, tied_options

    if low is None or high is None or people is None:
        raise InvalidParameterError("for a mean of numbers give --low, --high and --n")
    domain = IntervalDomain(low, high)
    options = mean_options(domain, people, epsilon=epsilon, within=within, probability=probability)
    best = tied_options(options, by_epsilon=within is not None)
    nothing: dict[str, Any] = {
        "mechanism": "nothing",
        "epsilon": 0.0,
        "stderr": None,
        "within": domain.width / 2,
        "report_bytes": 0,
    }
    useless = epsilon is not None and options[0].within >= nothing["within"]
    rows: list[dict[str, Any]] = [asdict(option) for option in options]
    rows = [nothing, *rows] if useless else [*rows, nothing]
    told = mean_warnings(domain, within)
    told += epsilon_warnings(options[0].epsilon, subject=options[0].mechanism)
    names = [option.mechanism for option in best]
    column = "epsilon" if within is not None else "stderr"
    show(
        rows,
        output,
        title=f"Mean of {people:,} numbers from {low:g} to {high:g}",
        caption=f"within: how far off the mean is at most, with probability {probability:g}, for any "
        f"numbers; nothing: the middle of the interval; * {'best' if len(best) == 1 else 'best: these tie'}",
        best={place: column for place, row in enumerate(rows) if row["mechanism"] in names},
        about={
            "people": people,
            "interval": domain.to_json(),
            "probability": probability,
            "teaches": not useless,
            "best": names,
            "warnings": told,
        },
    )
    first = options[0]
    if useless:
        half = number_text(nothing["within"])
        more = math.ceil(people * (first.within / nothing["within"]) ** 2)
        needed = smallest_epsilon(first.mechanism, domain, people, nothing["within"], probability)
        other = "" if needed is None else f", or about epsilon {number_text(needed, 2)} for these people"
        note(
            f"This collection cannot teach anything: its mean may be off by {number_text(first.within)}, "
            f"and the middle of the interval is never off by more than {half}."
        )
        note(f"It begins with about {more:,} people at this epsilon{other}.")
    what = "the smallest epsilon" if within is not None else "the smallest error"
    if len(names) > 1:
        lead = f"These {len(names)} tie, {', '.join(names)}: they {'have' if within is None else 'need'}"
    else:
        lead = f"{names[0]} {'has' if within is None else 'needs'}"
    note(f"{lead} {what}: epsilon {first.epsilon:.3g}, within {number_text(first.within, 3)}.")
    note("Where values are concentrated and epsilon is large, 'ldpkit mean --mechanism auto' may do better.")
    for warning in told:
        note(f"warning: {warning}")
