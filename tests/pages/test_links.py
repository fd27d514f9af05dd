"""What the docs build checks of links, on a small site with one of each fault."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "script" / "docs" / "links.py"
broken_links = runpy.run_path(str(SCRIPT))["broken_links"]


@pytest.fixture
def site(tmp_path):
    (tmp_path / "guide").mkdir()
    (tmp_path / "picture.png").write_bytes(b"")
    (tmp_path / "guide" / "index.html").write_text('<h2 id="first">First</h2><a href="..">up</a>')
    return tmp_path


GOOD = '<a href="guide/#first"></a> <a href="/guide/"></a> <img src="picture.png"> <a href="https://example.org/x">'
FAULTS = {
    '<a href="guide/#second"></a>': "the page has no such anchor",
    '<a href="#nowhere"></a>': "the page has no such anchor",
    '<a href="guides/"></a>': "there is no such file",
    '<img src="picture.svg">': "there is no such file",
    '<a href="../secret.txt"></a>': "there is no such file",
    '<a href="https:///x"></a>': "an address without a host",
    '<a href="javascript:alert(1)"></a>': "no address that a page may have",
}


def test_a_sound_site_has_no_broken_link(site):
    (site / "index.html").write_text(GOOD)
    assert broken_links(site) == []


@pytest.mark.parametrize(("fault", "told"), FAULTS.items())
def test_each_fault_is_found(site, fault, told):
    (site / "index.html").write_text(GOOD + fault)
    (found,) = broken_links(site)
    assert found.startswith("index.html: ")
    assert found.endswith(told)
