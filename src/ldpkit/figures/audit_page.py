"""What the page of an audit has of its own: what was checked, what it means, what it does not cover."""

from __future__ import annotations

from collections.abc import Sequence

from ldpkit.assurance.audit import Audit, Check
from ldpkit.core.text import as_html
from ldpkit.figures.page import facts_list, listed, scrolled, section

__all__ = ["checks_part"]

_MARKS = {"pass": "pass", "fail": "fail", "warn": "warned"}


def checks_part(found: Audit) -> str:
    """Return the checks as a table, and under headings what a person should read beside them.

    Examples
    --------
    >>> import ldpkit
    >>> part = checks_part(ldpkit.audit(ldpkit.GRR(2, epsilon=1), reports=1000))
    >>> "What was checked" in part, "What is not promised" in part
    (True, True)
    """
    parts = [section("checks", "What was checked", _table(found.checks))]
    parts += [
        section(f"audit-{name}", title, listed(sentences))
        for name, (title, sentences) in found.sections().items()
    ]
    made = found.mechanism
    told = facts_list({"Mechanism": repr(made), "Values": str(made.domain), "Promise": made.promise()})
    return "\n".join([*parts, section("mechanism", "The mechanism", f"<dl>{told}</dl>")])


def _table(checks: Sequence[Check]) -> str:
    rows = "".join(
        f'<tr><th scope="row">{as_html(check.name)}</th>'
        f'<td class="{_MARKS.get(check.outcome, "")}"><strong>{check.outcome}</strong></td>'
        f"<td>{as_html(check.finding)}</td></tr>"
        for check in checks
    )
    head = '<tr><th scope="col">check</th><th scope="col">outcome</th><th scope="col">finding</th></tr>'
    return scrolled(
        f'<table class="checks"><thead>{head}</thead><tbody>{rows}</tbody></table>', "Table of the checks"
    )
