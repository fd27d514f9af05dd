"""Plugins of installed packages are found by their entry point, and only then is the machinery loaded."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

PLUGIN = """
from ldpkit.estimation.consistency import CONSISTENCY

@CONSISTENCY.register("as_it_is")
def as_it_is(estimates, noise):
    return estimates
"""

SCRIPT = """
import sys
from ldpkit.estimation.consistency import CONSISTENCY
print("as_it_is" in CONSISTENCY, "importlib.metadata" in sys.modules)
"""


def ask(path):
    environment = {**os.environ, "PYTHONPATH": str(path)}
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], env=environment, capture_output=True, text=True, check=False
    )
    return done.stdout.split(), done.stderr


def install(folder, group):
    (folder / "my_methods.py").write_text(PLUGIN)
    about = folder / "my_methods-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: my-methods\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text(f"[{group}]\nmethods = my_methods\n")


def test_an_installed_plugin_is_there(tmp_path):
    install(tmp_path, "ldpkit.plugins")
    assert ask(tmp_path)[0] == ["True", "True"]


def test_a_package_for_something_else_is_not_loaded(tmp_path):
    install(tmp_path, "other.plugins")
    assert ask(tmp_path)[0] == ["False", "False"]


@pytest.mark.parametrize("path", ["missing", "archive.zip"])
def test_odd_places_on_the_path_are_no_trouble(tmp_path, path):
    if path.endswith(".zip"):
        (tmp_path / path).write_bytes(b"PK\x05\x06" + bytes(18))  # an empty archive
    (there, _), error = ask(tmp_path / path)
    assert there == "False"
    assert not error


def test_a_plugin_that_does_not_load_is_named(tmp_path):
    install(tmp_path, "ldpkit.plugins")
    (tmp_path / "my_methods.py").write_text("import nothing_of_that_name")
    found, error = ask(tmp_path)
    assert not found
    assert "the installed plugin 'my_methods' does not load" in error
