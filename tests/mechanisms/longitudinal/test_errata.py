"""The printed slips of longitudinal mechanisms as numbers, and the closed forms that are right."""

from __future__ import annotations

import math

import numpy as np
import pytest

import ldpkit
from ldpkit.core.exact import WORD
from ldpkit.mechanisms.longitudinal.chain import ChainedResponse
from mechanisms.longitudinal.chained import PAIRS, make

ONE_TIME = {"lgrr": "grr", "lsue": "sue", "losue": "oue", "lblh": "blh", "lolh": "olh"}


def printed_lgrr(k, epsilon_inf, epsilon_1):
    """Both rounds of L-GRR as the paper prints them."""
    a, b = math.exp(epsilon_inf), math.exp(epsilon_1)
    p1, p2 = a / (a + k - 1), (a * b - 1) / (-k * b + (k - 1) * a + b + a * b - 1)
    return p1, (1 - p1) / (k - 1), p2, (1 - p2) / (k - 1)


def printed_llh(g, epsilon_inf, epsilon_1):
    """Both rounds of L-LH as the paper prints them: a term is missing in p2."""
    a, b = math.exp(epsilon_inf), math.exp(epsilon_1)
    p1, p2 = a / (a + g - 1), (a * b - 1) / (-g * b + (g - 1) * a + a * b - 1)
    return p1, (1 - p1) / (g - 1), p2, (1 - p2) / (g - 1)


def chained_epsilon(k, p1, q1, p2, q2):
    first, second = (np.full((k, k), q) + np.eye(k) * (p - q) for p, q in ((p1, q1), (p2, q2)))
    product = first @ second
    return math.log((product.max(axis=0) / product.min(axis=0)).max())


@pytest.mark.parametrize(("k", "actual"), [(16, 0.573233), (100, 0.165608)])
def test_printed_lgrr_wastes_its_budget_and_ours_does_not(k, actual):
    assert chained_epsilon(k, *printed_lgrr(k, 2, 1)) == pytest.approx(actual, abs=1e-6)
    assert make("lgrr", k).exact_epsilon() == pytest.approx(1, abs=1e-12)


def test_printed_lgrr_aggregation_is_wrong_for_more_than_two_values():
    p1, q1, p2, q2 = printed_lgrr(16, 2, 1)
    assert q1 * p2 + (1 - q1) * q2 == pytest.approx(0.059616, abs=1e-6)
    assert p1 * q2 + q1 * p2 == pytest.approx(0.026854, abs=1e-6)


@pytest.mark.parametrize(("g", "pair", "actual"), [(2, (2, 1), 1.450760), (3, (1, 0.5), 0.817930)])
def test_printed_llh_breaks_privacy(g, pair, actual):
    """The negative control: the published second round spends more than epsilon_1."""
    broken = chained_epsilon(g, *printed_llh(g, *pair))
    assert broken == pytest.approx(actual, abs=1e-6)
    assert broken > pair[1]
    assert ChainedResponse(g, pair[1], pair[0]).epsilon() <= pair[1]


def test_printed_llh_is_not_even_a_probability():
    assert printed_llh(2, 1, 0.5)[2] == pytest.approx(1.19954, abs=1e-5)


def test_printed_llh_aggregation_has_the_wrong_q():
    chain = make("lblh", 10).response  # even with the right second round
    assert float(chain.first.p * chain.second.q + chain.second.p / 2) == pytest.approx(0.57487, abs=1e-5)
    assert make("lblh", 10).q == pytest.approx(0.5, abs=1e-9)


@pytest.mark.parametrize(("epsilon_inf", "epsilon_1"), PAIRS)
@pytest.mark.parametrize("k", [2, 16, 100])
def test_second_rounds_are_the_closed_forms(k, epsilon_inf, epsilon_1):
    a, b = math.exp(epsilon_inf), math.exp(epsilon_1)
    al, be = math.sqrt(a), math.sqrt(b)

    def root(square, linear, constant):
        return (-linear - math.sqrt(linear**2 - 4 * square * constant)) / (2 * square)

    expected = {
        "lsue": (al * be - 1) / ((be + 1) * (al - 1)),
        "losue": (a * b - 1) / ((b + 1) * (a - 1)),
    }
    for name, p2 in expected.items():
        one, zero = make(name, k, epsilon_inf, epsilon_1)._chain.second
        assert one / WORD == pytest.approx(p2, rel=1e-12)
        assert one + zero == WORD
    expected = {
        "loue": root(4 * a * (b - 1), 2 * a + 2 - b * (6 * a - 2), 2 * a + 1 - 3 * b),
        "lsoue": root(
            4 * al * (b - 1),
            4 * al + 2 - 2 * al**2 - b * (2 * al**2 + 4 * al - 2),
            al * (2 * al + 1) - b * (al + 2),
        ),
    }
    for name, q2 in expected.items():
        one, zero = make(name, k, epsilon_inf, epsilon_1)._chain.second
        assert one == WORD // 2
        assert zero / WORD == pytest.approx(q2, rel=1e-9)
    p2 = (a * b + (k - 2) * b - (k - 1)) / ((b + k - 1) * (a - 1))
    assert float(make("lgrr", k, epsilon_inf, epsilon_1).response.second.p) == pytest.approx(p2, rel=1e-12)


@pytest.mark.parametrize("name", ONE_TIME)
@pytest.mark.parametrize(("epsilon_inf", "epsilon_1"), PAIRS)
def test_the_chain_is_the_one_time_mechanism_at_epsilon_1(name, epsilon_inf, epsilon_1):
    chained = make(name, 16, epsilon_inf, epsilon_1)
    once = ldpkit.get(ONE_TIME[name], 16, epsilon=epsilon_1)
    assert (chained.p, chained.q) == pytest.approx((once.p, once.q), rel=1e-12)
    assert chained.report_dtype == once.report_dtype


def test_lolh_has_the_buckets_of_olh():
    assert make("lolh", 100).buckets == 4
    assert make("lolh", 100).variance(0.0, 1) == pytest.approx(3.69165, abs=1e-5)
