"""Trajectories: one ragged array that does not change."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import ldpkit
from ldpkit.core.errors import FrozenError, InvalidInputError

WALKS = ldpkit.Trajectories.from_list(
    [[(0, 0), (1, 2)], [(3, 4)], [(5, 6), (7, 8), (9, 9)]], ids=["a", "b", 7]
)


def test_rows_lengths_and_positions():
    assert len(WALKS) == 3
    assert WALKS.lengths.tolist() == [2, 1, 3]
    assert WALKS.owners.tolist() == [0, 0, 1, 2, 2, 2]
    assert WALKS.positions.tolist() == [0, 1, 0, 0, 1, 2]
    assert [each.tolist() for each in WALKS][1] == [[3, 4]] == WALKS["b"].tolist()
    assert WALKS.columns()["id"].tolist() == ["a", "a", "b", 7, 7, 7]
    assert repr(WALKS) == "<3 trajectories with 6 points>"


def test_rows_of_a_table_are_grouped_and_sorted_by_time():
    times = np.array(["2020-01-03", "2020-01-01", "2020-01-02", "2020-01-01"], "M8[D]")
    points = [(0, 3), (1, 1), (0, 2), (0, 1)]
    walks = ldpkit.Trajectories.from_rows(["x", "w", "x", "x"], points, times)
    assert walks.ids == ("x", "w")
    assert walks["x"][:, 1].tolist() == [1, 2, 3]
    assert walks.times.dtype == "M8[ms]"
    unsorted = ldpkit.Trajectories.from_rows(["x", "w", "x", "x"], points)
    assert unsorted["x"][:, 1].tolist() == [3, 2, 1]
    assert walks != unsorted


def test_copies_selections_and_other_points():
    assert pickle.loads(pickle.dumps(WALKS)) == WALKS
    assert WALKS.select([2, 0]).ids == (7, "a")
    assert WALKS.select(slice(1)).points.tolist() == [[0, 0], [1, 2]]
    moved = WALKS.with_points(WALKS.points + 1)
    assert moved["b"].tolist() == [[4, 5]]
    assert moved.ids == WALKS.ids
    with pytest.raises(FrozenError):
        WALKS.points = 3
    with pytest.raises(ValueError, match="read-only"):
        WALKS.points[0] = 3


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: ldpkit.Trajectories.from_list([]), "no trajectories"),
        (lambda: ldpkit.Trajectories.from_list([[(0, 0)], []], ["a", "b"]), "trajectory 'b' has no points"),
        (lambda: ldpkit.Trajectories([(0, 0)], [0, 0, 1]), "trajectory 0 has no points"),
        (lambda: ldpkit.Trajectories([(0, 0)], [0, 2]), "the last offset is the number of points, 1, got 2"),
        (lambda: ldpkit.Trajectories([(0, 0)], [1, 1]), "begin with 0"),
        (lambda: ldpkit.Trajectories([(0, 0)], [0.0, 1.0]), "whole numbers"),
        (lambda: ldpkit.Trajectories([(0, 0)] * 2, [0, 1, 2], ["a", "a"]), "the id 'a' is there twice"),
        (lambda: ldpkit.Trajectories([(0, 0)], [0, 1], ["a", "b"]), "2 ids for 1 trajectories"),
        (lambda: ldpkit.Trajectories([(0, 0), (0, np.nan)], [0, 2]), "point 1 of trajectory 0 is not finite"),
        (
            lambda: ldpkit.Trajectories([(0, 0)] * 2, [0, 2], times=[2, 1]),
            "point 1 of trajectory 0 is earlier",
        ),
        (lambda: ldpkit.Trajectories([(0, 0)] * 2, [0, 2], times=[1]), "one time for each of 2 points"),
        (lambda: ldpkit.Trajectories([(0, 0)], [0, 1], times=["noon"]), "numbers or datetimes"),
        (lambda: ldpkit.Trajectories([(0, 0)], [0, 1], times=[np.nan]), "time at position 0 is missing"),
        (lambda: ldpkit.Trajectories.from_rows(["a"], [(0, 0)] * 2), "1 ids for 2 points"),
        (lambda: WALKS["zoe"], "no trajectory 'zoe'"),
    ],
)
def test_what_is_no_trajectory_is_refused(make, message):
    with pytest.raises(InvalidInputError, match=message):
        make()
