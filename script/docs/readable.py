"""Code blocks and tables as readers want them: what only the tests need is taken out, and long lines fit.

Output has two kinds of lines. Those of tables must stay as they are, and scroll on a narrow screen; sentences
are broken like any other text, so that nobody has to scroll for the end of one.
"""

from __future__ import annotations

import re
from html import unescape

_SESSION = re.compile(r"^( *)```python\n(?=\s*>>> )", re.M)
_BLANK = re.compile(r"^ *<BLANKLINE>$", re.M)
_BLOCK = re.compile(r"(<pre><span></span><code>)(.*?)(</code></pre>)", re.S)
_OUTPUT = re.compile(r'<span class="go">[^<]*</span>')
_ERROR = re.compile(r"(?:\w+\.)*\w+(?:Error|Warning): ")  # the last line of a traceback
_CELL = re.compile(r"<td(?P<style> style=[^>]*)?>(?P<inside>.*?)</td>", re.S)
_TAG = re.compile(r"<[^>]+>")
_LONG_LINE, _LONG_CELL = 40, 50  # letters that fit on a phone, and in a third of one when broken


def as_shown(markdown: str) -> str:
    """Return a page whose sessions are coloured as such, without the marks that doctest needs."""
    return _BLANK.sub("", _SESSION.sub(r"\1```pycon\n", markdown))


def fitted(html: str) -> str:
    """Return a page whose sentences in output are broken, and whose cells with sentences stay wide enough."""
    html = _BLOCK.sub(lambda found: found[1] + _broken(found[2]) + found[3], html)
    return _CELL.sub(_wide_enough, html)


def _broken(code: str) -> str:
    plain = "<span" not in code  # a block of output alone
    return "\n".join(_line(line, plain) for line in code.split("\n"))


def _line(line: str, plain: bool) -> str:
    words = unescape(_TAG.sub("", line)).rstrip()
    if not (plain or _OUTPUT.fullmatch(line) or _ERROR.match(words)):
        return line
    if len(words) <= _LONG_LINE or "  " in words or "──" in words:  # a table, or code that is indented
        return line
    return f'<span class="prose">{line}</span>'


def _wide_enough(found: re.Match[str]) -> str:
    words = unescape(_TAG.sub("", found["inside"]))
    return found[0] if len(words) <= _LONG_CELL else found[0].replace("<td", '<td class="long"', 1)
