"""Longitudinal mechanisms: both promises exact, chained channels, and what cannot be."""

from __future__ import annotations

import itertools
import math
import pickle
from fractions import Fraction

import numpy as np
import pytest

import ldpkit
from ldpkit.core.errors import InvalidParameterError
from ldpkit.core.exact import log_up
from ldpkit.mechanisms.longitudinal.chain import least_noise
from ldpkit.mechanisms.longitudinal.lhashing import LongitudinalHashing
from ldpkit.mechanisms.longitudinal.lunary import LongitudinalUnary
from mechanisms.longitudinal.chained import PAIRS, every_name, make, multiply, products
from slow import slow

seeded = ldpkit.random.seeded


# --- both promises ---------------------------------------------------------------------


@every_name
@pytest.mark.parametrize("size", [16, *slow(2, 100)])
def test_both_epsilons_are_exact(name, size):
    for epsilon_inf, epsilon_1 in [*PAIRS, (20, 10), (0.01, 0.001), (20, 0.001)]:
        mechanism = make(name, size, epsilon_inf, epsilon_1)
        assert epsilon_1 - 1e-6 <= mechanism.exact_epsilon() <= epsilon_1
        assert epsilon_inf - 1e-6 <= mechanism.exact_permanent_epsilon() <= epsilon_inf
        assert mechanism.epsilon == mechanism.epsilon_1 == epsilon_1


@every_name
@pytest.mark.parametrize("size", [2, 3, 4])
def test_the_channel_is_the_product_of_the_two_rounds(name, size):
    mechanism = make(name, size)
    product = multiply(*products(mechanism))
    channel = mechanism.channel(seeded(3))
    if isinstance(mechanism, LongitudinalHashing):
        values = np.arange(size, dtype=np.uint32)
        coins = channel.reports[0]
        rows = [product[bucket] for bucket in mechanism.hash(coins["a"], coins["b"], values)]
    elif isinstance(mechanism, LongitudinalUnary):
        order = np.unpackbits(channel.reports, axis=1, count=size, bitorder="little").tolist()
        place = {report: index for index, report in enumerate(itertools.product((0, 1), repeat=size))}
        rows = [[row[place[tuple(report)]] for report in order] for row in product]
    else:
        rows = product
    assert [list(row) for row in channel.probabilities] == rows
    worst = max(max(column) / min(column) for column in zip(*product, strict=True))
    assert log_up(worst) == mechanism.exact_epsilon()
    permanent, _ = products(mechanism)
    worst = max(max(column) / min(column) for column in zip(*permanent, strict=True))
    assert log_up(worst) == mechanism.exact_permanent_epsilon()


@every_name
@pytest.mark.parametrize(("epsilon_inf", "epsilon_1"), PAIRS)
def test_no_less_noise_would_do(name, epsilon_inf, epsilon_1):
    """One unit of noise less in the second round and the first report breaks its promise."""
    mechanism = make(name, 5, epsilon_inf, epsilon_1)
    low, high = (math.exp(epsilon_1 * (1 + sign * 1e-12)) for sign in (-1, 1))
    if isinstance(mechanism, LongitudinalUnary):
        noise, ratio = mechanism._chain.second[1], mechanism._chain._ratio
    else:
        noise, ratio = mechanism.response.second.width, mechanism.response.second._ratio
    assert low < ratio(noise) < high
    assert ratio(noise) < ratio(noise - 1)
    assert log_up(ratio(noise - 1)) >= epsilon_1


def test_least_noise_finds_the_edge():
    assert least_noise(lambda noise: Fraction(1000, noise), 1000, math.log(10)) in (100, 101)
    assert least_noise(lambda noise: Fraction(1), 1 << 63, 1.0) == 1


# --- what cannot be ---------------------------------------------------------------------


@every_name
@pytest.mark.parametrize("epsilon_1", [2.0, *slow(2.5), 6.0])
def test_epsilon_1_must_be_below_epsilon_inf(name, epsilon_1):
    with pytest.raises(InvalidParameterError, match="largest feasible epsilon_1 is") as refusal:
        make(name, 10, 2.0, epsilon_1)
    limit = float(str(refusal.value).split()[-1])
    assert limit < 2
    assert limit - 1e-6 <= make(name, 10, 2.0, limit).exact_epsilon() <= limit
    with pytest.raises(InvalidParameterError):
        make(name, 10, 2.0, limit + 2e-6)


@pytest.mark.parametrize(("name", "limit"), [("loue", 0.763382), ("lsoue", 0.663643)])
def test_infeasible_pairs_are_refused_with_the_limit(name, limit):
    with pytest.raises(InvalidParameterError, match=f"is {limit:.6f}"):
        make(name, 10, 1.0, 0.8)


@every_name
def test_senseless_epsilons_are_refused(name):
    for bad in [0, -1, math.nan, math.inf, "one", None, True, 21]:
        with pytest.raises(InvalidParameterError, match="epsilon_inf"):
            ldpkit.get(name, 4, epsilon_inf=bad, epsilon_1=1)
        with pytest.raises(InvalidParameterError, match="epsilon_1"):
            ldpkit.get(name, 4, epsilon_inf=2, epsilon_1=bad)
    with pytest.raises(InvalidParameterError, match="epsilon"):
        ldpkit.get(name, 4, epsilon=1)


@every_name
def test_it_is_a_mechanism_like_any_other(name):
    mechanism = make(name, ["a", "b", "c"])
    assert pickle.loads(pickle.dumps(mechanism)) == mechanism
    assert mechanism != make(name, ["a", "b", "c"], 3.0)
    assert ldpkit.get(f"L-{name[1:].upper()}", 3, epsilon_inf=2, epsilon_1=1) == make(name, 3)
    assert mechanism.parameters() == {"epsilon_inf": 2.0, "epsilon_1": 1.0}
    reports = mechanism.first_reports(["a", "c"] * 50, rng=seeded(1))
    assert mechanism.encode(mechanism.decode(mechanism.encode(reports))) == mechanism.encode(reports)
    assert mechanism.tally(reports).from_bytes(mechanism.tally(reports).to_bytes()) == mechanism.tally(
        reports
    )
