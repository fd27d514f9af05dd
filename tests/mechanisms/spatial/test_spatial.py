"""Spatial mechanisms: exact epsilon everywhere, and the mean distances that the guide quotes."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

import ldpkit
from ldpkit.core.errors import InvalidParameterError
from ldpkit.core.exact import exp_bounds
from ldpkit.mechanisms.base import from_spec
from ldpkit.mechanisms.spatial.laplace_mass import clipped_masses
from ldpkit.mechanisms.spatial.tracs_d import THESIS_SHARE

SQUARE = ((0, 0), (1, 1))
NAMES = ldpkit.list_mechanisms("spatial")
PLACES = [(-1, 1.5), (0.5, 4), (2, 2), (5, 1.25)]

# Mean distances over the unit square. Those of TraCS-C and of the windows are exact to the last digit;
# those of TraCS-D were sampled, with standard errors of 1e-4.
REFERENCE = [
    ("tracs_c", {}, 4, 0.279450, 1e-6),
    ("tracs_c", {}, 8, 0.124197, 1e-6),
    ("tracs_d", {"share": THESIS_SHARE}, 4, 0.2563, 1e-4),
    ("tracs_d", {"share": THESIS_SHARE}, 8, 0.1278, 1e-4),
    ("tracs_d", {}, 4, 0.247, 5e-4),
    ("tracs_d", {}, 8, 0.122, 5e-4),
    ("planar_window", {}, 4, 0.1952, 5e-5),
    ("planar_window", {}, 8, 0.0549, 5e-5),
    ("grid_response", {}, 4, 0.1821, 5e-5),
    ("grid_response", {}, 8, 0.0537, 5e-5),
]


@pytest.mark.parametrize(("name", "parameters", "epsilon", "expected", "within"), REFERENCE)
def test_mean_distances_by_integration_and_by_sampling(name, parameters, epsilon, expected, within):
    mechanism = ldpkit.get(name, SQUARE, epsilon=epsilon, **parameters)
    exact = mechanism.mean_error()
    assert exact == pytest.approx(expected, abs=within)
    n = 100_000
    points = np.random.default_rng(7).random((n, 2))
    reports = mechanism.privatize(points, rng=ldpkit.random.seeded(3))
    far = np.hypot(*(mechanism.points_of(reports) - points).T)
    # The mean of 10 cases lies within 5 standard errors, but for a false alarm in 170,000 runs.
    assert abs(far.mean() - exact) < 5 * far.std() / math.sqrt(n)


def test_a_sampler_that_is_two_percent_off_is_noticed_by_that_test():
    n, stated = 100_000, ldpkit.get("planar_window", SQUARE, epsilon=4).mean_error()
    other = ldpkit.get("planar_window", SQUARE, epsilon=3.9)
    points = np.random.default_rng(7).random((n, 2))
    far = np.hypot(*(other.points_of(other.privatize(points, rng=ldpkit.random.seeded(3))) - points).T)
    assert abs(far.mean() - stated) > 5 * far.std() / math.sqrt(n)


def test_sizes_of_the_grid_are_those_that_are_best():
    for epsilon, size in ((4, 3), (8, 11)):
        assert ldpkit.get("grid_response", SQUARE, epsilon=epsilon).shape == (size, size)
    best = ldpkit.get("grid_response", SQUARE, epsilon=6)
    for columns in range(best.columns - 2, best.columns + 3):
        other = ldpkit.get("grid_response", SQUARE, epsilon=6, columns=columns, rows=columns)
        assert best.mean_error() <= other.mean_error()
    wide = ldpkit.get("grid_response", ((0, 0), (10, 2)), epsilon=6)
    assert wide.columns > 2 * wide.rows


def test_a_long_region_gives_more_of_the_budget_to_its_long_side():
    half = ldpkit.get("tracs_c", ((0, 0), (2, 10)), epsilon=8, share=0.5)
    best = ldpkit.get("tracs_c", ((0, 0), (2, 10)), epsilon=8)
    assert half.mean_error() == pytest.approx(0.7881, abs=5e-5)
    assert best.mean_error() == pytest.approx(0.5351, abs=5e-5)
    assert best.share < 0.3
    assert ldpkit.get("tracs_c", ((0, 0), (10, 2)), epsilon=8).share == pytest.approx(
        1 - best.share, abs=2e-3
    )


def test_at_a_small_epsilon_a_constant_answer_is_better_than_tracs_c():
    centre = 0.382598
    assert ldpkit.get("tracs_c", SQUARE, epsilon=2).mean_error() > centre
    assert ldpkit.get("planar_window", SQUARE, epsilon=2).mean_error() < centre


# --- epsilon ---------------------------------------------------------------------------


def _ratios(mechanism, count, seed):
    """Yield the exact ratio of the chances of random reports under two random locations, edges included."""
    generator = np.random.default_rng(seed)
    region = mechanism.domain.region
    shares = generator.random((2, count, 2))
    shares = np.where(generator.random(shares.shape) < 0.2, np.rint(shares), shares)  # on edges, in corners
    one, two = (region.project(region.from_shares(each)) for each in shares)
    two[: count // 10] = getattr(mechanism, "reference", region.centre)
    reports = mechanism.privatize(
        np.where(generator.random((count, 1)) < 0.5, one, two), rng=ldpkit.random.seeded(seed)
    )
    places = [mechanism.place_of(each) for each in (one, two)]
    for first, second, report in zip(*places, reports, strict=True):
        cell = tuple(np.atleast_1d(report).tolist())
        chances = [mechanism._chance(tuple(np.atleast_1d(each).tolist()), cell) for each in (first, second)]
        yield max(chances) / min(chances)


def test_no_ratio_exceeds_epsilon_for_random_locations_references_and_reports():
    generator = np.random.default_rng(11)
    references = [(0.5, 0.5), (0.5, 0.0), (1.0, 0.25), (0.0, 1e-6), *generator.random((4, 2)).tolist()]
    epsilon, seen = 3.0, Fraction(1)
    bound = exp_bounds(epsilon)[0]
    for place, (x, y) in enumerate(references):
        mechanism = ldpkit.get("tracs_d", SQUARE, epsilon=epsilon, share=0.7, x=x, y=y)
        for ratio in _ratios(mechanism, 250, place):
            assert ratio <= bound
            seen = max(seen, ratio)
    assert seen > bound * Fraction(999, 1000)  # it is reached


@pytest.mark.parametrize("name", [name for name in NAMES if name != "tracs_d"])
def test_no_ratio_exceeds_epsilon_for_the_others(name):
    plane = ldpkit.PlaneDomain.rectangle((-2, 1), (6, 5), places=PLACES)
    mechanism = ldpkit.get(name, plane, epsilon=3.0)
    ratios = list(_ratios(mechanism, 500, 5))
    assert max(ratios) <= exp_bounds(3.0)[0]
    assert max(ratios) > exp_bounds(2.0)[0]


def test_the_chance_of_a_report_is_the_entry_of_the_channel():
    plane = ldpkit.PlaneDomain.rectangle((-2, 1), (6, 5), places=PLACES)
    for name in NAMES:
        small = ldpkit.get(name, plane, epsilon=2.0).sibling(4)
        channel = small.channel()
        for place, row in list(zip(np.ndindex(*small.place_shape), channel.probabilities, strict=True))[::3]:
            cells = [tuple(np.atleast_1d(report).tolist()) for report in channel.reports[::5]]
            assert [small._chance(place, cell) for cell in cells] == row[::5]


# --- parts -----------------------------------------------------------------------------


@pytest.mark.parametrize("direction", ["ogpm", "sw", "purkayastha", "sectors"])
@pytest.mark.parametrize("distance", ["ogpm", "sw"])
def test_parts_can_be_exchanged(direction, distance):
    mechanism = ldpkit.get(
        "tracs_d", SQUARE, epsilon=4, share=THESIS_SHARE, direction=direction, distance=distance
    )
    assert 4 - 1e-5 < mechanism.exact_epsilon() <= 4
    assert from_spec(mechanism.spec()) == mechanism
    n, location = 50_000, (0.3, 0.4)
    found = mechanism.points_of(mechanism.privatize(np.tile(location, (n, 1)), rng=ldpkit.random.seeded(2)))
    far = np.hypot(*(found - location).T)
    assert abs(far.mean() - mechanism.error(location)) < 5 * far.std() / math.sqrt(n) + 1e-4
    small = mechanism.sibling(4)
    assert small.channel().epsilon() == small.exact_epsilon() <= 4


def test_squared_errors_are_less_with_the_power_for_them():
    absolute, squared = (ldpkit.get("tracs_c", SQUARE, epsilon=4, power=power) for power in (1, 2))
    assert squared.mean_error(power=2) < absolute.mean_error(power=2)
    wave = ldpkit.get("tracs_c", SQUARE, epsilon=4, axes="sw")
    assert wave.mean_error() > absolute.mean_error()
    assert wave.exact_epsilon() <= 4


def test_a_disc_is_a_window_too():
    square, disc = (
        ldpkit.get("planar_window", SQUARE, epsilon=8, window=window) for window in ("square", "disc")
    )
    assert disc.mean_error() < square.mean_error()
    assert 8 - 1e-6 < disc.exact_epsilon() <= 8
    small = disc.sibling(8)
    rows = small.channel().probabilities
    assert small.channel().epsilon() == small.exact_epsilon()
    assert {sum(row) for row in rows} == {1}
    masses = small.bin_masses(small.place_locations())
    assert masses == pytest.approx(np.array([[float(entry) for entry in row] for row in rows]))


def test_few_of_many_public_places():
    generator = np.random.default_rng(3)
    towns = generator.random((12, 2))
    places = np.clip(towns[generator.integers(12, size=600)] + generator.normal(0, 0.02, (600, 2)), 0, 1)
    mechanism = ldpkit.PlaceResponse.for_places(SQUARE, 4.0, places)
    again = ldpkit.PlaceResponse.for_places(SQUARE, 4.0, places)
    assert mechanism == again
    assert {tuple(site) for site in mechanism.sites.tolist()} <= {tuple(place) for place in places.tolist()}
    assert 6 <= len(mechanism.sites) <= 24
    assert mechanism.mean_error(places) < ldpkit.get("grid_response", SQUARE, epsilon=4).mean_error(places)
    assert len(ldpkit.PlaceResponse.for_places(SQUARE, 4.0, places, clusters=5).sites) == 5
    # Who is where matters: with all the weight on one town, its places are told apart.
    heavy = np.where(np.hypot(*(places - towns[0]).T) < 0.1, 1.0, 1e-6)
    assert ldpkit.PlaceResponse.for_places(SQUARE, 4.0, places, heavy) != mechanism


@pytest.mark.parametrize(
    ("name", "parameters", "message"),
    [
        ("tracs_d", {"x": 0, "y": 0}, "is a corner of"),
        ("tracs_d", {"x": 2, "y": 0}, "is not in"),
        ("tracs_d", {"x": 0.5}, "give both or neither"),
        ("tracs_d", {"direction": "laplace"}, "direction must be one of ogpm, sw, purkayastha, sectors"),
        ("tracs_c", {"share": 1.0}, "leaves them"),
        ("tracs_c", {"share": 0}, "share must be positive"),
        ("tracs_c", {"grid": 12}, "a power of two"),
        ("planar_window", {"side": 1.5}, "less than the longer edge"),
        ("planar_window", {"window": "hexagon"}, "window must be one of square, disc"),
        ("grid_response", {"columns": 3}, "give columns and rows"),
        ("grid_response", {"columns": 1, "rows": 1}, "a grid of one cell"),
        ("place_response", {}, "needs public places"),
    ],
)
def test_what_makes_no_sense_is_refused(name, parameters, message):
    with pytest.raises(InvalidParameterError, match=message):
        ldpkit.get(name, SQUARE, epsilon=4, **parameters)


def test_too_small_a_budget_for_two_reports_is_refused():
    with pytest.raises(InvalidParameterError, match=r"at least 0.002"):
        ldpkit.get("tracs_d", SQUARE, epsilon=0.001)
    with pytest.raises(InvalidParameterError, match="power must be 1"):
        ldpkit.get("tracs_c", SQUARE, epsilon=1).error((0, 0), 3)


def test_a_tally_has_at_most_4096_joint_bins_and_adds():
    points = np.random.default_rng(1).random((1000, 2))
    for name in ("tracs_c", "tracs_d", "planar_window", "grid_response"):
        mechanism = ldpkit.get(name, SQUARE, epsilon=12)
        reports = mechanism.privatize(points, rng=ldpkit.random.seeded(1))
        whole = mechanism.tally(reports)
        assert mechanism.tally_size <= 4096
        assert whole == mechanism.tally(reports[:300]) + mechanism.tally(reports[300:])
        assert whole.n == whole.counts.sum() == 1000
        assert ldpkit.Tally.from_bytes(whole.to_bytes()) == whole


def test_the_reference_that_is_best_for_public_places():
    generator = np.random.default_rng(5)
    places = np.clip(generator.normal([0.2, 0.7], 0.1, (300, 2)), 0, 1)
    best = ldpkit.TracsD.for_places(SQUARE, 4.0, places)
    centre = ldpkit.get("tracs_d", SQUARE, epsilon=4)
    assert best.mean_error(places) < 0.9 * centre.mean_error(places)
    assert from_spec(best.spec()) == best
    for kind in (ldpkit.TracsD, ldpkit.PlaceResponse):
        for weights, message in (([1.0], "one weight for each of 300"), (np.zeros(300), "positive weight")):
            with pytest.raises(InvalidParameterError, match=message):
                kind.for_places(SQUARE, 4.0, places, weights)


# --- baselines -------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["grid_exponential", "planar_laplace", "place_exponential"])
def test_baselines_are_scaled_until_their_integers_have_epsilon(name):
    plane = ldpkit.PlaneDomain.rectangle((0, 0), (1, 1), places=np.random.default_rng(1).random((40, 2)))
    for epsilon in (0.1, 4.0):
        mechanism = ldpkit.get(name, plane, epsilon=epsilon)
        weights = mechanism.weights.astype(object)
        assert set(weights.sum(axis=1)) == {2**64}
        worst = max(Fraction(max(column), min(column)) for column in weights.T)
        assert exp_bounds(epsilon * (1 - 1e-6))[0] < worst <= exp_bounds(epsilon)[0]
        assert mechanism.channel().epsilon() == mechanism.exact_epsilon()


def test_planar_laplace_noise_is_what_falls_into_each_cell():
    generator, scale, n = np.random.default_rng(2), 5.0, 400_000
    chances = clipped_masses(scale, (4, 3), np.array([1.0, 2.0]))
    far, turn = generator.gamma(2, 1 / scale, n), generator.random(n) * 2 * math.pi
    centre = np.array([0.375, 1.0])
    points = np.clip(centre + far[:, None] * np.stack([np.cos(turn), np.sin(turn)], axis=1), 0, [1, 2])
    column, row = np.minimum(points * [4, 1.5], [3.5, 2.5]).astype(int).T
    found = np.bincount(3 * column + row, minlength=12)
    # Twelve cells, each within 5 standard errors: a false alarm in 150,000 runs.
    expected = chances[3 * 1 + 1]
    assert (np.abs(found / n - expected) < 5 * np.sqrt(expected / n)).all()


def test_a_sensitivity_is_not_the_epsilon_of_a_table():
    mechanism = ldpkit.get("grid_exponential", SQUARE, epsilon=4)
    farthest = math.hypot(0.9, 0.9)  # of two centres: the sensitivity over outputs
    assert 4 / (2 * farthest) < 0.55 * mechanism.scale  # exp(-eps d / (2 sensitivity)) wastes the rest


def test_discs_at_the_same_height_share_their_work(monkeypatch):
    """The law of bins is the sum of their cells; a hundred places beside each other cost what one does."""
    from ldpkit.mechanisms.spatial import planar_window

    mechanism = ldpkit.get("planar_window", ((0, 0), (1, 1)), epsilon=2, window="disc", grid=64)
    row = np.array(mechanism.row((9, 40)), float).reshape(mechanism.shape)
    for axis, edges in enumerate(mechanism.bin_edges):
        row = np.add.reduceat(row, edges[:-1], axis)
    np.testing.assert_allclose(mechanism._bin_masses(np.array([[9, 40]])), row.reshape(1, -1), rtol=1e-12)
    plain, made = planar_window._overlaps, []

    def counted(*asked):
        found = plain(*asked)
        made.append(found.size)
        return found

    monkeypatch.setattr(planar_window, "_overlaps", counted)
    work = []
    for count in (1, 100):
        made.clear()
        places = np.stack([np.arange(count) % 65, np.full(count, 7)], axis=1)
        mechanism._bin_masses(places)
        work.append(sum(made))
    assert work[1] == work[0]
