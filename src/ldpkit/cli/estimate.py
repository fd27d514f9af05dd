"""`ldpkit estimate`: report files in, frequencies with error bars out."""

from __future__ import annotations

import enum
import io
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from ldpkit.cli.arguments import ForceOption, check_outputs
from ldpkit.cli.likelihood import describe, estimate_likelihood
from ldpkit.cli.numeric_input import is_about_numbers, number_table
from ldpkit.cli.origin import origin_facts, origin_lines
from ldpkit.cli.output import Format, note, show
from ldpkit.cli.tallies import count_files, refuse_twins
from ldpkit.core.errors import InvalidInputError, InvalidParameterError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ldpkit.estimation.estimate import Estimate
    from ldpkit.mechanisms.base import Mechanism
    from ldpkit.mechanisms.tally import FrequencyTally

__all__ = ["add_to"]

_ROWS = 20  # of a table, unless --top says otherwise
_EXAMPLES = """
\b
Examples:
  ldpkit estimate reports.ldp
  ldpkit estimate north.ldp south.ldp --consistency norm_sub --top 10
  ldpkit estimate reports.ldp --level 0.99 --simultaneous -o frequencies.csv
  ldpkit estimate reports.ldp --population
  ldpkit estimate north.ldp --save-tally north.tally
  ldpkit estimate north.tally south.tally --format json
  ldpkit estimate ages.ldp --level 0.99
"""


class Sort(enum.StrEnum):
    """The order of the rows."""

    value = "value"
    frequency = "frequency"


def add_to(app: typer.Typer) -> None:
    """Add the command."""
    app.command("estimate", epilog=_EXAMPLES)(estimate)


def estimate(
    files: Annotated[list[Path], typer.Argument(help="Report files or tallies, of one mechanism.")],
    consistency: Annotated[
        str | None,
        typer.Option(help="Make the frequencies consistent, for example norm_sub.", show_default=False),
    ] = None,
    method: Annotated[
        str | None,
        typer.Option(
            help="The estimator: mi (unbiased, the default for frequencies), ibu, ibu_limit, or mle "
            "(which also pools mechanisms); mean for numbers.",
            show_default=False,
        ),
    ] = None,
    level: Annotated[float, typer.Option(help="The coverage of the intervals.")] = 0.95,
    simultaneous: Annotated[
        bool, typer.Option("--simultaneous", help="Let all intervals together have that coverage.")
    ] = False,
    population: Annotated[
        bool,
        typer.Option(
            "--population",
            help="Errors and intervals for the population that the people were drawn from, "
            "not for these people alone.",
        ),
    ] = False,
    top: Annotated[
        int | None,
        typer.Option(min=1, help=f"Only the most frequent; a table shows {_ROWS}.", show_default=False),
    ] = None,
    sort: Annotated[
        Sort | None,
        typer.Option(help="The order; frequency in tables, else value.", show_default=False),
    ] = None,
    style: Annotated[
        Format | None,
        typer.Option("--format", help="How to print; by default a table, or as -o ends.", show_default=False),
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write the result to a file.", show_default=False)
    ] = None,
    save_tally: Annotated[
        Path | None, typer.Option(help="Also write the tally, a small file that adds.", show_default=False)
    ] = None,
    force: ForceOption = False,
) -> None:
    """Estimate frequencies with error bars from report files.

    An interval holds the frequencies that the reports do not refute, and the one that is shown,
    also where --consistency moved it. It is about the people who reported, or with --population
    about those they were drawn from at random.
    From reports of numbers it estimates their mean and variance.
    """
    from ldpkit.core.checks import check_fraction
    from ldpkit.core.wholefile import whole_file, whole_text
    from ldpkit.estimation.consistency import CONSISTENCY
    from ldpkit.mechanisms.tally import ESTIMATORS

    check_fraction(level, "level")
    if method is not None:
        ESTIMATORS.get(method)
    if consistency is not None:
        CONSISTENCY.get(consistency)
    check_outputs({"--output": output, "--save-tally": save_tally}, force=force, inputs=files)
    refuse_twins(files)
    style = style or _style_of(output)
    diagnostics: Mapping[str, Any] = {}
    hints: list[str] = []
    tally = None if method == "mle" else count_files(files)
    provenance = None if tally is None else tally.provenance
    if tally is not None and is_about_numbers(tally):
        if consistency is not None or simultaneous or top is not None or sort is not None:
            raise InvalidParameterError(
                f"reports of {tally.mechanism!r} are about numbers: "
                "leave out --consistency, --simultaneous, --top and --sort"
            )
        rows, about, caption = number_table(tally, method, level, population=population)
    else:
        if tally is not None:
            options: dict[str, Any] = {"population": True} if population else {}
            made = cast("FrequencyTally", tally).estimate(method, consistency=consistency, **options)
            mechanisms: Sequence[Mechanism] = [tally.mechanism]
        elif save_tally is not None:
            raise InvalidInputError("--save-tally keeps counts, mle needs the reports: leave one of them out")
        else:
            made, mechanisms, provenance = estimate_likelihood(files, consistency, population=population)
        diagnostics = made.diagnostics
        about = {
            "n": made.n,
            "mechanisms": [describe(mechanism) for mechanism in mechanisms],
            "method": method or mechanisms[0].default_estimator,
            "consistency": consistency,
            "level": level,
            "simultaneous": simultaneous,
            "population": population,
            **({"diagnostics": dict(diagnostics)} if diagnostics else {}),
        }
        rows = _rows(made, level, simultaneous, top, sort, is_table=style is Format.table)
        caption = _caption(about, mechanisms, len(rows), len(made))
        hints = _hints(made, rows, consistency)
    if provenance is not None:
        about = {**about, "provenance": origin_facts(provenance)}
        caption = "\n".join([caption, *origin_lines(provenance)])
    text = io.StringIO()
    show(rows, style, caption=caption, about=about, file=None if output is None else text)
    if output is not None:
        whole_text(output, text.getvalue())
    if save_tally is not None and tally is not None:
        with whole_file(save_tally) as stream:
            stream.write(tally.to_bytes())
    if style is Format.csv or output is not None:
        note(caption)
    for hint in hints:
        note(hint)
    if not diagnostics.get("converged", True):
        note(f"not converged after {diagnostics['iterations']} iterations: stopping early smooths the result")


