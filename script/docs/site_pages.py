"""What mkdocs calls while it builds the site: figures, formulas, lines that fit, links to the glossary.

A page asks for a figure with a comment, `<!-- figure: NAME -->`, which GitHub does not show. Nothing that is
drawn here is committed, so nothing can be out of date.
"""

from __future__ import annotations

import re
from collections import Counter
from html import escape
from pathlib import Path
from typing import Any

from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files
from mkdocs.utils import get_relative_url

from drawing import stylesheet
from formulas import typeset
from glossary import Term, link, terms, with_anchors
from home_picture import panels
from output_figures import OUTPUTS
from paper_figures import FIGURES
from readable import as_shown, fitted
from size_figure import domain_sizes
from tradeoff import html as tradeoff
from tradeoff import table as tradeoff_table

_FIGURE = re.compile(r"^<!-- figure: (?P<name>[\w-]+) -->$", re.M)
_WORD = re.compile(r"<code>(?=[^<\s]{1,28}</code>)")  # inline code that must not be broken at its hyphens
_COMMAND = re.compile(r"(?<!<span></span>)<code>[^<]*\s[^<]*</code>")  # inline, of several words
_OPTION = re.compile(r"(?<![^\s>])-[^\s<]{1,28}(?=[\s<])")
_POWER = re.compile(r"\w<strong>\d|\d</strong>\d")  # what two powers of a paragraph make of each other
_GLOSSARY = "glossary.md"
_UNLINKED = ("reference/api", "gallery/", _GLOSSARY)  # generated pages, and the glossary itself


def _known(config: Any) -> list[Term]:
    return terms((Path(config["docs_dir"]) / _GLOSSARY).read_text(encoding="utf-8"))


def on_files(files: Files, config: Any) -> Files:
    """Add the colours of figures, which are stated once, in drawing.py."""
    files.append(File.generated(config, "stylesheets/figures.css", content=stylesheet()))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Files) -> str:
    """Draw the figures that the page asks for, and show sessions without what only the tests need."""

    def draw(found: re.Match[str]) -> str:
        name = found["name"]
        if name == "home":
            drawn = "".join(panel.inline(f"home-{place}") for place, panel in enumerate(panels()))
            return f'<div class="panels">{drawn}</div>'
        if name == "tradeoff":
            return tradeoff()
        if name == "tradeoff-table":
            return tradeoff_table()
        picture = domain_sizes(markdown) if name == "domain-size" else (FIGURES | OUTPUTS)[name](markdown)
        title = f'<div class="figure-title">{escape(picture.title)}</div>'
        return f'<div class="chart">{title}{picture.inline(name)}</div>'  # one block, or marks are lost

    return _FIGURE.sub(draw, as_shown(markdown))


def on_page_content(html: str, page: Any, config: Any, files: Files) -> str:
    """Typeset formulas, link terms, and let long lines and cells fit."""
    html = fitted(typeset(html)).replace("<th></th>", "<td></td>")  # a corner without a heading is no heading
    html = whole_words(html)
    where = page.file.src_uri
    if _POWER.search(html):
        raise PluginError(f"{where}: 2**64 is read as bold text where it stands twice: write 2^64")
    if where == _GLOSSARY:
        return with_anchors(html, _known(config))
    if where.startswith(_UNLINKED):
        return html
    glossary = files.get_file_from_path(_GLOSSARY)
    return html if glossary is None else link(html, _known(config), get_relative_url(glossary.url, page.url))


def whole_words(html: str) -> str:
    """Return a page that breaks no option at its hyphens, alone or in a command within a sentence."""
    html = _COMMAND.sub(lambda code: _OPTION.sub(r'<span class="word">\g<0></span>', code[0]), html)
    return _WORD.sub('<code class="word">', html)


def on_post_page(output: str, page: Any, config: Any) -> str:
    """Name the search dialog, and tell parts of the contents with the same name apart."""
    seen: Counter[str] = Counter()

    def named(found: re.Match[str]) -> str:
        heard = found[2].lower()  # Audit and audit sound the same
        seen[heard] += 1
        return found[0] if seen[heard] == 1 else f'{found[1]}{found[2]} ({seen[heard]})"'

    output = re.sub(r'(<nav class="md-nav[^>]* aria-label=")([^"]*)"', named, output)
    dialog = 'data-md-component="search" role="dialog"'
    return output.replace(dialog, f'{dialog} aria-label="Search"')
