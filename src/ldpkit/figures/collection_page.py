"""The page of a collection as it will look: questions, estimates with their intervals, the promise."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ldpkit.assurance.collection import summarise
from ldpkit.client.collection import Collection
from ldpkit.client.questions import FREQUENCY, Question
from ldpkit.core.numbertext import interval_text, number_text, percent_text
from ldpkit.core.text import as_html
from ldpkit.figures.page import scrolled, table_html, write_page
from ldpkit.protocols.collection.domains import labels_of
from ldpkit.simulation.survey import SurveyTrials

__all__ = ["collection_page"]

_STYLE = """.bar { position: relative; height: 1.1rem; min-width: 14rem; background: #8882 }
.bar i { position: absolute; top: 0; bottom: 0; background: #3b7dd8 }
.bar b { position: absolute; top: .35rem; height: .4rem; background: #e69f00 }
.scale { display: flex; justify-content: space-between; color: var(--muted); font-size: .85rem }
.bars tr:last-child td { border: 0; padding-top: 0 }
.digest { overflow-wrap: anywhere }
.draft { border: 2px dashed var(--bad); padding: .5rem 1rem } td.n { text-align: right }
@media (max-width: 40rem) { .bars, .bars tbody { display: block }
  .bars tr { display: flex; flex-wrap: wrap; justify-content: space-between; padding: .4rem 0;
    border-bottom: 1px solid var(--line) }
  .bars td { border: 0; padding: 0 } .bars td:nth-child(2) { order: 3; flex-basis: 100% } }"""
_MOST_ROWS = 60


def collection_page(collection: Collection, trials: SurveyTrials, *, command: str) -> str:
    """Return the page that readers will see, filled with invented people, and marked as such."""
    told = summarise(collection)
    body = [
        (
            f'<p class="draft">A rehearsal with {trials.people:,} invented people: their answers mean '
            "nothing. How accurate the estimates are is what to expect of real people.</p>"
        ),
        f"<p>{as_html(collection.purpose)}</p>",
        *(_question(collection, question, trials) for question in collection.questions),
        "<h2>What a person gives away</h2>",
        _sentences([*told.notes(), *(f"Warning: {each}" for each in told.warnings)]),
        "<h2>What is not protected</h2>",
        _sentences(
            [
                "The result: anyone who invents participants or sends false answers can move it.",
                "That somebody took part, when, and from which address: answers do not hide it.",
                "A budget on a device whose memory is erased: it starts again.",
            ]
        ),
        "<h2>How accurate it will be</h2>",
        _trials(trials),
        f'<p class="digest"><small>Digest {collection.digest}</small></p>',
    ]
    title = f"{collection.id}, version {collection.version}"
    return write_page(title, "\n".join(body), command=command, style=_STYLE)


def _question(collection: Collection, question: Question, trials: SurveyTrials) -> str:
    estimate = trials.example[question.id]
    head = f"<h2>{as_html(question.text)}</h2>"
    if estimate.n < collection.least_reports:
        return (
            f"{head}<p>{estimate.n:,} answers so far. Results appear from "
            f"{collection.least_reports:,} answers on.</p>"
        )
    rows = "".join(_row(*each) for each in _bars(question, estimate)) + _scale(question)
    made = as_html(question.mechanism)
    about = f"{estimate.n:,} answers; {made}; blue: the estimate, orange: its 95% interval"
    table = scrolled(f'<table class="bars"><tbody>{rows}</tbody></table>', question.text)
    return f"{head}{table}<p><small>{about}</small></p>"


def _bars(question: Question, estimate: Any) -> Iterator[tuple[str, str, float, float, float]]:
    """Yield a name, the numbers in words, and the estimate with its ends as shares of what is possible."""
    rows = estimate.rows()
    if question.kind == FREQUENCY:
        for label, row in list(zip(labels_of(question.domain), rows, strict=True))[:_MOST_ROWS]:
            yield label, _percents(row), row["frequency"], row["low"], row["high"]
        return
    if "share" in rows[0]:
        for row in sorted(rows, key=lambda row: -row["share"])[:10]:
            name = f"around {row['x']:.4g}, {row['y']:.4g}"
            yield name, _percents({**row, "frequency": row["share"]}), row["share"], row["low"], row["high"]
        return
    first, (low, width) = rows[0], _range(question)
    ends = (first["low"], first["high"]) if first["low"] is not None else (low, low + width)
    words = interval_text(first["value"], *ends, width=(ends[1] - ends[0]) % width or width)
    shares = [(each - low) / width for each in (first["value"], *ends)]
    yield str(first["statistic"]), words, shares[0], shares[1], shares[2]


def _range(question: Question) -> tuple[float, float]:
    """Return where the range of a number or the turn of an angle begins, and how wide it is."""
    domain = question.domain
    return (
        (domain[0], domain[1] - domain[0]) if isinstance(domain, list) else (domain["low"], domain["period"])
    )


def _scale(question: Question) -> str:
    """Return the row below the bars: what their beginning, middle and end are."""
    is_share = question.kind == FREQUENCY or "shape" in question.domain
    low, width = (0.0, 1.0) if is_share else _range(question)
    write = percent_text if is_share else number_text
    marks = "".join(f"<span>{write(low + part * width)}</span>" for part in (0.0, 0.5, 1.0))
    return f'<tr><td></td><td><div class="scale">{marks}</div></td><td></td></tr>'


def _percents(row: Mapping[str, Any]) -> str:
    return interval_text(row["frequency"], max(row["low"], 0.0), min(row["high"], 1.0), share=True)


def _row(name: str, words: str, value: float, low: float, high: float) -> str:
    filled, start, end = (100 * min(max(each, 0.0), 1.0) for each in (value, low, high))
    spans = [(start, end)] if start <= end else [(start, 100.0), (0.0, end)]  # past the end of a turn
    marks = "".join(f'<b style="left:{a:.2f}%;width:{max(b - a, 0.3):.2f}%"></b>' for a, b in spans)
    bar = f'<div class="bar"><i style="left:0;width:{filled:.2f}%"></i>{marks}</div>'
    return f'<tr><td>{as_html(name)}</td><td>{bar}</td><td class="n">{as_html(words)}</td></tr>'


def _sentences(told: list[str]) -> str:
    return "<ul>" + "".join(f"<li>{as_html(each)}</li>" for each in told) + "</ul>"


def _trials(trials: SurveyTrials) -> str:
    (table,) = trials.tables()
    return table_html(table, "How accurate it will be")
