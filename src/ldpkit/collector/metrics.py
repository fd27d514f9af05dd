"""Counters for Prometheus: about the service, never about anybody who answers."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ldpkit.collector.service import Service
    from ldpkit.collector.uploads import Uploads

__all__ = ["metrics_text"]


def metrics_text(service: Service, uploads: Uploads) -> str:
    """Return the metrics in the text format of Prometheus."""
    writer = service.writer
    lines = list[str]()

    def add(name: str, kind: str, text: str, *values: tuple[str, int]) -> None:
        lines.extend([f"# HELP ldpkit_{name} {text}", f"# TYPE ldpkit_{name} {kind}"])
        lines.extend(f"ldpkit_{name}{labels} {value}" for labels, value in values)

    add("reports_total", "counter", "Reports counted since the start.", ("", writer.reports))
    add("duplicates_total", "counter", "Reports that were counted before.", ("", writer.duplicates))
    add("refused_total", "counter", "Reports that no mechanism here can have made.", ("", writer.refused))
    add("commits_total", "counter", "Transactions.", ("", writer.commits))
    add("failures_total", "counter", "Transactions that failed.", ("", writer.failures))
    add("waiting_bytes", "gauge", "Uploads that wait to be written.", ("", writer.waiting_bytes))
    add("ids", "gauge", "Ids of open rounds in memory.", ("", sum(map(len, tuple(writer.ids.values())))))
    problems = sorted(uploads.problems.items())
    add(
        "problems_total",
        "counter",
        "Uploads not taken, by problem.",
        *((f'{{problem="{n}"}}', c) for n, c in problems),
    )
    add("writer_alive", "gauge", "Whether reports can be written.", ("", int(writer.is_alive())))
    return "\n".join(lines) + "\n"
