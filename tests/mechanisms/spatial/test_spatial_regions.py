"""Spatial mechanisms on every region: rectangles, discs and polygons, degrees, and the whole globe."""

from __future__ import annotations

import math

import numpy as np
import pytest

import ldpkit
from ldpkit.core.errors import InvalidParameterError
from ldpkit.mechanisms.base import from_spec

NAMES = ldpkit.list_mechanisms("spatial")
REGIONS = {
    "rectangle": ldpkit.Rectangle((-2, 1), (6, 5)),
    "parallelogram": ldpkit.Parallelogram((-2, 1), (8, 1), (-1, 4)),
    "disc": ldpkit.Disc((2, 3), 4),
    "polygon": ldpkit.Polygon([(-2, 0), (6, 0), (6, 6), (2, 3), (-2, 6)]),
}


@pytest.mark.parametrize("shape", REGIONS)
@pytest.mark.parametrize("name", NAMES)
def test_every_mechanism_serves_every_region(name, shape):
    plane = ldpkit.PlaneDomain(REGIONS[shape], places=[(0, 2), (1, 2.5), (3, 2)])
    mechanism = ldpkit.get(name, plane, epsilon=4.0)
    assert from_spec(mechanism.spec()) == mechanism
    location, n = (1.5, 2.0), 40_000
    found = mechanism.points_of(mechanism.privatize(np.tile(location, (n, 1)), rng=ldpkit.random.seeded(4)))
    assert plane.region.contains(found).all()
    far = np.hypot(*(found - location).T)
    for power in (1, 2):
        stated = mechanism.error(location, power)
        # Two powers of 20 cases: z above 5.5 in one of a million runs; quadrature is good to 0.2 percent.
        assert abs(np.mean(far**power) - stated) < 5.5 * np.std(far**power) / math.sqrt(n) + 2e-3 * stated


def test_a_square_that_is_turned_has_the_same_errors():
    turned = ldpkit.Parallelogram((0, 0), (0.6, 0.8), (-0.8, 0.6))
    for name in ("tracs_c", "planar_window", "grid_response"):
        upright = ldpkit.get(name, ((0, 0), (1, 1)), epsilon=4)
        leaning = ldpkit.get(
            name,
            turned,
            epsilon=4,
            **{key: value for key, value in upright.parameters().items() if key != "epsilon"},
        )
        assert leaning.mean_error() == pytest.approx(upright.mean_error(), rel=2e-3)
        assert leaning.error(turned.from_shares(np.array([[0.2, 0.7]]))) == pytest.approx(
            upright.error([(0.2, 0.7)]), rel=1e-3
        )


def test_a_polygon_that_the_reference_does_not_see_is_boxed():
    horseshoe = [(0, 0), (4, 0), (4, 4), (3, 4), (3, 1), (1, 1), (1, 4), (0, 4)]
    mechanism = ldpkit.get(
        "tracs_d", ldpkit.PlaneDomain.polygon(horseshoe), epsilon=6, share=0.7, x=0.5, y=0.5
    )
    assert not mechanism.domain.region.sees_all_from(mechanism.reference)
    values = np.tile([(3.5, 3.9)], (20_000, 1))
    found = mechanism.points_of(mechanism.privatize(values, rng=ldpkit.random.seeded(1)))
    assert mechanism.domain.region.contains(found).all()
    assert np.hypot(*(found - values).T).mean() == pytest.approx(mechanism.error((3.5, 3.9)), rel=0.02)


def test_a_disc_seen_from_its_centre_is_polar_ogpm():
    polar = ldpkit.PolarOGPM(2.0, 1.0, epsilon=5.0, distance_epsilon=1.5)
    disc = ldpkit.get("tracs_d", ldpkit.Disc((0, 0), 2), epsilon=5.0, share=0.7)
    around, along = disc.parts
    assert along.mechanism.window == polar.distance.window
    assert around.mechanism.window == polar.angle.window
    assert disc.exact_epsilon() == polar.exact_epsilon()


def test_on_the_globe_longitudes_go_round_and_distances_are_those_of_great_circles():
    globe = ldpkit.PlaneDomain.globe()
    mechanism = ldpkit.get("tracs_c", globe, epsilon=12)
    assert from_spec(mechanism.spec()) == mechanism
    assert 12 - 1e-5 < mechanism.exact_epsilon() <= 12
    fiji, n = (179.9, -18.0), 40_000
    found = mechanism.points_of(mechanism.privatize(np.tile(fiji, (n, 1)), rng=ldpkit.random.seeded(6)))
    assert (
        (found[:, 0] < -170) & (np.abs(found[:, 1] + 18) < 10)
    ).mean() > 0.3  # on the other side of the line
    far = globe.region.distance(found, np.array(fiji))
    for power in (1, 2):
        stated = mechanism.error(fiji, power)
        assert abs(np.mean(far**power) - stated) < 5 * np.std(far**power) / math.sqrt(n) + 2e-3 * stated
    west, east = ldpkit.random.seeded(1), ldpkit.random.seeded(1)
    assert (
        mechanism.privatize([(-180, 10)] * 20, rng=west) == mechanism.privatize([(180, 10)] * 20, rng=east)
    ).all()
    assert mechanism.mean_error() < ldpkit.get("tracs_c", globe, epsilon=8).mean_error() < 10_000
    small = mechanism.sibling(4)
    assert small.channel().epsilon() == small.exact_epsilon()
    for name in ("tracs_d", "planar_window", "grid_response"):
        with pytest.raises(InvalidParameterError, match="for a flat region, not for the globe"):
            ldpkit.get(name, globe, epsilon=4)
    with pytest.raises(ldpkit.errors.OutOfDomainError, match="swapped"):
        globe.take([(35.6, 139.7)])


def test_locations_go_into_report_files(tmp_path):
    plane = ldpkit.PlaneDomain(REGIONS["polygon"], places=[(0, 2), (1, 2.5), (3, 2)])
    for name in NAMES:
        mechanism = ldpkit.get(name, plane, epsilon=4.0)
        reports = mechanism.privatize(np.tile([(1.5, 2.0)], (300, 1)))
        with ldpkit.ReportWriter(tmp_path / f"{name}.ldp", mechanism) as writer:
            writer.write(reports)
        assert ldpkit.tally_file(tmp_path / f"{name}.ldp") == mechanism.tally(reports)


def test_locations_in_degrees_are_audited():
    pytest.importorskip("pyproj")
    chicago = ldpkit.PlaneDomain.degrees(-87.9, 41.6, -87.5, 42.0)
    assert ldpkit.audit(ldpkit.get("grid_response", chicago, epsilon=2), reports=5000).passed
