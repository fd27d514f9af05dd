"""What a trajectory costs a person, and what its reports are."""

from __future__ import annotations

import math

import numpy as np
import pytest

import ldpkit
from ldpkit.core.errors import InvalidInputError, InvalidParameterError, OutOfDomainError
from ldpkit.mechanisms.spatial.chain import chain, chained_points
from ldpkit.mechanisms.spatial.tracs_d import THESIS_SHARE
from ldpkit.testing.expect import UntouchedSource

SQUARE = ((0, 0), (1, 1))


def walks(count=20, seed=1):
    generator = np.random.default_rng(seed)
    return ldpkit.Trajectories.from_list(
        [generator.random((generator.integers(1, 9), 2)) for _ in range(count)]
    )


@pytest.mark.parametrize("name", ["tracs_c", "planar_window", "grid_response"])
def test_a_person_pays_for_every_location(name):
    there = walks()
    private = ldpkit.privatize_trajectories(there, SQUARE, name, epsilon=2, rng=ldpkit.random.seeded(1))
    exact = private.mechanism.exact_epsilon()
    assert private.epsilons == pytest.approx(there.lengths * exact)
    assert (private.epsilons >= there.lengths * exact).all()
    assert private.trajectories.lengths.tolist() == there.lengths.tolist()
    assert (private.trajectories.points == private.mechanism.points_of(private.reports)).all()
    assert private.tally().n == len(there.points)
    told = private.to_dict()
    assert told["about"]["largest_epsilon"] == private.epsilons.max()
    assert "is not protected" in told["notes"][0]
    assert told["rows"][3]["epsilon"] == private.epsilons[3]
    assert told["warnings"] == ["made with a seed: whoever knows the seed can undo the noise"]
    assert len(private.rows(top=2)) == 2


def test_a_budget_for_a_trajectory_is_shared_by_its_locations():
    there = walks()
    private = ldpkit.privatize_trajectories(there, SQUARE, "tracs_c", epsilon=3, per="trajectory")
    assert (private.epsilons <= 3).all()
    assert private.epsilons == pytest.approx(np.full(len(there), 3), abs=1e-5)
    assert {count: each.epsilon for count, each in private.mechanisms.items()}[4] == 0.75
    with pytest.raises(InvalidInputError, match="more than one mechanism"):
        private.tally()
    long = ldpkit.Trajectories.from_list([np.random.default_rng(1).random((5000, 2))])
    with pytest.raises(InvalidParameterError, match=r"leaves 0.0006 for each, less than 0.001"):
        ldpkit.privatize_trajectories(long, SQUARE, "planar_window", epsilon=3, per="trajectory")


def test_a_place_visited_again_repeats_its_report_and_is_paid_once():
    home, work = (0.25, 0.25), (0.75, 0.5)
    there = ldpkit.Trajectories.from_list([[home, work, home, home], [home], [work, home, work]])
    private = ldpkit.privatize_trajectories(there, SQUARE, "planar_window", epsilon=2, repeat=True)
    assert private.paid.tolist() == [2, 1, 2]
    assert private.epsilons == pytest.approx([4, 2, 4], abs=1e-5)
    first, _, last = (reports.tolist() for reports in np.split(private.reports, [4, 5]))
    assert first[0] == first[2] == first[3]
    assert last[0] == last[2]
    assert any("paid for once" in note for note in private.notes())
    every = ldpkit.privatize_trajectories(there, SQUARE, "planar_window", epsilon=2)
    assert every.paid.tolist() == [4, 1, 3]


def test_two_people_at_one_place_do_not_share_a_report():
    there = ldpkit.Trajectories.from_list([[(0.5, 0.5)] * 3 for _ in range(200)])
    private = ldpkit.privatize_trajectories(there, SQUARE, "planar_window", epsilon=1, repeat=True)
    assert len(np.unique(private.reports[::3], axis=0)) > 190


def test_algorithm_1_goes_from_report_to_report():
    there = walks(40)
    source = ldpkit.random.seeded(5)
    private = ldpkit.privatize_trajectories(
        there, SQUARE, "tracs_d", epsilon=4, reference="previous", share=THESIS_SHARE, rng=source
    )
    back = chained_points(private.mechanism, private.reports, there.offsets)
    assert (back == private.trajectories.points).all()
    assert private.epsilons == pytest.approx(there.lengths * 4.0, abs=1e-4)
    with pytest.raises(InvalidInputError, match="do not tally"):
        private.tally()
    # The first of each is what a fixed reference reports.
    firsts = private.reports[there.offsets[:-1]]
    assert (private.mechanism.points_of(firsts) == back[there.offsets[:-1]]).all()


