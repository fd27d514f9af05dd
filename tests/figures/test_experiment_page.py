"""The page of a benchmark and the figures: complete, self-contained, repeatable, ties told as ties."""

import html
import re
from xml.etree import ElementTree

import numpy as np
import pytest

from ldpkit.bench.benchmark import Benchmark
from ldpkit.bench.experiment import Experiment
from ldpkit.core.errors import InvalidParameterError
from ldpkit.figures.canvas import save_figure


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
def found(experiment):
    rows = tuple(row for result in experiment.run() for row in result.rows)
    return Benchmark(experiment, rows, "a <b> & c", labels=("w", "x", "<y>", "z"))


def test_the_page_stands_alone(found):
    page = found.page(command="ldpkit bench -d 'a <b>'")
    assert "a &lt;b&gt; &amp; c" in page
    assert "ldpkit bench -d &#x27;a &lt;b&gt;&#x27;" in re.sub("</?span>", "", page)
    assert not re.search(r'(src|href)="?https?:', page)
    assert page.count("<svg") == 2  # for a page and for a phone
    for epsilon in (0.5, 1.0):
        for metric in ("mae", "kendall_tau"):
            words = found.summary(epsilon, metric).best_in_words()
            assert f"<strong>{words}</strong>" in page


def test_one_best_or_those_that_tie(found):
    best = found.with_rows(
        row._replace(value=(1 if (row.protocol, row.method) == ("oue", "none") else 9) + 0.01 * row.repeat)
        for row in found.measured
    )
    assert "oue with none has the smallest" in best.answer()
    level = found.with_rows(row._replace(value=1.0 + 0.01 * (row.repeat % 2)) for row in found.measured)
    assert "tie" in level.answer() or "too few to tell" in level.answer()


def test_the_headline_speaks_of_every_epsilon(found):
    """It told of the middle epsilon alone, and somebody took that for all."""

    def winning(best):
        errors = {epsilon: dict.fromkeys(pairs, 1 + 0.01 * (epsilon == 1)) for epsilon, pairs in best.items()}
        return found.with_rows(
            row._replace(
                value=errors[row.epsilon].get((row.protocol, row.method), 9) + 0.001 * row.repeat,
                repeat=again,
            )
            for row in found.measured
            for again in (row.repeat, row.repeat + 3)
        )

    one, other = ("oue", "none"), ("grr", "norm_sub")
    same = winning({0.5: [one], 1.0: [one]}).answer()
    assert "oue with none has the smallest mean absolute error at every epsilon: " in same
    assert " at 0.5, 1.011 ± " in same
    changing = winning({0.5: [one], 1.0: [other]})
    assert "oue with none has the smallest mean absolute error at epsilon 0.5: 1.001" in changing.answer()
    assert "Grr with norm_sub" not in changing.answer()
    assert "grr with norm_sub has the smallest mean absolute error at epsilon 1: 1.011" in changing.answer()
    assert html.escape(changing.answer()) in changing.page()
    tied = winning({0.5: [one, other], 1.0: [one]}).answer()
    assert (
        "2 combinations tie for the smallest mean absolute error at epsilon 0.5: grr with norm_sub; oue"
        in tied
    )
    assert "oue with none has the smallest mean absolute error at epsilon 1: 1.011" in tied


@pytest.fixture(scope="module")
def least():
    experiment = Experiment(np.array([500, 300]), [1.0], ["grr"], ["none"], ["mae"], repeats=2)
    return Benchmark(experiment, tuple(row for result in experiment.run() for row in result.rows), "d")


def test_the_page_is_the_same_each_time(least):
    assert least.page() == least.page()


@pytest.mark.parametrize(("suffix", "start"), [("png", b"\x89PNG"), ("pdf", b"%PDF"), ("svg", b"<?xml")])
def test_figures_are_written_in_the_format_of_their_name(tmp_path, least, suffix, start):
    path = tmp_path / f"figure.{suffix}"
    save_figure(least.figure(), path, alt="one & only")
    assert path.read_bytes().startswith(start)
    if suffix == "svg":
        shown = ElementTree.fromstring(path.read_text())
        assert shown.attrib["aria-label"] == "one & only"
    if suffix == "png":
        assert b"one & only" in path.read_bytes()


def test_other_formats_are_refused(tmp_path, least):
    with pytest.raises(InvalidParameterError, match=r"\.png, \.svg or \.pdf"):
        save_figure(least.figure(), tmp_path / "figure.gif")
