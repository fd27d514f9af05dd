"""`ldpkit audit`: whether a mechanism, or a file of reports, keeps its promise."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ldpkit.cli import options as opt
from ldpkit.cli.making import make_mechanism, space_of
from ldpkit.cli.parsing import domain_file, parse_parameters, refuse_options
from ldpkit.cli.pictures import Pictures
from ldpkit.cli.printing import deliver, goes_to_file, note, opened, say, show_table
from ldpkit.cli.tallies import is_collected, open_collected
from ldpkit.core.errors import InvalidParameterError

if TYPE_CHECKING:
    from ldpkit.assurance.audit import Audit
    from ldpkit.files.reportfile import ReportFile
    from ldpkit.mechanisms.base import Mechanism
    from ldpkit.mechanisms.tally import Tally

__all__ = ["add_to"]

_EXAMPLES = """
\b
Examples:
  ldpkit audit reports.ldp
  ldpkit audit reports.ldp --report audit.html
  ldpkit audit reports.ldp --at-most 2
  ldpkit audit -p olh --domain 128 --epsilon 1
  ldpkit audit -p pm --low 0 --high 120 --epsilon 1
  ldpkit audit -p circular_ogpm --period 360 --epsilon 1
  ldpkit audit -p lgrr --domain 16 --parameter epsilon_inf=2 \\
    --parameter epsilon_1=1
  ldpkit audit -p jrr --domain 2 --epsilon 2 --parameter epsilon_alone=1
  ldpkit audit -p group_count --domain 2 --epsilon 1 --parameter size=3
  ldpkit --plugin mine.py audit -p mine --domain 10 -e 1 --format json
"""
_FAILED = 1  # the exit code of an audit that does not pass; refused input has 2


def add_to(app: typer.Typer) -> None:
    """Register the command."""
    app.command("audit", epilog=_EXAMPLES)(opt.spread(audit))


def audit(
    file: Annotated[
        Path | None, typer.Argument(help="A report file or a tally; or name a mechanism with -p.")
    ] = None,
    mechanism: opt.MechanismOption = None,
    epsilon: opt.EpsilonOption = None,
    domain: opt.DomainOption = None,
    where: opt.SpaceOptions = opt.SpaceOptions(),
    parameter: opt.ParameterOption = None,
    at_most: Annotated[
        float | None,
        typer.Option(
            "--at-most",
            help="Fail if the exact epsilon is above this limit, such as the one in a privacy notice. For "
            "longitudinal mechanisms: the epsilon of all reports of a device, if its value never changes.",
            show_default=False,
        ),
    ] = None,
    reports: Annotated[
        int, typer.Option("--reports", min=1000, help="Reports of each value that the attack counts.")
    ] = 4_000_000,
    pictured: opt.PictureOptions = opt.PictureOptions(),
    seed: Annotated[
        int | None,
        typer.Option(help="Makes the attack repeatable; secure randomness otherwise.", show_default=False),
    ] = None,
    shown: opt.ResultOptions = opt.ResultOptions(),
) -> None:
    """Check that a mechanism or a report file keeps its promise.

    The audit computes epsilon from the sampler's integers, lists every report if there are few
    enough, and attacks the real sampler with millions of fresh reports. For a file it also checks
    that some people could have made its counts. The exit code is 0 if nothing fails and 1 if
    something does.
    """
    from ldpkit.assurance.audit import audit as examine
    from ldpkit.core.random import seeded

    pictures = Pictures.wanted(*pictured, shown=shown, inputs=[file, domain_file(domain)], seed=seed)
    audited: Mechanism | ReportFile | Tally
    if file is not None:
        audited = _of_file(
            file,
            mechanism=mechanism,
            epsilon=epsilon,
            domain=domain,
            **where._asdict(),
            parameter=parameter,
        )
    elif mechanism is None:
        raise InvalidParameterError("what should be audited? give a report file, or a mechanism with -p")
    else:
        space = space_of(mechanism, domain, *where)
        audited = make_mechanism(mechanism, space, epsilon, parse_parameters(parameter))
    rng = None if seed is None else seeded(seed)
    found = examine(audited, path=file, at_most=at_most, reports=reports, rng=rng, watch=_watch)
    _show(found, shown)
    pictures.save(found)
    if not found.passed:
        raise typer.Exit(_FAILED)


def _of_file(file: Path, *, epsilon: float | None, **options: object) -> ReportFile | Tally:
    """Return what a file holds; options that it answers itself are refused."""
    from ldpkit.mechanisms.base import MECHANISMS

    if not file.exists() and str(file) in MECHANISMS:
        raise InvalidParameterError(f"{str(file)!r} is a mechanism, not a file: write -p {file}")
    if file.suffix in (".toml", ".json") and file.exists() and not is_collected(file):
        raise InvalidParameterError(
            f"{str(file)!r} is not a report file: if it is a collection, 'ldpkit collection check {file}' "
            "checks its promise, and 'ldpkit audit -p' the mechanism of each question"
        )
    if epsilon is not None:
        raise InvalidParameterError(
            f"{str(file)!r} is a file that states its own epsilon: write --at-most {epsilon:g} to "
            "fail if it is larger"
        )
    refuse_options(f"{str(file)!r} is a file that says what made it", **options)
    return open_collected(file)


def _show(found: Audit, shown: opt.ResultOptions) -> None:
    """Print the checks, and under headings what to read beside them; the verdict is seen in any case."""
    if shown.format is not opt.Format.table:
        deliver(found, shown)
        note(found.title)
        return
    with opened(shown.output) as file:
        for table in found.tables():
            show_table(table, file=file)
        for heading, sentences in found.sections().values():
            say("\n".join([f"\n{heading}", *(f"- {sentence}" for sentence in sentences)]), file=file)
    if goes_to_file(shown.output):
        note(found.title)


def _watch(step: str) -> None:
    """Say on a terminal what is going on; the attack takes some seconds."""
    if sys.stderr.isatty():
        note(f"{step}...")
