"""`ldpkit estimate`: report files in, frequencies with error bars out."""

from __future__ import annotations

import contextlib
import enum
import io
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ldpkit.cli.arguments import ForceOption, check_output, open_collected
from ldpkit.cli.likelihood import describe, estimate_likelihood
from ldpkit.cli.output import Format, note, show
from ldpkit.cli.progress import track
from ldpkit.core.errors import InvalidInputError, MismatchError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ldpkit.estimation.estimate import Estimate
    from ldpkit.mechanisms.base import Mechanism
    from ldpkit.mechanisms.reportfile import ReportFile
    from ldpkit.mechanisms.tally import Tally

__all__ = ["add_to"]

_ROWS = 20  # of a table, unless --top says otherwise
_EXAMPLES = """
[bold]Examples[/bold]

ldpkit estimate reports.ldp

ldpkit estimate monday.ldp tuesday.ldp --consistency norm_sub --top 10

ldpkit estimate reports.ldp --level 0.99 --simultaneous -o frequencies.csv

ldpkit estimate north.ldp --save-tally north.tally

ldpkit estimate north.tally south.tally --format json
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
        str,
        typer.Option(
            help="The estimator: mi (unbiased), ibu, ibu_limit, or mle (which also pools mechanisms)."
        ),
    ] = "mi",
    level: Annotated[float, typer.Option(help="The coverage of the intervals.")] = 0.95,
    simultaneous: Annotated[
        bool, typer.Option("--simultaneous", help="Let all intervals together have that coverage.")
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
    """Estimate how frequent each value is, with error bars, from one or more report files.

    Intervals belong to the unbiased estimate, also where --consistency moves the frequency.
    """
    from ldpkit.core.checks import check_fraction
    from ldpkit.core.wholefile import whole_file
    from ldpkit.estimation.consistency import CONSISTENCY
    from ldpkit.mechanisms.tally import ESTIMATORS

    check_fraction(level, "level")
    ESTIMATORS.get(method)
    if consistency is not None:
        CONSISTENCY.get(consistency)
    for path in filter(None, (output, save_tally)):
        check_output(path, force=force, inputs=files)
    if output is not None and output == save_tally:
        raise InvalidInputError(f"{str(output)!r} is both --output and --save-tally: choose two names")
    _refuse_twins(files)
    if method == "mle":
        if save_tally is not None:
            raise InvalidInputError("--save-tally keeps counts, mle needs the reports: leave one of them out")
        made, mechanisms = estimate_likelihood(files, consistency)
    else:
        tally = _count(files)
        made = tally.estimate(method, consistency=consistency)
        mechanisms = [tally.mechanism]
    if style is None:
        style = _style_of(output)
    about = {
        "n": made.n,
        "mechanisms": [describe(mechanism) for mechanism in mechanisms],
        "method": method,
        "consistency": consistency,
        "level": level,
        "simultaneous": simultaneous,
        **({"diagnostics": dict(made.diagnostics)} if made.diagnostics else {}),
    }
    rows = _rows(made, level, simultaneous, top, sort, is_table=style is Format.table)
    caption = _caption(about, mechanisms, len(rows), len(made))
    text = io.StringIO()
    show(rows, style, caption=caption, about=about, file=None if output is None else text)
    if output is not None:
        with whole_file(output) as stream:
            stream.write(text.getvalue().encode())
    if save_tally is not None:
        with whole_file(save_tally) as stream:
            stream.write(tally.to_bytes())
    if style is Format.csv or output is not None:
        note(caption)
    if not made.diagnostics.get("converged", True):
        note(
            f"not converged after {made.diagnostics['iterations']} iterations: "
            "stopping early smooths the result"
        )


def _style_of(output: Path | None) -> Format:
    ending = "" if output is None else output.suffix.lower().removeprefix(".")
    return Format(ending) if ending in ("csv", "json") else Format.table


def _refuse_twins(files: list[Path]) -> None:
    seen: set[Path] = set()
    for path in files:
        if path.resolve() in seen:
            raise InvalidInputError(f"{str(path)!r} is given twice, and would count twice: give it once")
        seen.add(path.resolve())


def _count(files: list[Path]) -> Tally:
    """Return the tally of all files; compare all headers before any report is counted."""
    from ldpkit.mechanisms.tally import Tally

    parts = [open_collected(path) for path in files]
    first = parts[0].mechanism
    for path, part in zip(files, parts, strict=True):
        if part.mechanism != first:
            raise MismatchError(
                f"{str(path)!r} is of {part.mechanism!r} on {part.mechanism.domain}, but {str(files[0])!r} "
                f"is of {first!r} on {first.domain}: they do not mix, but --method mle pools them"
            )
    return Tally.merge(part if isinstance(part, Tally) else _count_reports(part) for part in parts)


def _count_reports(file: ReportFile) -> Tally:
    with contextlib.closing(track(file.reports(), file.blocks, f"counting {file.path.name}")) as watched:
        return file.tally(watched)


def _rows(
    made: Estimate, level: float, simultaneous: bool, top: int | None, sort: Sort | None, *, is_table: bool
) -> list[dict[str, Any]]:
    rows = list(made.rows(level, simultaneous=simultaneous))
    if sort is None:
        sort = Sort.frequency if is_table else Sort.value
    if top is None:
        top = _ROWS if is_table else len(rows)
    frequent = sorted(range(len(rows)), key=lambda index: (-rows[index]["frequency"], index))[:top]
    return [rows[index] for index in (sorted(frequent) if sort is Sort.value else frequent)]


def _caption(about: dict[str, Any], mechanisms: Sequence[Mechanism], shown: int, size: int) -> str:
    kind = "simultaneous intervals" if about["simultaneous"] else "intervals"
    made_by = (f"{each!r}, exact epsilon {each.exact_epsilon()!r}" for each in mechanisms)
    parts = [
        f"n={about['n']}",
        *made_by,
        f"{100 * about['level']:g}% {kind}",
        *([f"consistency {about['consistency']}"] if about["consistency"] else []),
        *([f"the {shown} most frequent of {size} values"] if shown < size else []),
    ]
    return ", ".join(parts)
