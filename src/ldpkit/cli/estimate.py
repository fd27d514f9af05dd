"""`ldpkit estimate`: report files in, frequencies with error bars out."""

from __future__ import annotations

import enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ldpkit.cli.lake import BadOption, BadRows, ByOption, EngineOption, Lake, MasterOption, is_lake
from ldpkit.cli.likelihood import estimate_likelihood
from ldpkit.cli.options import (
    ConsistencyOption,
    PopulationOption,
    ResultOptions,
    UnitPictureOptions,
    spread,
)
from ldpkit.cli.parsing import refuse_options, split
from ldpkit.cli.pictures import Pictures
from ldpkit.cli.printing import deliver, note
from ldpkit.cli.reading import Reads, Writes, files_of_lake
from ldpkit.cli.tallies import count_files, refuse_twins
from ldpkit.core.errors import InvalidParameterError

if TYPE_CHECKING:
    from ldpkit.core.results import Result
    from ldpkit.engines.tallies import Tallies
    from ldpkit.mechanisms.tally import Tally

__all__ = ["add_to"]

_FOR_A_VALUE = 256  # bytes that counting, estimating and sorting take; as many again that consistency does
_ROWS = 20  # of a table, unless --top says otherwise
_EXAMPLES = """
\b
Examples:
  ldpkit estimate reports.ldp
  ldpkit estimate north.ldp south.ldp --consistency norm_sub --top 10
  ldpkit estimate reports.ldp --level 0.99 --simultaneous -o frequencies.csv
  ldpkit estimate reports.ldp --report page.html --title "Ways to work"
  ldpkit estimate reports.ldp --population
  ldpkit estimate north.ldp --save-tally north.tally
  ldpkit estimate north.tally south.tally --format json
  ldpkit estimate ages.ldp --level 0.99
  ldpkit estimate 'lake/*/*.parquet' --by day --by region -o table.csv
  ldpkit estimate s3://bucket/lake --engine spark --by day --master yarn
"""


class Sort(enum.StrEnum):
    """The order of the rows."""

    value = "value"
    frequency = "frequency"


def add_to(app: typer.Typer) -> None:
    """Add the command."""
    app.command("estimate", epilog=_EXAMPLES)(spread(estimate))


