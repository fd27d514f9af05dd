"""`ldpkit recommend`: what to use, ranked, with what it costs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ldpkit.cli.choices import is_all, left_out_in_words, note_left_out
from ldpkit.cli.inputs import load_people
from ldpkit.cli.options import (
    ColumnOption,
    DataOption,
    DomainOption,
    EpsilonOption,
    FigureOption,
    ForceOption,
    Format,
    FormatOption,
    HighOption,
    LowOption,
    MechanismsOption,
    Missing,
    MissingOption,
    PeopleOption,
    RepeatableSeedOption,
)
from ldpkit.cli.outputs import check_figure
from ldpkit.cli.parsing import parse_domain, refuse_options
from ldpkit.cli.plan_budget import constraint_of
from ldpkit.cli.plan_options import (
    AtLeastOption,
    AtMostOption,
    MetricOption,
    ProbabilityOption,
    WithinOption,
    save_drawn,
)
from ldpkit.cli.printing import note, show
from ldpkit.cli.progress import watched
from ldpkit.cli.repeatable import ManyValuesCommand, split
from ldpkit.core.errors import InvalidParameterError

if TYPE_CHECKING:
    from collections.abc import Generator

    from ldpkit.core.typing import Counts
    from ldpkit.planning.frequencies.recommendation import Recommendation

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
    app.command("recommend", cls=ManyValuesCommand, epilog=_EXAMPLES)(recommend)


def recommend(
    data: DataOption = None,
    column: ColumnOption = None,
    missing: MissingOption = Missing.refuse,
    people: PeopleOption = None,
    domain: DomainOption = None,
    low: LowOption = None,
    high: HighOption = None,
    epsilon: EpsilonOption = None,
    metric: MetricOption = None,
    at_most: AtMostOption = None,
    at_least: AtLeastOption = None,
    within: WithinOption = None,
    probability: ProbabilityOption = None,
    mechanism: MechanismsOption = None,
    repeats: Annotated[int, typer.Option("--repeat", "-r", min=2, help="Simulated collections.")] = 200,
    top: Annotated[int, typer.Option(min=1, help="How many to show in a table.")] = 12,
    seed: RepeatableSeedOption = 0,
    figure: FigureOption = None,
    force: ForceOption = False,
    output: FormatOption = Format.table,
) -> None:
    """Rank mechanisms and methods for your data, and say why.

    The ranking is of mechanisms, estimators and post-processing together; without data,
    --n people with a --domain of values stand in for it. For a mean of numbers give
    --low, --high and --n.
    """
    if low is not None or high is not None:
        refuse_options(
            "for a mean of numbers, 'ldpkit plan budget' takes data and draws figures",
            data=data,
            figure=figure,
        )
        refuse_options(
            "the mean of numbers has --within for how far off it may be",
            at_most=at_most,
            at_least=at_least,
            domain=domain,
            metric=metric,
            mechanism=mechanism,
        )
        chance = 0.95 if probability is None else probability
        _recommend_mean(low, high, people, epsilon, within, chance, output)
        return
    refuse_options("frequencies have no interval", within=within)
    check_figure(figure, force=force, inputs=[data])
    from ldpkit.core import random
    from ldpkit.mechanisms.kinds import FREQUENCY, select
    from ldpkit.planning.frequencies.recommend import recommend as rank

    data, counts = _people(data, column, missing, people, domain)
    measure = metric or "mae"
    wanted = constraint_of(measure, at_most, at_least, 0.9 if probability is None else probability)
    if (epsilon is None) == (wanted is None):
        raise InvalidParameterError("give either --epsilon, or the accuracy with --at-most or --at-least")
    names = split(mechanism or ["all"])
    unable = left_out_in_words(select(FREQUENCY, single_epsilon=True), FREQUENCY) if is_all(names) else []
    found = rank(
        counts,
        measure,
        epsilon=epsilon,
        wanted=wanted,
        protocols=None if is_all(names) else names,
        repeats=repeats,
        rng=random.seeded(seed),
        watch=_watch,
    )
    _show(found, output, top, data, counts, epsilon, [*unable, *found.left_out])
    for reason in found.reasons():
        note(reason)
    if is_all(mechanism):
        note_left_out(unable)
    for warning in found.warnings:
        note(f"warning: {warning}")

    def draw() -> Any:
        from ldpkit.figures.recommendation import draw as draw_ranking

        return draw_ranking(found, top)

    save_drawn(figure, draw)


def _people(
    data: str | None, column: str | None, missing: Missing, people: int | None, domain: str | None
) -> tuple[str, Counts]:
    """Return the name and the counts of the people, or of a population that stands in for them."""
    if data is None:
        if people is None or domain is None:
            raise InvalidParameterError("say who will be asked: give -d DATA, or --n and --domain")
        data = f"zipf:k={len(parse_domain(domain))},n={people}"
        note(f"nothing is known of the data: the population {data} stands in for it")
    elif people is not None or domain is not None:
        raise InvalidParameterError("the data say who and what: leave out --n and --domain, or --data")
    return data, load_people(data, column, missing).counts


_LEGEND = (
    "low, high: of a single collection, 95 of 100 times",
    "device_bytes: randomness drawn for a report",
    "server_steps: values touched for a report",
    "attack: how often the best guess from one report is right",
    "nothing: an answer that asks nobody",
)


def _show(
    found: Recommendation,
    output: Format,
    top: int,
    data: str,
    counts: Counts,
    epsilon: float | None,
    left_out: list[str],
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
            "left_out": left_out,
            "reasons": list(found.reasons()),
            "warnings": list(found.warnings),
        }
        show([option.row() for option in options], output, about=about)
        return
    shown = options[:top] if found.nothing in options[:top] else (*options[:top], found.nothing)
    rows = [option.row() for option in shown]
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


def _watch(names: Sequence[str]) -> Generator[str, None, None]:
    return watched(names, len(names), "simulating")


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
    rows: list[dict[str, Any]] = [option.row() for option in options]
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
    note("Where values are concentrated and epsilon is large, 'ldpkit mean -p auto' may do better.")
    for warning in told:
        note(f"warning: {warning}")
