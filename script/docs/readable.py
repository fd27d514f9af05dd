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
_PROVENANCE = re.compile(r"randomness (?:secure|seeded)\b")  # a line of its own below every result
_WIDTH = 160  # where the program breaks sentences if nobody tells it how wide the screen is


def as_shown(markdown: str) -> str:
    """Return a page whose sessions are coloured as such, without the marks that doctest needs."""
    return _BLANK.sub("", _SESSION.sub(r"\1```pycon\n", markdown))


def fitted(html: str) -> str:
    """Return a page whose sentences in output are broken, and whose cells with sentences stay wide enough."""
    html = _BLOCK.sub(lambda found: found[1] + _broken(found[2]) + found[3], html)
    return _CELL.sub(_wide_enough, html)


def _broken(code: str) -> str:
    plain = "<span" not in code  # a block of output alone
    return "\n".join(_line(line, plain) for line in _joined(code.split("\n")))


def _joined(lines: list[str]) -> list[str]:
    """Put together again what the program broke where its own line was full: it is broken anew to fit."""
    whole: list[str] = []
    before = ""  # what the program printed last, as wide as it printed it
    for line in lines:
        words = _words(line)
        first = words.partition(" ")[0]
        is_full = len(before) <= _WIDTH < len(before) + 1 + len(first)
        if (
            is_full
            and first
            and not _PROVENANCE.match(words)
            and all(_OUTPUT.fullmatch(each) for each in (whole[-1], line))
            and _is_sentence(words)
        ):
            whole[-1] = whole[-1].removesuffix("</span>") + " " + line.removeprefix('<span class="go">')
        else:
            whole.append(line)
        before = words if _is_sentence(words) else ""
    return whole


def _line(line: str, plain: bool) -> str:
    words = _words(line)
    if not (plain or _OUTPUT.fullmatch(line) or _ERROR.match(words)):
        return line
    if len(words) <= _LONG_LINE or not _is_sentence(words):
        return line
    return f'<span class="prose">{line}</span>'


def _words(line: str) -> str:
    return unescape(_TAG.sub("", line)).rstrip()


def _is_sentence(words: str) -> bool:
    return "  " not in words and "──" not in words  # else a table, or code that is indented


def _wide_enough(found: re.Match[str]) -> str:
    words = unescape(_TAG.sub("", found["inside"]))
    return found[0] if len(words) <= _LONG_CELL else found[0].replace("<td", '<td class="long"', 1)
