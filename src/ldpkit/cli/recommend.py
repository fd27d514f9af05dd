"""`ldpkit recommend`: what to use, ranked, with what it costs."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ldpkit.cli.arguments import FigureOption, ForceOption, check_figure
from ldpkit.cli.manyvalues import ManyValuesCommand, split
from ldpkit.cli.output import Format, FormatOption, note, show
from ldpkit.cli.plan_mean import refuse
from ldpkit.core.errors import InvalidParameterError

if TYPE_CHECKING:
    from collections.abc import Generator

    from ldpkit.planning.constraint import Constraint

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
    from ldpkit.core import random
    from ldpkit.planning.recommend import recommend as rank
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
        protocols=None if names == ["all"] else names,
        repeats=repeats,
        rng=random.seeded(seed),
        watch=_watch,
    )
    rows = [option.row() for option in found.options]
    if output is Format.table:
        rows = rows[:top]
    title = f"{data}: {found.metric.title}" + (f", {wanted}" if wanted else f" at epsilon {epsilon:g}")
    show(rows, output, title=title, caption="; ".join(_LEGEND))
    for reason in found.reasons():
        note(reason)
    if figure is not None:
        from ldpkit.bench.figures import save_figure
        from ldpkit.bench.recommendfigure import draw

        save_figure(draw(found.options[:top], found.metric.title, wanted is not None), figure)
        note(f"wrote {figure}")


_LEGEND = (
    "low, high: of a single collection, 95 of 100 times",
    "device_bytes: randomness drawn for a report",
    "server_steps: values touched for a report",
    "attack: how often the best guess from one report is right",
)


def _watch(names: Sequence[str]) -> Generator[str, None, None]:
    from ldpkit.cli.progress import track

    with closing(track(names, len(names), "simulating")) as watched:
        yield from watched


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
    from ldpkit.core.interval import IntervalDomain
    from ldpkit.planning.meanbudget import mean_options

    if low is None or high is None or people is None:
        raise InvalidParameterError("for a mean of numbers give --low, --high and --n")
    options = mean_options(
        IntervalDomain(low, high), people, epsilon=epsilon, within=within, probability=probability
    )
    rows: list[dict[str, Any]] = [option.row() for option in options]
    show(
        rows,
        output,
        title=f"Mean of {people:,} numbers from {low:g} to {high:g}",
        caption=f"within: how far off the mean is at most, with probability {probability:g}, for any numbers",
    )
    best = options[0]
    why = "needs the smallest epsilon" if within is not None else "has the smallest error"
    note(f"{best.mechanism} {why}: epsilon {best.epsilon:.3g}, within {best.within:.3g}.")
    note("Where values are concentrated and epsilon is large, 'ldpkit mean --mechanism auto' may do better.")
