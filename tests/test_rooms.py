"""The house itself: names stand once, rooms import one way, and the picture of it is up to date."""

from __future__ import annotations

import ast
import re
import runpy
from collections import defaultdict
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "ldpkit"


def test_no_class_name_stands_twice():
    homes = defaultdict(list)
    for file in SOURCE.rglob("*.py"):
        for node in ast.parse(file.read_text()).body:
            if isinstance(node, ast.ClassDef):
                homes[node.name].append(str(file.relative_to(SOURCE)))
    assert {name: files for name, files in homes.items() if len(files) > 1} == {}


@pytest.fixture(scope="module")
def graph():
    grimp = pytest.importorskip("grimp")
    return grimp.build_graph("ldpkit", exclude_type_checking_imports=True, cache_dir=None)


@pytest.mark.parametrize("room", ["client", "estimation", "protocols", "testing"])
def test_no_modules_of_a_room_import_each_other_in_a_circle(graph, room):
    inside = {module for module in graph.modules if module.startswith(f"ldpkit.{room}.")}
    left = {module: graph.find_modules_directly_imported_by(module) & inside for module in inside}
    while free := {module for module, imported in left.items() if not imported & left.keys()}:
        for module in free:
            del left[module]
    assert left == {}


def test_the_picture_of_the_house_shows_the_imports_that_there_are(graph):
    script = runpy.run_path(str(ROOT / "script" / "imports"))
    told = re.search(r"imports: (.*?)</dc:description>", script["PICTURE"].read_text(), re.S)
    assert told is not None
    assert told.group(1) == script["in_words"](script["room_imports"](graph)), "run script/imports"
