"""Reports of a question and round as a file: a report file, CSV or Parquet, without ids."""

from __future__ import annotations

import csv
from pathlib import Path

from ldpkit.collector.analysis import Analyst
from ldpkit.core.wholefile import whole_text_stream
from ldpkit.files.arrow import write_parquet
from ldpkit.files.reportfile import ReportWriter

__all__ = ["ENDINGS", "write_export"]

ENDINGS = ("ldp", "csv", "parquet")
"""What reports are exported as."""


def write_export(
    analyst: Analyst, path: Path, question: str, number: int, version: int | None = None
) -> None:
    """Write the reports of a question and round, in the format that the path ends with.

    They are in random order, another one for each file, and stand without the ids they came
    with, so nothing in the file leads to a device.
    """
    writers = {".ldp": _write_ldp, ".csv": _write_csv, ".parquet": _write_parquet}
    writers[path.suffix](analyst, path, question, number, version)


def _write_ldp(analyst: Analyst, path: Path, question: str, number: int, version: int | None) -> None:
    mechanism, made = analyst.mechanism(question, version), analyst.provenance(question, version)
    with ReportWriter(path, mechanism, provenance=made) as writer:
        for reports in analyst.report_parts(question, number, version):
            writer.write(reports)


def _write_csv(analyst: Analyst, path: Path, question: str, number: int, version: int | None) -> None:
    mechanism = analyst.mechanism(question, version)
    with whole_text_stream(path) as stream:
        rows = csv.writer(stream)
        rows.writerow(["collection", "question", "round", "report"])
        for reports in analyst.report_parts(question, number, version):
            data, length = mechanism.encode(reports), mechanism.report_bytes
            for start in range(0, len(data), length):
                rows.writerow([analyst.name, question, number, data[start : start + length].hex()])


def _write_parquet(analyst: Analyst, path: Path, question: str, number: int, version: int | None) -> None:
    mechanism, made = analyst.mechanism(question, version), analyst.provenance(question, version)
    write_parquet(path, mechanism, analyst.report_parts(question, number, version), made)
