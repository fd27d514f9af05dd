"""Planes: what is a location and what is not, in plain units and in degrees."""

from __future__ import annotations

import json
import pickle

import numpy as np
import pytest

import ldpkit
from ldpkit.core.domains.plane import as_plane, as_points
from ldpkit.core.domains.region import PlaneRegion
from ldpkit.core.errors import FrozenError, InvalidInputError, InvalidParameterError, OutOfDomainError

SQUARE = ldpkit.PlaneDomain.rectangle((0, 0), (1, 1))
STAR = [(0, 0), (2, 1), (4, 0), (3, 2), (4, 4), (2, 3), (0, 4), (1, 2)]
REGIONS = [
    ldpkit.Rectangle((-2, 1), (6, 5)),
    ldpkit.Parallelogram((1, 1), (2, 0.5), (-1, 3)),
    ldpkit.Parallelogram((1, 1), (-1, 3), (2, 0.5)),
    ldpkit.Disc((3, -2), 1.5),
    ldpkit.Polygon(STAR),
    ldpkit.Polygon([(0, 0), (0, 3), (2, 3), (2, 0)]),  # clockwise
]
every_region = pytest.mark.parametrize("region", REGIONS, ids=lambda region: region.shape)


def inside(region, count=300, seed=3):
    shares = np.random.default_rng(seed).random((count, 2))
    points = region.from_shares(shares)
    return points[region.contains(points)]


@every_region
def test_the_gauge_is_the_share_of_the_way_to_the_boundary(region):
    points, reference = inside(region), np.array(region.centre)
    assert region.sees_all_from(reference)
    away = points - reference
    reach = region.reach(reference, away)
    assert (reach >= 1 - 1e-9).all()
    on_boundary = reference + reach[:, None] * away
    assert region.contains(reference + (1 - 1e-9) * (on_boundary - reference)).all()
    assert not region.contains(reference + (1 + 1e-6) * (on_boundary - reference)).any()
    assert region.gauge(reference, points) == pytest.approx(1 / reach, rel=1e-9)
    assert region.gauge(reference, on_boundary) == pytest.approx(1)
    assert region.gauge(reference, reference[None]) == [0]


@every_region
def test_frames_and_projections(region):
    shares = np.random.default_rng(1).random((200, 2))
    points = region.from_shares(shares)
    assert region.to_shares(points) == pytest.approx(shares, abs=1e-9)
    far = region.from_shares(3 * shares - 1)
    near = region.project(far)
    assert region.contains(near).all()
    kept = region.contains(far)
    assert (near[kept] == far[kept]).all()
    assert region.project(near) == pytest.approx(near, abs=1e-9)
    others = inside(region)[:50]
    least = np.hypot(*(far[:, None] - others).transpose(2, 0, 1)).min(axis=1)
    assert (np.hypot(*(near - far).T) <= least + 1e-9).all()
    nodes, weights = region.nodes(12)
    assert region.contains(nodes).all()
    assert weights.sum() == pytest.approx(1)
    assert weights @ nodes == pytest.approx(np.array(region.centre), abs=0.02 * region.size)


@every_region
def test_areas_and_copies(region):
    shares = np.random.default_rng(2).random((200_000, 2))
    whole = abs(np.linalg.det(region.matrix))
    part = region.contains(region.from_shares(shares)).mean()
    assert region.area == pytest.approx(part * whole, rel=0.02)
    plane = ldpkit.PlaneDomain(region)
    for back in (
        pickle.loads(pickle.dumps(plane)),
        ldpkit.PlaneDomain.from_json(json.loads(json.dumps(plane.to_json()))),
    ):
        assert back == plane
        assert hash(back) == hash(plane)
        assert back.digest == plane.digest
    assert PlaneRegion.from_json({"shape": region.shape, **region.to_json()}) == region
    with pytest.raises(FrozenError):
        region.low = 3
    with pytest.raises(FrozenError):
        plane.region = 3


def test_a_reference_on_an_edge_or_in_a_corner_has_room_only_inwards():
    region = ldpkit.Rectangle((0, 0), (1, 1))
    ways = np.array([[1.0, 0], [-1, 0], [0, 1], [0, -1], [-1, -1]])
    assert region.reach((0.5, 0), ways).tolist() == [0.5, 0.5, 1, 0, 0]  # where D.2.5 has R = 0.5 downwards
    assert region.reach((0, 0), ways).tolist() == [1, 0, 1, 0, 0]
    points = np.array([[0.25, 0.0], [0.5, 0.5], [1.0, 0.0]])
    assert region.gauge((0.5, 0), points).tolist() == [0.5, 0.5, 1]
    many = np.array([[0.5, 0], [0, 0], [0.5, 0.5], [0.25, 0.25], [1, 1]])
    one_by_one = [region.reach(each, way[None])[0] for each, way in zip(many, ways, strict=True)]
    assert region.reach(many, ways).tolist() == one_by_one


