"""Counts that no people could have made are found, and counts that people made are not."""

from __future__ import annotations

from functools import cached_property

import numpy as np
import pytest

import ldpkit
from ldpkit.core.exact import RandomisedResponse
from ldpkit.estimation.plausible import can_be_judged, impossible_counts

PEOPLE = np.arange(2000) % 3  # nobody holds the last of four values


class LoudOLH(ldpkit.OLH):
    """Says 2 and keeps its hash with the probability of 12."""

    @cached_property
    def response(self):
        return RandomisedResponse(self.buckets, 12.0)


@pytest.mark.parametrize(
    ("stated", "used", "said"),
    [
        (ldpkit.GRR(4, 2.0), ldpkit.GRR(4, 12.0), "3 has an estimate of -"),
        (ldpkit.OLH(4, 2.0), LoudOLH(4, 2.0), "all estimates together make 2"),
        (ldpkit.OUE(4, 2.0), ldpkit.OUE(4, 12.0), "so low less than once in a million files"),
    ],
)
def test_reports_that_were_made_at_twelve_and_labelled_two_are_found(stated, used, said):
    found = impossible_counts(stated.tally(used.privatize(PEOPLE, rng=ldpkit.random.seeded(1))))
    assert found is not None
    assert found.startswith("no people could have made these counts with this mechanism: ")
    assert said in found
    honest = stated.tally(stated.privatize(PEOPLE, rng=ldpkit.random.seeded(1)))
    assert impossible_counts(honest) is None, "false-alarm rate 1e-6"


@pytest.mark.parametrize("name", ["grr", "ss", "oue", "olh", "the"])
@pytest.mark.parametrize("epsilon", [0.5, 8.0])
def test_honest_files_are_called_impossible_no_more_often_than_is_said(name, epsilon):
    """One value for all people, where the limits are; at 5% the rate is seen, at 1e-6 nothing is."""
    oracle = ldpkit.get(name, 5, epsilon=epsilon)
    for n, repeats in ((1, 40), (30, 60), (20_000, 100)):
        people = np.array([n, 0, 0, 0, 0])
        drawn, where = np.unique(
            oracle.simulate(people, rng=ldpkit.random.seeded(7), repeats=repeats), axis=0, return_counts=True
        )
        tallies = [ldpkit.Tally(oracle, n, counts) for counts in drawn]
        assert not any(impossible_counts(tally) for tally in tallies)
        often = sum(int(k) for tally, k in zip(tallies, where, strict=True) if impossible_counts(tally, 0.05))
        assert often <= 0.05 * repeats + 4 * (0.05 * repeats) ** 0.5, "four deviations above the rate"


def test_the_sum_of_hashed_reports_is_not_taken_for_a_sum_of_independent_ones():
    """From real reports, since a simulation of counts takes values as independent."""
    oracle, source = ldpkit.OLH(60, 1.0), ldpkit.random.seeded(3)
    for people in (np.zeros(400, int), np.arange(400) % 60):
        for _ in range(40):
            assert impossible_counts(oracle.tally(oracle.privatize(people, rng=source)), 0.01) is None


def test_reports_that_depend_on_each_other_are_not_judged():
    for name in ("jrr", "lgrr"):
        oracle = ldpkit.testing.example(name)
        counts = oracle.simulate([10] + [0] * (oracle.size - 1), rng=ldpkit.random.seeded(1))[0]
        assert not can_be_judged(ldpkit.Tally(oracle, 10, counts))
    assert not can_be_judged(ldpkit.Tally(ldpkit.GRR(2, 1.0), 0, [0, 0]))


def test_an_estimate_warns_of_them():
    tally = ldpkit.GRR(4, 2.0).tally(ldpkit.GRR(4, 12.0).privatize(PEOPLE, rng=ldpkit.random.seeded(1)))
    found = tally.estimate()
    assert any(each.startswith("no people could have made these counts") for each in found.warnings)
    sound = ldpkit.Tally(ldpkit.GRR(4, 2.0), 100, [70, 10, 10, 10]).estimate()
    assert not any("no people" in each for each in sound.warnings)
