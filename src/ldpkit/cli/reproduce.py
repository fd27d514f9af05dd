"""ldpkit reproduce: a paper's claims, run as code."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ldpkit.cli.options import ForceOption, Format, FormatOption, RepeatableSeedOption, spread
from ldpkit.cli.outputs import check_extra, check_output, is_standard_output
from ldpkit.cli.printing import note, progress_bar, show
from ldpkit.cli.reading import Writes
from ldpkit.core.errors import InvalidParameterError

__all__ = ["add_to"]

_EXAMPLES = """
\b
Examples:
  ldpkit reproduce ldp3 --quick
  ldpkit reproduce ogpm --quick -o ogpm-results
  LDPKIT_DATA=data ldpkit reproduce ldp3 -o ldp3-results --format csv
"""


def add_to(app: typer.Typer) -> None:
    """Register the command."""
    app.command("reproduce", epilog=_EXAMPLES)(spread(reproduce))


def reproduce(
    name: Annotated[str, typer.Argument(help="The paper, such as 'ldp3'; 'list' shows them all.")] = "list",
    quick: Annotated[bool, typer.Option("--quick", help="Fewer repeats, wider error bars.")] = False,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="A folder for claims.csv, claims.json and the figures.",
            show_default=False,
        ),
        Writes(takes_dash=True),  # only to say that it is a folder
    ] = None,
    seed: RepeatableSeedOption = 0,
    force: ForceOption = False,
    style: FormatOption = Format.table,
) -> None:
    """Run a paper's claims: published, ours and a verdict each."""
    from ldpkit.papers import REPRODUCTIONS, Settings, save

    if name == "list":
        rows = [{"name": key, "title": each.title} for key, each in REPRODUCTIONS.items()]
        show(rows, style, kind="papers", title="Papers that can be reproduced")
        return
    reproduction = REPRODUCTIONS.get(name)
    if output is not None:
        _check_folder(output, force=force)
    run = reproduction.run(Settings(quick=quick, seed=seed, folder=output))
    with progress_bar() as watch:
        claims = list(watch(run, None, f"claims of {name}"))
    show([claim.row() for claim in claims], style, kind="claims", title=reproduction.title)
    if output is not None:
        save(claims, output)
        note(f"wrote {output}")
    counts: dict[str, int] = {}
    for claim in claims:
        counts[claim.verdict.value] = counts.get(claim.verdict.value, 0) + 1
    note(", ".join(f"{count} {verdict}" for verdict, count in counts.items()))


def _check_folder(folder: Path, *, force: bool) -> None:
    """Refuse, before minutes of work, a place where the results could not be written."""
    if is_standard_output(folder):
        raise InvalidParameterError("a reproduction writes several files: give --output the name of a folder")
    check_extra("matplotlib")
    if folder.exists() and not folder.is_dir():
        raise InvalidParameterError(f"{str(folder)!r} is a file: give --output the name of a folder")
    if folder.exists():
        for file in ("claims.csv", "claims.json"):
            check_output(folder / file, force=force)
