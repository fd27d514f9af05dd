"""The page of a collection: what is asked, how many answered, what came out, and what is not protected.

It is written by the server, needs no script, asks nobody else for anything, and reads well on a
phone, on paper and to a screen reader: every picture stands beside its numbers in a table.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from ldpkit.client.questions import FIXED, Question
from ldpkit.client.spending import Micro, micro_text
from ldpkit.collector.analysis import Analyst
from ldpkit.collector.asked import Entry
from ldpkit.collector.influence import influence
from ldpkit.collector.pictures import STYLE, bars, line, map_of_cells
from ldpkit.collector.problems import HttpProblem
from ldpkit.collector.snippet import answered_by_snippet, snippet_for
from ldpkit.core.errors import LdpkitError
from ldpkit.core.numbertext import interval_texts, number_text
from ldpkit.core.text import as_html

__all__ = ["page_html", "results_html"]

_FAKES = 0.01
_MOST_BARS = 30
_MOST_CELLS = 10
_WONDER = 0.015  # away from one, at which a sum of shares is explained
_NOTHING_HIDDEN = 10_000  # times as likely: beyond, a ratio is no comfort
_STYLE = """
:root{color-scheme:light dark;--line:#8a8f98;--bar:#2a6f97;--text:#1b1d21;--back:#fff;--soft:#f2f4f7}
@media(prefers-color-scheme:dark){:root{--bar:#7cc0e8;--text:#e8eaed;--back:#15171a;--soft:#22262b}}
body{font:1rem/1.55 system-ui,sans-serif;color:var(--text);background:var(--back);
max-width:46rem;margin:0 auto;padding:1rem}
h1{font-size:1.6rem;line-height:1.2}h2{font-size:1.25rem;margin-top:2.2rem}
table{border-collapse:collapse;width:100%}
th,td{text-align:left;padding:.25rem .5rem;border-bottom:1px solid var(--line)}
td.n,th.n{text-align:right;white-space:nowrap;font-variant-numeric:tabular-nums}
th[scope=row]{font-weight:inherit;overflow-wrap:anywhere}
pre{background:var(--soft);padding:.75rem;border-radius:.4rem;white-space:pre-wrap;overflow-wrap:anywhere}
.scroll{overflow-x:auto}
"""


def page_html(entry: Entry, results: str, base: str) -> str:
    """Return the page of a collection.

    Parameters
    ----------
    entry : Entry
        The collection.
    results : str
        What `results_html` made.
    base : str
        How the service is reached.
    """
    collection = entry.newest
    about = (
        f"<p>Collection <code>{as_html(collection.id)}</code>, version {collection.version}. "
        f"{_rounds(entry)} {_signed(entry)}</p>"
    )
    heading = f"<h1>{as_html(collection.purpose)}</h1>"
    parts = [
        heading,
        about,
        _promise(entry),
        results,
        _limits(),
        "" if entry.is_over else _device(entry, base),
        _downloads(entry, base),
    ]
    title = as_html(f"{collection.purpose} ({collection.id})")
    head = (
        f'<meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">'
        f"<title>{title}</title><style>{_STYLE}{STYLE}</style>"
    )
    return (
        f'<!doctype html><html lang="en"><head>{head}</head><body><main>{"".join(parts)}</main></body></html>'
    )


def results_html(analyst: Analyst, entry: Entry) -> str:
    """Return what came out of each question, as far as there are enough answers."""
    return "".join(_question(analyst, entry, question) for question in entry.newest.questions)


def _rounds(entry: Entry) -> str:
    rounds = entry.newest.rounds
    if entry.is_over:
        return "It is closed and takes no further answers."
    if rounds.every == "once":
        return f"Each device answers once, from {rounds.start} on."
    return f"Each device answers {rounds.every}, {rounds.count} times from {rounds.start} on."


def _signed(entry: Entry) -> str:
    return "The file is signed." if entry.newest.is_signed else "The file is not signed."


def _times(micro: Micro) -> str:
    """Return in words how far a report can speak for one answer over another."""
    if micro is None:
        return "no bound holds"
    ratio = math.exp(micro / 1e6)
    if ratio > _NOTHING_HIDDEN:
        return "so much that over time the answers are not hidden"
    times = f"{ratio:.2f}" if ratio < 10 else f"{ratio:,.0f}"
    return f"at most {times} times as likely under one answer as under any other"


def _promise(entry: Entry) -> str:
    collection, promise = entry.newest, entry.newest.promise
    ask = collection.ask
    asked = (
        "every question"
        if ask == len(collection.questions)
        else f"{ask} of {len(collection.questions)} questions"
    )
    return (
        "<h2>What an answer reveals</h2>"
        "<p>A device changes its answer at random before anything leaves it. Nobody else sees the answer "
        f"itself. What a device sends in all rounds together is {_times(promise.lifetime)} (epsilon "
        f"{as_html(micro_text(promise.lifetime))}); one report alone costs at most epsilon "
        f"{as_html(micro_text(promise.report))}. Each device answers {asked}.</p>"
    )


def _question(analyst: Analyst, entry: Entry, question: Question) -> str:
    parts = [f"<h2>{as_html(question.text)}</h2>"]
    numbers = analyst.rounds(question.id)
    shown = None
    for number in reversed(numbers):
        try:
            shown = analyst.estimate(question.id, number), number
            break
        except HttpProblem:
            continue
        except LdpkitError as error:
            return "".join([*parts, f"<p>{as_html(error)}</p>"])
    if shown is None:
        least = f"{entry.newest.least_reports:,} devices"
        same = " the same version" if len(entry.versions) > 1 else ""
        if entry.is_over:
            parts.append(f"<p>No results: fewer than {least} answered{same}.</p>")
        else:
            parts.append(f"<p>No results yet: they appear once {least} have answered{same}.</p>")
        return "".join(parts)
    estimate, number = shown
    closed = " (closed)" if number in entry.closed else ""
    where = "" if entry.newest.rounds.every == "once" else f" in round {number}{closed}"
    each = "for all rounds together" if question.value == FIXED else "each"
    epsilon = as_html(micro_text(question.first))
    parts.append(f"<p>{estimate.n:,} answers{where}, epsilon {epsilon} {each}.</p>")
    parts.append(_result(estimate))
    if analyst.is_sampled(question.id):
        parts.append(
            "<p>Chance decided which devices were asked this. The intervals are about all who could have "
            "been.</p>"
        )
    moved = influence(analyst.mechanism(question.id), _FAKES)
    if moved is not None:
        parts.append(
            "<p>If one device in a hundred were invented, each of these numbers could move by up to "
            f"{as_html(moved)}.</p>"
        )
    return "".join(parts)


def _result(estimate: Any) -> str:
    """Return picture and table of an estimate of any kind."""
    match estimate.kind:
        case "frequencies":
            return _frequencies(estimate)
        case "heat map":
            return _cells(estimate)
    told = [row for row in estimate.rows() if row["value"] is not None]
    sure = [row for row in told if row["low"] is not None]  # no number without an error bar, if there is one
    rows = [_row(row, estimate.domain) for row in sure or told]
    return _drawn(estimate) + _table("statistic", rows)


def _row(row: Mapping[str, Any], domain: Any) -> tuple[str, str, str]:
    """Return a statistic, its value and its interval, which on a circle may go over the end of the turn."""
    name, value, low, high = str(row["statistic"]), row["value"], row["low"], row["high"]
    if low is None or high is None:
        return name, number_text(value), ""
    width = high - low if low <= high else high - low + domain.period
    shown, least, most = interval_texts(value, low, high, width=width)
    return name, shown, f"{least} to {most}"


def _drawn(estimate: Any) -> str:
    """Return where a mean or a direction lies between the least and the greatest answer."""
    if estimate.kind not in ("mean", "direction"):
        return ""
    row, domain = estimate.rows()[0], estimate.domain
    ends = None if row["low"] is None else (row["low"], row["high"])
    drawn = line(row["statistic"], row["value"], ends, domain.low, domain.high)
    over = ends is not None and ends[0] > ends[1]
    return drawn + (f"<p>The interval goes through {number_text(domain.low)}.</p>" if over else "")


def _frequencies(estimate: Any) -> str:
    many = len(estimate.values) > _MOST_BARS
    rows = estimate.rows(_MOST_BARS, sort="frequency") if many else estimate.rows()
    shown = [(str(row["value"]), row["frequency"], row["low"], row["high"]) for row in rows]
    table = [(name, *_percents(*numbers)) for name, *numbers in shown]
    more = f"<p>The {_MOST_BARS} most frequent of {len(estimate.values)} answers.</p>" if many else ""
    impossible = "".join(
        f"<p>A share {what} is noise: read its interval as if it {end}.</p>"
        for what, end, is_there in (
            ("below 0%", "began at 0%", any(value < 0 for _, value, _, _ in shown)),
            ("above 100%", "ended at 100%", any(value > 1 for _, value, _, _ in shown)),
        )
        if is_there
    )
    return bars(shown) + _table("answer", table) + more + impossible + _summed(float(estimate.values.sum()))


def _summed(total: float) -> str:
    """Return what a reader wonders at who adds the shares up."""
    if abs(total - 1) < _WONDER:
        return ""
    return (
        f"<p>All estimates together are {total:.0%}, not 100%: each still has its noise, as its interval "
        "says.</p>"
    )


def _cells(estimate: Any) -> str:
    """Return the fullest cells of a map."""
    rows = [
        (
            f"{number_text(row['x'], 3)}, {number_text(row['y'], 3)}",
            *_percents(row["share"], row["low"], row["high"]),
        )
        for row in estimate.rows(_MOST_CELLS)
    ]
    note = f"<p>The {len(rows)} fullest of {len(estimate.masses)} cells, each given by its centre.</p>"
    return map_of_cells(estimate) + _table("cell", rows) + note


def _percents(value: float, low: float, high: float) -> tuple[str, str]:
    shown, least, most = interval_texts(value, low, high, share=True)
    return shown, f"{least} to {most}"


def _table(first: str, rows: list[tuple[str, str, str]]) -> str:
    head = "".join(
        f'<th scope="col"{style}>{name}</th>'
        for name, style in ((first, ""), ("estimate", ' class="n"'), ("95% interval", ' class="n"'))
    )
    body = "".join(
        f'<tr><th scope="row">{as_html(name)}</th><td class="n">{value}</td>'
        f'<td class="n">{interval}</td></tr>'
        for name, value, interval in rows
    )
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    return f'<div class="scroll" tabindex="0">{table}</div>'


def _limits() -> str:
    return (
        "<h2>What is not protected</h2><ul>"
        "<li>That a device took part, and its network address: reports do not hide them. This service keeps "
        "neither.</li>"
        "<li>The result, against invented devices: enough of them can move it.</li>"
        "<li>People on a web page that serves a different client from this one.</li>"
        "<li>The budget of a device that is wiped: it forgets what it has spent and starts again.</li></ul>"
    )


def _device(entry: Entry, base: str) -> str:
    snippet = as_html(snippet_for(entry.newest, base))
    asked = as_html(answered_by_snippet(entry.newest))
    told = f"<p>Paste this into a page, with the visitor's own answer to {asked} in place of this one:</p>"
    return f"<h2>Answer from a web page</h2>{told}<pre><code>{snippet}</code></pre>"


def _downloads(entry: Entry, base: str) -> str:
    name, questions, base = as_html(entry.newest.id), entry.newest.questions, as_html(base)
    which = f" --question {as_html(questions[0].id)}" if len(questions) > 1 else ""
    return (
        "<h2>For analysts</h2>"
        f'<p>The <a href="{base}/v1/collections/{name}">collection file</a> is public. '
        "Estimates and reports need a token:</p>"
        f"<pre><code>ldpkit collector estimates {name}{which} --url {base}\n"
        f"ldpkit collector export {name} reports.ldp{which} --url {base}</code></pre>"
    )