@pytest.mark.parametrize(
    ("direction", "epsilon", "expected"),
    [("ogpm", 4, 0.3252), ("ogpm", 8, 0.1670), ("sectors", 4, 0.3473), ("sectors", 8, 0.2590)],
)
def test_algorithm_1_from_a_random_first_reference_has_the_published_error(direction, epsilon, expected):
    generator = np.random.default_rng(3)
    mechanism = ldpkit.get("tracs_d", SQUARE, epsilon=epsilon, share=THESIS_SHARE, direction=direction)
    points, offsets = generator.random((60_000, 2)), np.arange(0, 60_001, 100)
    _, answers = chain(
        mechanism, points, offsets, starts=generator.random((600, 2)), rng=ldpkit.random.seeded(2)
    )
    far = np.hypot(*(answers - points).T)
    # Reports of a trajectory depend on each other a little: the error of its mean is taken over trajectories.
    means = far.reshape(600, 100).mean(axis=1)
    assert abs(means.mean() - expected) < 4.5 * means.std() / math.sqrt(600) + 2e-4


def test_chains_keep_epsilon_from_any_reference_corners_included():
    mechanism = ldpkit.get("tracs_d", SQUARE, epsilon=2, share=0.7)
    corners = np.array([[0, 0], [1, 0], [1, 1], [0, 1], [0.5, 0], [1, 0.3]])
    points = np.random.default_rng(1).random((60, 2))
    offsets = np.arange(0, 61, 10)
    reports, answers = chain(mechanism, points, offsets, starts=corners, rng=ldpkit.random.seeded(3))
    assert mechanism.domain.region.contains(answers).all()
    assert mechanism.check_reports(reports).shape == (60, 2)
    with pytest.raises(InvalidInputError, match="one start for each of 6"):
        chain(mechanism, points, offsets, starts=corners[:2])
    with pytest.raises(InvalidInputError, match="59 reports for 60 points"):
        chained_points(mechanism, reports[:-1], offsets)


def test_senseless_requests_are_refused_before_randomness():
    there = walks(3)
    for options, message in (
        ({"mechanism": "pm"}, "for numbers, not for locations"),
        ({"mechanism": "planar_window", "reference": "previous"}, "has no reference"),
        ({"mechanism": "tracs_d", "reference": "previous", "repeat": True}, "repeat=False"),
        ({"per": "day"}, "per must be location or trajectory"),
        ({"reference": "corner"}, "reference must be fixed or previous"),
        ({"epsilon": -1}, "epsilon must be positive"),
    ):
        with pytest.raises(InvalidParameterError, match=message):
            ldpkit.privatize_trajectories(
                there, SQUARE, **{"epsilon": 1, "rng": UntouchedSource(), **options}
            )
    outside = ldpkit.Trajectories.from_list([[(0.5, 0.5), (2, 2)]])
    with pytest.raises(OutOfDomainError, match="at position 1 is not in"):
        ldpkit.privatize_trajectories(outside, SQUARE, epsilon=1, rng=UntouchedSource())


def test_first_references_and_budgets_are_checked_before_anything_is_drawn():
    there = walks(1)
    for more, told in (
        ({"starts": [[0.5, 0.5]]}, "give reference='previous' with them"),
        ({"starts": [[np.nan, 0]], "reference": "previous"}, "is not in"),
        ({"starts": [[5, 0.5]], "reference": "previous"}, "is not in"),
        ({"starts": [[0.5, 0.5]] * 2, "reference": "previous"}, "one start for each of 1"),
        ({"epsilon": -1, "per": "trajectory"}, "positive and finite, got -1"),
        ({"epsilon": "4"}, "must be a number"),
        ({"epsilon": "4", "per": "trajectory"}, "positive and finite, got '4'"),
    ):
        options = {"epsilon": 4, "rng": UntouchedSource(), **more}
        with pytest.raises(InvalidParameterError, match=told):
            ldpkit.privatize_trajectories(there, SQUARE, "tracs_d", **options)
