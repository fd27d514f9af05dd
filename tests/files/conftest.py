from __future__ import annotations

import pytest

from files.reports import ORACLES, made
from ldpkit.files.reportfile import ReportWriter


@pytest.fixture
def small(tmp_path):
    """A file of two blocks, and its bytes."""
    oracle = ORACLES[1]
    path = tmp_path / "small.ldp"
    with ReportWriter(path, oracle) as writer:
        writer._block_length = 3 * oracle.report_bytes  # blocks of three reports instead of a megabyte
        writer.write(made(oracle, 5))
    return path, path.read_bytes()