def estimate(
    names: Annotated[
        list[str],
        typer.Argument(
            metavar="FILES...",
            help="Report files or tallies, of one mechanism; or Parquet files, folders and patterns of them.",
        ),
        Reads(files_of_lake),
    ],
    consistency: ConsistencyOption = None,
    estimator: Annotated[
        str | None,
        typer.Option(
            "--estimator",
            help="mi (unbiased, the default for frequencies), ibu, ibu_limit, or mle "
            "(which also pools mechanisms); mean for numbers.",
            show_default=False,
        ),
    ] = None,
    level: Annotated[float, typer.Option(help="The coverage of the intervals.")] = 0.95,
    simultaneous: Annotated[
        bool, typer.Option("--simultaneous", help="All intervals together have this coverage.")
    ] = False,
    population: PopulationOption = False,
    top: Annotated[
        int | None,
        typer.Option(min=1, help=f"Show only the most frequent; a table shows {_ROWS}.", show_default=False),
    ] = None,
    sort: Annotated[
        Sort | None,
        typer.Option(
            help="What to sort by; by default frequency in tables, otherwise value.", show_default=False
        ),
    ] = None,
    shown: ResultOptions = ResultOptions(),
    pictured: UnitPictureOptions = UnitPictureOptions(),
    by: ByOption = None,
    engine: EngineOption = None,
    master: MasterOption = None,
    bad: BadOption = BadRows.refuse,
    save_tally: Annotated[
        Path | None,
        typer.Option(help="Also write the tally, a small file; tallies can be added up.", show_default=False),
        Writes(),
    ] = None,
) -> None:
    """Estimate frequencies with error bars from report files.

    An interval contains the frequencies that the reports do not rule out. It is extended to the
    value that is shown, even where --consistency moved it. It describes the people who reported, or
    with --population the population that they were drawn from at random. From reports of numbers
    the command estimates their mean and variance. Parquet files say in their metadata what made the
    reports; --by estimates each group of their rows separately.
    """
    from ldpkit.core.parameters import check_fraction
    from ldpkit.core.wholefile import whole_file
    from ldpkit.estimation.consistency import CONSISTENCY
    from ldpkit.estimation.from_reports import ESTIMATORS

    check_fraction(level, "level")
    if estimator is not None:
        ESTIMATORS.get(estimator)
    if consistency is not None:
        CONSISTENCY.get(consistency)
    files, keys = [Path(name) for name in names], split(by or [])
    lake = Lake(names, engine, master, keys, bad) if is_lake(names, engine, keys) else None
    written = {"--save-tally": save_tally}
    pictures = Pictures.wanted(*pictured, shown=shown, inputs=files, outputs=written)
    if lake is None:
        refuse_twins(files)
        refuse_options("it is for Parquet files", master=master)
    if estimator == "mle":
        refuse_options("it keeps counts, and mle needs the reports", save_tally=save_tally)
        found = (
            estimate_likelihood(files, consistency, population=population)
            if lake is None
            else lake.likelihood(consistency, population=population)
        )
        made: Result = found.with_level(level, simultaneous=simultaneous)
    elif lake is not None and keys:
        refuse_options("groups have a tally and an order of their own", save_tally=save_tally, sort=sort)
        options: dict[str, Any] = {"population": True} if population else {}
        made = lake.tallies().estimate(
            estimator, consistency=consistency, level=level, simultaneous=simultaneous, **options
        )
    else:
        tally = (
            _only(lake.tallies())
            if lake is not None
            else count_files(
                files,
                pooled_by="--estimator mle",
                for_a_value=_FOR_A_VALUE if consistency is None else 2 * _FOR_A_VALUE,
            )
        )
        if tally.mechanism.domain.size is None:
            refuse_options(
                f"reports of {tally.mechanism!r} are about numbers",
                consistency=consistency,
                simultaneous=simultaneous,
                top=top,
                sort=sort,
            )
        made = _estimated(tally, estimator, consistency, level, simultaneous, population=population)
    chosen: dict[str, Any] = {
        name: given for name, given in (("top", top), ("sort", sort and sort.value)) if given is not None
    }
    deliver(made, shown, **chosen)
    pictures.save(made)
    if save_tally is not None:
        with whole_file(save_tally) as stream:
            stream.write(tally.to_bytes())
        note(f"wrote {save_tally}")


def _only(found: Tallies) -> Tally:
    """Return the tally of a lake without groups, and say which rows were set aside."""
    if found.bad:
        note(f"note: {found.bad:,} rows held no report and were set aside")
    return found.total()


def _estimated(
    tally: Tally,
    estimator: str | None,
    consistency: str | None,
    level: float,
    simultaneous: bool,
    *,
    population: bool,
) -> Result:
    """Return what a tally tells: frequencies, the mean of numbers, or a mean direction."""
    from ldpkit.estimation.direction import DirectionEstimate
    from ldpkit.estimation.estimate import Estimate
    from ldpkit.estimation.numeric import NumericEstimate

    options: dict[str, Any] = {"population": True} if population else {}
    if estimator == "density":
        raise InvalidParameterError("for the distribution of numbers use 'ldpkit density' with these files")
    if "heatmap" in (estimator, tally.mechanism.default_estimator):
        raise InvalidParameterError("for a map of locations use 'ldpkit trajectory heatmap' with these files")
    made: object = tally.estimate(estimator, consistency=consistency, **options)
    if isinstance(made, Estimate):
        return made.with_level(level, simultaneous=simultaneous)
    if not isinstance(made, (NumericEstimate, DirectionEstimate)):
        raise InvalidParameterError(f"{estimator} cannot estimate anything from these reports: leave it out")
    return made.with_level(level)
