"""What the reproduction of the IBU paper leaves behind: every cell as CSV, its tables as Markdown."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from ldpkit.core.wholefile import whole_text
from ldpkit.papers import write_csv
from ldpkit.papers.ibu.paper import AVERAGE, METRICS, IbuTable
from ldpkit.papers.ibu.study import IbuStudy

__all__ = ["markdown", "write_table"]


def write_table(study: IbuStudy, table: IbuTable, folder: Path) -> None:
    """Write a table's cells and the table itself, as published and right."""
    write_csv(study.rows(), folder / f"table-{table.number}.csv")
    whole_text(folder / f"table-{table.number}.md", "\n".join(markdown(study, table)) + "\n")


def markdown(study: IbuStudy, table: IbuTable) -> Iterator[str]:
    """Yield the lines of both forms of a table, for each metric."""
    columns = (*table.mechanisms, AVERAGE)
    for metric in METRICS:
        yield f"Gain in {metric.upper()}, %: ours as published (the paper's) | right"
        yield ""
        yield "| | " + " | ".join(columns) + " |"
        yield "| --- |" + " --- |" * len(columns)
        for row in (*study.grid.distributions, AVERAGE):
            yield (
                f"| {row} | " + " | ".join(_cell(study, table, row, each, metric) for each in columns) + " |"
            )
        yield ""


def _cell(study: IbuStudy, table: IbuTable, row: str, column: str, metric: str) -> str:
    ours = study.table(row, column, metric, "published_ibu", "published_mi").value
    right = study.table(row, column, metric, "ibu_limit", "mi").value
    return f"{ours:.0f} ({table.gain(row, column, metric)}), {right:.0f}"
