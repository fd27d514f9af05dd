"""The site's own code: figures from tables, links to the glossary, formulas, and the README's picture."""

from __future__ import annotations

import importlib
import math
import re
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
sys.path.insert(0, str(ROOT / "script" / "docs"))

# Python finds these only now.
from drawing import dots  # noqa: E402
from glossary import link, terms, with_anchors  # noqa: E402
from home_picture import SHARES, run, whole  # noqa: E402
from output_figures import OUTPUTS  # noqa: E402
from paper_figures import FIGURES  # noqa: E402
from readable import as_shown, fitted  # noqa: E402
from size_figure import domain_sizes  # noqa: E402
from tables import number, table_with, tables  # noqa: E402
from tradeoff import EPSILONS, best, html, table  # noqa: E402

PAGE = """
| who | error |
| --- | --- |
| a | 0.25 (0.3), 1e-3 |
| b | none |

text

| who | time |
| --- | --- |
| a | 12,000 |
"""
GLOSSARY = """# Glossary

epsilon, privacy budget
:   The limit: see [here](x.md). More.

GRR
:   Generalised randomised response.
"""


def test_the_readme_shows_the_picture_of_a_real_run():
    assert (DOCS / "picture.svg").read_text(encoding="utf-8") == whole().standalone(), "run script/pictures"


def test_the_pictured_intervals_contain_the_truth():
    found = run()
    assert all(low <= share <= high for low, share, high in zip(found.low, SHARES, found.high, strict=True))


def test_tables_are_read_as_they_stand():
    first, second = tables(PAGE)
    assert first[1] == ["a", "0.25 (0.3), 1e-3"]
    assert number(second[1][1]) == 12_000
    assert number("none") is None
    assert table_with(PAGE, "who", "time") is not None
    with pytest.raises(LookupError, match="2 tables have the columns who"):
        table_with(PAGE, "who")


@pytest.mark.parametrize("name", FIGURES)
def test_a_papers_page_has_one_figure_with_its_own_numbers(name):
    page = (DOCS / "papers" / f"{name}.md").read_text(encoding="utf-8")
    assert page.count(f"<!-- figure: {name} -->") == 1
    picture = FIGURES[name](page)
    ElementTree.fromstring(picture.inline(name))
    shown = re.findall(r"\d+(?:\.\d+)?", picture.words)
    assert shown
    plain = page.replace(",", "")
    assert [
        each
        for each in shown
        if each not in plain and f"{float(each):.4f}" not in plain and f"{float(each):.3f}" not in plain
    ] == []


@pytest.mark.parametrize(
    ("name", "guide", "shown"),
    [
        ("attack", "longitudinal", "0.9881 at 200"),
        ("commute", "report", "tram 0.07891, from 0.05125 to 0.1072"),
    ],
)
def test_a_guides_figure_shows_what_the_page_prints(name, guide, shown):
    page = (DOCS / "guide" / f"{guide}.md").read_text(encoding="utf-8")
    picture = OUTPUTS[name](page)
    ElementTree.fromstring(picture.inline(name))
    assert shown in picture.words
    with pytest.raises(LookupError, match="no output has the columns"):
        OUTPUTS[name]("a page without output")


def test_the_line_on_randomness_stays_apart_from_the_sentence_above_it():
    full = f"{'word ' * 31}end"  # so long that the next word would not have fitted
    lines = [f'<span class="go">{words}</span>' for words in (full, "randomness secure, batch 1")]
    html = "<pre><span></span><code>{}\n</code></pre>"
    assert "end randomness" not in fitted(html.format("\n".join(lines)))
    assert "end goes on" in fitted(
        html.format("\n".join(lines).replace("randomness secure", "goes on and on"))
    )


def test_markdown_leaves_the_marks_of_a_figure_in_place():
    markdown = pytest.importorskip("markdown")
    pytest.importorskip("mkdocs")
    from site_pages import on_page_markdown

    asked = "<!-- figure: jrr -->"
    page = (DOCS / "papers" / "jrr.md").read_text(encoding="utf-8")
    table = page[page.index("| | n | ones") : page.index("**The privacy does not")]
    made = markdown.markdown(
        on_page_markdown(f"{asked}\n\n{table}", None, None, None), extensions=["md_in_html", "tables"]
    )
    drawn = FIGURES["jrr"](page).marks
    assert "JRR has less error" in made
    for mark in ("<circle", "<line", "<text"):
        assert made.count(mark) == drawn.count(mark) > 0


