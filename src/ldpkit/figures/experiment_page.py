"""The page of a benchmark: one self-contained HTML page that works offline."""

from __future__ import annotations

import html
import re

from ldpkit.bench.benchmark import Benchmark
from ldpkit.bench.summary import Summary
from ldpkit.bench.table import tabulate
from ldpkit.core.text import number_text
from ldpkit.figures.canvas import new_figure
from ldpkit.figures.experiment import curves, heat_map, truth_against_estimate
from ldpkit.figures.page import inline_svg, write_page
from ldpkit.simulation.metrics import metric_for

__all__ = ["benchmark_page"]

_STYLE = """table { font-size: .85rem }
th, td { padding: .3rem .6rem; text-align: right; white-space: nowrap }
th:first-child, td:first-child { text-align: left }
td.best { font-weight: 700 } td.best, td.tie { background: #7a73 }
svg { background: white }"""


def benchmark_page(found: Benchmark, *, command: str) -> str:
    """Return the page: answer first, then tables and figures, then the command that made it."""
    experiment = found.experiment
    body = [_answer(found), _facts(found)]
    for metric in experiment.metrics:
        body.append(f"<h2>{html.escape(metric_for(metric).title)}</h2>")
        for epsilon in experiment.epsilons:
            summary = found.summary(epsilon, metric)
            body += [_table(summary), _heat_map(summary)]
        if len(experiment.epsilons) > 1:
            body.append(_curves(found, metric))
        body.append(_truth(found, found.summary(metric=metric)))
    return write_page(
        f"Frequency estimation on {found.data}",
        "\n".join(body),
        command=command,
        style=_STYLE,
        made=f"seed {experiment.seed}, {experiment.engine} engine",
    )


def _answer(found: Benchmark) -> str:
    lines = []
    for summary in found.summaries():
        mean = summary.mean(*summary.best_pair())
        lines.append(
            f"<li>epsilon {summary.epsilon:g}, {html.escape(metric_for(summary.metric).title)}: "
            f"<b>{html.escape(summary.best_in_words())}</b>, "
            f"{number_text(mean.value)} (standard error {number_text(mean.stderr, 2)})</li>"
        )
    return f"<p>Best combination:</p><ul>{''.join(lines)}</ul>"


def _facts(found: Benchmark) -> str:
    facts = {
        "Data": found.data,
        "People": f"{found.people:,}",
        "Values": f"{len(found.experiment.counts):,}",
        "Repeats": str(found.experiment.repeats),
    }
    items = "".join(f"<dt>{key}</dt><dd>{html.escape(text)}</dd>" for key, text in facts.items())
    return f"<dl>{items}</dl>"


def _table(summary: Summary) -> str:
    table = tabulate(summary)
    cells = re.sub(r"<td( [^>]*>[^<]*\*)", r'<td class="best"\1', table.to_html())
    cells = re.sub(r"<td( [^>]*>[^<]*~)", r'<td class="tie"\1', cells)
    return (
        f'<p>{html.escape(table.title)}; {html.escape(table.caption)}.</p><div class="scroll">{cells}</div>'
    )


def _heat_map(summary: Summary) -> str:
    figure = new_figure(10, 1.6 + 0.42 * len(summary.protocols))
    heat_map(figure.subplots(), summary)
    return inline_svg(figure)


def _curves(found: Benchmark, metric: str) -> str:
    figure = new_figure(10, 4.5)
    curves(figure.subplots(), found, metric)
    return inline_svg(figure)


def _truth(found: Benchmark, summary: Summary) -> str:
    figure = new_figure(10, 3.8)
    truth_against_estimate(figure.subplots(), found, summary)
    return inline_svg(figure)
