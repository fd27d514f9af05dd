"""What the page of a benchmark has of its own: for each metric and epsilon what is best, and the table."""

from __future__ import annotations

import re

from ldpkit.bench.benchmark import Benchmark
from ldpkit.bench.summary import Summary
from ldpkit.bench.table import tabulate
from ldpkit.core.numbertext import number_text
from ldpkit.core.text import as_html
from ldpkit.figures.page import scrolled, section
from ldpkit.simulation.metrics import metric_for

__all__ = ["metrics_part"]


def metrics_part(found: Benchmark) -> str:
    """Return what is best for each metric and epsilon, or what ties, above the table that shows it."""
    parts = []
    for metric in found.experiment.metrics:
        summaries = [found.summary(epsilon, metric) for epsilon in found.experiment.epsilons]
        body = "".join(_answer(each) + _table(each) for each in summaries)
        title = metric_for(metric).title
        parts.append(section(f"metric-{metric}", title[:1].upper() + title[1:], body))
    return "\n".join(parts)


def _answer(summary: Summary) -> str:
    mean = summary.mean(*summary.best_pair())
    told = f"{number_text(mean.value)} (standard error {number_text(mean.stderr, 2)})"
    best = as_html(summary.best_in_words())
    if len(summary.tied_pairs()) > 1:
        best = best[:1].upper() + best[1:]
    return f"<h3>Epsilon {summary.epsilon:g}</h3><p><strong>{best}</strong>: {told}.</p>"


def _table(summary: Summary) -> str:
    table = tabulate(summary)
    cells = re.sub(r"<td( [^>]*>[^<]*\*)", r'<td class="best"\1', table.to_html())
    cells = re.sub(r"<td( [^>]*>[^<]*~)", r'<td class="tie"\1', cells)
    above = f"<p><small>{as_html(table.title[:1].upper() + table.title[1:])}</small></p>"
    won = "; won: how often a method was best, over all mechanisms and repeats"
    won = won if len(summary.methods) > 1 else ""
    below = f"<p><small>{as_html(table.caption + won + _two_families(summary))}</small></p>"
    return above + scrolled(cells, table.title) + below


def _two_families(summary: Summary) -> str:
    """Say why a pair may tie with the best of all and not with the best of its row, where one does."""
    beaten = [(name, each) for name, each in summary.tied_pairs() if each not in summary.tied_methods(name)]
    if not beaten:
        return ""
    pairs = len(summary.protocols) * len(summary.methods)
    return (
        f"; a row compares its {len(summary.methods)} methods, the sentence above all {pairs} combinations, "
        f"which takes more evidence: so {' with '.join(beaten[0])} is beaten in its row and still tied above"
    )
