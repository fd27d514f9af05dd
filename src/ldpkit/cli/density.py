"""`ldpkit density`: the distribution of numbers, simulated from values or from report files."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from ldpkit.cli import options as opt
from ldpkit.cli.circles import read_angles
from ldpkit.cli.inputs import NumericInput, read_numbers
from ldpkit.cli.making import make_numeric
from ldpkit.cli.parsing import parse_circle, parse_shares, refuse_options
from ldpkit.cli.pictures import Pictures
from ldpkit.cli.printing import deliver, note
from ldpkit.cli.tallies import count_numbers
from ldpkit.core.errors import InvalidParameterError, UnknownNameError
from ldpkit.core.numbertext import ends_text

if TYPE_CHECKING:
    from ldpkit.core.typing import Floats
    from ldpkit.estimation.density import Density
    from ldpkit.mechanisms.tally import CircularTally, NumericTally

__all__ = ["add_to"]

_EXAMPLES = """
\b
Examples:
  ldpkit density ages.csv --low 0 --high 120 --epsilon 1
  ldpkit density ages.csv --low 0 --high 120 -e 2 --bins 64 --figure ages.png
  ldpkit density headings.csv --period 360 --epsilon 2 --bins 36
  ldpkit density north.ldp south.ldp --quantile 0.1,0.5,0.9 --format json
"""


def add_to(app: typer.Typer) -> None:
    """Add the command."""
    app.command("density", epilog=_EXAMPLES)(opt.spread(density))


def density(
    files: opt.NumberFiles,
    where: opt.SpaceOptions = opt.SpaceOptions(),
    epsilon: opt.EpsilonOption = None,
    mechanism: opt.MechanismOption = None,
    bins: Annotated[int, typer.Option(min=2, help="The bins of the distribution.")] = 32,
    estimator: Annotated[str, typer.Option("--estimator", help="ems (smooth), em, or inversion.")] = "ems",
    quantile: Annotated[
        list[str] | None,
        typer.Option(
            "--quantile",
            "-q",
            metavar="Q",
            help="The quantiles to show, separated by commas.",
            show_default="0.25,0.5,0.75",
        ),
    ] = None,
    level: Annotated[float, typer.Option(help="The coverage of their intervals.")] = 0.95,
    column: opt.ColumnOption = None,
    clip: opt.ClipOption = False,
    wrap: opt.WrapOption = False,
    missing: opt.MissingOption = opt.Missing.refuse,
    seed: opt.SeedOption = None,
    pictured: opt.UnitPictureOptions = opt.UnitPictureOptions(),
    shown: opt.ResultOptions = opt.ResultOptions(),
) -> None:
    """Estimate the distribution of numbers and its quantiles.

    Given a file of values, the command simulates the whole collection: every person reports once,
    by default through sw, which is made for this. Given report files, it estimates from them, as a
    collector does. Quantiles are those of the smooth distribution (ems). Their intervals include
    how far smoothing and the mechanism's resolution may have moved them. The stderr of a bin covers
    only the scatter of the reports, so a density has no confidence interval. On a circle (--period)
    smoothing wraps around, there are no quantiles, and the default mechanism is circular_sw.
    """
    from ldpkit.core.parameters import check_fraction
    from ldpkit.estimation.binned_density import ALGORITHMS
    from ldpkit.mechanisms.tally import CircularTally

    check_fraction(level, "level")
    circle = parse_circle(*where, clip=clip, wrap=wrap)
    shares = parse_shares(quantile or ["0.25,0.5,0.75"], "a quantile")
    if estimator not in ALGORITHMS:
        raise UnknownNameError("estimator", estimator, ALGORITHMS)
    pictures = Pictures.wanted(*pictured, shown=shown, inputs=files, seed=seed)
    tally: NumericTally | CircularTally
    truth: Floats | None = None
    if circle is not None:
        angles = read_angles(files, column, circle, wrap=wrap, missing=missing)
        tally, truth = angles.simulate(mechanism or "circular_sw", epsilon, seed), angles.values
    elif (numbers := read_numbers(files, column, where.low, where.high, clip=clip, missing=missing)) is None:
        tally = count_numbers(files, epsilon=epsilon, mechanism=mechanism, seed=seed)
    else:
        numbers.note_moved()
        tally, truth = _simulate(numbers, mechanism or "sw", epsilon, seed), numbers.values
    if isinstance(tally, CircularTally):
        refuse_options("a circle has no least value, so it has no quantiles", quantile=quantile)
        round_it = tally.estimate("circular_density", bins=bins, algorithm=estimator)
        deliver(round_it, shown)
        pictures.save(round_it, partial(round_it.figure, truth=truth))
    else:
        found = _with_quantiles(tally, bins, estimator, shares, level)
        deliver(found, shown)
        if shown.format is opt.Format.csv:
            for each in found.quantiles:
                note(f"quantile {each.q:g}: {each.value:.6g}, interval {ends_text(each.low, each.high, 6)}")
        pictures.save(found, partial(found.figure, truth=truth))


def _with_quantiles(
    tally: NumericTally, bins: int, estimator: str, shares: list[float], level: float
) -> Density:
    """Return the density with its quantiles, which are those of a fine and smooth one."""
    from ldpkit.estimation.binned_density import FINE
    from ldpkit.estimation.density import density as estimate_density
    from ldpkit.estimation.quantile import quantiles as estimate_quantiles

    smooth = estimate_density(tally, bins=FINE)
    quantiles = estimate_quantiles(tally, shares, level, smooth=smooth)
    found: Density = estimate_density(tally, bins=bins, algorithm=estimator)
    return found.with_quantiles(quantiles, smooth)


def _simulate(numbers: NumericInput, name: str, epsilon: float | None, seed: int | None) -> NumericTally:
    """Return the tally of a collection in which everybody reports once."""
    from ldpkit.core import random

    if epsilon is None:
        raise InvalidParameterError("a mechanism needs its privacy budget: give it with --epsilon")
    mechanism = make_numeric(name, numbers.interval, epsilon, {})
    rng = random.secure() if seed is None else random.seeded(seed)
    return mechanism.tally(mechanism.privatize(numbers.values, rng=rng))
