"""Longitudinal `privatize`: it keeps what must be kept, or is told that there is nothing to keep."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import ldpkit
from ldpkit.assurance.longitudinal import success_bound
from ldpkit.client.store import DeviceStore
from ldpkit.core.errors import InvalidInputError, InvalidParameterError, OutOfDomainError
from ldpkit.core.numbertext import epsilon_text
from ldpkit.protocols.people import person_keys

SECRET = bytes(range(32))
seeded = ldpkit.random.seeded


def make(name="lgrr", size=16):
    if name == "dbitflip":
        return ldpkit.get(name, size, epsilon=2, d=3)
    return ldpkit.get(name, size, epsilon_inf=2, epsilon_1=1)


@pytest.mark.parametrize("name", ["lgrr", "lsue", "lolh", "dbitflip"])
def test_privatize_without_memory_is_refused_before_anything_is_drawn(name, untouched):
    for call in (make(name).privatize, make(name).privatize_chunks):
        with pytest.raises(InvalidParameterError, match=r"must keep.*people=.*new_devices=True"):
            call([1, 2, 3], rng=untouched)


def test_new_devices_are_what_simulations_make():
    mechanism, values = make(), np.arange(1000) % 16
    expected = mechanism.first_reports(values, rng=seeded(1))
    assert (mechanism.privatize(values, new_devices=True, rng=seeded(1)) == expected).all()
    chunks = mechanism.privatize_chunks(values, new_devices=True, rng=seeded(1))
    assert (np.concatenate(list(chunks)) == expected).all()
    grr = ldpkit.GRR(16, epsilon=1)
    assert (grr.first_reports(values, rng=seeded(2)) == grr.privatize(values, rng=seeded(2))).all()


def test_with_memory_an_attack_stays_within_epsilon_inf():
    """The likeliest value after many calls: with memory at most as good as the bound, without far beyond."""
    mechanism, people, calls = make(), 60, 60
    values = np.arange(people) % 16
    kept, fresh = (
        np.array([mechanism.privatize(values, rng=seeded(call), **how(call)) for call in range(calls)])
        for how in (
            lambda call: {"people": range(people), "secret": SECRET, "question": "page"},
            lambda call: {"new_devices": True},
        )
    )

    def found(sent, memoized):
        guesses = [
            mechanism.log_likelihood(sent[:, i], memoized=memoized)[-1].argmax() for i in range(people)
        ]
        return int((np.array(guesses) == values).sum())

    limit = stats.binom.isf(1e-6, people, success_bound(mechanism.exact_permanent_epsilon(), 16))
    assert found(kept, memoized=True) <= limit, "false-alarm rate 1e-6"
    assert found(fresh, memoized=False) > limit, "the attack must be able to win"


@pytest.mark.parametrize("name", ["dbitflip", "lolh"])
def test_people_and_devices_have_the_same_permanent_reports(name, tmp_path):
    mechanism, store = make(name), DeviceStore(tmp_path / "people.db")
    values, ids = [3, 9, 3, 0], ["ann", "bob", "eve", 7]
    for memory in ({"secret": SECRET}, {"store": store}):
        memo = memory.get("secret", store)
        sent = [mechanism.privatize(values, people=ids, question="page", **memory) for _ in range(3)]
        for place, (value, person) in enumerate(zip(values, ids, strict=True)):
            device = ldpkit.Device(mechanism, memo, question="page", person=person)
            permanent = device.permanent(value)[0]
            if name == "dbitflip":
                assert all(reports[place] == permanent for reports in sent)
            else:
                assert all(reports[place][["a", "b"]] == permanent[["a", "b"]] for reports in sent)
    assert ldpkit.Device(mechanism, store, question="page", person=7).privacy_loss().reports == 3
    assert ldpkit.Device(mechanism, store, question="page", person=8).privacy_loss().reports == 0


def test_people_and_questions_are_independent():
    mechanism = make("dbitflip")
    one = mechanism.privatize([3] * 50, people=range(50), secret=SECRET, question="page")
    other = mechanism.privatize([3] * 50, people=range(50), secret=SECRET, question="game")
    assert len(np.unique(one)) > 5, "false-alarm rate below 1e-9: each person draws buckets of their own"
    assert (one == other).sum() < 25, "false-alarm rate below 1e-9: each question draws its own"


def test_an_id_is_the_same_person_as_a_number_and_as_text():
    assert person_keys([7, 0, -12]) == person_keys(["007", "-0", " -12"]) == [b"7", b"0", b"-12"]
    assert person_keys(np.array(["7", "x"])) == person_keys(["7", "x"])
    assert person_keys([10**30]) == person_keys([str(10**30)])
    assert len(set(person_keys(["1.0", "1e3", "0x1", "--1", "é", "٣"]))) == 6


@pytest.mark.parametrize(
    ("ids", "what"),
    [
        (["ann", "bob"], "2 ids for 3 values"),
        (["ann", "bob", "ann"], "'ann' at position 2 is also at position 0"),
        (["1", "x", "01"], "also at position 0"),
        (["ann", " ", "bob"], "neither text nor a whole number"),
        ([1.5, 2.5, 3.5], "neither text nor a whole number"),
        ([True, False, True], "neither text nor a whole number"),
        ([None, "a", "b"], "position 0"),
        ([], "0 ids for 3 values"),
    ],
)
def test_bad_ids_are_refused_before_anything_is_drawn(ids, what, untouched):
    with pytest.raises(InvalidInputError, match=what):
        make().privatize([1, 2, 3], people=ids, secret=SECRET, question="page", rng=untouched)


def test_memory_that_is_missing_or_too_much_is_refused(untouched, tmp_path):
    def call(**options):
        make().privatize([1, 2], rng=untouched, **options)

    for options, what in (
        ({"people": [1, 2]}, "a question needs a name"),
        ({"people": [1, 2], "question": "page"}, "need a memory"),
        ({"people": [1, 2], "question": "page", "secret": b"short"}, "at least 16 bytes"),
        ({"secret": SECRET, "question": "page"}, "must keep"),
        ({"new_devices": True, "people": [1, 2]}, "new devices have no memory"),
        ({"new_devices": True, "secret": SECRET}, "new devices have no memory"),
    ):
        with pytest.raises(InvalidParameterError, match=what):
            call(**options)
    store = DeviceStore(tmp_path / "people.db")
    with pytest.raises(OutOfDomainError):
        make().privatize([1, 99], people=[1, 2], store=store, question="page", rng=untouched)
    assert not store.path.exists()


def test_both_epsilons_are_named():
    mechanism = make("losue")
    assert mechanism.epsilons() == {
        "exact_epsilon": mechanism.exact_epsilon(),
        "exact_permanent_epsilon": mechanism.exact_permanent_epsilon(),
    }
    assert epsilon_text(mechanism.exact_epsilon()) in mechanism.promise()
    assert epsilon_text(mechanism.exact_permanent_epsilon()) in mechanism.promise()
    assert ldpkit.GRR(4, epsilon=1).promise() == "exact epsilon 1.0"