def test_every_page_that_asks_for_a_figure_gets_one():
    asked = {
        name
        for page in DOCS.rglob("*.md")
        for name in re.findall(r"^<!-- figure: ([\w-]+) -->$", page.read_text(encoding="utf-8"), re.M)
    }
    assert asked == {*FIGURES, *OUTPUTS, "domain-size", "home", "tradeoff", "tradeoff-table"}


def test_the_figure_of_domain_sizes_has_every_command_that_is_measured(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    page = (DOCS / "reference" / "robustness.md").read_text(encoding="utf-8")
    picture = domain_sizes(page)
    drawn = [group.findtext("title") for group in ElementTree.fromstring(picture.inline("x")).iter("g")]
    assert drawn == list(importlib.import_module("bench_domain_size").COMMANDS)
    _, *rows = table_with(page, "command", "exponent")
    steepest = max(number(row[-1]) or 0.0 for row in rows)
    assert f"with exponent {steepest:.2f}" in picture.words
    assert steepest <= number(page.partition("no exponent is above ")[2].split(":")[0])


def test_marks_of_equal_values_do_not_cover_each_other():
    marks = dots([("row", [1.0, 1.0])], ["one", "other"], title="t", axis="x").marks
    disc = re.findall(r'<circle cx="([\d.]+)" cy="([\d.]+)" r="4.5"', marks)
    square = re.findall(r'<path d="M([\d.]+) ([\d.]+)h9', marks)
    assert float(square[-1][1]) + 4.5 - float(disc[-1][1]) == pytest.approx(11, abs=0.2)


def test_the_first_use_of_a_term_is_linked_and_no_other():
    known = terms(GLOSSARY)
    assert [(term.names[0], term.anchor, term.sentence) for term in known] == [
        ("epsilon", "epsilon", "The limit: see here."),
        ("GRR", "grr", "Generalised randomised response."),
    ]
    page = (
        "<h1>Epsilon</h1><p><code>grr</code> has an <a href='x'>epsilon</a>. Epsilon, epsilon; grrs, GRR.</p>"
    )
    linked = link(page, known, "g.html")
    assert linked.count("<a class=") == 2
    assert '<a class="term" href="g.html#epsilon" title="The limit: see here.">Epsilon</a>, epsilon' in linked
    assert '#grr" title="Generalised randomised response.">grrs</a>, GRR' in linked
    assert link("<p>the epsilonic grr-like</p>", known, "") == "<p>the epsilonic grr-like</p>"


def test_a_word_that_means_something_else_is_not_linked():
    known = terms((DOCS / "glossary.md").read_text(encoding="utf-8"))
    for text in (
        "it rounds up",
        "the other way round",
        "a line on standard error: wrong usage",
        "Delta Lake makes it variable",
    ):
        assert link(f"<p>{text}</p>", known, "g") == f"<p>{text}</p>"
    for text in ("in each round", "a standard error of 1"):
        assert "<a class=" in link(f"<p>{text}</p>", known, "g")


def test_every_hint_of_the_glossary_is_a_whole_sentence():
    known = terms((DOCS / "glossary.md").read_text(encoding="utf-8"))
    assert [term.names[0] for term in known if not term.sentence.endswith(".")] == []
    assert [term.names[0] for term in known if re.search(r"[\\$`*]", term.sentence)] == []


def test_lines_of_a_chart_do_not_cross_the_names_of_its_rows():
    marks = dots([("a long name of a row", [1.0]), ("b", [2.0])], ["one"], title="t", axis="x").marks
    name = float(re.search(r'y="([\d.]+)"[^>]*>a long name', marks)[1])
    upright = re.findall(r'<line x1="([\d.]+)" y1="([\d.]+)" x2="\1" y2="([\d.]+)"', marks)
    assert upright
    assert [ends for _, *ends in upright if float(ends[0]) < name < float(ends[1])] == []


def test_options_stay_whole_and_powers_are_not_bold():
    pytest.importorskip("mkdocs")
    from site_pages import _POWER, _WORD

    assert _WORD.sub("!", "<code>--domain-from-data</code> <code>ldpkit -o x</code>").count("!") == 1
    assert _POWER.search("<p>at most 2<strong>28 bytes, a block 2</strong>24</p>")
    assert not _POWER.search("<p>0.2, <strong>0.1</strong>, 3</p>")


def test_the_doors_of_the_home_page_have_the_titles_of_their_pages():
    home = (DOCS / "index.md").read_text(encoding="utf-8")
    doors = home[home.index("## Three doors") : home.index("## What you can rely on")]
    links = re.findall(r"^- \[(.*?)\]\((.*?)\)$", doors, re.M)
    assert len(links) > 10
    titles = {page: (DOCS / page).read_text(encoding="utf-8").splitlines()[0] for _, page in links}
    assert [(text, titles[page]) for text, page in links if titles[page] != f"# {text}"] == []


def test_what_is_said_to_be_at_most_so_much_is_rounded_up_at_the_epsilons_that_are_shown():
    rows = {row.split("|")[1].strip(): row.split("|")[2].strip() for row in table().splitlines()[2:]}
    assert list(rows) == ["0.25", "0.5", "1", "2", "4", "8"]
    for epsilon, bound in rows.items():
        exact = 100 / (1 + math.exp(-float(epsilon)))
        assert exact <= float(bound.rstrip("%")) < exact + 0.1
    assert set(map(float, rows)) <= set(EPSILONS)


def test_every_entry_of_the_glossary_has_an_address():
    markdown = pytest.importorskip("markdown")
    text = (DOCS / "glossary.md").read_text(encoding="utf-8")
    known = terms(text)
    page = with_anchors(markdown.markdown(text, extensions=["def_list"]), known)
    assert len(known) > 30
    assert page.count("<dt id=") == page.count("<dt") == len(known)
    assert len({term.anchor for term in known}) == len(known)


def test_formulas_become_mathml():
    pytest.importorskip("latex2mathml")
    from formulas import typeset

    page = typeset(r'<p><span class="arithmatex">\(e^\varepsilon &lt; 3\)</span></p>')
    assert page.startswith("<p><math")
    assert "<msup><mi>e</mi>" in page
    assert "arithmatex" not in page


def test_the_moving_figure_carries_its_numbers_and_stands_without_a_script():
    page = html()
    assert page.count('type="range"') == 3
    assert 'id="tradeoff-sliders" hidden' in page
    assert f"±{best(1.0, 10).half / 100:.2%}" in page
    assert len(table().splitlines()) == 8
    assert [best(1.0, size).oracle for size in (2, 1000)] == ["grr", "ss"]


def test_sessions_are_shown_without_what_only_the_tests_need():
    page = "```python\n>>> print()\n<BLANKLINE>\n```\n\n```python\nimport sys\n```\n"
    shown = as_shown(page)
    assert shown == "```pycon\n>>> print()\n\n```\n\n```python\nimport sys\n```\n"
    every = "".join(path.read_text(encoding="utf-8") for path in DOCS.rglob("*.md"))
    assert "<BLANKLINE>" in every
    assert "<BLANKLINE>" not in as_shown(every)


def test_sentences_of_an_output_are_broken_and_its_tables_are_not():
    sentence, row, code = "word " * 20 + "end", "oue       2.6115   yes" * 4, "x = 1  # " + "word " * 20
    lines = [f'<span class="go">{each}</span>' for each in (sentence, row, "─" * 80, "short")]
    block = "<pre><span></span><code>" + "\n".join([*lines, code]) + "</code></pre>"
    shown = fitted(block)
    assert shown.count('class="prose"') == 1
    assert f'<span class="prose"><span class="go">{sentence}</span></span>\n<span class="go">oue' in shown
    error = f'<span class="gr">ldpkit.core.errors.OutOfDomainError</span>: {sentence}'
    assert 'class="prose"' in fitted(f"<pre><span></span><code>{error}</code></pre>")
    plain = f"<pre><span></span><code>{sentence}\n{row}\n    indented {code}</code></pre>"
    assert fitted(plain) == plain.replace(sentence, f'<span class="prose">{sentence}</span>')


def test_a_cell_with_a_sentence_stays_wide_enough():
    cells = f'<td>1</td><td style="text-align: right;">{"word " * 20}</td>'
    assert fitted(cells) == cells.replace("<td style", '<td class="long" style')
