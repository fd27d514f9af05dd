"""Estimates: no bare arrays, and nothing in them changes."""

from __future__ import annotations

import dataclasses
import pickle
from statistics import NormalDist

import numpy as np
import pytest

import ldpkit
from ldpkit.core.errors import (
    InvalidParameterError,
    MissingDependencyError,
    OutOfDomainError,
    UnknownNameError,
)


@pytest.fixture
def oracle():
    return ldpkit.OUE(["walk", "bike", "bus", "car"], epsilon=1.0)


@pytest.fixture
def estimate(oracle):
    return oracle.tally(
        oracle.privatize(["bus"] * 300 + ["bike"] * 100, rng=ldpkit.random.seeded(1))
    ).estimate()


def test_it_carries_what_belongs_to_it(estimate, oracle):
    assert len(estimate) == 4
    assert estimate.n == 400
    assert estimate.labels == ["walk", "bike", "bus", "car"]
    assert estimate.domain == oracle.domain
    assert estimate["bus"] == estimate.values[2]
    assert isinstance(estimate["bus"], float)
    assert (estimate.counts == 400 * estimate.values).all()
    assert (estimate.unbiased == estimate.values).all()
    assert estimate.made_by["mechanism"] == "oue"


def test_it_does_not_change(estimate):
    for name in ("values", "stderr", "unbiased"):
        with pytest.raises(ValueError, match="read-only"):
            getattr(estimate, name)[0] = 1.0
    with pytest.raises(dataclasses.FrozenInstanceError):
        estimate.n = 5
    with pytest.raises(dataclasses.FrozenInstanceError):
        del estimate.values


def test_it_keeps_its_own_arrays(oracle):
    tally = oracle.tally(oracle.privatize([0, 1]))
    base = tally.estimate()
    values = np.zeros(4)
    copy = dataclasses.replace(base, values=values)
    values[0] = 9
    assert copy.values[0] == 0


@pytest.mark.parametrize("label", ["tram", "Bus", 2, 0.5, None, ["bus"], ("bus",)])
def test_labels_that_are_not_there_are_refused(estimate, label):
    with pytest.raises(OutOfDomainError, match="is not in the domain"):
        estimate[label]


def test_indices_are_labels_where_there_are_no_others():
    oracle = ldpkit.GRR(3, 1.0)
    estimate = oracle.tally([0, 1, 1]).estimate()
    assert estimate[1] == estimate.values[1]
    with pytest.raises(OutOfDomainError):
        estimate[3]
    with pytest.raises(OutOfDomainError):
        estimate["1"]


# --- intervals -------------------------------------------------------------------------


@pytest.mark.parametrize("level", [0.5, 0.95, 0.999])
def test_intervals_reach_as_far_as_the_normal_law_says(estimate, level):
    low, high = estimate.interval(level)
    reach = NormalDist().inv_cdf((1 + level) / 2) * estimate.stderr
    assert np.allclose(low, np.clip(estimate.values - reach, 0, 1))
    assert np.allclose(high, np.clip(estimate.values + reach, 0, 1))
    wide_low, wide_high = estimate.interval(level, simultaneous=True)
    reach = NormalDist().inv_cdf(1 - (1 - level) / 8) * estimate.stderr
    assert np.allclose(wide_low, np.clip(estimate.values - reach, 0, 1))
    assert (wide_high >= high).all()


def test_intervals_stay_within_frequencies(oracle):
    estimate = ldpkit.Tally(oracle, 10, np.array([10, 0, 5, 3])).estimate()
    low, high = estimate.interval(0.99)
    assert ((low >= 0) & (high <= 1) & (low <= high)).all()


@pytest.mark.parametrize("level", [0, 1, 95, -0.5, np.nan, True, None, "0.95"])
def test_senseless_levels_are_refused(estimate, level):
    with pytest.raises(InvalidParameterError, match="level"):
        estimate.interval(level)


def test_the_highest_level_is_wide_not_an_error(estimate):
    low, high = estimate.interval(1 - 2**-53, simultaneous=True)
    assert (high > low).all()


# --- consistency -----------------------------------------------------------------------


def test_post_processing_moves_values_but_not_intervals(estimate):
    moved = estimate.consistent("norm_sub")
    assert moved.values.sum() == pytest.approx(1)
    assert (moved.values >= 0).all()
    assert (moved.unbiased == estimate.values).all()
    assert (moved.stderr == estimate.stderr).all()
    assert np.array_equal(moved.interval(), estimate.interval())
    assert moved.made_by == {**estimate.made_by, "consistency": "norm_sub"}
    assert "consistency" not in estimate.made_by


def test_post_processing_starts_from_the_unbiased_estimate(estimate):
    once = estimate.consistent("norm_sub")
    assert (once.consistent("norm_sub").values == once.values).all()


def test_post_processing_by_name(estimate, oracle):
    tally = oracle.tally(oracle.privatize(["bus"] * 300 + ["bike"] * 100, rng=ldpkit.random.seeded(1)))
    assert (tally.estimate(consistency="norm_sub").values == estimate.consistent("norm_sub").values).all()
    with pytest.raises(UnknownNameError, match="did you mean"):
        estimate.consistent("norm-subb")


# --- rows and frames -------------------------------------------------------------------


def test_rows_have_all_there_is(estimate):
    rows = list(estimate.rows(0.9))
    low, high = estimate.interval(0.9)
    assert [row["value"] for row in rows] == estimate.labels
    assert [list(row) for row in rows] == [["value", "frequency", "stderr", "low", "high", "count"]] * 4
    for index, row in enumerate(rows):
        assert all(type(row[key]) is float for key in list(row)[1:])
        assert (row["frequency"], row["low"], row["high"]) == (
            estimate.values[index],
            low[index],
            high[index],
        )
        assert row["count"] == row["frequency"] * 400


@pytest.mark.parametrize("backend", ["polars", "pandas", "pyarrow", "auto"])
def test_frames_have_the_rows(estimate, backend):
    if backend != "auto":
        pytest.importorskip(backend)
    frame = estimate.to_frame(backend, level=0.8)
    assert backend == "auto" or type(frame).__module__.startswith(backend)
    assert len(frame) == 4
    column = frame["frequency"]
    assert (np.asarray(column) == estimate.values).all()
    assert list(np.asarray(frame["value"])) == estimate.labels


def test_a_library_that_is_not_there_is_named(estimate, monkeypatch):
    import sys

    for library in ("polars", "pandas", "pyarrow"):
        monkeypatch.setitem(sys.modules, library, None)
    for backend in ("auto", "pandas"):
        with pytest.raises(MissingDependencyError, match=r"ldpkit\[frames\]"):
            estimate.to_frame(backend)


@pytest.mark.parametrize("backend", ["json", "spark", "", "os"])
def test_an_unknown_backend_is_refused_and_not_imported(estimate, backend):
    with pytest.raises(InvalidParameterError, match="backend"):
        estimate.to_frame(backend)


def test_it_shows_the_largest_first(estimate):
    lines = repr(estimate).splitlines()
    assert lines[0] == "Estimate of 4 frequencies from n=400 reports (mechanism=oue, epsilon=1.0, method=mi)"
    assert lines[1].split()[0] == "bus"
    assert "+-" in lines[1]
    many = ldpkit.GRR(100, 1.0)
    assert repr(many.tally(many.privatize(range(100))).estimate()).splitlines()[-1] == "  ... and 95 more"


def test_it_travels_between_processes(estimate):
    back = pickle.loads(pickle.dumps(estimate))
    assert (back.values == estimate.values).all()
    assert back.domain == estimate.domain
