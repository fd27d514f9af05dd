"""Lakes that several tests read."""

from __future__ import annotations

import pytest

from engines.lakes import make_lake


@pytest.fixture(scope="session")
def lake(tmp_path_factory):
    """Return a folder of small files by question and day, and the mechanism of each question."""
    folder = tmp_path_factory.mktemp("lake")
    return folder, make_lake(folder)