def _style_of(output: Path | None) -> Format:
    ending = "" if output is None else output.suffix.lower().removeprefix(".")
    return Format(ending) if ending in ("csv", "json") else Format.table


def _rows(
    made: Estimate, level: float, simultaneous: bool, top: int | None, sort: Sort | None, *, is_table: bool
) -> list[dict[str, Any]]:
    import numpy as np

    columns = made.columns(level, simultaneous=simultaneous)
    if sort is None:
        sort = Sort.frequency if is_table else Sort.value
    if top is None:
        top = _ROWS if is_table else len(made)
    frequent = np.argsort(-made.values, kind="stable")[:top]
    shown = np.sort(frequent) if sort is Sort.value else frequent
    rows = [{name: column[index] for name, column in columns.items()} for index in shown.tolist()]
    if is_table:  # people are whole
        rows = [{**row, "count": round(row["count"])} for row in rows]
    return rows


def _hints(made: Estimate, rows: Sequence[Mapping[str, Any]], consistency: str | None) -> list[str]:
    """Return what a reader of these rows should know, beside the caption."""
    hints = [f"warning: {warning}" for warning in made.warnings]
    if consistency is None:
        shown = [row["frequency"] for row in rows]
        for strange, what in (
            (min(shown) < 0, "negative values are noise around zero"),
            (max(shown) > 1, "frequencies above 1 are noise"),
        ):
            if strange:
                hints.append(f"{what}: --consistency norm_sub removes them")
    return hints


def _caption(about: dict[str, Any], mechanisms: Sequence[Mechanism], shown: int, size: int) -> str:
    from ldpkit.estimation.estimate import about_whom

    kind = "simultaneous intervals" if about["simultaneous"] else "intervals"
    made_by = (f"{each!r}, {each.promise()}" for each in mechanisms)
    parts = [
        f"n={about['n']}",
        *made_by,
        f"{100 * about['level']:g}% {kind} for the frequencies "
        + about_whom(about["n"], population=about["population"]),
        *(["taking it that one population answered all mechanisms"] if len(mechanisms) > 1 else []),
        *([f"consistency {about['consistency']}"] if about["consistency"] else []),
        *([f"the {shown} most frequent of {size} values"] if shown < size else []),
    ]
    return ", ".join(parts)