def test_forms_of_locations():
    rows = [(0.25, 0.5), (1, 0)]
    shapely = pytest.importorskip("shapely")
    for form in (rows, np.array(rows), shapely.points(rows), [shapely.Point(*row) for row in rows]):
        assert SQUARE.take(form).tolist() == [[0.25, 0.5], [1, 0]]
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(rows, columns=["x", "y"])
    assert (
        SQUARE.take(frame).tolist() == SQUARE.take((frame["x"], frame["y"])).tolist() == [[0.25, 0.5], [1, 0]]
    )
    outline = ldpkit.PlaneDomain.polygon(shapely.Polygon([(0, 0), (2, 0), (1, 2)]))
    assert outline.region.area == 2
    with pytest.raises(InvalidParameterError, match="no holes"):
        ldpkit.Polygon(shapely.Point(0, 0).buffer(2).difference(shapely.Point(0, 0).buffer(1)))


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([(0.5, 1.5)], "location (0.5, 1.5) at position 0 is not in [0, 1] x [0, 1]: remove it"),
        ([(0, 0), (np.nan, 0)], "location (nan, 0) at position 1 is not finite: drop missing values"),
        ([(0, np.inf)], "location (0, inf) at position 0 is not finite: remove it"),
        ([(0, None)], "at position 0 is not a pair of numbers: drop missing values"),
        ([(0, 0, 0)], "location '(0, 0, 0)' at position 0 is not a pair of numbers"),
        ("0, 0", "locations are rows of two numbers, got str"),
        (np.zeros(4), "locations have shape (n, 2), a row of two numbers each, got (4,)"),
        (np.zeros((0, 2)), "there are no locations: give at least one"),
        ((np.zeros(3), np.zeros(2)), "two columns of locations have one length"),
        (np.array([["a", "b"]]), "locations are numbers, got"),
    ],
)
def test_what_is_no_location_is_refused(values, message):
    with pytest.raises(InvalidInputError) as caught:
        SQUARE.take(values)
    assert message in str(caught.value)


def test_swapped_numbers_are_noticed():
    tokyo = ldpkit.PlaneDomain.rectangle((139.47, 35.51), (139.9, 35.86))
    with pytest.raises(OutOfDomainError, match=r"but \(139.7, 35.6\) is: the two numbers are swapped"):
        tokyo.take([(139.6, 35.7), (35.6, 139.7)])
    with pytest.raises(InvalidParameterError, match="swapped, longitude comes first"):
        ldpkit.PlaneDomain.degrees(35.51, 139.47, 35.86, 139.9)
    on_map = ldpkit.PlaneDomain.degrees(139.47, 35.51, 139.9, 35.86)
    with pytest.raises(OutOfDomainError, match="swapped"):
        on_map.take([(35.6, 139.7)])


@pytest.mark.parametrize("name", ["local", "utm"])
def test_degrees_become_metres_and_come_back(name):
    pytest.importorskip("pyproj")
    chicago = ldpkit.PlaneDomain.degrees(-87.9, 41.6, -87.5, 42.0, projection=name)
    values = np.random.default_rng(5).random((100, 2)) * 0.4 + [-87.9, 41.6]
    points = chicago.take(values)
    assert chicago.locations(points) == pytest.approx(values, abs=1e-9)
    # A degree of latitude is about 111 km, and a degree of longitude cos(latitude) times that.
    step = chicago.take([(-87.7, 41.8), (-87.7, 41.81), (-87.69, 41.8)])
    assert np.hypot(*(step[1] - step[0])) == pytest.approx(1110.7, rel=2e-3)
    assert np.hypot(*(step[2] - step[0])) == pytest.approx(830.6, rel=2e-3)
    assert ldpkit.PlaneDomain.from_json(chicago.to_json()) == chicago
    corners = chicago.locations(chicago.region.corners)  # and back, across the edge by a hair
    assert chicago.take(corners) == pytest.approx(chicago.region.corners)
    with pytest.raises(OutOfDomainError):
        chicago.take(chicago.locations(chicago.region.corners * (1 + 1e-6)))
    mechanism = ldpkit.get("planar_window", chicago, epsilon=8)
    there = mechanism.points_of(mechanism.privatize(values, rng=ldpkit.random.seeded(1)))
    assert (there > [-87.95, 41.55]).all()
    assert (there < [-87.45, 42.05]).all()
    assert 1000 < mechanism.error((-87.7, 41.8)) < 4000  # metres


