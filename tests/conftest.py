"""Options and helpers of the whole suite.

`pytest --plugin my_mechanism.py` loads a plugin file before collection, so that the
contract suite runs over what it registers as over ldpkit's own mechanisms.
"""

from __future__ import annotations

import gc
from pathlib import Path

import hypothesis
import pytest

import ldpkit
from ldpkit.testing.expect import UntouchedSource

# A plugin is loaded on request only: importing it for its doctests would register it.
collect_ignore = ["contract/example_plugin.py"]

hypothesis.settings.register_profile(
    "ldpkit", deadline=None, derandomize=True, database=None, max_examples=60
)
hypothesis.settings.load_profile("ldpkit")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--plugin",
        metavar="FILE",
        action="append",
        default=[],
        help="load a plugin file first and run the contract suite over its mechanisms too",
    )
    parser.addoption("--slow", action="store_true", help="run the exhaustive grids too")


def pytest_configure(config: pytest.Config) -> None:
    # Workers of pytest-xdist get the same options and come here as well.
    for file in config.getoption("plugin"):
        ldpkit.load_plugin(Path(file))


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if not config.getoption("slow"):
        left_out = [item for item in items if item.get_closest_marker("slow")]
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if not item.get_closest_marker("slow")]


def pytest_collection_finish() -> None:
    gc.freeze()  # what is imported and collected by now lives as long as the tests: looking at it is no use


@pytest.fixture
def untouched() -> UntouchedSource:
    return UntouchedSource()
