"""The report of an experiment: one self-contained HTML page that works offline."""

from __future__ import annotations

import html
import io
from collections.abc import Iterable, Sequence
from string import Template
from typing import TYPE_CHECKING

from ldpkit import __version__
from ldpkit.bench.grid import Experiment, Row
from ldpkit.bench.summary import Summary
from ldpkit.bench.table import AVERAGE, WITHOUT, Scale, caption_of
from ldpkit.core.numbertext import number_text
from ldpkit.figures.canvas import new_figure
from ldpkit.figures.experiment import curves, heat_map, truth_against_estimate
from ldpkit.simulation.metrics import metric_for

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["write_report"]

_PAGE = Template("""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>$title</title>
<style>
body { font: 16px/1.5 system-ui, sans-serif; max-width: 70rem; margin: 2rem auto;
       padding: 0 1rem; color: #222 }
h1 { font-size: 1.6rem } h2 { font-size: 1.25rem; margin-top: 2.5rem }
table { border-collapse: collapse; font-size: .85rem; font-variant-numeric: tabular-nums }
th, td { padding: .3rem .6rem; border-bottom: 1px solid #ddd; text-align: right; white-space: nowrap }
th:first-child, td:first-child { text-align: left } td.best { font-weight: 700; background: #e8f3e8 }
td.tie { background: #e8f3e8 }
tr.won td { color: #777 } .scroll { overflow-x: auto } svg { max-width: 100%; height: auto }
pre { background: #f4f4f4; padding: .8rem; overflow-x: auto } dt { font-weight: 600 }
dd { margin: 0 0 .4rem 1rem }
</style></head><body>
<h1>$title</h1>
$body
<h2>How this page was made</h2>
<pre>$command</pre>
<p>ldpkit $version, seed $seed, $engine engine.</p>
</body></html>
""")


def write_report(experiment: Experiment, rows: Sequence[Row], *, data: str, command: str) -> str:
    """Return the page: answer first, then tables and figures, then the command that made it."""
    body = [_answer(experiment, rows), _facts(experiment, data)]
    for metric in experiment.metrics:
        body.append(f"<h2>{html.escape(metric_for(metric).title)}</h2>")
        for epsilon in experiment.epsilons:
            summary = Summary(rows, epsilon, metric)
            body += [_table(summary), _heat_map(summary)]
        if len(experiment.epsilons) > 1:
            body.append(_curves(rows, metric))
        best = Summary(rows, experiment.epsilons[len(experiment.epsilons) // 2], metric)
        body.append(_truth(experiment, best))
    return _PAGE.substitute(
        title=f"Frequency estimation on {html.escape(data)}",
        body="\n".join(body),
        command=html.escape(command),
        version=__version__,
        seed=experiment.seed,
        engine=experiment.engine,
    )


def _answer(experiment: Experiment, rows: Sequence[Row]) -> str:
    lines = []
    for metric in experiment.metrics:
        for epsilon in experiment.epsilons:
            summary = Summary(rows, epsilon, metric)
            mean = summary.mean(*summary.best_pair())
            lines.append(
                f"<li>epsilon {epsilon:g}, {html.escape(metric_for(metric).title)}: "
                f"<b>{html.escape(summary.best_in_words())}</b>, "
                f"{number_text(mean.value)} (standard error {number_text(mean.stderr, 2)})</li>"
            )
    return f"<p>Best combination:</p><ul>{''.join(lines)}</ul>"


def _facts(experiment: Experiment, data: str) -> str:
    facts = {
        "Data": data,
        "People": f"{int(experiment.counts.sum()):,}",
        "Values": f"{len(experiment.counts):,}",
        "Repeats": str(experiment.repeats),
    }
    return (
        "<dl>"
        + "".join(f"<dt>{key}</dt><dd>{html.escape(text)}</dd>" for key, text in facts.items())
        + "</dl>"
    )


def _table(summary: Summary) -> str:
    scale = Scale.of(summary)
    methods = [*summary.methods]
    heads = ["protocol", *(WITHOUT if method == "none" else method for method in methods), AVERAGE]
    lines = [_row("th", heads)]
    for protocol in summary.protocols:
        cells = [f"<td>{html.escape(protocol)}</td>"]
        for method in methods:
            mark = summary.mark(protocol, method)
            kind = {"*": ' class="best"', "~": ' class="tie"'}.get(mark, "")
            cells.append(f"<td{kind}>{scale.text(summary.mean(protocol, method), mark)}</td>")
        average = scale.text(summary.average(protocol)) if summary.post_processing else ""
        lines.append("<tr>" + "".join(cells) + f"<td>{average}</td></tr>")
    runs = len(summary.protocols) * summary.repeats
    won = ["won", *(f"{summary.wins(method) / runs:.0%}" for method in methods), ""]
    lines.append('<tr class="won">' + "".join(f"<td>{cell}</td>" for cell in won) + "</tr>")
    return (
        f"<p>epsilon = {summary.epsilon:g}{scale.unit}; {html.escape(caption_of(summary))}.</p>"
        f'<div class="scroll"><table>{"".join(lines)}</table></div>'
    )


def _row(tag: str, cells: Iterable[str]) -> str:
    return "<tr>" + "".join(f"<{tag}>{html.escape(cell)}</{tag}>" for cell in cells) + "</tr>"


def _heat_map(summary: Summary) -> str:
    figure = new_figure(10, 1.6 + 0.42 * len(summary.protocols))
    heat_map(figure.subplots(), summary)
    return _svg(figure)


def _curves(rows: Sequence[Row], metric: str) -> str:
    figure = new_figure(10, 4.5)
    curves(figure.subplots(), rows, metric)
    return _svg(figure)


def _truth(experiment: Experiment, summary: Summary) -> str:
    figure = new_figure(10, 3.8)
    truth_against_estimate(figure.subplots(), experiment, summary)
    return _svg(figure)


def _svg(figure: Figure) -> str:
    """Return a figure as inline SVG, so that the page needs no other file."""
    text = io.StringIO()
    figure.savefig(text, format="svg", metadata={"Date": None})
    return text.getvalue()[text.getvalue().index("<svg") :]
