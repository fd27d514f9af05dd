"""ldpkit reproduce: a paper's claims, run as code."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ldpkit.cli.arguments import ForceOption, check_output
from ldpkit.cli.output import Format, FormatOption, note, show

__all__ = ["add_to"]

_EXAMPLES = """
\b
Examples:
  ldpkit reproduce ldp3 --quick
  LDPKIT_DATA=data ldpkit reproduce ldp3 --out ldp3-results --format csv
"""


def add_to(app: typer.Typer) -> None:
    """Register the command."""
    app.command("reproduce", epilog=_EXAMPLES)(reproduce)


def reproduce(
    name: Annotated[str, typer.Argument(help="The paper, such as 'ldp3'; 'list' shows them all.")] = "list",
    quick: Annotated[bool, typer.Option("--quick", help="Fewer repeats, wider error bars.")] = False,
    out: Annotated[
        Path | None, typer.Option("--out", help="A folder for claims.csv, claims.json and the figures.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Makes the run repeatable.")] = 0,
    force: ForceOption = False,
    output: FormatOption = Format.table,
) -> None:
    """Run a paper's claims: published, ours and a verdict each."""
    from ldpkit.papers import REPRODUCTIONS, Settings, save

    if name == "list":
        rows = [{"name": key, "title": each.title} for key, each in REPRODUCTIONS.items()]
        show(rows, output, title="Papers that can be reproduced")
        return
    reproduction = REPRODUCTIONS.get(name)
    if out is not None and out.exists():
        for file in ("claims.csv", "claims.json"):
            check_output(out / file, force=force, inputs=[])
    claims = list(reproduction.run(Settings(quick=quick, seed=seed, folder=out)))
    show([claim.row() for claim in claims], output, title=reproduction.title)
    if out is not None:
        save(claims, out)
        note(f"wrote {out}")
    counts: dict[str, int] = {}
    for claim in claims:
        counts[claim.verdict.value] = counts.get(claim.verdict.value, 0) + 1
    note(", ".join(f"{count} {verdict}" for verdict, count in counts.items()))
