"""Typesets formulas when the site is built: LaTeX in the page, MathML in the browser, no script and no font.

Formulas are written between dollar signs, as GitHub shows them too. `pymdownx.arithmatex` finds them; what
it leaves is turned into MathML here.
"""

from __future__ import annotations

import re
from html import unescape

from latex2mathml.converter import convert

_FORMULA = re.compile(r'<(span|div) class="arithmatex">\\([(\[])(.*?)\\[)\]]</\1>', re.S)

_SPACE = '<mspace width="0.167em"/>'
_FUNCTION = r"<m[io]>(log|ln|exp|sinh?|cosh?|tanh?|coth|min|max)</m[io]>"


def typeset(html: str) -> str:
    """Return a page with MathML in place of its formulas."""

    def mathml(found: re.Match[str]) -> str:
        tag, opening, latex = found.groups()
        display = "block" if opening == "[" else "inline"
        drawn = _spaced(convert(unescape(latex).strip(), display=display))
        return drawn if tag == "span" else f'<div class="formula" tabindex="0">{drawn}</div>'

    return _FORMULA.sub(mathml, html)


def _spaced(drawn: str) -> str:
    """Return MathML with the spaces of print: around the name of a function, none within bars."""
    drawn = re.sub(rf"(?<!<munder>){_FUNCTION}", r"<mi>\1</mi>", drawn)
    drawn = re.sub(rf"(</m(?:i|n|sup|sub|frac)>)(?={_FUNCTION})", rf"\1{_SPACE}", drawn)
    drawn = re.sub(rf"({_FUNCTION})(?=<m(?:i|n|sup|sub|frac)>)", rf"\1{_SPACE}", drawn)
    return drawn.replace("<mo>&#x0007C;</mo>", '<mo stretchy="false" lspace="0" rspace="0">&#x0007C;</mo>')
