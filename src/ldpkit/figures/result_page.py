"""The page of a result, whatever it is: the answer first, then what there is to see, and how it was made."""

from __future__ import annotations

import base64
import datetime
import io
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ldpkit.assurance.adversary.meaning import meaning
from ldpkit.assurance.adversary.words import suspicion_in_words
from ldpkit.core.results import Columns, Result
from ldpkit.core.tables import Table
from ldpkit.core.text import as_html
from ldpkit.figures import audit_page, experiment_page, frequency_page
from ldpkit.figures.canvas import svg_text
from ldpkit.figures.drawing import alt_text, figure
from ldpkit.figures.page import listed, section, table_html, write_page
from ldpkit.files.writing import write_csv, write_json
from ldpkit.mechanisms.base import MECHANISMS
from ldpkit.planning.plan import left_out_note

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ldpkit.mechanisms.base import Mechanism

__all__ = ["result_page"]

_MOST_RISKS = 2  # whose meaning is told in all its sentences
_MOST_ROWS = 200  # of a table on a page
_MOST_DOWNLOADED = 50_000  # rows that a page carries
_SPENT = "seconds"  # a column that is no part of an answer: it differs each time the same is asked
_LONGEST_DOWNLOAD = 1 << 20  # characters: the description of a mechanism lists the labels of all values
_MOST_GUESSED = 4096  # values, beyond which the best guess of an adversary takes too long for a page
_REPORTS = ("audit", "heat map")  # whose n counts reports, of which a person may have sent many
_ONE_REPORT = "That is from one report alone: a person who answers more questions or rounds spends more."
_STYLE = """blockquote { margin: 0 0 .6rem; padding: .7rem 1rem; border-left: .35rem solid var(--main);
  background: var(--tint); font-size: 1.15rem; overflow-wrap: anywhere } blockquote p { margin: 0 }
button { font: inherit; color: var(--main); background: none; border: 1px solid var(--main);
  border-radius: .3rem; padding: .3rem .8rem; min-height: 2.2rem; cursor: pointer }
.warn { border-left: .35rem solid var(--bad); padding: .1rem 1rem; margin: 1rem 0 }
.warn p { margin: .4rem 0 } .pass { color: var(--good) } .fail, .warned { color: var(--bad) }
fieldset { border: 1px solid var(--line); border-radius: .3rem; margin: 0 0 .8rem; columns: 14rem;
  padding: .6rem 1rem } legend { padding: 0 .4rem } fieldset label { display: block; padding: .25rem 0;
  break-inside: avoid; overflow-wrap: anywhere }
output { display: block; font-weight: 600; min-height: 3.2rem }
input[type=checkbox] { width: 1.1rem; height: 1.1rem; vertical-align: -.15rem; accent-color: var(--main) }
td.best, td.tie { background: var(--tint) } td.best { font-weight: 700 }
@media (max-width: 40rem) { table.checks thead { display: none }
  table.checks, table.checks tbody { display: block }
  table.checks tr { display: block; padding: .5rem 0; border-bottom: 1px solid var(--line) }
  table.checks th, table.checks td { display: inline-block; border: 0; padding: 0 .7rem 0 0 }
  table.checks td:last-child { display: block; overflow-wrap: anywhere } }"""
_COPY = """
for (const button of document.querySelectorAll("button[data-copy]")) {
  button.addEventListener("click", async () => {
    const told = document.getElementById(button.dataset.copy)
    try { await navigator.clipboard.writeText(told.textContent.trim()); button.textContent = "Copied" }
    catch { getSelection().selectAllChildren(told); button.textContent = "Selected: copy it now" }
  })
}"""

_PARTS: dict[str, Callable[[Any], str]] = {
    "frequencies": frequency_page.sums_part,
    "audit": audit_page.checks_part,
    "benchmark": experiment_page.metrics_part,
}
"""What a kind of result shows beside what every result does."""
_TABLES: dict[str, Callable[[Any], list[Table]]] = {
    "frequencies": frequency_page.percent_tables,
    "audit": lambda _: [],
    "benchmark": lambda _: [],
}
"""The tables of a kind on a page, where they are not those of a terminal."""
_SCRIPTS = {"frequencies": frequency_page.SCRIPT}


