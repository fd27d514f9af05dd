"""A real PostgreSQL for the tests, from the PyPI package pgserver, which never runs it as root."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import warnings
from pathlib import Path

import pytest

from ldpkit.collector.database import open_database


@pytest.fixture(scope="session")
def postgres():
    """A server; in CI it must run, elsewhere it may be missing."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            import pgserver
            import psycopg  # noqa: F401
    except ImportError as error:
        if os.environ.get("CI") and sys.version_info < (3, 13):
            raise
        pytest.skip(f"no PostgreSQL here: {error}")
    folder = Path(tempfile.mkdtemp(prefix="ldpkit-pg-"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        server = pgserver.get_server(folder / "pg", cleanup_mode="delete")
    yield server
    server.cleanup()
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
def new_postgres(postgres):
    """What makes a new database in it, and returns its address."""
    made = []

    def make() -> str:
        name = f"test{len(made)}"
        made.append(name)
        postgres.psql(f"CREATE DATABASE {name};")
        return postgres.get_uri(name)

    return make


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request, tmp_path):
    """An empty database of either kind."""
    if request.param == "postgresql":
        return open_database(request.getfixturevalue("new_postgres")())
    return open_database(tmp_path)