def test_an_outline_in_degrees():
    pytest.importorskip("pyproj")
    plane = ldpkit.PlaneDomain.outline_in_degrees([(-87.9, 41.6), (-87.5, 41.6), (-87.7, 42.0)])
    assert plane.region.area == pytest.approx(33_300 * 44_430 / 2, rel=0.01)
    with pytest.raises(OutOfDomainError):
        plane.take([(-87.89, 41.99)])


def test_senseless_planes_are_refused():
    for make, message in (
        (lambda: ldpkit.Rectangle((0, 0), (0, 1)), "low must be below high along both axes"),
        (lambda: ldpkit.Rectangle((0, 0), (1, np.nan)), "must be finite"),
        (lambda: ldpkit.Rectangle((1e9, 0), (1e9 + 1e-3, 1)), "too narrow for its distance"),
        (lambda: ldpkit.Disc((0, 0), 0), "radius must be positive"),
        (lambda: ldpkit.Parallelogram((0, 0), (1, 1), (2, 2)), "on one line"),
        (lambda: ldpkit.Polygon([(0, 0), (1, 1)]), "3 to 2000 corners"),
        (lambda: ldpkit.Polygon([(0, 0), (1, 1), (2, 2)]), "on one line"),
        (lambda: ldpkit.Polygon([(0, 0), (2, 2), (2, 0), (0, 2)]), "crosses itself"),
        (lambda: ldpkit.Polygon([(0, 0), (2, 0), (2, 2), (1, 0), (0, 2)]), "crosses itself"),
        (lambda: ldpkit.Polygon([(0, 0), (0, 0), (1, 0), (1, 1)]), "is there twice"),
        (lambda: ldpkit.Polygon(3), "a list of pairs"),
        (lambda: ldpkit.Projection.utm(61), "zones 1 to 60"),
        (lambda: ldpkit.Projection.local(0, 89), "latitude of -80 to 80"),
        (lambda: ldpkit.Projection.from_json({"name": "mercator"}), "not the description of a projection"),
        (lambda: as_plane(5), "two corners"),
        (lambda: ldpkit.PlaneDomain("city"), "needs a region"),
        (lambda: ldpkit.PlaneDomain.from_json([1]), "an object such as"),
        (lambda: ldpkit.PlaneDomain.from_json({"shape": "blob"}), "one of"),
        (lambda: ldpkit.PlaneDomain.from_json({"shape": "disc", "low": 1}), "not the description of a disc"),
        (lambda: SQUARE.rectangle((0, 0), (1, 1), places=[(0, 0), (2, 2)]), r"place 1, \(2, 2\), is not in"),
        (lambda: SQUARE.rectangle((0, 0), (1, 1), places=[(0, 0), (1, 1), (0, 0)]), "is there twice"),
        (lambda: SQUARE.rectangle((0, 0), (1, 1), places=[(0, 0)]), "2 to 4096 places"),
    ):
        with pytest.raises(InvalidParameterError, match=message):
            make()


def test_places_are_given_as_locations_and_kept_on_the_map():
    plane = SQUARE.with_places([(0.25, 0.5), (1, 0)])
    assert plane.places.tolist() == [[0.25, 0.5], [1, 0]]
    assert plane != SQUARE
    assert ldpkit.PlaneDomain.from_json(plane.to_json()) == plane
    with pytest.raises(ValueError, match="read-only"):
        plane.places[0] = 0
    assert as_points([(1, 2)]).dtype == np.float64


@pytest.mark.parametrize(
    ("box", "told"),
    [
        ((170, -10, -170, 10), "across the antimeridian"),
        ((-180, -80, 180, 80), "too wide for a flat map"),
        ((0, 89, 1, 90), "a latitude of -80 to 80"),
    ],
)
def test_boxes_of_degrees_that_no_flat_map_holds_are_refused(box, told):
    with pytest.raises(InvalidParameterError, match=told):
        ldpkit.PlaneDomain.degrees(*box)
