"""Means, winners and the paper's table, by hand."""

import io
import math

import pytest
from rich.console import Console

from ldpkit.bench.grid import Row
from ldpkit.bench.summary import Mean, Summary
from ldpkit.bench.table import Scale, render

VALUES = {
    ("grr", "none"): [4e-3, 6e-3],
    ("grr", "norm"): [4e-3, 4e-3],
    ("grr", "norm_sub"): [2e-3, 5e-3],
    ("oue", "none"): [2e-3, 2e-3],
    ("oue", "norm"): [3e-3, 1.5e-3],
    ("oue", "norm_sub"): [1e-3, 1e-3],
}


def summary_of(metric):
    rows = [
        Row(1.0, protocol, method, metric, run, value)
        for (protocol, method), values in VALUES.items()
        for run, value in enumerate(values)
    ]
    other = [Row(2.0, "grr", "none", metric, 0, 99.0), Row(1.0, "grr", "none", "l2", 0, 99.0)]
    return Summary([*rows, *other], 1.0, metric)


def test_means_and_standard_errors():
    mean = summary_of("mae").mean("grr", "none")
    assert mean.value == pytest.approx(5e-3)
    assert mean.stderr == pytest.approx(1e-3)
    assert math.isnan(Mean.of([1.0]).stderr)


def test_the_average_leaves_out_no_method():
    assert summary_of("mae").average("grr").value == pytest.approx((4 + 3.5) / 2 * 1e-3)


def test_the_best_of_an_error_is_the_smallest():
    summary = summary_of("mae")
    assert summary.best_method("grr") == "norm_sub"
    assert summary.best_pair() == ("oue", "norm_sub")
    assert [summary.wins(method) for method in summary.methods] == [0, 1, 3]


def test_the_best_of_a_similarity_is_the_largest():
    summary = summary_of("kendall_tau")
    assert summary.best_method("grr") == "none"
    assert summary.best_pair() == ("grr", "none")
    assert sum(summary.wins(method) for method in summary.methods) == 4


def test_numbers_are_scaled_together():
    scale = Scale.of(summary_of("mae"))
    assert scale == Scale(-3, 2)
    assert scale.text(Mean(5e-3, 1e-3)) == "5.00 ±1.00"
    assert scale.text(Mean(5e-3, math.nan)) == "5.00"


@pytest.mark.parametrize("width", [60, 160])
def test_the_table_marks_the_best_of_each_row(width):
    console = Console(width=width, record=True, file=io.StringIO())
    console.print(render(summary_of("mae"), width))
    text = " ".join(console.export_text().split())
    assert text.count("*") == 3  # two rows and the caption
    assert "w/o PP" in text
    assert "avg with PP" in text
    assert "units of 1e-3" in text
    assert "75%" in text
