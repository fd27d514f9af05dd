"""The longitudinal attack: memoization hides the value, and without it the value is lost."""

from __future__ import annotations

import itertools
import math
from statistics import NormalDist

import numpy as np
import pytest

import ldpkit
from ldpkit.assurance.longitudinal import longitudinal_attack, posterior, success_bound
from ldpkit.core.errors import InvalidInputError, InvalidParameterError
from ldpkit.core.exact import WORD

NAMES = ["lgrr", "lsue", "loue", "lsoue", "losue", "lblh", "lolh", "dbitflip"]
FALSE_ALARM = 1e-6
seeded = ldpkit.random.seeded


def make(name, size=16):
    if name == "dbitflip":
        return ldpkit.get(name, size, epsilon=2, d=4)
    return ldpkit.get(name, size, epsilon_inf=2, epsilon_1=1)


def margin(chance, repeats):
    return -NormalDist().inv_cdf(FALSE_ALARM) * math.sqrt(chance * (1 - chance) / repeats)


@pytest.mark.parametrize("name", NAMES)
def test_with_memoization_the_value_stays_hidden(name):
    mechanism, repeats = make(name), 300
    found = longitudinal_attack(mechanism, None, 300, repeats, rng=seeded(1))
    bound = success_bound(mechanism.exact_permanent_epsilon(), 16)
    assert found.shape == (300,)
    assert found[-1] < bound + margin(bound, repeats), f"false-alarm rate {FALSE_ALARM:g}"


@pytest.mark.parametrize("name", NAMES)
def test_without_memoization_the_value_is_lost(name):
    """The negative control: the same attack on a device that draws permanent reports anew."""
    found = longitudinal_attack(make(name), None, 1000, 60, memoize=False, rng=seeded(2))
    assert found[-1] > 0.95
    assert found[-1] > found[0]


def test_the_attack_on_lgrr_reaches_its_limit():
    """After many reports the permanent one is known, and the guess is right with its p, no more, no less."""
    mechanism, repeats = make("lgrr"), 2000
    found = longitudinal_attack(mechanism, 5, 200, repeats, rng=seeded(3))[-1]
    limit = float(mechanism.response.first.p)
    assert limit == pytest.approx(success_bound(2, 16), rel=1e-9)
    assert abs(found - limit) < margin(limit, repeats), f"false-alarm rate {2 * FALSE_ALARM:g}"


def test_posterior_is_bayes_rule_on_the_exact_rounds():
    mechanism = make("lsue", 3)
    reports = mechanism.instant(
        np.repeat(mechanism.permanent(np.array([0], np.uint32), seeded(4)), 5, axis=0), seeded(5)
    )
    bits = np.unpackbits(reports, axis=1, count=3, bitorder="little")
    first, second = ([t / WORD for t in each] for each in (mechanism._chain.first, mechanism._chain.second))
    weights = []
    for value in range(3):
        total = 0.0
        for kept in itertools.product((0, 1), repeat=3):
            chance = 1.0
            for place, bit in enumerate(kept):
                one = first[0 if place == value else 1]
                chance *= one if bit else 1 - one
                for sent in bits[:, place]:
                    said = second[1 - bit]
                    chance *= said if sent else 1 - said
            total += chance
        weights.append(total)
    exact = np.array(weights) / sum(weights)
    assert np.allclose(posterior(mechanism, reports)[-1], exact, atol=1e-12)
    assert np.allclose(posterior(mechanism, reports).sum(axis=1), 1)


@pytest.mark.parametrize("name", NAMES)
def test_no_posterior_exceeds_the_bound(name):
    mechanism = make(name)
    bound = success_bound(mechanism.exact_permanent_epsilon(), 16)
    for seed in range(20):
        permanent = mechanism.permanent(np.array([seed % 16], np.uint32), seeded(seed))
        reports = mechanism.instant(np.repeat(permanent, 500, axis=0), seeded(100 + seed))
        assert posterior(mechanism, reports).max() <= bound * (1 + 1e-9)


def test_bad_input_is_refused():
    with pytest.raises(InvalidParameterError, match="longitudinal"):
        longitudinal_attack(ldpkit.GRR(4, epsilon=1), 0, 5, 5)
    with pytest.raises(InvalidParameterError, match="reports"):
        longitudinal_attack(make("lgrr"), 0, 0, 5)
    with pytest.raises(InvalidParameterError, match="repeats"):
        longitudinal_attack(make("lgrr"), 0, 5, 0)
    with pytest.raises(InvalidInputError, match="no reports"):
        posterior(make("lgrr"), np.empty(0, np.uint8))


def test_a_domain_that_does_not_fit_is_refused_before_anything_is_sent():
    mechanism = ldpkit.get("lgrr", 1_000_000, epsilon_inf=2, epsilon_1=1)
    with pytest.raises(InvalidParameterError, match=r"the limit is 67,108,864: attack 67 reports or fewer"):
        longitudinal_attack(mechanism, None, 1000, 4000, rng=seeded(1))
