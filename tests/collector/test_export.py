"""Exports: no file tells in which order the reports came."""

from __future__ import annotations

import csv
import itertools

import pyarrow.parquet

from collector.inside import inside
from ldpkit.collector.analysis import Analyst
from ldpkit.collector.export import ENDINGS, write_export
from ldpkit.collector.kept import chunks_of
from ldpkit.files.reportfile import ReportFile
from ldpkit.protocols.collection.building import compile_toml
from ldpkit.protocols.collection.files import seal

_TOML = b"""
id = "survey"
version = %d
purpose = "Which pages people read."
least_reports = 1
rounds = {every = "once", start = 2026-11-01}
[[questions]]
id = "page"
text = "Which page%s"
domain = 100
mechanism = "grr"
epsilon = 1
"""
_N = 30


def _read(path):
    """Return the reports of an exported file, each a number."""
    match path.suffix:
        case ".csv":
            with path.open() as stream:
                return [int(row["report"], 16) for row in csv.DictReader(stream)]
        case ".parquet":
            columns = pyarrow.parquet.read_table(path).to_pydict()
            return [each[0] for each in columns["report"]]
    return [int(each) for some in ReportFile.open(path).reports() for each in some]


def test_reports_that_came_one_by_one_are_exported_in_another_order_each_time(
    database, tmp_path, monkeypatch
):
    """30 reports that differ, the last ten of a second version: a fair order is that of arrival, or that of
    another file, with a chance of 1/30! for each pair of the seven orders, less than 1e-31 in all.

    The kept chunks, which a file without mixing would have, are in the order of arrival: the negative
    control. Pieces of eight bytes are mixed as a round is that does not fit into the memory.
    """
    came = list(range(_N))
    versions = [seal(compile_toml(_TOML % (number, b"?" * number))) for number in (1, 2)]
    with inside(database, *versions) as service:
        for number in came:
            sent = {"version": 1 if number < _N - 10 else 2, "reports": bytes([number])}
            assert service.send([number], question="page", **sent).accepted == 1
        with service.service.connection() as connection:
            analyst = Analyst(connection, service.service.shelf.get("survey"))
            kept = [
                chunk.reports[0]
                for each in analyst.asked("page")
                for chunk in chunks_of(connection, each.place(0))
            ]
            orders = [came]
            for ending, piece in itertools.product(ENDINGS, (1 << 24, 8)):
                monkeypatch.setattr("ldpkit.collector.kept._MERGED_BYTES", piece)
                path = tmp_path / f"{piece}.{ending}"
                write_export(analyst, path, "page", 0)
                orders.append(_read(path))
    assert all(sorted(each) == came for each in orders)
    assert len({tuple(each) for each in orders}) == 1 + 2 * len(ENDINGS)
    assert kept == came
