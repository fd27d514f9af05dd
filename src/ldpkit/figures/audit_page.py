"""The page of an audit: verdict first, then what was checked, what it means, what it does not cover."""

from __future__ import annotations

import html
from collections.abc import Sequence

from ldpkit.assurance.audit import Audit, Check
from ldpkit.figures.audit import shown_epsilons
from ldpkit.figures.page import write_page

__all__ = ["audit_page"]

_STYLE = """table { width: 100% } th, td { overflow-wrap: anywhere }
.verdict { font-size: 1.2rem; font-weight: 700; padding: .6rem 1rem; border-left: .5rem solid }
.pass { color: #146c2e } .fail { color: #b3261e } .warn { color: #8a5000 }
@media (prefers-color-scheme: dark) { .pass { color: #7fd694 } .fail { color: #ff8a80 }
  .warn { color: #ffb95c } }
td.outcome { font-weight: 700 } th, td:not(:last-child) { white-space: nowrap }
svg { width: 100% } svg text { font: 13px system-ui, sans-serif; fill: currentColor }"""


def audit_page(found: Audit, *, command: str) -> str:
    """Return one self-contained HTML page.

    Examples
    --------
    >>> import ldpkit
    >>> page = audit_page(ldpkit.audit(ldpkit.GRR(2, epsilon=1), reports=1000), command="ldpkit audit -p grr")
    >>> "PASSED" in page, "http" in page
    (True, False)
    """
    mark = "pass" if found.passed else "fail"
    verdict = "PASSED: nothing that was checked breaks the promise." if found.passed else _failures(found)
    body = [
        f'<p class="verdict {mark}">{verdict}</p>',
        _line(found),
        _table(found.checks),
        *(_sentences(title, sentences) for title, sentences in found.sections().values()),
        f"<h2>The mechanism</h2><pre>{html.escape(str(_short(found.mechanism.spec())))}</pre>",
    ]
    return write_page(f"Audit of {found.mechanism!r}", "\n".join(body), command=command, style=_STYLE)


def _failures(found: Audit) -> str:
    failed = ", ".join(check.name for check in found.checks if check.outcome == "fail")
    return f"FAILED: {html.escape(failed)}."


def _table(checks: Sequence[Check]) -> str:
    rows = "".join(
        f'<tr><td>{html.escape(check.name)}</td><td class="outcome {check.outcome.split()[0]}">'
        f"{check.outcome}</td><td>{html.escape(check.finding)}</td></tr>"
        for check in checks
    )
    head = "<tr><th>check</th><th>outcome</th><th>finding</th></tr>"
    return f"<h2>What was checked</h2><table>{head}{rows}</table>"


def _sentences(title: str, sentences: Sequence[str]) -> str:
    items = "".join(f"<li>{html.escape(sentence)}</li>" for sentence in sentences)
    return f"<h2>{title}</h2><ul>{items}</ul>" if items else ""


def _short(spec: dict[str, object]) -> dict[str, object]:
    """Return the spec without long lists, which nobody reads on a page."""
    return {
        name: value if len(str(value)) <= 2000 else f"{str(value)[:200]}..." for name, value in spec.items()
    }


def _line(found: Audit) -> str:
    """Draw the epsilons on one line: what was shown must not pass what was stated."""
    finite = shown_epsilons(found)
    top = 1.15 * max(value for _, value in finite)
    height, drawn = 28 * len(finite) + 30, []
    for row, (name, value) in enumerate(finite):
        y, x = 24 + 28 * row, 130 + 560 * value / top
        stated = 130 + 560 * found.stated / top
        colour = "#b3261e" if value > found.stated else "#3b7dd8"
        text = "at least " if name == "attack" else ""
        drawn.append(
            f'<text x="120" y="{y + 4}" text-anchor="end">{html.escape(name)}</text>'
            f'<line x1="130" x2="{x:.1f}" y1="{y}" y2="{y}" stroke="{colour}" stroke-width="8"/>'
            f'<text x="{max(x, stated) + 8:.1f}" y="{y + 4}">{text}{value:.6g}</text>'
        )
    label = "; ".join(f"{name} {value:.4g}" for name, value in finite)
    return (
        f'<svg viewBox="0 0 800 {height}" role="img" aria-label="epsilon: {html.escape(label)}">'
        f'<line x1="{stated:.1f}" x2="{stated:.1f}" y1="8" y2="{height - 12}" '
        'stroke="currentColor" stroke-dasharray="4 4"/>' + "".join(drawn) + "</svg>"
    )
