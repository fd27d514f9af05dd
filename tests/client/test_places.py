"""A device finds the place that the domain finds, and refuses what the domain refuses."""

from __future__ import annotations

import random

import pytest

import ldpkit
from ldpkit.client.places import place_of
from ldpkit.core.errors import InvalidParameterError, OutOfDomainError

PLANE = ldpkit.PlaneDomain.rectangle(
    (-2, 1), (6, 5), places=[(-1.0, 1.5), (0.5, 4.0), (2.0, 2.0), (3.5, 4.5)]
)
ON_GRIDS = [
    ("pm", (-2.0, 6.0)),
    ("ogpm", (0.1, 0.7)),
    ("circular_sw", ldpkit.CircleDomain(24, -6)),
    ("von_mises", 7.3),
]
ON_MAPS = [
    *(
        (name, {})
        for name in ("grid_response", "place_response", "place_exponential", "planar_window", "tracs_c")
    ),
    *(
        ("tracs_d", {"direction": direction, "share": 0.5})
        for direction in ("ogpm", "sectors", "purkayastha")
    ),
]


def test_numbers_and_angles_have_the_place_of_their_domain():
    rng = random.Random(1)
    for name, domain in ON_GRIDS:
        for grid in (8, None):
            mechanism = ldpkit.get(name, domain, epsilon=2, grid=grid)
            low, high, form = mechanism.domain.low, mechanism.domain.high, mechanism.sampler()
            halves = [low + (step + 0.5) / 8 * (high - low) for step in range(8)]
            values = [low, high, *halves, *(rng.uniform(low, high) for _ in range(100))]
            found = [place_of(mechanism.kind, mechanism.domain.to_json(), form, value) for value in values]
            assert found == mechanism.domain.encode(values, steps=mechanism.grid).tolist()


def test_locations_have_the_place_of_their_mechanism():
    rng = random.Random(2)
    corners = [(x, y) for x in (-2.0, 2.0, 6.0) for y in (1.0, 3.0, 5.0)]
    points = [*corners, *((rng.uniform(-2, 6), rng.uniform(1, 5)) for _ in range(200))]
    for name, parameters in ON_MAPS:
        mechanism = ldpkit.get(name, PLANE, epsilon=2, **parameters)
        form, domain = mechanism.sampler(), mechanism.domain.to_json()
        found = [place_of("spatial", domain, form, point) for point in points]
        expected = mechanism.place_of(points).tolist()
        assert [list(each) if isinstance(each, tuple) else each for each in found] == expected, name


@pytest.mark.parametrize("value", ["tram", "", None, 1, True, 0.0, ["walk"], {}, b"walk"])
def test_labels_that_are_not_there_are_refused(value):
    with pytest.raises(OutOfDomainError, match="is not in the domain: give one of walk, bike"):
        place_of("frequency", ["walk", "bike"], {}, value)


def test_labels_keep_their_type():
    assert place_of("frequency", [0, 1], {}, 1.0) == 1
    for domain, value in (
        ([0, 1], True),
        ([True, False], 1),
        (["1"], 1),
        (2, True),
        (2, 2),
        (2, -1),
        (2, 0.0),
        (2, "0"),
    ):
        with pytest.raises(OutOfDomainError):
            place_of("frequency", domain, {}, value)


def test_products_go_by_their_parts():
    domain = {"product": [["a", "b"], 3, ["x", "y"]]}
    found = [
        place_of("frequency", domain, {}, [one, two, three])
        for one in "ab"
        for two in range(3)
        for three in "xy"
    ]
    assert found == list(range(12))
    for bad in ("a", ["a", 1], ["a", 3, "x"], ["c", 0, "x"]):
        with pytest.raises(OutOfDomainError):
            place_of("frequency", domain, {}, bad)


@pytest.mark.parametrize("value", [1.0000001, -0.1, float("nan"), float("inf"), "0.5", None, True, [0.5]])
def test_numbers_that_are_not_there_are_refused(value):
    for kind, domain in (("numeric", [0, 1]), ("circular", {"period": 1, "low": 0})):
        with pytest.raises(OutOfDomainError):
            place_of(kind, domain, {"grid": 8}, value)


def test_locations_that_are_not_there_and_other_maps_are_refused():
    form, domain = {"form": "sites", "shape": [2, 2]}, PLANE.to_json()
    for bad in ((7, 2), (0, 0.9), (0,), (0, 2, 3), 0, "ab", (0, None), (0, float("nan"))):
        with pytest.raises(OutOfDomainError):
            place_of("spatial", domain, form, bad)
    for other in (ldpkit.PlaneDomain.disc((0, 0), 1).to_json(), {**domain, "projection": {"name": "local"}}):
        with pytest.raises(InvalidParameterError, match="a rectangle without a projection"):
            place_of("spatial", other, form, (0, 2))


@pytest.mark.parametrize(
    ("kind", "domain"), [("numeric", [0]), ("numeric", None), ("circular", {}), ("spatial", []), ("x", 4)]
)
def test_domains_that_cannot_be_used_are_refused(kind, domain):
    with pytest.raises(InvalidParameterError):
        place_of(kind, domain, {"grid": 8}, 0.5)
