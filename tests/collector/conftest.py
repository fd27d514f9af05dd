"""A real PostgreSQL for the tests."""

from __future__ import annotations

import os
import sys

import pytest

from collector.postgresql import postgres_running
from ldpkit.collector.database import open_database


@pytest.fixture(scope="session")
def postgres():
    """A server; in CI it must run, elsewhere it may be missing."""
    try:
        import psycopg  # noqa: F401 - whether it is there

        running = postgres_running()
        server = running.__enter__()
    except ImportError as error:
        if os.environ.get("CI") and sys.version_info < (3, 13):
            raise
        pytest.skip(f"no PostgreSQL here: {error}")
    yield server
    running.__exit__(None, None, None)


@pytest.fixture(scope="session")
def new_postgres(postgres):
    """What makes a new database in it, and returns its address."""
    made = []

    def make() -> str:
        made.append(f"test{len(made)}")
        return postgres.create(made[-1])

    return make


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request, tmp_path):
    """An empty database of either kind."""
    if request.param == "postgresql":
        return open_database(request.getfixturevalue("new_postgres")())
    return open_database(tmp_path)
