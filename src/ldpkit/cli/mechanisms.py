"""`ldpkit mechanisms`: what there is, and what it costs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from ldpkit.cli import options as opt
from ldpkit.cli.outputs import check_result
from ldpkit.cli.parsing import parse_domain
from ldpkit.cli.printing import deliver_rows
from ldpkit.core.errors import InvalidParameterError, UnknownNameError

if TYPE_CHECKING:
    from ldpkit.core.domains.categorical import CategoricalDomain
    from ldpkit.mechanisms.base import Mechanism

__all__ = ["add_to"]

_EXAMPLES = """
\b
Examples:
  ldpkit mechanisms
  ldpkit mechanisms --kind numeric --epsilon 2
  ldpkit mechanisms --epsilon 0.5 --domain 1000 --n 1000000
  ldpkit mechanisms --format json
"""

_LONGITUDINAL = "longitudinal"
_COARSE = 1 << 6  # the grid for variances of added noise: right to four digits, and fast


def add_to(app: typer.Typer) -> None:
    """Add the command."""
    app.command("mechanisms", epilog=_EXAMPLES)(opt.spread(mechanisms))


def mechanisms(
    epsilon: opt.UsualEpsilonOption = 1.0,
    domain: opt.UsualDomainOption = "128",
    n: opt.UsualPeopleOption = 100_000,
    kind: Annotated[
        str | None,
        typer.Option(
            help="Only mechanisms of this kind: frequency, longitudinal, numeric, circular, spatial or "
            "trajectory.",
            show_default=False,
        ),
    ] = None,
    shown: opt.ResultOptions = opt.ResultOptions(),
) -> None:
    """List the mechanisms: exact epsilon, error, report length.

    The standard error is that of the frequency of a value that nobody holds; n times its square
    does not depend on n. For longitudinal mechanisms, which report again and again, it is that of
    one round. For numeric mechanisms it is that of the mean of numbers between -1 and 1, in the
    worst case.
    """
    from ldpkit.core.parameters import check_epsilon, check_people
    from ldpkit.mechanisms.base import MECHANISMS

    check_result(shown)
    budget, values, n = check_epsilon(epsilon), parse_domain(domain), check_people(n)
    found = [(name, mechanism, _kind_of(mechanism)) for name, mechanism in MECHANISMS.items()]
    kinds = {its_kind for *_, its_kind in found}
    if kind is not None and kind not in kinds:
        raise UnknownNameError("kind of mechanism", kind, kinds)
    rows = [
        _row(name, mechanism, its_kind, values, budget, n)
        for name, mechanism, its_kind in sorted(found, key=lambda each: (each[2], each[0]))
        if kind in (None, its_kind)
    ]
    listed = {row["kind"] for row in rows}
    if shown.format is opt.Format.table:
        for row in rows:
            del row["aliases"], row["citation"], row["variance_times_n"]
            row["details"] = {name: f"{value:.4g}" for name, value in (row["details"] or {}).items()}
    deliver_rows(
        rows,
        shown,
        kind="mechanisms",
        title=f"Mechanisms at epsilon={budget:g}{_for_values(listed, len(values))}",
        caption=_caption(listed, budget, n),
    )


def _for_values(kinds: set[str], count: int) -> str:
    """Return how many values there are, if any of the mechanisms has a list of them."""
    from ldpkit.mechanisms.kinds import FREQUENCY

    return f" for {count} values" if kinds & {FREQUENCY, _LONGITUDINAL} else ""


def _caption(kinds: set[str], epsilon: float, n: int) -> str:
    parts = {
        "frequency": f"of the frequency of a value that nobody holds, from n={n:,} reports",
        _LONGITUDINAL: f"of that frequency after one round, with epsilon_1={epsilon:g} for each report "
        f"and epsilon_inf={2 * epsilon:g} for all",
        "numeric": f"of the mean of n={n:,} numbers on [-1, 1], the worst of both ends and the middle; "
        "none where reports are biased (truncated, bounded) or fitted to the data (aaa)",
    }
    return "\n".join(f"stderr, {each}: {text}" for each, text in parts.items() if each in kinds)


def _kind_of(mechanism: type[Mechanism]) -> str:
    """Return the kind of data, or that reports are sent again and again."""
    return _LONGITUDINAL if mechanism.can("memoized") else mechanism.kind


def _row(
    name: str, mechanism: type[Mechanism], kind: str, domain: CategoricalDomain, epsilon: float, n: int
) -> dict[str, Any]:
    row: dict[str, Any] = {
        "kind": kind,
        "name": name,
        "title": mechanism.title,
        "aliases": list(mechanism.aliases),
    }
    facts = ("details", "report_bytes", "stderr", "variance_times_n", "exact_epsilon")
    row |= dict.fromkeys(facts) | {"citation": mechanism.citation}
    try:
        return row | _facts(_make(mechanism, domain, epsilon), n)
    except InvalidParameterError:  # it cannot have this domain or epsilon; a table says so when it is asked
        return row


def _facts(made: Mechanism | None, n: int) -> dict[str, Any]:
    """Return what a mechanism costs, by column; nothing of one that is not made."""
    if made is None:
        return {}
    variance = _variance(made, n)
    facts = {
        "details": made.details(),
        "report_bytes": made.report_bytes,
        "exact_epsilon": made.exact_epsilon(),
    }
    return facts if variance is None else facts | {"stderr": variance**0.5, "variance_times_n": variance * n}


def _make(kind: type[Mechanism], domain: CategoricalDomain, epsilon: float) -> Mechanism | None:
    """Return the mechanism, or None if it needs more than there is here."""
    from ldpkit.mechanisms.kinds import CIRCULAR, NUMERIC, is_spatial, is_whole_trajectory

    # Tables and the best shares and sides of the plane are searched for: a list does not wait for that.
    if kind.can("tabled") or is_spatial(kind) or is_whole_trajectory(kind):
        return None
    budgets = {"epsilon": epsilon, "epsilon_inf": 2 * epsilon, "epsilon_1": epsilon}
    given = {name: budgets[name] for name in kind.required() if name in budgets}
    return kind.make({NUMERIC: (-1, 1), CIRCULAR: 1.0}.get(kind.kind, domain), **given)


def _variance(mechanism: Mechanism, n: int) -> float | None:
    """Return the variance of what n reports tell: a frequency of zero, or the mean in the worst case."""
    from ldpkit.mechanisms.kinds import is_frequency, is_numeric

    if is_frequency(mechanism):
        return mechanism.variance(0.0, n)
    if mechanism.can("additive"):
        mechanism = mechanism.sibling(_COARSE)
    if not is_numeric(mechanism) or mechanism.line is None:
        return None
    worst = max(map(float, mechanism.variance([-1.0, 0.0, 1.0])))
    return worst / float(mechanism.line[1]) ** 2 / n
