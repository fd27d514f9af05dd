"""`ldpkit mean`: the mean of numbers or the direction of angles, from values or from report files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from ldpkit.cli import options as opt
from ldpkit.cli.circles import read_angles
from ldpkit.cli.inputs import NumericInput, read_numbers
from ldpkit.cli.making import make_numeric
from ldpkit.cli.parsing import parse_circle, refuse_options
from ldpkit.cli.pictures import Pictures
from ldpkit.cli.printing import deliver, note
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
  ldpkit mean headings.csv --period 360 --epsilon 2 --figure headings.png
  ldpkit mean north.ldp south.ldp
"""


def add_to(app: typer.Typer) -> None:
    """Add the command."""
    app.command("mean", epilog=_EXAMPLES)(opt.spread(mean))


def mean(
    files: opt.NumberFiles,
    where: opt.SpaceOptions = opt.SpaceOptions(),
    epsilon: opt.EpsilonOption = None,
    mechanism: opt.MechanismOption = None,
    column: opt.ColumnOption = None,
    clip: opt.ClipOption = False,
    wrap: opt.WrapOption = False,
    missing: opt.MissingOption = opt.Missing.refuse,
    level: Annotated[float, typer.Option(help="The coverage of the interval.")] = 0.95,
    population: opt.PopulationOption = False,
    share: Annotated[
        float | None,
        typer.Option(
            help="With auto and aaa: which share of people describes the data; by default the best one.",
            show_default=False,
        ),
    ] = None,
    bins: Annotated[
        int, typer.Option(min=1, help="With auto and aaa: how many cells the description has.")
    ] = 16,
    seed: opt.SeedOption = None,
    pictured: opt.UnitPictureOptions = opt.UnitPictureOptions(),
    shown: opt.ResultOptions = opt.ResultOptions(),
) -> None:
    """Estimate the mean of numbers, or the direction of angles.

    Given a file of values, the command simulates the whole collection: every person reports once,
    with the whole epsilon. The default mechanism is auto: some people describe the data, and the
    others report through the mechanism that is best for that description. Given report files, it
    estimates from them, as a collector does. On a circle (--period) the mean is a direction, and
    the default mechanism is circular_ogpm.
    """
    from ldpkit.core import random
    from ldpkit.core.parameters import check_fraction

    check_fraction(level, "level")
    circle = parse_circle(*where, clip=clip, wrap=wrap)
    pictures = Pictures.wanted(*pictured, shown=shown, inputs=files, seed=seed)
    if circle is not None:
        refuse_options("a direction is collected at once, with no first phase", share=share)
        angles = read_angles(files, column, circle, wrap=wrap, missing=missing)
        tally = angles.simulate(mechanism or "circular_ogpm", epsilon, seed)
        found = tally.estimate("direction", population=population).with_level(level)
        deliver(found, shown)
        note(angles.near(found))
        pictures.save(found)
        return
    numbers = read_numbers(files, column, where.low, where.high, clip=clip, missing=missing)
    if numbers is None:
        collected = count_numbers(files, epsilon=epsilon, mechanism=mechanism, seed=seed)
        estimate = collected.estimate(population=population).with_level(level)
        deliver(estimate, shown)
        pictures.save(estimate)
        return
    if epsilon is None:
        raise InvalidParameterError("a mechanism needs its privacy budget: give it with --epsilon")
    rng = random.secure() if seed is None else random.seeded(seed)
    made = _simulate(numbers, mechanism or "auto", epsilon, share, bins, rng, population=population)
    made = made.with_level(level)
    deliver(made, shown)
    note(numbers.near(made.mean, made.stderr))
    pictures.save(made)


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
