"""`ldpkit mean`: the mean of numbers with its error, simulated from values or from report files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from ldpkit.cli import options as opt
from ldpkit.cli.inputs import NumericInput, read_numbers
from ldpkit.cli.making import make_numeric
from ldpkit.cli.printing import note, present
from ldpkit.cli.randomise import fitting
from ldpkit.cli.tallies import count_numbers
from ldpkit.core.errors import InvalidParameterError

if TYPE_CHECKING:
    from ldpkit.core.random import RandomSource
    from ldpkit.estimation.numeric import NumericEstimate
    from ldpkit.protocols.adaptive_mean import AdaptiveEstimate

__all__ = ["add_to"]

_EXAMPLES = """
\b
Examples:
  ldpkit mean ages.csv --low 0 --high 120 --epsilon 1
  ldpkit mean ages.csv --low 0 --high 120 -e 1 -p hm --clip --format json
  ldpkit mean north.ldp south.ldp
"""


def add_to(app: typer.Typer) -> None:
    """Add the command."""
    app.command("mean", epilog=_EXAMPLES)(mean)


def mean(
    files: opt.NumberFiles,
    low: opt.LowOption = None,
    high: opt.HighOption = None,
    epsilon: opt.EpsilonOption = None,
    mechanism: opt.MechanismOption = None,
    column: opt.ColumnOption = None,
    clip: opt.ClipOption = False,
    missing: opt.MissingOption = opt.Missing.refuse,
    level: Annotated[float, typer.Option(help="The coverage of the interval.")] = 0.95,
    population: opt.PopulationOption = False,
    share: Annotated[
        float | None,
        typer.Option(
            help="With auto and aaa: who describes; by default no more than pay.", show_default=False
        ),
    ] = None,
    bins: Annotated[int, typer.Option(min=1, help="With auto and aaa: the cells they describe.")] = 16,
    seed: opt.SeedOption = None,
    output: opt.FormatOption = opt.Format.table,
) -> None:
    """Estimate the mean of numbers, with its error and interval.

    From a file of values the whole collection is simulated, every person reporting once
    with the whole epsilon; by default through auto: some people describe the data, and
    the best mechanism for what they describe serves the others.
    From report files it is the collector's half.
    """
    from ldpkit.core import random
    from ldpkit.core.checks import check_fraction

    check_fraction(level, "level")
    numbers = read_numbers(files, column, low, high, clip=clip, missing=missing)
    if numbers is None:
        tally = count_numbers(files, epsilon=epsilon, mechanism=mechanism, seed=seed)
        present(tally.estimate(population=population).with_level(level), output)
        return
    if epsilon is None:
        raise InvalidParameterError("a mechanism needs its privacy budget: give it with --epsilon")
    rng = random.secure() if seed is None else random.seeded(seed)
    made = _simulate(numbers, mechanism or "auto", epsilon, share, bins, rng, population=population)
    present(made.with_level(level), output)
    note(numbers.near(made.mean, made.stderr))


def _simulate(
    numbers: NumericInput,
    name: str,
    epsilon: float,
    share: float | None,
    bins: int,
    rng: RandomSource,
    *,
    population: bool,
) -> NumericEstimate | AdaptiveEstimate:
    """Return the estimate of a collection in which everybody reports once."""
    choice = fitting(name)
    if choice is None:
        mechanism = make_numeric(name, numbers.interval, epsilon, {})
        return mechanism.tally(mechanism.privatize(numbers.values, rng=rng)).estimate(population=population)
    from ldpkit.protocols.adaptive_mean import AdaptiveMean

    protocol = AdaptiveMean(numbers.interval, epsilon, share=share, bins=bins, oracle="ss", choice=choice)
    return protocol.run(numbers.values, rng=rng, population=population)
