"""`ldpkit audit`: whether a mechanism, or a file of reports, keeps its promise."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ldpkit.cli.arguments import (
    DomainOption,
    EpsilonOption,
    ForceOption,
    HighOption,
    LowOption,
    ParameterOption,
    check_output,
    is_numeric,
    make_numeric,
    make_oracle,
    open_collected,
    parse_domain,
    parse_interval,
    parse_parameters,
)
from ldpkit.cli.output import Format, FormatOption, note, show
from ldpkit.core.errors import InvalidParameterError

if TYPE_CHECKING:
    from ldpkit.assurance.audit import Audit
    from ldpkit.core.provenance import Provenance
    from ldpkit.mechanisms.base import Mechanism

__all__ = ["add_to"]

_EXAMPLES = """
\b
Examples:
  ldpkit audit reports.ldp
  ldpkit audit reports.ldp --report audit.html
  ldpkit audit olh --domain 128 --epsilon 1
  ldpkit audit pm --low 0 --high 120 --epsilon 1
  ldpkit audit lgrr --domain 16 --parameter epsilon_inf=2 --parameter epsilon_1=1
  ldpkit --plugin mine.py audit mine --domain 10 --epsilon 1 --format json
"""
_FAILED = 1  # the exit code of an audit that does not pass; refused input has 2


def add_to(app: typer.Typer) -> None:
    """Register the command."""
    app.command("audit", epilog=_EXAMPLES)(audit)


def audit(
    target: Annotated[str, typer.Argument(help="A report file, a tally, or the name of a mechanism.")],
    epsilon: EpsilonOption = None,
    domain: DomainOption = None,
    low: LowOption = None,
    high: HighOption = None,
    parameter: ParameterOption = None,
    reports: Annotated[
        int, typer.Option("--reports", "-n", min=1000, help="Reports of each value that the attack counts.")
    ] = 4_000_000,
    report: Annotated[
        Path | None, typer.Option("--report", help="Write a page for the reviewer.", show_default=False)
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(help="Makes the attack repeatable; secure randomness otherwise.", show_default=False),
    ] = None,
    output: FormatOption = Format.table,
    force: ForceOption = False,
) -> None:
    """Check that a mechanism or a report file keeps its promise.

    Epsilon is computed from the sampler's integers, every report is listed where they
    are few enough, and the real sampler is attacked with millions of reports. The exit
    code is 0 if nothing fails and 1 if something does.
    """
    from ldpkit.assurance.audit import audit as examine
    from ldpkit.core.random import seeded

    if report is not None:
        check_output(report, force=force, inputs=[Path(target)])
    mechanism, provenance = _target(target, epsilon, domain, low, high, parse_parameters(parameter))
    rng = None if seed is None else seeded(seed)
    found = examine(mechanism, provenance=provenance, reports=reports, rng=rng, watch=_watch)
    _show(found, output)
    if report is not None:
        from ldpkit.core.wholefile import whole_file
        from ldpkit.figures.audit_page import audit_page

        with whole_file(report) as stream:
            stream.write(audit_page(found, command=shlex.join(["ldpkit", *sys.argv[1:]])).encode())
        note(f"wrote {report}")
    if not found.passed:
        raise typer.Exit(_FAILED)


def _target(
    target: str,
    epsilon: float | None,
    domain: str | None,
    low: float | None,
    high: float | None,
    parameters: dict[str, float],
) -> tuple[Mechanism, Provenance | None]:
    """Return what is to be audited: a file if there is one of that name, else a mechanism."""
    from ldpkit.mechanisms.base import MECHANISMS

    interval = parse_interval(low, high)
    if target not in MECHANISMS:
        if not Path(target).exists() and Path(target).suffix == "" and "/" not in target:
            MECHANISMS.get(target)  # says which name was perhaps meant
        if epsilon is not None or domain is not None or interval is not None or parameters:
            raise InvalidParameterError(
                f"{target!r} is a file and says itself what made it: leave out --epsilon, --domain, "
                "--low, --high and --parameter"
            )
        found = open_collected(Path(target))
        return found.mechanism, found.provenance
    if is_numeric(target):
        if interval is None:
            raise InvalidParameterError(f"{target} is for numbers: give the interval with --low and --high")
        return make_numeric(target, interval, epsilon, parameters), None
    if domain is None:
        raise InvalidParameterError(f"{target} needs the list of values: give it with --domain")
    return make_oracle(target, parse_domain(domain), epsilon, parameters), None


def _watch(step: str) -> None:
    """Say on a terminal what is going on; the attack takes some seconds."""
    if sys.stderr.isatty():
        note(f"{step}...")


def _show(found: Audit, output: Format) -> None:
    from ldpkit.assurance.audit.audit import NOT_PROMISED

    about = found.about()
    rows = [
        {"check": check.name, "outcome": check.outcome, "epsilon": check.epsilon, "finding": check.finding}
        for check in found.checks
    ]
    verdict = "PASSED" if found.passed else "FAILED"
    show(
        rows,
        output,
        title=f"{found.mechanism!r}: {verdict}",
        about=about if output is Format.json else None,
    )
    if output is Format.table:
        for title, sentences in (
            ("What it means to a person", found.words),
            ("What more than one report costs", found.lifetime),
            ("What is not promised", NOT_PROMISED),
        ):
            print(f"\n{title}")
            for sentence in sentences:
                print(f"- {sentence}")
