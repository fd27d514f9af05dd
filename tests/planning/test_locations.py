"""Which mechanism for locations, and how far trajectories are off."""

from __future__ import annotations

import numpy as np
import pytest

from ldpkit.core.domains.globe import EARTH_RADIUS, Globe
from ldpkit.core.domains.plane import PlaneDomain
from ldpkit.core.domains.trajectories import Trajectories
from ldpkit.core.errors import InvalidInputError, InvalidParameterError
from ldpkit.core.random import seeded
from ldpkit.mechanisms.spatial.tracs_c import TracsC
from ldpkit.planning.best_constant import best_constant, best_constant_on_globe
from ldpkit.planning.locations import recommend_locations
from ldpkit.simulation.metrics import trajectories as metrics
from ldpkit.simulation.trajectories import evaluate_trajectories

SQUARE = ((0, 0), (1, 1))


def test_points_are_ranked_by_exact_errors_with_a_constant_among_them():
    found = recommend_locations(SQUARE, 4)
    errors = {each.mechanism: each.error for each in found.options}
    assert errors["grid_response"] == pytest.approx(0.1821, abs=1e-4)
    assert errors["planar_window"] == pytest.approx(0.1952, abs=1e-4)
    assert errors["tracs_c"] == pytest.approx(0.27945, abs=1e-5)
    assert errors["constant"] == pytest.approx(0.382598, abs=1e-4)
    assert list(errors.values()) == sorted(errors.values())
    assert found.best.mechanism == "grid_response"
    assert "place_response" in found.left_out
    small = recommend_locations(SQUARE, 2)
    assert any("Worse than the constant answer" in note and "tracs_c" in note for note in small.notes())


def test_at_a_tiny_epsilon_nobody_need_be_asked():
    found = recommend_locations(SQUARE, 0.02)
    assert found.best.mechanism == "constant"
    assert not found.teaches
    assert "nothing is better" in found.notes()[0]


def test_public_places_help_and_a_map_needs_them():
    generator = seeded(1).generator()
    places = np.clip(0.3 + 0.05 * generator.standard_normal((300, 2)), 0, 1)
    found = recommend_locations(SQUARE, 2, locations=places)
    assert found.best.mechanism in ("place_response", "place_exponential")
    shares = recommend_locations(SQUARE, 3, "heat map", locations=places, n=2_000, columns=4, rows=4)
    names = [each.mechanism for each in shares.options]
    assert names.index("olh on cells") < names.index("tracs_c")
    assert names[-1] == "constant" or shares.options[-1].error >= shares.best.error
    with pytest.raises(InvalidParameterError, match="depends on how people are spread"):
        recommend_locations(SQUARE, 2, "heat map")
    with pytest.raises(InvalidParameterError, match="'points' or 'heat map'"):
        recommend_locations(SQUARE, 2, "lines")


def test_the_best_constant_is_the_geometric_median():
    generator = seeded(2).generator()
    points = generator.random((50, 2)) ** 2
    where, least = best_constant(points, np.ones(50) / 50)
    for step in ((0.01, 0), (0, 0.01), (-0.01, 0), (0, -0.01)):
        assert np.hypot(*(points - where - step).T).mean() > least


def test_the_best_constant_on_the_globe_is_better_than_any_place_of_a_grid():
    earth, generator = Globe(), seeded(2).generator()
    grid, _ = earth.nodes(24)
    for count in (1, 4, 50):
        points = np.column_stack([generator.uniform(-180, 180, count), generator.uniform(-60, 60, count)])
        where, least = best_constant_on_globe(points, np.ones(count))
        assert least == pytest.approx(float(earth.distance(points, where).mean()), abs=1e-3)
        assert all(earth.distance(points, each).mean() > least for each in grid)


def test_on_the_globe_a_constant_is_among_the_answers(monkeypatch):
    monkeypatch.setattr(TracsC, "mean_error", lambda *_: 5000.0)  # its integral takes a second
    found = recommend_locations(PlaneDomain.globe(), 4)
    rows = {row["mechanism"]: row for row in found.rows()}
    assert rows["constant"]["error"] == pytest.approx(EARTH_RADIUS * np.pi / 2)  # a quarter of the way around
    assert rows["tracs_c"]["of_constant"] == pytest.approx(5000 / (EARTH_RADIUS * np.pi / 2))
    assert "mean distance in kilometres" in found.caption
    near = recommend_locations(PlaneDomain.globe(), 4, locations=[(179, 0), (-179, 0), (180, 0)])
    (constant,) = (each for each in near.options if each.mechanism == "constant")
    assert constant.error == pytest.approx(2 / 3 * EARTH_RADIUS * np.pi / 180, rel=1e-6)


def test_metrics_by_hand():
    walks = Trajectories.from_list([[(0, 0), (0, 1)], [(3, 3)]])
    answers = [(0, 0), (0, 3), (3, 4)]
    assert metrics.average_error(walks.points, answers) == 1
    assert metrics.trajectory_errors(walks, answers).tolist() == [1, 1]
    assert metrics.range_query(walks, answers, 1).tolist() == [0.5, 1]
    hot = metrics.hotspots_of([(0, 0), (0, 0), (0, 1), (3, 3), (4, 4)], 0.25)
    assert hot.tolist() == [[0, 0]]
    assert metrics.hotspot_difference(walks, answers, hot).tolist() == [0, 0]
    with pytest.raises(InvalidInputError, match="2 answers for 3 points"):
        metrics.average_error(walks.points, answers[:2])
    with pytest.raises(InvalidParameterError, match="positive"):
        metrics.range_query(walks, answers, 0)


def test_measured_errors_are_the_expected_ones():
    walks = Trajectories.from_list(list(seeded(1).generator().random((20, 100, 2))))
    found = evaluate_trajectories(
        walks, SQUARE, ["tracs_c", "planar_window", "grid_response"], epsilon=5, rng=seeded(3)
    )
    for row in found.rows():
        # 2,000 distances with a deviation of at most 0.3: five standard errors
        assert row["per_point"] == pytest.approx(row["expected"], abs=5 * 0.3 / 2000**0.5)
    shared = evaluate_trajectories(walks, SQUARE, ["planar_window"], epsilon=100, per="trajectory")
    assert shared.rows()[0]["epsilon"] == pytest.approx(100)
