"""Pooled evidence: one population or two."""

from __future__ import annotations

import numpy as np

import ldpkit
from ldpkit.estimation.evidence import Evidence
from ldpkit.estimation.homogeneity import FALSE_ALARMS, one_population

ORACLES = [ldpkit.OUE(8, epsilon=1), ldpkit.GRR(8, epsilon=3)]


def tallies(shares, people, seed):
    generator = np.random.default_rng(seed)
    return [
        ldpkit.Tally(
            oracle, n, oracle.simulate(generator.multinomial(n, some), rng=ldpkit.random.seeded(seed))[0]
        )
        for oracle, some, n in zip(ORACLES, shares, people, strict=True)
    ]


def test_one_population_is_seldom_called_two():
    shares = np.array([0.6, 0.3, 0.1, 0, 0, 0, 0, 0])
    for people in ((4000, 1000), (40, 60)):
        alarms = sum(not one_population(tallies([shares, shares], people, run)).holds for run in range(100))
        # With probability 1 % each, more than 8 of 100 have probability 1e-6.
        assert alarms <= 8, f"{alarms} alarms in 100 runs, n={people} (false-alarm rate 1e-6)"


def test_two_populations_are_noticed():
    first, second = np.array([0.6, 0.3, 0.1, 0, 0, 0, 0, 0]), np.array([0.3, 0.6, 0.1, 0, 0, 0, 0, 0])
    found = [one_population(tallies([first, second], (4000, 1000), run)) for run in range(20)]
    assert all(each.p_value < FALSE_ALARMS for each in found)
    assert {each.value for each in found} <= {0, 1}


def test_an_estimate_states_the_assumption_and_warns():
    people = [np.repeat([0, 1], [900, 100]), np.repeat([0, 1], [100, 900])]
    parts = [
        Evidence.of(oracle, oracle.privatize(values, rng=ldpkit.random.seeded(1)))
        for oracle, values in zip(ORACLES, people, strict=True)
    ]
    apart = (parts[0] + parts[1]).estimate("mle")
    assert apart.diagnostics["assumption"] == "one population answered all mechanisms"
    assert not apart.diagnostics["homogeneous"]
    assert apart.warnings[0].startswith("these people do not come from one population: value ")
    assert "warning: these people do not come" in repr(apart)
    assert "assumption" not in parts[0].estimate("mle").diagnostics


def test_agreement_is_no_warning():
    values = np.arange(2000) % 4
    together = sum(
        Evidence.of(oracle, oracle.privatize(values, rng=ldpkit.random.seeded(3))) for oracle in ORACLES
    ).estimate("mle")
    assert together.diagnostics["homogeneous"]
    assert together.warnings == ()
