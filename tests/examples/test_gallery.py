"""The scripts of examples/: all of them run, and say what the gallery shows of them."""

from __future__ import annotations

import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / "script" / "docs" / "gallery.py"


@pytest.fixture(scope="module")
def gallery():
    return runpy.run_path(str(SCRIPT))


def test_every_example_runs_without_a_warning():
    """One process for all of them, about thirteen CPU seconds: these are the tasks that people come with.

    What they print and draw is kept for the docs, which then need not run them again.
    """
    pytest.importorskip("matplotlib")
    for extra in ("sklearn", "dask", "pyarrow", "fastapi", "uvicorn"):
        pytest.importorskip(extra)
    done = subprocess.run([sys.executable, SCRIPT, "--all"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.splitlines()) == len(list((ROOT / "examples").glob("*.py")))


def test_an_example_that_fails_is_named(gallery, tmp_path, monkeypatch):
    (tmp_path / "silent.py").write_text('"""Nothing.\n\nFigure: none\nGuide: index.md\n"""\n\nvalue = 1\n')
    silent = gallery["Example"]("silent", (tmp_path / "silent.py").read_text())
    monkeypatch.setattr(gallery["Example"], "path", property(lambda self: tmp_path / f"{self.name}.py"))
    with pytest.raises(ValueError, match=r"examples/silent\.py must print a result and write silent\.png"):
        gallery["run"](silent)


def test_every_example_has_a_place_a_task_a_figure_text_and_a_guide(gallery):
    shown = gallery["examples"]()
    assert {each.name for each in shown} == {path.stem for path in (ROOT / "examples").glob("*.py")}
    for each in shown:
        assert 15 <= len(each.source.splitlines()) <= 75, each.name
        assert '"' in each.task, f"{each.name}: the task is said in the user's words"
        assert len(each.line("Figure")) > 30, each.name
        assert (ROOT / "docs" / each.line("Guide")).is_file(), each.name
        assert not re.search(r"default_rng\(\)|privatize\([^)]*\)$", each.source, re.M), (
            f"{each.name}: no seed"
        )


def test_a_page_has_the_figure_in_dark_colours_and_for_a_phone(gallery, tmp_path, monkeypatch):
    pytest.importorskip("matplotlib")
    source = (
        '"""One bar.\n\nFigure: A bar & nothing else\nGuide: index.md\n"""\n\n'
        "import ldpkit\n\nfound = ldpkit.Tally(ldpkit.GRR(2, epsilon=2), 100, [70, 30]).estimate()\n"
        'print(found.n)\nfound.figure().savefig("bar.png")\n'
    )
    (tmp_path / "bar.py").write_text(source)
    monkeypatch.setattr(gallery["Example"], "path", property(lambda self: tmp_path / f"{self.name}.py"))
    monkeypatch.setattr(gallery["Example"], "folder", property(lambda self: tmp_path / self.name))
    bar = gallery["Example"]("bar", source)
    gallery["run"](bar)
    drawn = [(bar.folder / f"figure{kind}.svg").read_text() for kind in ("", "-narrow")]
    wide, narrow = (float(re.search(r' width="([\d.]+)pt"', each)[1]) for each in drawn)
    assert narrow == 4.4 * 72 < wide
    assert all("prefers-color-scheme: dark" in each and "A bar &amp; nothing else" in each for each in drawn)
    shown = gallery["page"](bar)
    assert 'srcset="../bar-narrow.svg"' in shown
    assert '<img src="../bar.svg" alt="A bar &amp; nothing else">' in shown


def test_a_changed_script_or_package_is_run_again(gallery, monkeypatch):
    one = gallery["examples"]()[0]
    other = gallery["Example"](one.name, one.source + "\n")
    assert one.folder == gallery["Example"](one.name, one.source).folder
    assert one.folder != other.folder
    before = one.folder
    monkeypatch.setitem(type(one).folder.fget.__globals__, "_package_digest", lambda: "another package")
    assert one.folder != before
