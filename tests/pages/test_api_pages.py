"""The pages about the Python interface: every public name is on them, with an example that runs."""

from __future__ import annotations

import inspect
import runpy
from pathlib import Path

import pytest

import ldpkit

API = runpy.run_path(str(Path(__file__).parents[2] / "script" / "docs" / "api_pages.py"))
NEEDS_JAVA = "ldpkit.engines.spark."  # their examples are in the guide, and run in tests/engines
documented, find, shown = API["documented"](), API["find"], API["shown"]


def test_every_public_name_is_on_a_page_once():
    assert len(documented) == len(set(documented))
    written = {shown(name) for name in documented}
    namespaces = {"plan": ldpkit.plan, "bench": ldpkit.bench, "testing": ldpkit.testing}
    assert {f"ldpkit.{name}" for name in ldpkit.__all__ if name not in namespaces} <= written
    for short, module in namespaces.items():
        for name in module.__all__:
            assert f"ldpkit.{short}.{name}" in written or name in ldpkit.__all__


def test_every_name_has_a_docstring_with_an_example():
    """The examples themselves are run as doctests of the modules."""
    without = [name for name in documented if not _has_example(name) and not name.startswith(NEEDS_JAVA)]
    assert without == []
    assert all(API["summary"](name) for name in documented)


def _has_example(name: str) -> bool:
    found = find(name)
    # A class that has no docstring of its own would show that of the class above it.
    told = found.__doc__ if inspect.isclass(found) else inspect.getdoc(found)
    return ">>> " in (told or "")


def test_a_name_without_a_group_stops_the_build(monkeypatch):
    monkeypatch.setattr(ldpkit, "_HOMES", {**ldpkit._HOMES, "attic.old": ("Chest",)})
    monkeypatch.setattr(ldpkit, "__all__", [*ldpkit.__all__, "Chest"])
    with pytest.raises(ValueError, match=r"ldpkit\.Chest lives in attic\.old"):
        API["grouped"]()


def test_the_overview_links_every_name():
    overview = API["overview"]()
    assert all(f"][{name}]" in overview for name in documented)
