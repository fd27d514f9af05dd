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
from ldpkit.core.text import is_unseen


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


def test_intervals_are_nearly_normal_where_counts_are_large():
    oracle = ldpkit.OUE(4, epsilon=1.0)
    counts = oracle.simulate([400_000, 300_000, 200_000, 100_000], rng=ldpkit.random.seeded(2))[0]
    estimate = ldpkit.Tally(oracle, 10**6, counts).estimate()
    low, high = estimate.interval()
    reach = NormalDist().inv_cdf(0.975) * estimate.stderr
    assert np.allclose(low, estimate.values - reach, atol=0.02 * reach.max())
    assert np.allclose(high, estimate.values + reach, atol=0.02 * reach.max())
    wide_low, wide_high = estimate.interval(simultaneous=True)
    assert np.allclose(wide_high - wide_low, (high - low) * 2.4977 / 1.9600, rtol=0.01)


def test_intervals_hold_their_values_and_leave_frequencies_only_for_them(oracle):
    raw = ldpkit.Tally(oracle, 10, np.array([10, 0, 5, 3])).estimate()
    for estimate in (raw, raw.consistent("norm_sub")):
        low, high = estimate.interval()
        assert ((low <= estimate.values) & (estimate.values <= high)).all()
        assert (low >= np.minimum(0, estimate.values)).all()
        assert (high <= np.maximum(1, estimate.values)).all()
    assert raw.interval()[1][0] == raw.values[0] > 1
    impossible = ldpkit.Tally(oracle, 1000, np.array([1000, 0, 500, 300])).estimate()
    assert impossible.interval()[0][0] == 1, "no frequency explains it: from the boundary to the value"
    assert impossible.interval()[1][0] == impossible.values[0] > 3


def test_an_interval_of_the_population_is_wider(oracle):
    estimate = ldpkit.Tally(oracle, 4000, np.array([1200, 1200, 1500, 1300])).estimate()
    (low, high), (far_low, far_high) = estimate.interval(), estimate.interval(population=True)
    assert ((far_high - far_low) >= (high - low)).all()
    assert not estimate.population
    assert "for the frequencies of these 4000 people" in repr(estimate)
    asked = ldpkit.Tally(oracle, 4000, np.array([1200, 1200, 1500, 1300])).estimate(population=True)
    assert np.array_equal(asked.interval(), (far_low, far_high))
    assert "of the population they were drawn from" in repr(asked)


@pytest.mark.parametrize("level", [0, 1, 95, -0.5, np.nan, True, "0.95"])
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
    low, high = estimate.region.ends(0.05, population=False)
    assert np.array_equal(moved.interval(), (np.minimum(low, moved.values), np.maximum(high, moved.values)))
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
    rows = estimate.with_level(0.9).rows()
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


def test_the_most_frequent_rows_come_in_the_order_that_was_asked_for(estimate):
    rows = sorted(estimate.rows(), key=lambda row: -row["frequency"])
    assert estimate.rows(2, sort="frequency") == rows[:2]
    assert estimate.rows(2) == sorted(rows[:2], key=lambda row: estimate.labels.index(row["value"]))


def test_columns_come_in_parts_and_are_the_rows(estimate, monkeypatch):
    monkeypatch.setattr("ldpkit.estimation.estimate._AT_ONCE", 3)
    parts = [{name: list(column) for name, column in part.items()} for part in estimate.iter_columns()]
    assert [len(part["value"]) for part in parts] == [3, 1]
    rows = [dict(zip(part, row, strict=True)) for part in parts for row in zip(*part.values(), strict=True)]
    assert rows == estimate.rows()


def test_rows_compute_nothing_for_each_value(estimate, monkeypatch):
    """Counts were computed anew for each row, which is quadratic in the number of values."""
    asked = []
    counts, interval = type(estimate).counts.fget, type(estimate).interval
    monkeypatch.setattr(type(estimate), "counts", property(lambda self: asked.append(1) or counts(self)))
    monkeypatch.setattr(type(estimate), "interval", lambda *a, **k: asked.append(1) or interval(*a, **k))
    assert len(list(estimate.rows())) == 4
    assert len(asked) <= 2


@pytest.mark.parametrize("backend", ["polars", "pandas", "pyarrow", "auto"])
def test_frames_have_the_rows(estimate, backend):
    if backend != "auto":
        pytest.importorskip(backend)
    frame = estimate.to_frame(backend)
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
        with pytest.raises(MissingDependencyError, match=r"\[frames\]"):
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
    assert "  ... and 95 more" in repr(many.tally(many.privatize(range(100))).estimate()).splitlines()


def test_it_travels_between_processes(estimate):
    back = pickle.loads(pickle.dumps(estimate))
    assert (back.values == estimate.values).all()
    assert back.domain == estimate.domain


def test_a_label_cannot_steer_a_terminal():
    oracle = ldpkit.GRR(["\x1b[2Jcar", "\u202ebus", "tram"], epsilon=3)
    shown = repr(ldpkit.Tally(oracle, 30, [10, 10, 10]).estimate())
    assert r"\x1b[2Jcar" in shown
    assert not any(map(is_unseen, shown))
