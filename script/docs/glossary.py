"""Links the first use of every term on a page to the glossary, so that nobody does it by hand."""

from __future__ import annotations

import re
from dataclasses import dataclass
from html import escape

_ENTRY = re.compile(r"^(?P<names>[^\s:#<|`*-][^\n]*)\n:   (?P<text>(?:.+\n?)+)", re.M)
_MARKUP = re.compile(r"\[([^\]]*)\]\([^)]*\)|[`*$]|\\var(?=epsilon)")  # a hint is plain text
_TAG = re.compile(r"(<[^>]+>)")
_OTHERWISE = {
    "delta": (r"(?!)", r"^ Lake\b"),
    "interval": (
        (
            r"\b(?:(?:needs|on|over|of|fix) an|(?:ends?|point|part|middle|fifth) of (?:an|the)"
            r"|(?:on|outside) the)\s+$|^an $"
        ),
        r"^,? (?:from \d|low to high|is cut|and on a circle\b)",
    ),
    "promise": (r"\bseveral $", r"(?!)"),
    "round": (
        r"\b(?:way|goes?|them|people|second) $",
        r"^s? (?:up|down|off|towards|their|them|a feature|large|of messages)\b",
    ),
    "standard error": (r"\b(?:on|to) $", r"^ stream\b"),
    "utility": (r"\bwater $", "(?!)"),
}
"""Words around a name with which it means something else: before it, and after it."""
_CLOSED = {
    "a",
    "code",
    "pre",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "math",
    "svg",
    "th",
    "button",
    "script",
    "label",
}


@dataclass(frozen=True, slots=True)
class Term:
    """An entry: its names (the first is its title), where it stands and its first sentence."""

    names: tuple[str, ...]
    anchor: str
    sentence: str


def terms(markdown: str) -> list[Term]:
    """Return the entries of the glossary page, which is a definition list."""
    found = []
    for entry in _ENTRY.finditer(markdown):
        names = tuple(name.strip() for name in entry["names"].split(","))
        plain = re.sub(
            r"\[([^\]]*)\]\([^)]*\)|[`*$]|\\var(?=epsilon)", r"\1", " ".join(entry["text"].split())
        )
        found.append(Term(names, anchor(names[0]), re.split(r"(?<=\.) ", plain)[0]))
    return found


def anchor(name: str) -> str:
    """Return the part of an address that names an entry."""
    return re.sub(r"\W+", "-", name.lower()).strip("-")


def with_anchors(html: str, known: list[Term]) -> str:
    """Return the glossary's own page, each entry with its address."""
    titles = {", ".join(term.names): term.anchor for term in known}

    def named(found: re.Match[str]) -> str:
        place = titles.get(re.sub(r"<[^>]+>", "", found[1]))
        return f'<dt id="{place}">{found[1]}</dt>' if place else found[0]

    return re.sub(r"<dt>(.*?)</dt>", named, html)


def link(html: str, known: list[Term], address: str) -> str:
    """Return a page with the first use of each term linked to `address`, the glossary."""
    by_name = {name.lower(): term for term in known for name in term.names}
    longest_first = sorted(by_name, key=len, reverse=True)
    pattern = re.compile(rf"(?<![\w-])({'|'.join(map(re.escape, longest_first))})(s?)(?![\w-])", re.I)
    used: set[str] = set()
    closed: list[str] = []
    parts = _TAG.split(html)

    def linked(found: re.Match[str]) -> str:
        term = by_name[found[1].lower()]
        if term.anchor in used or _means_something_else(found):
            return found[0]
        used.add(term.anchor)
        hint = escape(term.sentence, quote=True)
        return f'<a class="term" href="{address}#{term.anchor}" title="{hint}">{found[0]}</a>'

    for place, part in enumerate(parts):
        if part.startswith("<"):
            tag = part.strip("</>").split()[0].lower() if part.strip("</>") else ""
            if part.startswith("</"):
                if closed and closed[-1] == tag:
                    closed.pop()
            elif tag in _CLOSED and not part.endswith("/>"):
                closed.append(tag)
        elif not closed and part.strip():
            parts[place] = pattern.sub(linked, part)
    return "".join(parts)


def _means_something_else(found: re.Match[str]) -> bool:
    """Whether the words around a name show that it is not the term: to round up, a stream of a program."""
    before, after = _OTHERWISE.get(found[1].lower(), ("(?!)", "(?!)"))
    text = found.string
    return bool(
        re.search(before, text[: found.start()], re.I) or re.search(after, text[found.end(1) :], re.I)
    )
