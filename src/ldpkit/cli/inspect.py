"""`ldpkit inspect`: what a report file says about itself, verified."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ldpkit.cli.options import Format, ResultOptions, spread
from ldpkit.cli.outputs import check_result
from ldpkit.cli.printing import opened, progress_bar, show
from ldpkit.cli.tallies import open_collected

if TYPE_CHECKING:
    from ldpkit.files.reportfile import ReportFile
    from ldpkit.mechanisms.base import Mechanism

__all__ = ["add_to"]

_EXAMPLES = """
\b
Examples:
  ldpkit inspect reports.ldp
  ldpkit inspect north.ldp south.ldp --format csv
"""


def add_to(app: typer.Typer) -> None:
    """Add the command."""
    app.command("inspect", epilog=_EXAMPLES)(spread(inspect))


def inspect(
    files: Annotated[list[Path], typer.Argument(help="Report files or tallies.")],
    shown: ResultOptions = ResultOptions(),
) -> None:
    """Show what made a report file, and verify every checksum."""
    check_result(shown)
    facts = [_facts(path, with_labels=shown.format is Format.json) for path in files]
    with opened(shown.output) as file:
        if shown.format is not Format.table:
            show(facts, shown.format, kind="files", file=file)
            return
        for each in facts:
            told = ((name, value) for name, value in each.items() if value not in (None, []))
            show([{"fact": name, "value": _exact(value)} for name, value in told], shown.format, file=file)


def _exact(value: Any) -> Any:
    """Return a number with all its digits: here they are facts, not estimates."""
    return repr(value) if isinstance(value, float) else value


def _facts(path: Path, *, with_labels: bool) -> dict[str, Any]:
    from ldpkit.files.reportfile import ReportFile

    origin: dict[str, Any]
    found = open_collected(path)
    if isinstance(found, ReportFile):
        _verify(found)
        origin = {
            "kind": "reports",
            "format_version": found.version,
            "written_by": f"ldpkit {found.written_by}",
        }
    else:
        origin = {"kind": "tally", "format_version": 1, "written_by": None}
    domain = found.mechanism.domain
    return {
        "file": str(path),
        **origin,
        **_promise(found.mechanism),
        "domain_size": domain.size,
        "domain": domain.to_json() if with_labels else str(domain),
        "reports": found.n,
        "record_length": found.mechanism.report_bytes,
        "file_bytes": path.stat().st_size,
        "checksums": "verified",
        **found.provenance.facts(),
    }


def _promise(mechanism: Mechanism) -> dict[str, Any]:
    return {
        "mechanism": mechanism.name,
        "title": mechanism.title,
        "parameters": mechanism.parameters(),
        "details": mechanism.details(),
        **mechanism.epsilons(),
    }


def _verify(file: ReportFile) -> None:
    """Read every block; a damaged one is refused."""
    with progress_bar() as watch:
        for _ in watch(file.reports(), file.blocks, f"verifying {file.path.name}"):
            pass