def result_page(
    found: Result,
    *,
    command: str = "",
    title: str = "",
    unit: str = "",
    inputs: Sequence[str] = (),
    seed: int | None = None,
    made: datetime.datetime | None = None,
    draw: Callable[..., Figure] | None = None,
) -> str:
    """Return the page of a result, one file without any other.

    Parameters
    ----------
    found : Result
        What was found.
    command : str
        What made it.
    title : str
        What stands above; by default what the result says.
    unit : str
        What its numbers are measured in.
    inputs : sequence of str
        The names of what was read.
    seed : int, optional
        What made simulations repeatable.
    made : datetime, optional
        When it was made.
    draw : callable, optional
        What makes the figure, where that is not `figure`; it takes `unit` and `narrow`.

    Examples
    --------
    >>> import ldpkit
    >>> found = ldpkit.Tally(ldpkit.GRR(["bus", "car"], epsilon=2), 1000, [700, 300]).estimate()
    >>> page = result_page(found, title="How people come to work")
    >>> "<h1>How people come to work</h1>" in page, "http:" in page.replace("http://www.w3.org", "")
    (True, False)
    """
    answer = found.answer(unit)
    body = [
        f'<blockquote><p id="answer">{as_html(answer)}</p></blockquote>',
        '<p class="screen"><button type="button" data-copy="answer">Copy this summary</button></p>',
        _warnings(found.warnings),
        _figures(found, unit, draw),
        _PARTS[found.kind](found) if found.kind in _PARTS else "",
        section("numbers", "The numbers", _tables(found)),
        section("notes", "What else to know", listed(_notes(found))),
        section("epsilon", "What epsilon means here", listed(_meaning(found))),
        section("downloads", "Take the numbers with you", _downloads(found)),
    ]
    return write_page(
        title or _begun(found.title),
        "\n".join(each for each in body if each),
        command=command,
        style=_STYLE,
        facts=_facts(found, inputs, seed, made),
        script=_COPY + _SCRIPTS.get(found.kind, ""),
    )


def _notes(found: Any) -> list[str]:
    """Return the notes that a page does not have elsewhere."""
    if found.kind == "audit":
        return []
    sentences = left_out_note(found.left_out) if found.kind == "benchmark" else found.notes()
    sentences = [each for each in sentences if each != found.answer()]
    return [_sentence(text.removeprefix("note: ")) for text in sentences]


def _sentence(text: str) -> str:
    """Return a note as a sentence; the name of a mechanism at its beginning stays as it is written.

    Examples
    --------
    >>> _sentence("the values are noise"), _sentence("grid_response is best"), _sentence("oue is best.")
    ('The values are noise.', 'grid_response is best.', 'oue is best.')
    """
    first = re.match(r"\w*", text)
    named = first is not None and ("_" in first[0] or (first[0] in MECHANISMS and first[0] != "the"))
    begun = text if named else text[:1].upper() + text[1:]
    return begun if begun.endswith((".", "!", "?")) else f"{begun}."


def _warnings(warnings: Sequence[str]) -> str:
    told = "".join(f"<p><strong>Warning:</strong> {as_html(each)}.</p>" for each in warnings)
    return f'<div class="warn" role="note">{told.replace("..</p>", ".</p>")}</div>' if told else ""


def _figures(found: Result, unit: str, draw: Callable[..., Figure] | None) -> str:
    """Return the figure twice: for a page, and with its panels below each other for a phone."""
    alt = alt_text(found, unit)
    drawn = []
    for narrow in (False, True):
        name = "narrow" if narrow else "wide"
        made = figure(found, unit=unit, narrow=narrow) if draw is None else draw(unit=unit, narrow=narrow)
        drawn.append(f'<div class="{name}">{svg_text(made, alt, name=name)}</div>')
    return f"<figure>{''.join(drawn)}</figure>"


def _tables(found: Result) -> str:
    tables = _TABLES[found.kind](found) if found.kind in _TABLES else found.tables(_MOST_ROWS)
    told = {"", *([found.title] if len(tables) == 1 else [])}  # which stands above the page already
    return "".join(
        ("" if table.title in told else f"<h3>{as_html(_begun(table.title))}</h3>")
        + table_html(table.without(_SPENT))
        for table in tables
    )


def _begun(title: str) -> str:
    """Return a title that begins with a capital, unless it begins with the name of a file or a population.

    Examples
    --------
    >>> _begun("probability of a mistake"), _begun("counts.csv: 6 values"), _begun("n times the error")
    ('Probability of a mistake', 'counts.csv: 6 values', 'n times the error')
    """
    return title[:1].upper() + title[1:] if re.match("[a-z]{2,} ", title) else title


