"""The contract of every frequency oracle: epsilon is exact, and p and q are those of the channel."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ldpkit
from contract import checks
from contract.subjects import UNLISTED, epsilon_parameter, every_oracle, every_pure_oracle, oracle
from ldpkit.core.errors import InvalidParameterError
from ldpkit.mechanisms.base import MECHANISMS
from ldpkit.mechanisms.channel import Channel


def listed(name, size, epsilon=1.0):
    """Return an oracle whose channel can be enumerated."""
    mechanism = oracle(name, size, epsilon)
    if name in UNLISTED:
        pytest.skip(UNLISTED[name])
    return mechanism


# --- epsilon ---------------------------------------------------------------------------


@every_oracle
@pytest.mark.parametrize("size", [2, 16, 128, 1024])
@pytest.mark.parametrize("epsilon", [0.1, 0.5, 1.0, 2.0, 4.0, 8.0])
def test_epsilon_is_exact(name, size, epsilon):
    checks.check_epsilon(oracle(name, size, epsilon))


@every_oracle
@pytest.mark.parametrize("size", [2, 3, 1000])
@pytest.mark.parametrize("epsilon", [0.001, 0.3, np.log(2), np.log(3), np.pi, 19.99, 20.0])
def test_epsilon_is_exact_at_its_extremes(name, size, epsilon):
    checks.check_epsilon(oracle(name, size, float(epsilon)))


@every_oracle
@pytest.mark.parametrize("epsilon", [0.001, 1.0, 20.0])
def test_epsilon_holds_for_a_million_values(name, epsilon):
    mechanism = oracle(name, 10**6, epsilon)
    assert 0 < mechanism.exact_epsilon() <= epsilon


@every_oracle
@given(size=st.integers(2, 5000), epsilon=st.floats(0.001, 20.0))
def test_epsilon_is_exact_anywhere(name, size, epsilon):
    checks.check_epsilon(oracle(name, min(size, MECHANISMS.get(name).largest_domain or size), epsilon))


@every_oracle
@pytest.mark.parametrize("size", [2, 3, 4, 6])
@pytest.mark.parametrize("epsilon", [0.001, 0.5, 1.0, 2.0, 5.0])
def test_epsilon_is_that_of_the_enumerated_channel(name, size, epsilon):
    checks.check_channel(listed(name, size, epsilon))


@every_oracle
def test_a_channel_too_large_to_list_is_refused(name):
    mechanism = oracle(name, 1 << 17, 0.5)
    if name in UNLISTED or not checks.has_public_coins(oracle(name)):
        with pytest.raises(InvalidParameterError, match="smaller domain"):
            mechanism.channel()


@every_oracle
@pytest.mark.parametrize(
    "epsilon", [0, -1, -0.0, 0.0009, 20.1, np.inf, -np.inf, np.nan, None, "one", True, 1j, []]
)
def test_senseless_epsilon_is_refused(name, epsilon):
    wanted = epsilon_parameter(name)
    good = oracle(name, 4).parameters()
    with pytest.raises(InvalidParameterError, match=wanted):
        ldpkit.get(name, 4, **{**good, wanted: epsilon})


@every_oracle
@pytest.mark.parametrize(
    "domain",
    [0, 1, -3, True, False, 2.0, np.nan, None, "abc", b"ab", [], ["one"], [1, "a"], ["a", "a"], [None, 1]],
)
def test_senseless_domains_are_refused(name, domain):
    with pytest.raises(InvalidParameterError):
        ldpkit.get(name, domain, **oracle(name, 4).parameters())


def test_an_impossible_report_is_infinite_epsilon():
    half = Fraction(1, 2)
    assert Channel(np.arange(2), [[half, half], [Fraction(1), Fraction(0)]]).epsilon() == float("inf")
    assert Channel(np.arange(2), [[half, half], [half, half]]).epsilon() == 0.0


# --- p and q ---------------------------------------------------------------------------


@every_pure_oracle
@pytest.mark.parametrize("size", [2, 5])
@pytest.mark.parametrize("epsilon", [0.5, 3.0])
def test_p_and_q_are_those_of_the_channel(name, size, epsilon):
    mechanism = oracle(name, size, epsilon)
    p, q = mechanism.support_probabilities
    assert isinstance(p, Fraction)
    assert isinstance(q, Fraction)
    assert 0 < q < p < 1
    assert mechanism.p == float(p)
    assert mechanism.q == float(q)
    if checks.has_public_coins(mechanism):
        return  # the coins cannot be listed; test_hashing proves q from pairwise independence
    channel = mechanism.channel()
    for value, row in enumerate(channel.probabilities):
        supported = [Fraction(0)] * size
        for position, probability in enumerate(row):
            for other in np.flatnonzero(mechanism.tally(channel.reports[position : position + 1]).counts):
                supported[other] += probability
        assert supported == [p if other == value else q for other in range(size)]
