"""`ldpkit mechanisms`: what there is, and what it costs."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from ldpkit.cli.arguments import parse_domain
from ldpkit.cli.output import Format, FormatOption, show

__all__ = ["add_to"]

_EXAMPLES = """
[bold]Examples[/bold]

ldpkit mechanisms

ldpkit mechanisms --epsilon 0.5 --domain 1000 --n 1000000

ldpkit mechanisms --format json
"""


def add_to(app: typer.Typer) -> None:
    """Add the command."""
    app.command("mechanisms", epilog=_EXAMPLES)(mechanisms)


def mechanisms(
    epsilon: Annotated[float, typer.Option(help="The privacy budget.")] = 1.0,
    domain: Annotated[
        str, typer.Option(metavar="SPEC", help="A size, labels with commas between, or @FILE.")
    ] = "128",
    n: Annotated[int, typer.Option("--n", min=1, help="The number of people.")] = 100_000,
    output: FormatOption = Format.table,
) -> None:
    """List the mechanisms with their exact epsilon, their error and the length of a report.

    The standard error is that of the frequency of a value that nobody holds; n times its
    square does not depend on n.
    """
    from ldpkit.core.checks import check_epsilon
    from ldpkit.mechanisms.base import MECHANISMS

    budget, values = check_epsilon(epsilon), parse_domain(domain)
    rows = [_row(name, values, budget, n) for name in MECHANISMS]
    if output is Format.table:
        for row in rows:
            del row["citation"], row["variance_times_n"]
    show(
        rows,
        output,
        title=f"Mechanisms at epsilon={budget:g} for {len(values)} values",
        caption=f"stderr: of the frequency of a value that nobody holds, from n={n:,} reports",
    )


def _row(name: str, domain: Any, epsilon: float, n: int) -> dict[str, Any]:
    from ldpkit.core.errors import InvalidParameterError
    from ldpkit.mechanisms.base import MECHANISMS, get
    from ldpkit.mechanisms.categorical.oracle import FrequencyOracle

    kind = MECHANISMS.get(name)
    row: dict[str, Any] = {"name": name, "title": kind.title, "aliases": list(kind.aliases)}
    row |= dict.fromkeys(("details", "report_bytes", "stderr", "variance_times_n", "exact_epsilon"))
    try:
        mechanism = get(name, domain, epsilon=epsilon)
    except InvalidParameterError:  # it needs more than a domain and an epsilon
        return row | {"citation": kind.citation}
    row["details"] = mechanism.details()
    row["report_bytes"] = mechanism.report_bytes
    if isinstance(mechanism, FrequencyOracle):
        variance = mechanism.variance(0.0, n)
        row["stderr"], row["variance_times_n"] = variance**0.5, variance * n
    row["exact_epsilon"] = mechanism.exact_epsilon()
    return row | {"citation": kind.citation}
