"""`ldpkit density`: the distribution of numbers, simulated from values or from report files."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Annotated

import typer

from ldpkit.cli.inputs import NumericInput, read_numbers
from ldpkit.cli.making import make_numeric
from ldpkit.cli.numeric_tallies import count_numbers, without_nan
from ldpkit.cli.options import (
    ClipOption,
    ColumnOption,
    EpsilonOption,
    FigureOption,
    ForceOption,
    Format,
    FormatOption,
    HighOption,
    LowOption,
    MechanismOption,
    Missing,
    MissingOption,
    NumberFiles,
    SeedOption,
)
from ldpkit.cli.origin import origin_facts, origin_lines
from ldpkit.cli.outputs import check_figure
from ldpkit.cli.parsing import parse_shares
from ldpkit.cli.printing import note, show
from ldpkit.core.errors import InvalidParameterError, UnknownNameError

if TYPE_CHECKING:
    from ldpkit.estimation.density import Density, Quantile
    from ldpkit.mechanisms.tally import Tally

__all__ = ["add_to"]

_COVERED = (
    "bias and resolution included, for the people who reported and for a population they were drawn from"
)
_EXAMPLES = """
\b
Examples:
  ldpkit density ages.csv --low 0 --high 120 --epsilon 1
  ldpkit density ages.csv --low 0 --high 120 --epsilon 2 --bins 64 --figure ages.png
  ldpkit density north.ldp south.ldp --quantile 0.1,0.5,0.9 --format json
"""


def add_to(app: typer.Typer) -> None:
    """Add the command."""
    app.command("density", epilog=_EXAMPLES)(density)


def density(
    files: NumberFiles,
    low: LowOption = None,
    high: HighOption = None,
    epsilon: EpsilonOption = None,
    mechanism: MechanismOption = None,
    bins: Annotated[int, typer.Option(min=2, help="The bins of the distribution.")] = 32,
    estimator: Annotated[str, typer.Option("--estimator", help="ems (smooth), em, or inversion.")] = "ems",
    quantile: Annotated[
        list[str],
        typer.Option("--quantile", "-q", metavar="Q", help="Quantiles to tell, with commas between."),
    ] = ["0.25,0.5,0.75"],
    level: Annotated[float, typer.Option(help="The coverage of their intervals.")] = 0.95,
    column: ColumnOption = None,
    clip: ClipOption = False,
    missing: MissingOption = Missing.refuse,
    seed: SeedOption = None,
    figure: FigureOption = None,
    force: ForceOption = False,
    output: FormatOption = Format.table,
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
    from ldpkit.estimation.density import ALGORITHMS, FINE
    from ldpkit.estimation.density import density as estimate_density
    from ldpkit.estimation.quantile import quantiles as estimate_quantiles

    check_fraction(level, "level")
    shares = parse_shares(quantile, "a quantile")
    if estimator not in ALGORITHMS:
        raise UnknownNameError("estimator", estimator, ALGORITHMS)
    check_figure(figure, force=force, inputs=files)
    numbers = read_numbers(files, column, low, high, clip=clip, missing=missing)
    if numbers is None:
        tally = count_numbers(files, epsilon=epsilon, mechanism=mechanism, seed=seed)
    else:
        tally = _simulate(numbers, mechanism or "sw", epsilon, seed)
    found: Density = estimate_density(tally, bins=bins, algorithm=estimator)
    smooth: Density = estimate_density(tally, bins=FINE)
    quantiles = estimate_quantiles(tally, shares, level, smooth=smooth)
    _print(tally, found, quantiles, level, output, numbers)
    if (warning := _narrow(smooth)) is not None:
        note(warning)
    if figure is not None:
        from ldpkit.figures.experiment import save_figure
        from ldpkit.figures.numeric import density_figure

        truth = None if numbers is None else numbers.values
        save_figure(density_figure([found], truth=truth, quantiles=quantiles), figure)
        note(f"wrote {figure}")


def _simulate(numbers: NumericInput, name: str, epsilon: float | None, seed: int | None) -> Tally:
    """Return the tally of a collection in which everybody reports once."""
    from ldpkit.core import random

    if epsilon is None:
        raise InvalidParameterError("a mechanism needs its privacy budget: give it with --epsilon")
    mechanism = make_numeric(name, numbers.interval, epsilon, {})
    rng = random.secure() if seed is None else random.seeded(seed)
    return mechanism.tally(mechanism.privatize(numbers.values, rng=rng))


def _print(
    tally: Tally,
    found: Density,
    quantiles: list[Quantile],
    level: float,
    output: Format,
    numbers: NumericInput | None,
) -> None:
    mechanism, method = tally.mechanism, found.made_by["method"]
    exact, clipped = mechanism.exact_epsilon(), 0 if numbers is None else numbers.moved
    caption = f"n={tally.n}, {mechanism!r}, exact epsilon {exact!r}, method {method}"
    if clipped:
        caption += f", {clipped} values clipped"
    caption += "\nstderr: the scatter of the reports alone; how far smoothing moves a bin is not in it"
    facts = [vars(each) for each in quantiles]
    about = {
        "n": tally.n,
        "mechanism": mechanism.name,
        "parameters": mechanism.parameters(),
        "exact_epsilon": exact,
        "interval": mechanism.domain.to_json(),
        "method": method,
        "clipped": clipped,
        "level": level,
        "quantiles": facts,
    }
    if numbers is None:  # from files, which tell how their reports were made
        about["provenance"] = origin_facts(tally.provenance)
        caption = "\n".join([caption, *origin_lines(tally.provenance)])
    show([without_nan(row) for row in found.rows()], output, caption=caption, about=about)
    if output is Format.table and facts:
        show(facts, output, title="Quantiles", caption=f"{100 * level:g}% intervals, {_COVERED}")
    if output is Format.csv:
        note(caption)
        for each in quantiles:
            note(f"quantile {each.q:g}: {each.value:.6g}, interval {each.low:.6g} to {each.high:.6g}")
        if quantiles:
            note(f"{100 * level:g}% intervals, {_COVERED}")


def _narrow(smooth: Density) -> str | None:
    """Return a warning where people stand so close together that the density is mostly blur."""
    ends = smooth.narrow()
    if ends is None:
        return None
    domain, (low, high) = smooth.domain, ends
    room = max(high - low, domain.width / 100)
    below, above = _rounded(low - room, room, up=False), _rounded(high + room, room, up=True)
    remedy = "".join(
        f" {option} {end:g}"
        for option, end, is_inside in (
            ("--low", below, below > domain.low),
            ("--high", above, above < domain.high),
        )
        if is_inside
    )
    return (
        f"note: nine tenths of the people seem to stand between {low:.4g} and {high:.4g}, "
        f"{(high - low) / domain.width:.0%} of {domain}: much of this density is the mechanism's own blur. "
        f"An interval such as{remedy} would show more. It costs a new collection, with a new epsilon of its "
        "own; numbers outside are refused or clipped, which moves the mean; and fix it by what is known "
        "beforehand: an interval chosen from these reports tells of the people in them"
    )


def _rounded(number: float, room: float, *, up: bool) -> float:
    """Return a number rounded outwards to one digit of the room there is."""
    unit = 10.0 ** math.floor(math.log10(room))
    return unit * (math.ceil(number / unit) if up else math.floor(number / unit))