def _meaning(found: Any) -> list[str]:
    """Return what epsilon means, in the words of `risk`: of what made the reports, or of what was chosen."""
    mechanisms = _mechanisms(found)
    if mechanisms:
        told = []
        for each in mechanisms[:3]:
            size = each.domain.size
            exact = each.exact_epsilon()
            said = (
                [suspicion_in_words(exact)]
                if size is not None and size > _MOST_GUESSED
                else meaning(each, exact)
            )
            told += [f"{each.name}: {text}" if len(mechanisms) > 1 else text for text in said]
        return told + _of_all_reports(found)
    if found.kind == "risks" and len(found.risks) <= _MOST_RISKS:
        each_one = [(each, text) for each in found.risks for text in each.notes()]
        one = len(found.risks) == 1
        return [
            text if one else f"{each.name}, epsilon {each.epsilon:.3g}: {text}" for each, text in each_one
        ]
    budgets = _budgets(found)
    return [
        f"At epsilon {each:.4g}, {_continued(suspicion_in_words(each))}"
        if len(budgets) > 1
        else suspicion_in_words(each)
        for each in budgets
    ]


def _of_all_reports(found: Any) -> list[str]:
    """Return what the reports of a person mean together: of a trajectory, its sum; else that they add up."""
    if found.kind != "private trajectories":
        return [_ONE_REPORT]
    most = float(found.epsilons.max())
    words = _continued(suspicion_in_words(most).replace("the report is", "the reports are"))
    return [
        f"That is for one report. All reports of a person together cost at most epsilon {most:.4g}: {words}"
    ]


def _continued(sentence: str) -> str:
    """Return a sentence as it stands behind a comma or a colon."""
    return sentence[:1].lower() + sentence[1:]


def _mechanisms(found: Any) -> list[Mechanism]:
    """Return what made the reports of a result, each once."""
    if found.kind == "audit":
        return []  # it tells more of it elsewhere
    made = getattr(found, "mechanisms", None)
    if made is None and found.kind == "groups":
        made = [each for group in found.groups.values() for each in group.mechanisms]
    if isinstance(made, Mapping):
        made = made.values()
    if made is None:
        made = [found.mechanism] if hasattr(getattr(found, "mechanism", None), "exact_epsilon") else []
    return list(dict.fromkeys(made))


def _budgets(found: Any) -> list[float]:
    """Return the epsilons that a result compares, chose or was asked for."""
    if found.kind == "risks":  # the exact ones of two mechanisms may differ in the last bit
        return sorted({float(f"{each.epsilon:.4g}") for each in found.risks})
    if hasattr(found, "experiment"):
        return [float(each) for each in found.experiment.epsilons]
    for owner in (getattr(found, "best", None), found):
        epsilon = getattr(owner, "epsilon", None)
        if isinstance(epsilon, (int, float)):
            return [float(epsilon)]
    return []


def _facts(
    found: Any, inputs: Sequence[str], seed: int | None, made: datetime.datetime | None
) -> dict[str, str]:
    """Return the provenance: what made the reports, how many there are, from which files, when."""
    mechanisms = _mechanisms(found)
    facts = {
        "Mechanism": "; ".join(f"{each!r}, {each.promise()}" for each in mechanisms),
        "Reports" if found.kind in _REPORTS else "People who reported": f"{found.n:,}"
        if isinstance(getattr(found, "n", None), int)
        else "",
        "SHA-256 of the input": getattr(found, "sha256", None) or "",
        "How reports were made": str(getattr(found, "provenance", None) or ""),
        "Seed": "" if seed is None else str(seed),
        "Input": ", ".join(inputs),
        "Made at": "" if made is None else made.strftime("%Y-%m-%d %H:%M UTC"),
    }
    return {name: text for name, text in facts.items() if text}


def _downloads(found: Result) -> str:
    """Return links to the rows, which the page carries itself."""

    def columns() -> Iterator[Columns]:
        for part in found.iter_columns():
            yield {name: column for name, column in part.items() if name != _SPENT}

    rows = sum(len(next(iter(part.values()), ())) for part in columns())
    if rows > _MOST_DOWNLOADED:
        return f"<p>{rows:,} rows are too many for a page: write them with --output or --format.</p>"
    csv, whole = io.StringIO(), io.StringIO()
    write_csv(columns(), csv)
    write_json(found.envelope(), columns(), whole)
    name = found.kind.replace(" ", "-")
    links = [
        (f"{name}.csv", "text/csv", csv.getvalue(), "CSV, for a spreadsheet"),
        (f"{name}.json", "application/json", whole.getvalue(), "JSON, with every detail"),
    ]
    items = "".join(
        f'<li><a download="{file}" href="data:{kind};base64,{base64.b64encode(text.encode()).decode()}">'
        f"{file}</a>: {told}</li>"
        if len(text) <= _LONGEST_DOWNLOAD
        else f"<li>{file} has {len(text):,} characters, too many for a page: write it with --output or "
        "--format.</li>"
        for file, kind, text, told in links
    )
    return f"<ul>{items}</ul>"
