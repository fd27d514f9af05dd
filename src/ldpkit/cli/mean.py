"""`ldpkit mean`: the mean of numbers with its error, simulated from values or from report files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from ldpkit.cli.arguments import (
    ClipOption,
    ColumnOption,
    EpsilonOption,
    HighOption,
    LowOption,
    SeedOption,
    make_numeric,
)
from ldpkit.cli.numeric_input import NumericInput, count_numbers, read_numbers, too_biased, what_it_covers
from ldpkit.cli.origin import origin_facts, origin_lines
from ldpkit.cli.output import Format, FormatOption, note, show
from ldpkit.cli.randomise import FITTED
from ldpkit.core.errors import InvalidParameterError

if TYPE_CHECKING:
    from ldpkit.core.random import RandomSource
    from ldpkit.estimation.numeric import NumericEstimate
    from ldpkit.mechanisms.numeric.mechanism import NumericMechanism
    from ldpkit.mechanisms.tally import NumericTally, Tally
    from ldpkit.protocols.adaptive_mean import AdaptiveEstimate

__all__ = ["add_to"]

_EXAMPLES = """
\b
Examples:
  ldpkit mean ages.csv --low 0 --high 120 --epsilon 1
  ldpkit mean ages.csv --low 0 --high 120 --epsilon 1 --mechanism hm --clip --format json
  ldpkit mean north.ldp south.ldp
"""


def add_to(app: typer.Typer) -> None:
    """Add the command."""
    app.command("mean", epilog=_EXAMPLES)(mean)


def mean(
    files: Annotated[
        list[Path],
        typer.Argument(help="A file with a number for each person, or report files of 'ldpkit privatize'."),
    ],
    low: LowOption = None,
    high: HighOption = None,
    epsilon: EpsilonOption = None,
    mechanism: Annotated[
        str | None,
        typer.Option(
            "--mechanism",
            "-m",
            help="A numeric mechanism; by default auto: some people describe the data, and the best "
            "mechanism for what they describe serves the others.",
            show_default=False,
        ),
    ] = None,
    column: ColumnOption = None,
    clip: ClipOption = False,
    level: Annotated[float, typer.Option(help="The coverage of the interval.")] = 0.95,
    population: Annotated[
        bool,
        typer.Option(
            "--population",
            help="Tell of the population that the people were drawn from, not of these people alone.",
        ),
    ] = False,
    share: Annotated[
        float | None,
        typer.Option(
            help="With auto and aaa: who describes; by default no more than pay.", show_default=False
        ),
    ] = None,
    bins: Annotated[int, typer.Option(min=1, help="With auto and aaa: the cells they describe.")] = 16,
    seed: SeedOption = None,
    output: FormatOption = Format.table,
) -> None:
    """Estimate the mean of numbers, with its error and interval.

    From a file of values the whole collection is simulated, every person reporting once
    with the whole epsilon. From report files it is the collector's half.
    """
    from ldpkit.core import random
    from ldpkit.core.checks import check_fraction

    check_fraction(level, "level")
    numbers = read_numbers(files, column, low, high, clip=clip)
    if numbers is None:
        tally = count_numbers(files, epsilon=epsilon, mechanism=mechanism, seed=seed)
        answer = _of_files(tally, population=population)
    elif epsilon is None:
        raise InvalidParameterError("a mechanism needs its privacy budget: give it with --epsilon")
    else:
        rng = random.secure() if seed is None else random.seeded(seed)
        name = (mechanism or "auto").lower()
        answer = _simulate(numbers, name, epsilon, share, bins, rng, population=population)
    made = answer.estimate
    lower, upper = made.interval(level)
    row = {
        "mean": made.mean,
        "stderr": made.stderr,
        "low": lower,
        "high": upper,
        "n": made.n,
        "mechanism": answer.mechanism.name,
        "exact_epsilon": answer.exact_epsilon,
        **({} if numbers is None else {"clipped": numbers.moved}),
    }
    about = {
        "level": level,
        "interval": answer.mechanism.domain.to_json(),
        "population": population,
        "about": made.about,
        "bias": made.bias,
        **answer.about,
    }
    caption = "\n".join([f"{what_it_covers(made, level)}; {answer.story}", *answer.origin])
    show([row], output, caption=caption, about=about)
    if output is Format.csv:
        note(caption)
    if numbers is not None:
        note(numbers.near(made.mean, made.stderr))
    if (warning := too_biased(made)) is not None:
        note(warning)


@dataclass(frozen=True)
class _Answer:
    """An estimate, what made it, and the story of how."""

    estimate: NumericEstimate | AdaptiveEstimate
    mechanism: NumericMechanism
    exact_epsilon: float
    story: str
    about: Mapping[str, Any]
    origin: Sequence[str] = ()


def _simulate(
    numbers: NumericInput,
    name: str,
    epsilon: float,
    share: float | None,
    bins: int,
    rng: RandomSource,
    *,
    population: bool,
) -> _Answer:
    """Return the answer of a collection in which everybody reports once."""
    if name not in FITTED:
        mechanism = make_numeric(name, numbers.interval, epsilon, {})
        tally = mechanism.tally(mechanism.privatize(numbers.values, rng=rng))
        return _of_tally(tally, population=population)
    from ldpkit.protocols.adaptive_mean import AdaptiveMean

    choice = FITTED[FITTED.index(name)]
    protocol = AdaptiveMean(numbers.interval, epsilon, share=share, bins=bins, oracle="ss", choice=choice)
    made = protocol.run(numbers.values, rng=rng, population=population)
    described = made.n - made.second.n
    return _Answer(
        made,
        made.mechanism,
        protocol.exact_epsilon(made.mechanism),
        f"{described} people described the data through {protocol.oracle!r}, "
        f"{made.second.n} reported through {made.mechanism!r}",
        {
            "parameters": made.mechanism.parameters(),
            "described": described,
            "descriptor": [float(each) for each in made.descriptor],
        },
    )


def _of_tally(tally: Tally, *, population: bool) -> _Answer:
    from ldpkit.estimation.density import numeric_mechanism

    made = cast("NumericTally", tally).estimate(population=population)
    mechanism = numeric_mechanism(tally)
    story = f"{made.n} people reported through {mechanism!r}"
    return _Answer(made, mechanism, mechanism.exact_epsilon(), story, {"parameters": mechanism.parameters()})


def _of_files(tally: Tally, *, population: bool) -> _Answer:
    """Return the answer of report files, with what they tell of themselves."""
    answer, made = _of_tally(tally, population=population), tally.provenance
    return replace(
        answer, about={**answer.about, "provenance": origin_facts(made)}, origin=origin_lines(made)
    )
