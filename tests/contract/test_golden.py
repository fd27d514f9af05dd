"""Golden vectors: reports, counts and tallies that never change."""

from __future__ import annotations

import pytest

import ldpkit
from contract import golden
from contract.subjects import MECHANISM_NAMES, ORACLE_NAMES, is_of_the_house
from ldpkit.mechanisms.base import from_spec
from ldpkit.testing import example

OWN = [name for name in ORACLE_NAMES if is_of_the_house(name)]

NUMERIC = {
    "bounded_laplace": "4d01ff01da018704dd02",
    "compressed_duchi": "0101010101",
    "compressed_pm": "40b60300089c08002d210b00d5ba140052e91300",
    "compressed_sw": "3a5a0300c129080096d30a00130a140059881300",
    "duchi": "0101010101",
    "hm": "5ab419005ab419005bb419005ab419005bb41900",
    "laplace": "6d4fe302788ade02412fee02f937e302e7990c03",
    "ogpm": "fc9e0400a2b20700fdda0d0073cb1c00c0c91800",
    "ogpm_at": "21b604007d8207009ea10d00235e1c005e481800",
    "ogpm_prior": "633f040086790800fec70e00098f1e0039e01a00",
    "ogpm_unbiased": "d64a1200ac4e18002cfc1800b29027007bbd2200",
    "pm": "40b60300089c08002d210b00d5ba140052e91300",
    "staircase": "85dee202de8fdf02feebec021d0fe402d45d0c03",
    "sw": "3a5a0300c129080096d30a00130a140059881300",
    "truncated_laplace": "6d4f030000001000412f0e00f937030001001000",
    "truncated_pm": "a64b0600a64b0600d36c0100a74b0600a74b0600",
    "truncated_sw": "00001000d6100400abba060028f10f006e6f0f00",
}


CIRCULAR = {
    "circular_ogpm": "94941e00a2b207005de60d0019bf020028d41e00",
    "circular_sw": "cb031f0045160800185d0e0037020300cc401f00",
    "purkayastha": "9c024f0be00d5f05c302",
    "von_mises": "8102250bf20d0205a502",
}


SPATIAL = {
    "grid_exponential": ({"cells": 4}, "00010200010101020103"),
    "grid_response": ({"columns": 3, "rows": 2}, "00000201010100010200"),
    "place_exponential": ({}, "0002010102"),
    "place_response": ({}, "0003020103"),
    "planar_laplace": ({"cells": 4}, "00000202000301010200"),
    "planar_window": ({"side": 2.0}, "4a047402531d201b9d0ff815c300231c851cb902"),
    "srr": ({}, "0002000102"),
    "tracs_c": (
        {"share": 0.5},
        "fc9e0400fdd709003aa81900062b1600fdda0d0028000700dbd50c006b5f0900c0c91800a8bb1800",
    ),
    "tracs_d": (
        {"share": 0.75},
        "b9d3100015a11e0081b20100bee01400b0e61d007bf0150076630d00c5c60900ad591c0083540c00",
    ),
}
TABLE = {
    "epsilon": 1.0,
    "power": 1.0,
    "intervals": 2,
    "outputs": [0, 134217728, 268435456, 536870912, 805306368, 939524096, 1073741824],
    "weights": (
        "621594df50bfac00247cdeec1b386a00247cdeec1b3846001602bfd9796aac000d6c5077b11d79800d6c5077b11d870024154c7f9d29f780"
        "24154c7f9d29f4001983697398658600247cdeec1b3846003bd4d6415e708000247cdeec1b384600198369739865860024154c7f9d29f400"
        "24154c7f9d29f7800d6c5077b11d87000d6c5077b11d79801602bfd9796aac00247cdeec1b384600247cdeec1b386a00621594df50bfac00"
    ),
}
TABLED = {"optimal": "0002010403"}
"""Reports of a table that is given: what a solver finds may change with its version."""


def test_every_mechanism_of_the_house_has_golden_vectors():
    solved = "aaa"  # its table comes from a solver, so no vector of it is kept
    known = {*golden.load(), *NUMERIC, *CIRCULAR, *SPATIAL, *TABLED, solved}
    missing = [name for name in MECHANISM_NAMES if is_of_the_house(name) and name not in known]
    assert not missing, "run python tests/contract/golden.py to add them"


@pytest.mark.parametrize("name", OWN)
def test_golden_vectors(name):
    assert golden.observe(name) == golden.load()[name]


@pytest.mark.parametrize("name", OWN)
def test_golden_reports_are_read_as_ever(name):
    known = golden.load()[name]
    mechanism = from_spec(known["spec"])
    reports = mechanism.decode(bytes.fromhex(known["reports"]))
    assert mechanism.tally(reports).counts.tolist() == known["counts"]
    assert ldpkit.Tally.from_bytes(bytes.fromhex(known["tally"])) == mechanism.tally(reports)


@pytest.mark.parametrize("name", NUMERIC)
def test_golden_numbers_never_change(name):
    mechanism = example(name, (-1, 1))
    reports = mechanism.privatize([-1, -0.5, 0.0, 0.7, 1.0], rng=ldpkit.random.seeded(2026))
    assert mechanism.encode(reports).hex() == NUMERIC[name]


@pytest.mark.parametrize("name", CIRCULAR)
def test_golden_angles_never_change(name):
    mechanism = ldpkit.get(name, 360, epsilon=1.0)
    reports = mechanism.privatize([0, 90, 180.5, 359, 360], rng=ldpkit.random.seeded(2026))
    assert mechanism.encode(reports).hex() == CIRCULAR[name]


@pytest.mark.parametrize("name", SPATIAL)
def test_golden_locations_never_change(name):
    plane = ldpkit.PlaneDomain.rectangle((-2, 1), (6, 5), places=[(-1, 1.5), (0.5, 4), (2, 2), (5, 1.25)])
    parameters, golden_reports = SPATIAL[name]
    mechanism = ldpkit.get(name, plane, epsilon=2.0, **parameters)
    reports = mechanism.privatize(
        [(-2, 1), (6, 5), (2, 3), (0.5, 4.75), (5.9, 1.1)], rng=ldpkit.random.seeded(2026)
    )
    assert mechanism.encode(reports).hex() == golden_reports


@pytest.mark.parametrize("name", TABLED)
def test_golden_reports_of_a_table_never_change(name):
    mechanism = from_spec({"mechanism": name, "parameters": TABLE, "domain": [-1.0, 1.0]})
    reports = mechanism.privatize([-1, -0.5, 0.0, 0.7, 1.0], rng=ldpkit.random.seeded(2026))
    assert mechanism.encode(reports).hex() == TABLED[name]
