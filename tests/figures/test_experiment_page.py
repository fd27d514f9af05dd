"""The HTML page and the figures: complete, self-contained, repeatable."""

import re
from xml.etree import ElementTree

import numpy as np
import pytest

from ldpkit.bench.benchmark import Benchmark
from ldpkit.bench.experiment import Experiment
from ldpkit.core.errors import InvalidParameterError
from ldpkit.figures.canvas import save_figure
from ldpkit.figures.experiment_page import benchmark_page


@pytest.fixture(scope="module")
def experiment():
    return Experiment(
        np.array([500, 300, 150, 50]),
        [0.5, 1.0],
        ["grr", "oue"],
        ["none", "norm_sub"],
        ["mae", "kendall_tau"],
        repeats=3,
    )


@pytest.fixture(scope="module")
def rows(experiment):
    return tuple(row for result in experiment.run() for row in result.rows)


def made(experiment, rows):
    return benchmark_page(Benchmark(experiment, rows, "a <b> & c"), command="ldpkit bench -d 'a <b>'")


@pytest.fixture(scope="module")
def page(experiment, rows):
    return made(experiment, rows)


def test_the_page_stands_alone(page):
    assert "a &lt;b&gt; &amp; c" in page
    assert "ldpkit bench -d &#x27;a &lt;b&gt;&#x27;" in page
    assert not re.search(r'(src|href)="?https?:', page.replace('xlink:href="#', ""))
    assert page.count("<svg") == 2 * (
        2 + 1 + 1
    )  # per metric: two heat maps, the curves, truth against estimate
    assert "Best combination" in page


@pytest.fixture(scope="module")
def least():
    return Experiment(np.array([500, 300]), [1.0], ["grr"], ["none"], ["mae"], repeats=2)


def test_the_page_is_the_same_each_time(least):
    found = tuple(row for result in least.run() for row in result.rows)
    assert made(least, found) == made(least, found)


@pytest.mark.parametrize(("suffix", "start"), [("png", b"\x89PNG"), ("pdf", b"%PDF"), ("svg", b"<?xml")])
def test_figures_are_written_in_the_format_of_their_name(tmp_path, least, suffix, start):
    path = tmp_path / f"figure.{suffix}"
    found = tuple(row for result in least.run() for row in result.rows)
    save_figure(Benchmark(least, found, "d").figure(), path)
    assert path.read_bytes().startswith(start)
    if suffix == "svg":
        ElementTree.fromstring(path.read_text())


def test_other_formats_are_refused(tmp_path, experiment, rows):
    with pytest.raises(InvalidParameterError, match=r"\.png, \.svg or \.pdf"):
        save_figure(Benchmark(experiment, rows, "d").figure(), tmp_path / "figure.gif")
