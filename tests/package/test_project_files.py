"""The files about the project itself: they parse, and say what is true."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

import ldpkit

ROOT = Path(__file__).parents[2]
yaml = pytest.importorskip("yaml")


def test_the_citation_has_this_version_and_nine_references():
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert cited["version"] == ldpkit.__version__
    assert len(cited["references"]) == 9
    for reference in cited["references"]:
        page = re.search(r"docs/papers/\w+\.md", reference["notes"])
        assert page is not None
        assert (ROOT / page.group()).is_file()


def test_the_version_stands_in_one_place_and_in_the_changelog():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    assert "version" in project["project"]["dynamic"]
    assert project["tool"]["hatch"]["version"]["path"] == "src/ldpkit/__init__.py"
    assert re.search(rf"^## {re.escape(ldpkit.__version__)}$", (ROOT / "CHANGELOG.md").read_text(), re.M)


def test_the_workflow_tests_the_python_versions_that_the_package_names():
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "ci.yml").read_text())
    named = re.findall(r"Python :: (3\.\d+)", (ROOT / "pyproject.toml").read_text())
    assert workflow["jobs"]["test"]["strategy"]["matrix"]["python"] == named
    for job in workflow["jobs"].values():
        for step in job["steps"]:
            if command := step.get("run", "").partition(" ")[0]:
                assert (ROOT / command).is_file(), command


def test_templates_and_hooks_parse():
    for path in (ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml"):
        assert yaml.safe_load(path.read_text())
    hooks = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text())
    assert {hook["id"] for repo in hooks["repos"] for hook in repo["hooks"]} == {
        "ruff-check",
        "ruff-format",
        "mypy",
    }


def test_links_of_the_files_at_the_top_lead_somewhere():
    for path in ROOT.glob("*.md"):
        for target in re.findall(r"\]\(([^)#\s]+)", path.read_text()):
            if "://" not in target:
                assert (ROOT / target).exists(), f"{path.name}: {target}"
