"""What the page of a benchmark has of its own: for each metric and epsilon what is best, and the table."""

from __future__ import annotations

import html
import re

from ldpkit.bench.benchmark import Benchmark
from ldpkit.bench.summary import Summary
from ldpkit.bench.table import tabulate
from ldpkit.core.text import number_text
from ldpkit.figures.page import scrolled, section
from ldpkit.simulation.metrics import metric_for

__all__ = ["metrics_part"]


def metrics_part(found: Benchmark) -> str:
    """Return what is best for each metric and epsilon, or what ties, above the table that shows it."""
    parts = []
    for metric in found.experiment.metrics:
        summaries = [found.summary(epsilon, metric) for epsilon in found.experiment.epsilons]
        body = "".join(_answer(each) + _table(each) for each in summaries)
        parts.append(section(f"metric-{metric}", metric_for(metric).title, body))
    return "\n".join(parts)


def _answer(summary: Summary) -> str:
    mean = summary.mean(*summary.best_pair())
    told = f"{number_text(mean.value)} (standard error {number_text(mean.stderr, 2)})"
    best = html.escape(summary.best_in_words())
    return f"<h3>Epsilon {summary.epsilon:g}</h3><p><strong>{best}</strong>: {told}.</p>"


def _table(summary: Summary) -> str:
    table = tabulate(summary)
    cells = re.sub(r"<td( [^>]*>[^<]*\*)", r'<td class="best"\1', table.to_html())
    cells = re.sub(r"<td( [^>]*>[^<]*~)", r'<td class="tie"\1', cells)
    return f"{scrolled(cells, table.title)}<p><small>{html.escape(table.caption)}</small></p>"
