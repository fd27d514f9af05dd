"""L-SRR, NGram and ATP keep the epsilon that they state, by enumeration; as published they do not."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

import ldpkit
from ldpkit.core.errors import InvalidInputError, InvalidParameterError
from ldpkit.core.exact import WORD, log_up
from ldpkit.core.random import seeded
from ldpkit.papers.tracs.published_rivals import (
    published_atp,
    published_atp_epsilon,
    published_ngram,
    published_tables,
)
from ldpkit.papers.tracs.rivals import grid_points
from ldpkit.testing.expect import UntouchedSource
from ldpkit.testing.false_alarms import fits

PLACES = [(-1.0, 1.5), (0.5, 4.0), (2.0, 2.0), (3.5, 4.5), (5.0, 1.25), (5.5, 3.0)]
PLANE = ldpkit.PlaneDomain.rectangle((-2, 1), (6, 5), places=PLACES)
EPSILONS = (0.01, 0.5, 4.0, 20.0)
NGRAM, ATP = "000302010200", "000101030000010201030103"


def rows_of(table):
    """Return the exact chances of a table, each place once, whatever its columns are."""
    if len(table.sites) == 1:
        return [[Fraction(1)]] * len(table.weights)
    return [[Fraction(int(weight), WORD) for weight in row] for row in table.weights]


def epsilon_of(rows):
    assert all(sum(row) == 1 for row in rows)
    return log_up(max(max(column) / min(column) for column in zip(*rows, strict=True)))


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_epsilon_of_ngram_is_the_worst_of_all_tables(epsilon):
    for reach in (0.05, 0.4, 1.0):
        mechanism = ldpkit.get("ngram", PLANE, epsilon=epsilon, reach=reach)
        tables = [mechanism.table_after(each) for each in (None, *range(len(PLACES)))]
        found = [epsilon_of(rows_of(each)) for each in tables]
        assert mechanism.exact_epsilon() == max(found) <= epsilon
        assert max(found) > epsilon - 1e-6
        far = np.hypot(*(np.array(PLACES)[:, None] - np.array(PLACES)).transpose(2, 0, 1))
        for place, table in enumerate(tables[1:]):
            assert table.sites.tolist() == np.flatnonzero(far[place] <= reach * math.hypot(8, 4)).tolist()


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_epsilon_of_atp_is_the_worst_of_both_copies_together(epsilon):
    mechanism = ldpkit.get("atp", PLANE, epsilon=epsilon)
    alone, count = rows_of(mechanism.table_alone), len(PLACES)
    pairs = list(product(range(count), repeat=2))
    others = [alone, *(rows_of(mechanism.table_between(*pair)) for pair in pairs)]
    worst = Fraction(1)
    for other in others:  # a report is a place in each copy: all of them, for all pairs of locations
        assert epsilon_of(other) <= epsilon / 2
        for one, two in pairs:
            worst = max(
                worst,
                max(alone[one][y] / alone[two][y] for y in range(count))
                * max(other[one][y] / other[two][y] for y in range(count)),
            )
    assert mechanism.exact_epsilon() == log_up(worst) <= epsilon
    assert mechanism.exact_epsilon() > epsilon - 2e-6


def test_a_location_that_is_alone_costs_epsilon():
    for name in ("ngram", "atp"):
        mechanism = ldpkit.get(name, PLANE, epsilon=2.0)
        assert 2 - 1e-6 < mechanism.channel().epsilon() <= mechanism.exact_epsilon() <= 2


def test_epsilon_of_the_staircase_and_where_its_steps_end():
    corners = ldpkit.PlaneDomain.rectangle((0, 0), (1, 1), places=grid_points(4))
    for epsilon in EPSILONS:
        mechanism = ldpkit.get("srr", corners, epsilon=epsilon)
        assert mechanism.channel().epsilon() == mechanism.exact_epsilon() <= epsilon
        assert mechanism.exact_epsilon() > epsilon - 1e-6
    near = ldpkit.PlaneDomain.rectangle((0, 0), (1, 1), places=[(0.1, 0.1), (0.3, 0.1), (0.5, 0.1)])
    ended = ldpkit.get("srr", near, epsilon=8)  # nothing is far, so a step is at most twice as likely
    assert ended.exact_epsilon() == ended.channel().epsilon() < 1
    with pytest.raises(InvalidParameterError, match=r"all places are within 0.9 of the longest edge"):
        ldpkit.get("srr", near, epsilon=8, near=0.9, middle=1)
    with pytest.raises(InvalidParameterError, match=r"reaches farther than the first"):
        ldpkit.get("srr", near, epsilon=8, near=0.9, middle=0.5)


def test_published_rivals_do_not_keep_what_they_state():
    places = grid_points(10)
    tables = published_tables(places, 4.0, 0.75 * math.sqrt(2), (0.3, 0.6))
    assert (tables["NGram"] == 0).any()  # a report that rules locations out has no epsilon
    logs = np.log(tables["L-SRR"])
    assert 1.5 < (logs.max(axis=0) - logs.min(axis=0)).max() < 2.5  # not 4, and more than ln 4
    assert published_atp_epsilon(places, 12, 108, 4.0) > 3 * 2.0
    kept = ldpkit.get("atp", ldpkit.PlaneDomain.rectangle((0, 0), (1, 1), places=grid_points(3)), epsilon=4)
    assert epsilon_of(rows_of(kept.table_between(1, 14))) <= 2.0


def test_reach_comes_from_the_previous_report_and_not_from_the_location():
    # Two people whose previous locations differ and whose previous reports are the same report alike.
    mechanism = ldpkit.get("ngram", PLANE, epsilon=20.0, reach=0.4)
    far = ldpkit.Trajectories.from_list([[PLACES[0], PLACES[4]]] * 4000)
    reports = mechanism.privatize(far, rng=seeded(1)).reshape(-1, 2)
    within = [set(mechanism.table_after(place).sites.tolist()) for place in range(len(PLACES))]
    assert all(after in within[before] for before, after in reports.tolist())
    stayed = reports[reports[:, 0] == 0]
    assert 4 not in within[0]
    assert len(stayed) > 3000  # who is out of reach of the report before is reported elsewhere
    published = published_ngram(far, np.array(PLACES), np.full(8000, 20.0), seeded(1), 0.4 * math.hypot(8, 4))
    assert (published[1::2] == PLACES[4]).all(axis=1).mean() > 0.9


@pytest.mark.parametrize("name", ["ngram", "atp"])
def test_reports_follow_the_tables(name):
    mechanism = ldpkit.get(name, PLANE, epsilon=2.0)
    n, walk = 6000, [PLACES[0], PLACES[3], PLACES[5]]
    reports = mechanism.privatize(ldpkit.Trajectories.from_list([walk] * n), rng=seeded(5)).reshape(n, 3, -1)
    if name == "ngram":
        laws = [(reports[:, 0, 0], mechanism.table_after(None), 0)]
        for before in range(len(PLACES)):
            members = reports[reports[:, 0, 0] == before]
            laws.append((members[:, 1, 0], mechanism.table_after(before), 3))
    else:
        laws = [
            (reports[:, each, copy], mechanism.table_alone, own)
            for each, copy, own in ((0, 0, 0), (0, 1, 0), (1, 0, 3), (2, 0, 5), (2, 1, 5))
        ]
        for one, other in product(range(3), range(3)):
            members = reports[(reports[:, 0, 1] == one) & (reports[:, 2, 1] == other)]
            laws.append((members[:, 1, 1], mechanism.table_between(one, other), 3))
    for drawn, table, own in laws:
        chances = np.zeros(len(PLACES))
        chances[table.sites] = [float(each) for each in rows_of(table)[own]]
        assert fits(np.bincount(drawn, minlength=len(PLACES)), chances) > 1e-7, "false alarm 1e-6 in all"
        wrong = np.roll(chances, 1)
        if len(drawn) > 2000:
            assert fits(np.bincount(drawn, minlength=len(PLACES)), wrong) < 1e-7


@pytest.mark.parametrize("name", ["ngram", "atp"])
def test_reports_do_not_tally_and_say_why(name):
    mechanism = ldpkit.get(name, PLANE, epsilon=2.0)
    walks = ldpkit.Trajectories.from_list([PLACES[:3], PLACES[:1], PLACES[:2]])
    private = ldpkit.privatize_trajectories(walks, PLANE, name, epsilon=2.0)
    assert not mechanism.can("tallied")
    assert not private.tallies
    with pytest.raises(InvalidInputError, match=f"reports of {name} do not tally"):
        private.tally()
    assert private.epsilons == pytest.approx([6, 2, 4], abs=1e-4)
    assert (private.epsilons <= [6, 2, 4]).all()
    assert "Reports cannot be tallied." in private.to_dict()["notes"][-1]
    assert private.to_dict()["about"]["tallies"] is False
    assert (mechanism.decode(mechanism.encode(private.reports)) == private.reports).all()
    assert (mechanism.points_of(private.reports) == private.trajectories.points).all()
    for wrong, told in (
        ({"reference": "previous"}, "leave out reference"),
        ({"repeat": True}, "leave out reference"),
        ({"places": PLACES, "sectors": 3}, "leave out sectors"),
    ):
        with pytest.raises(InvalidParameterError, match=told):
            ldpkit.privatize_trajectories(walks, PLANE, name, epsilon=2, rng=UntouchedSource(), **wrong)
    with pytest.raises(InvalidInputError, match="reports whole trajectories, got list"):
        mechanism.privatize(PLACES)
    with pytest.raises(InvalidParameterError, match="needs public places, at most"):
        ldpkit.get(name, ((0, 0), (1, 1)), epsilon=2)
    with pytest.raises(InvalidParameterError, match="depend on one another"):
        ldpkit.testing.check_mechanism(name)


def test_golden_reports_of_trajectories_never_change():
    plane = ldpkit.PlaneDomain.rectangle((-2, 1), (6, 5), places=[(-1, 1.5), (0.5, 4), (2, 2), (5, 1.25)])
    walks = ldpkit.Trajectories.from_list([[(-2, 1), (6, 5), (2, 3)], [(0.5, 4.75)], [(5.9, 1.1), (0, 2)]])
    for name, known in (("ngram", NGRAM), ("atp", ATP)):
        mechanism = ldpkit.get(name, plane, epsilon=2.0)
        assert mechanism.encode(mechanism.privatize(walks, rng=seeded(2026))).hex() == known


def test_published_atp_leaves_the_last_location_in_one_copy():
    # Its neighbours and itself are all that is merged, so at a small epsilon half of the last are true.
    walks = ldpkit.Trajectories.from_list([[PLACES[1], PLACES[2]]] * 2000)
    answers = published_atp(walks, np.array(PLACES), np.full(4000, 0.01), seeded(3))
    last = (answers[1::2] == PLACES[2]).all(axis=1).mean()
    assert last > 2 / len(PLACES)
    kept = ldpkit.get("atp", PLANE, epsilon=0.01)
    found = kept.points_of(kept.privatize(walks, rng=seeded(3)))
    assert (found[1::2] == PLACES[2]).all(axis=1).mean() < last
