"""`ldpkit density`: the distribution of numbers, simulated from values or from report files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from ldpkit.cli import options as opt
from ldpkit.cli.inputs import NumericInput, moved_in_words, read_numbers
from ldpkit.cli.making import make_numeric
from ldpkit.cli.outputs import check_figure
from ldpkit.cli.parsing import parse_shares
from ldpkit.cli.printing import note, present
from ldpkit.cli.tallies import count_numbers
from ldpkit.core.errors import InvalidParameterError, UnknownNameError

if TYPE_CHECKING:
    from ldpkit.mechanisms.tally import Tally

__all__ = ["add_to"]

_EXAMPLES = """
\b
Examples:
  ldpkit density ages.csv --low 0 --high 120 --epsilon 1
  ldpkit density ages.csv --low 0 --high 120 -e 2 --bins 64 --figure ages.png
  ldpkit density north.ldp south.ldp --quantile 0.1,0.5,0.9 --format json
"""


def add_to(app: typer.Typer) -> None:
    """Add the command."""
    app.command("density", epilog=_EXAMPLES)(density)


def density(
    files: opt.NumberFiles,
    low: opt.LowOption = None,
    high: opt.HighOption = None,
    epsilon: opt.EpsilonOption = None,
    mechanism: opt.MechanismOption = None,
    bins: Annotated[int, typer.Option(min=2, help="The bins of the distribution.")] = 32,
    estimator: Annotated[str, typer.Option("--estimator", help="ems (smooth), em, or inversion.")] = "ems",
    quantile: Annotated[
        list[str],
        typer.Option("--quantile", "-q", metavar="Q", help="Quantiles to tell, with commas between."),
    ] = ["0.25,0.5,0.75"],
    level: Annotated[float, typer.Option(help="The coverage of their intervals.")] = 0.95,
    column: opt.ColumnOption = None,
    clip: opt.ClipOption = False,
    missing: opt.MissingOption = opt.Missing.refuse,
    seed: opt.SeedOption = None,
    figure: opt.FigureOption = None,
    force: opt.ForceOption = False,
    output: opt.FormatOption = opt.Format.table,
) -> None:
    """Estimate the distribution of numbers and its quantiles.

    From a file of values the whole collection is simulated, every person reporting once,
    by default through sw, which is made for this.
    From report files it is the collector's half. Quantiles are those of the smooth
    distribution (ems); their intervals include how far smoothing and the mechanism's
    resolution may have moved them. The stderr of a bin is the scatter of the reports
    alone: a density has no interval with a level.
    """
    from ldpkit.core.checks import check_fraction
    from ldpkit.estimation.binned_density import ALGORITHMS, FINE
    from ldpkit.estimation.density import density as estimate_density
    from ldpkit.estimation.quantile import quantiles as estimate_quantiles

    check_fraction(level, "level")
    shares = parse_shares(quantile, "a quantile")
    if estimator not in ALGORITHMS:
        raise UnknownNameError("estimator", estimator, ALGORITHMS)
    check_figure(figure, force=force, inputs=files)
    numbers = read_numbers(files, column, low, high, clip=clip, missing=missing)
    tally: Tally
    if numbers is None:
        tally = count_numbers(files, epsilon=epsilon, mechanism=mechanism, seed=seed)
    else:
        if numbers.moved:
            note(f"note: {moved_in_words(numbers.moved, len(numbers.values))}")
        tally = _simulate(numbers, mechanism or "sw", epsilon, seed)
    smooth = estimate_density(tally, bins=FINE)
    quantiles = estimate_quantiles(tally, shares, level, smooth=smooth)
    found = estimate_density(tally, bins=bins, algorithm=estimator).with_quantiles(quantiles, smooth)
    present(found, output)
    if output is opt.Format.csv:
        for each in quantiles:
            note(f"quantile {each.q:g}: {each.value:.6g}, interval {each.low:.6g} to {each.high:.6g}")
    if figure is not None:
        from ldpkit.figures.canvas import new_figure, save_figure
        from ldpkit.figures.estimates import draw_density

        drawn = new_figure(9.0, 5.5)
        draw_density(drawn.subplots(), found, truth=None if numbers is None else numbers.values)
        save_figure(drawn, figure)
        note(f"wrote {figure}")


def _simulate(numbers: NumericInput, name: str, epsilon: float | None, seed: int | None) -> Tally:
    """Return the tally of a collection in which everybody reports once."""
    from ldpkit.core import random

    if epsilon is None:
        raise InvalidParameterError("a mechanism needs its privacy budget: give it with --epsilon")
    mechanism = make_numeric(name, numbers.interval, epsilon, {})
    rng = random.secure() if seed is None else random.seeded(seed)
    return mechanism.tally(mechanism.privatize(numbers.values, rng=rng))
