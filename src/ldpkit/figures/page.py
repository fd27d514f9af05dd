"""The shell of every HTML page: one self-contained file that works offline, in light and dark, on a phone."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable, Mapping
from string import Template

from ldpkit import __version__
from ldpkit.core.tables import Table
from ldpkit.core.text import as_html
from ldpkit.figures.theme import dark_rules

__all__ = ["facts_list", "listed", "scrolled", "section", "table_html", "write_page"]

_PAGE = Template("""<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy"
 content="default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:">
<meta name="generator" content="ldpkit $version">
<title>$title</title>
<style>
:root { color-scheme: light dark; --ink: #1f2328; --paper: #ffffff; --muted: #5b6470; --line: #d3d8de;
  --tint: #f2f4f7; --main: #005a8f; --bad: #a33c00; --good: #0a6b4f }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e8eb; --paper: #15181c; --muted: #a3acb8;
  --line: #3a424c; --tint: #20252b; --main: #6cb6ee; --bad: #ff9a5c; --good: #5fd3a8 } }
* { box-sizing: border-box }
body { font: 16px/1.55 system-ui, sans-serif; color: var(--ink); background: var(--paper);
  max-width: 56rem; margin: 0 auto; padding: 1.5rem 1rem 3rem }
h1 { font-size: 1.6rem; line-height: 1.25; overflow-wrap: anywhere; margin: 0 0 .5rem }
h2 { font-size: 1.2rem; margin: 2.2rem 0 .6rem } h3 { font-size: 1rem; margin: 1.4rem 0 .4rem }
a { color: var(--main) }
small, figcaption, .about { color: var(--muted); font-size: .875rem }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: .9rem }
th, td { padding: .35rem .7rem .35rem 0; border-bottom: 1px solid var(--line); text-align: left;
  vertical-align: top }
td.n, th.n { text-align: right }
pre { background: var(--tint); padding: .8rem; white-space: pre-wrap; overflow-wrap: anywhere; margin: 0 }
pre span { display: inline-block; max-width: 100% }
figure { margin: 1rem 0 } figure svg { width: 100%; height: auto; display: block }
.narrow { display: none }
.scroll { overflow-x: auto } .scroll:focus-visible, :focus-visible { outline: 3px solid var(--main) }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .3rem 1rem; margin: 0 }
dt { color: var(--muted) } dd { margin: 0; overflow-wrap: anywhere }
li { margin: .25rem 0; overflow-wrap: anywhere }
@media (max-width: 40rem) { .wide { display: none } .narrow { display: block }
  dl { display: block } dd { margin: 0 0 .5rem } body { padding-top: 1rem } }
@media print { :root { --ink: #000; --paper: #fff; --muted: #333; --tint: #fff }
  body { max-width: none; padding: 0; font-size: 10.5pt } .screen, button { display: none }
  figure, table, blockquote, .scroll { break-inside: avoid } h2 { break-after: avoid }
  .scroll { overflow: visible } .wide { display: block } .narrow { display: none } }
@media screen { $dark }
$style
</style></head><body>
<main>
<h1>$title</h1>
$body
<section aria-labelledby="made"><h2 id="made">How this page was made</h2>
<dl>$facts</dl>
$command</section>
</main>
$script</body></html>
""")


def write_page(
    title: str,
    body: str,
    *,
    command: str,
    style: str = "",
    facts: Mapping[str, str] | None = None,
    script: str = "",
) -> str:
    """Return a page.

    Parameters
    ----------
    title : str
        What stands above, as text.
    body : str
        What stands below, as HTML.
    command : str
        What made the page, as text; nothing is said of it if it is empty.
    style : str
        Rules of CSS beyond those of every page.
    facts : mapping, optional
        What else is to be known of how it was made, as text.
    script : str
        What runs in the page, as JavaScript.

    Examples
    --------
    >>> page = write_page("<Rome>", "<p>All is well.</p>", command="ldpkit audit -p grr")
    >>> "<h1>&lt;Rome&gt;</h1>" in page, "http:" in page, "https:" in page
    (True, False, False)
    """
    told = {**(facts or {}), "Made with": f"ldpkit {__version__}"}
    shown = f'<h3 id="command">The command</h3><pre>{_unbroken(command)}</pre>' if command else ""
    return _PAGE.substitute(
        title=as_html(title),
        version=__version__,
        body=body,
        command=shown,
        style=style,
        dark=dark_rules("figure "),
        facts=facts_list(told),
        script=f"<script>{script}</script>" if script else "",
    )


def _unbroken(command: str) -> str:
    """Return a command that a line breaks between its words: a browser also breaks behind hyphens."""
    words = (as_html(word) for word in command.split(" "))
    return " ".join(f"<span>{word}</span>" if "-" in word else word for word in words)


def facts_list(facts: Mapping[str, str]) -> str:
    """Return facts as the inside of a description list."""
    return "".join(f"<dt>{as_html(name)}</dt><dd>{as_html(text)}</dd>" for name, text in facts.items())


def listed(sentences: Iterable[str]) -> str:
    """Return sentences as a list; nothing where there are none.

    Examples
    --------
    >>> listed(["a < b"]), listed([])
    ('<ul><li>a &lt; b</li></ul>', '')
    """
    items = "".join(f"<li>{as_html(each)}</li>" for each in sentences)
    return f"<ul>{items}</ul>" if items else ""


def section(name: str, heading: str, body: str) -> str:
    """Return a part of a page with a heading; nothing where it has no body.

    Parameters
    ----------
    name : str
        Its id.
    heading : str
        As text.
    body : str
        As HTML.
    """
    if not body:
        return ""
    return f'<section aria-labelledby="{name}"><h2 id="{name}">{as_html(heading)}</h2>{body}</section>'


def scrolled(body: str, label: str) -> str:
    """Return something wide that scrolls sideways by itself, also by keyboard."""
    return f'<div class="scroll" tabindex="0" role="region" aria-label="{as_html(label)}">{body}</div>'


def table_html(table: Table, label: str = "") -> str:
    """Return a table that scrolls by itself, with its caption below; columns are named in words.

    Examples
    --------
    >>> rows = [{"of_best": 1.0}]
    >>> table_html(Table.of(rows, title="Ways", caption="of_best: over the best")).count("of best")
    2
    """
    caption = table.caption
    for name in table.header:
        caption = re.sub(rf"\b{re.escape(name)}\b", _in_words(name), caption)
    named = dataclasses.replace(table, header=tuple(map(_in_words, table.header)))
    told = "".join(f"<p><small>{as_html(line)}</small></p>" for line in caption.splitlines())
    return scrolled(named.to_html(), label or table.title or "table") + told


def _in_words(name: str) -> str:
    """Return the name of a column, which is one of a file, as a person would write it."""
    return name.replace("_", " ")
