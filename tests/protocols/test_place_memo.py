"""The memo of places: a place repeats its report in later calls, and is paid for once."""

from __future__ import annotations

import os
import threading

import numpy as np
import pytest

import ldpkit
from ldpkit.core.errors import FileFormatError, InvalidInputError, InvalidParameterError
from ldpkit.core.random import seeded
from ldpkit.papers.tracs.data import load_city
from ldpkit.protocols.place_memo import PlaceMemo
from ldpkit.testing.expect import UntouchedSource

SQUARE = ((0, 0), (1, 1))
HOME, WORK, GYM = (0.25, 0.25), (0.75, 0.5), (0.5, 0.875)
REAL = pytest.mark.skipif(
    not os.environ.get("LDPKIT_DATA"), reason="LDPKIT_DATA names no directory of data sets"
)


def report(store, *walks, ids=None, epsilon=2.0, name="planar_window", rng=None, **more):
    there = ldpkit.Trajectories.from_list(list(walks), ids=ids)
    return ldpkit.privatize_trajectories(
        there, SQUARE, name, epsilon=epsilon, repeat=True, memo=store, rng=rng, **more
    )


@pytest.fixture
def store(tmp_path):
    return ldpkit.DeviceStore(tmp_path / "places.db")


def test_a_place_repeats_its_report_in_later_calls(store):
    first = report(store, [HOME, WORK, HOME], ids=["ann"])
    again = report(store, [WORK, GYM, HOME], ids=["ann"])
    assert (first.paid.tolist(), again.paid.tolist()) == ([2], [1])
    assert (again.reports[0] == first.reports[1]).all()
    assert (again.reports[2] == first.reports[0]).all()
    exact = first.mechanism.exact_epsilon()
    assert first.epsilons[0] == pytest.approx(2 * exact)
    assert again.epsilons[0] == pytest.approx(3 * exact)
    assert again.epsilons[0] >= 3 * exact
    assert again.rows() == [
        {"id": "ann", "locations": 3, "paid": 1, "in_all": 3, "epsilon": again.epsilons[0]}
    ]
    told = again.to_dict()
    assert told["about"]["memo"] is True
    assert "The pattern itself is not protected" in told["notes"][1]
    assert "must not leave the device" in told["notes"][2]
    nothing = report(store, [WORK], ids=["ann"])
    assert nothing.paid.tolist() == [0]
    assert nothing.epsilons[0] == again.epsilons[0]


def test_people_mechanisms_and_seeds_do_not_share_reports(store):
    both = report(store, [HOME] * 2, [HOME], ids=["ann", "bob"])
    assert both.paid.tolist() == [1, 1]
    other = report(store, [HOME], ids=["ann"], name="grid_response")
    assert other.paid.tolist() == [1]
    total = both.mechanism.exact_epsilon() + other.mechanism.exact_epsilon()
    assert other.epsilons[0] == pytest.approx(total)
    made_with_a_seed = report(store, [HOME], ids=["ann"], rng=seeded(1))
    assert made_with_a_seed.paid.tolist() == [1]
    assert not made_with_a_seed.is_secure
    secure = report(store, [HOME], ids=["ann"])
    assert secure.paid.tolist() == [0]
    assert (secure.reports == both.reports[0]).all()
    assert secure.rows()[0]["in_all"] == 3


def test_zero_has_no_sign_and_numbers_are_people(store):
    centred = ((-1, -1), (1, 1))
    there = ldpkit.Trajectories.from_list([[(0.0, 0.5)]], ids=[7])
    again = ldpkit.Trajectories.from_list([[(-0.0, 0.5)]], ids=["007"])
    one, two = (
        ldpkit.privatize_trajectories(each, centred, epsilon=2, repeat=True, memo=store)
        for each in (there, again)
    )
    assert two.paid.tolist() == [0]
    assert (one.reports == two.reports).all()


def test_what_does_not_go_with_a_memo_is_refused_before_anything_is_drawn(store):
    untouched = UntouchedSource()
    there = ldpkit.Trajectories.from_list([[HOME]])
    for more, told in (
        ({"repeat": False}, "give repeat=True"),
        ({"repeat": True, "per": "trajectory"}, "per='location'"),
        ({"repeat": True, "reference": "previous", "mechanism": "tracs_d"}, "its reference has moved"),
        ({"repeat": True, "mechanism": "tracs_c", "memo": "places.db"}, "is a DeviceStore"),
    ):
        with pytest.raises(InvalidParameterError, match=told):
            ldpkit.privatize_trajectories(
                there, SQUARE, **{"epsilon": 2, "memo": store, "rng": untouched, **more}
            )
    twins = ldpkit.Trajectories.from_list([[HOME], [WORK]], ids=[7, "07"])
    with pytest.raises(InvalidInputError, match="is also at position 0"):
        ldpkit.privatize_trajectories(twins, SQUARE, epsilon=2, repeat=True, memo=store, rng=untouched)
    assert not store.path.exists()


def test_a_damaged_memo_is_refused(store):
    report(store, [HOME, WORK], ids=["ann"])
    content = bytearray(store.path.read_bytes())
    place = content.find(np.array(HOME, "<f8").tobytes())
    assert place > 0
    content[place] ^= 1
    store.path.write_bytes(content)
    with pytest.raises(FileFormatError, match="is damaged"):
        report(store, [HOME], ids=["ann"])


def test_two_threads_never_draw_for_the_same_place(store):
    found, start = [], threading.Barrier(4)

    def run():
        start.wait()
        found.append(report(store, [HOME, WORK, GYM], ids=["ann"]))

    threads = [threading.Thread(target=run) for _ in range(4)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert sum(int(each.paid[0]) for each in found) == 3
    assert all((each.reports == found[0].reports).all() for each in found)


def test_two_processes_never_draw_for_the_same_place(store):
    """Children are forked: what is looked at is that a place is drawn once."""
    ends = [os.pipe() for _ in range(3)]
    children = []
    for _, write in ends:
        child = os.fork()
        if child == 0:
            private = report(store, [HOME, WORK, GYM], ids=["ann"])
            os.write(write, bytes([int(private.paid[0])]) + private.reports.tobytes())
            os._exit(0)
        children.append(child)
    for child in children:
        assert os.waitpid(child, 0)[1] == 0
    told = [os.read(read, 1000) for read, _ in ends]
    assert sum(each[0] for each in told) == 3
    assert len({each[1:] for each in told}) == 1


def test_only_a_store_is_a_memo():
    with pytest.raises(InvalidParameterError, match="got str"):
        PlaceMemo("places.db")


@REAL
def test_in_tokyo_a_person_pays_for_112_places_and_not_for_288_visits(store):
    """29,114 check-ins of 101 people in two halves, which costs two seconds: one transaction each."""
    whole = load_city("tky").timed
    plane = ldpkit.PlaneDomain.rectangle((0, 0), (1, 1))
    visits, half = whole.lengths, whole.positions < (whole.lengths // 2)[whole.owners]
    paid = np.zeros(len(whole), int)
    for part in (half, ~half):
        rows = np.flatnonzero(part)
        ids = np.array(whole.ids)[whole.owners[rows]]
        walks = ldpkit.Trajectories.from_rows(ids, whole.points[rows])
        private = ldpkit.privatize_trajectories(
            walks, plane, "grid_response", epsilon=4, repeat=True, memo=store
        )
        paid += private.paid
    assert visits.mean() == pytest.approx(288, abs=0.5)
    assert paid.mean() == pytest.approx(112, abs=0.5)
    assert private.epsilons == pytest.approx(paid * private.mechanism.exact_epsilon())
