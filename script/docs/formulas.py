"""Typesets formulas when the site is built: LaTeX in the page, MathML in the browser, no script and no font.

Formulas are written between dollar signs, as GitHub shows them too. `pymdownx.arithmatex` finds them; what
it leaves is turned into MathML here.
"""

from __future__ import annotations

import re
from html import unescape

from latex2mathml.converter import convert

_FORMULA = re.compile(r'<(span|div) class="arithmatex">\\([(\[])(.*?)\\[)\]]</\1>', re.S)


def typeset(html: str) -> str:
    """Return a page with MathML in place of its formulas."""

    def mathml(found: re.Match[str]) -> str:
        tag, opening, latex = found.groups()
        display = "block" if opening == "[" else "inline"
        drawn = convert(unescape(latex).strip(), display=display)
        return drawn if tag == "span" else f'<div class="formula" tabindex="0">{drawn}</div>'

    return _FORMULA.sub(mathml, html)
