"""Longitudinal mechanisms: both promises exact, chained channels, and the printed slips as controls."""

from __future__ import annotations

import itertools
import math
import pickle
from fractions import Fraction
from statistics import NormalDist

import numpy as np
import pytest

import ldpkit
from ldpkit.core.errors import InvalidInputError, InvalidParameterError
from ldpkit.core.exact import WORD, log_up
from ldpkit.mechanisms.categorical.longitudinal.chain import ChainedResponse, least_noise
from ldpkit.mechanisms.categorical.longitudinal.lhashing import LongitudinalHashing
from ldpkit.mechanisms.categorical.longitudinal.lunary import LongitudinalUnary

NAMES = ["lgrr", "lsue", "loue", "lsoue", "losue", "lblh", "lolh"]
SIBLINGS = dict(zip(NAMES, ["grr", "sue", "oue", "oue", "oue", "blh", "olh"], strict=True))
PAIRS = [(2, 1), (4, 2), (8, 4), (1, 0.5)]
FALSE_ALARM = 1e-9

every_name = pytest.mark.parametrize("name", NAMES)
seeded = ldpkit.random.seeded


def make(name, size=5, epsilon_inf=2.0, epsilon_1=1.0):
    return ldpkit.get(name, size, epsilon_inf=epsilon_inf, epsilon_1=epsilon_1)


def z_limit(tests):
    return -NormalDist().inv_cdf(FALSE_ALARM / (2 * tests))


# --- both promises ---------------------------------------------------------------------


@every_name
@pytest.mark.parametrize(("epsilon_inf", "epsilon_1"), [*PAIRS, (20, 10), (0.01, 0.001), (20, 0.001)])
@pytest.mark.parametrize("size", [2, 16, 100])
def test_both_epsilons_are_exact(name, size, epsilon_inf, epsilon_1):
    mechanism = make(name, size, epsilon_inf, epsilon_1)
    assert epsilon_1 - 1e-6 <= mechanism.exact_epsilon() <= epsilon_1
    assert epsilon_inf - 1e-6 <= mechanism.exact_permanent_epsilon() <= epsilon_inf
    assert mechanism.epsilon == mechanism.epsilon_1 == epsilon_1


def products(mechanism):
    """The exact product of the two rounds, as matrices of Fractions."""
    if isinstance(mechanism, LongitudinalUnary):
        first, second = mechanism._chain.first, mechanism._chain.second
        reports = list(itertools.product((0, 1), repeat=mechanism.size))
        permanent = [
            [
                math.prod(
                    bit_chance(first[0 if place == value else 1], bit) for place, bit in enumerate(report)
                )
                for report in reports
            ]
            for value in range(mechanism.size)
        ]
        instant = [
            [
                math.prod(
                    bit_chance(second[0 if kept else 1], bit) for kept, bit in zip(held, report, strict=True)
                )
                for report in reports
            ]
            for held in reports
        ]
    else:
        chain = mechanism.response
        permanent = [chain.first.row(value) for value in range(chain.size)]
        instant = [chain.second.row(value) for value in range(chain.size)]
    return permanent, instant


def bit_chance(threshold, bit):
    return Fraction(threshold if bit else WORD - threshold, WORD)


def multiply(left, right):
    return [
        [sum(a * b for a, b in zip(row, column, strict=True)) for column in zip(*right, strict=True)]
        for row in left
    ]


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


# --- the errata, as numbers ------------------------------------------------------------


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


@pytest.mark.parametrize("name", ["lgrr", "lsue", "losue", "lblh", "lolh"])
@pytest.mark.parametrize(("epsilon_inf", "epsilon_1"), PAIRS)
def test_the_chain_is_the_one_time_mechanism_at_epsilon_1(name, epsilon_inf, epsilon_1):
    chained = make(name, 16, epsilon_inf, epsilon_1)
    once = ldpkit.get(SIBLINGS[name], 16, epsilon=epsilon_1)
    assert (chained.p, chained.q) == pytest.approx((once.p, once.q), rel=1e-12)
    assert chained.report_dtype == once.report_dtype


def test_lolh_has_the_buckets_of_olh():
    assert make("lolh", 100).buckets == 4
    assert make("lolh", 100).variance(0.0, 1) == pytest.approx(3.69165, abs=1e-5)


# --- what cannot be ---------------------------------------------------------------------


@every_name
@pytest.mark.parametrize("epsilon_1", [2.0, 2.5, 6.0])
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
@pytest.mark.parametrize("bad", [0, -1, math.nan, math.inf, "one", None, True, 21])
def test_senseless_epsilons_are_refused(name, bad):
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
    reports = mechanism.privatize(["a", "c"] * 50, rng=seeded(1))
    assert mechanism.encode(mechanism.decode(mechanism.encode(reports))) == mechanism.encode(reports)
    assert mechanism.tally(reports).from_bytes(mechanism.tally(reports).to_bytes()) == mechanism.tally(
        reports
    )


# --- reports ----------------------------------------------------------------------------


@every_name
@pytest.mark.parametrize(("epsilon_inf", "epsilon_1"), PAIRS)
def test_reports_give_unbiased_estimates_with_the_stated_variance(name, epsilon_inf, epsilon_1):
    mechanism = make(name, 6, epsilon_inf, epsilon_1)
    counts = np.array([40, 30, 15, 10, 5, 0])
    repeats = 1000
    people = np.repeat(np.arange(6), counts)
    reports = mechanism.privatize(np.tile(people, repeats), rng=seeded(5))
    users = np.array([mechanism.tally(part).counts for part in np.split(reports, repeats)])
    check_moments(mechanism, counts, users)


@every_name
@pytest.mark.parametrize(("epsilon_inf", "epsilon_1"), PAIRS)
@pytest.mark.parametrize("size", [2, 16, 100])
def test_simulated_estimates_are_unbiased_with_the_stated_variance(name, size, epsilon_inf, epsilon_1):
    mechanism = make(name, size, epsilon_inf, epsilon_1)
    counts = 200 * (1 + np.arange(size) % 5)
    counts[-1] = 0
    check_moments(mechanism, counts, mechanism.simulate(counts, rng=seeded(6), repeats=2000))


def check_moments(mechanism, counts, supports):
    n, (repeats, size) = int(counts.sum()), supports.shape
    truth = counts / n
    estimates = mechanism.unbiased(supports, n)
    variance = mechanism.variance(truth, n)
    limit = z_limit(2 * size)
    z = (estimates.mean(axis=0) - truth) / np.sqrt(variance / repeats)
    assert np.abs(z).max() < limit, f"biased, z-scores {z.round(1)} (false-alarm rate {FALSE_ALARM:g})"
    spread = estimates.var(axis=0, ddof=1) / variance
    kurtosis = ((estimates - truth) ** 4).mean(axis=0) / variance**2
    z = (spread - 1) / np.sqrt((kurtosis - 1) / repeats)
    assert np.abs(z).max() < limit, f"variance off by {spread} (false-alarm rate {FALSE_ALARM:g})"


def test_the_printed_aggregation_is_biased():
    """The negative control of the moment check: the printed q* of L-GRR."""
    mechanism = make("lgrr", 16)
    counts = np.full(16, 1000)
    supports = mechanism.simulate(counts, rng=seeded(7), repeats=500)
    first, second = mechanism.response.first, mechanism.response.second
    q = float(first.p * second.q + first.q * second.p)
    broken = (supports / counts.sum() - q) / (mechanism.p - q)
    error = np.sqrt(mechanism.variance(1 / 16, int(counts.sum())) / 500)
    assert np.abs((broken.mean(axis=0) - 1 / 16) / error).min() > 6


def test_simulated_lgrr_counts_sum_to_the_people():
    counts = np.array([5, 10, 15])
    assert (make("lgrr", 3).simulate(counts, rng=seeded(8), repeats=50).sum(axis=1) == 30).all()


@pytest.mark.parametrize("name", ["lsue", "loue", "lsoue", "losue"])
@pytest.mark.parametrize("size", [3, 8, 11])
def test_both_rounds_of_bits_have_their_probabilities(name, size):
    mechanism = make(name, size)
    draws, source = 40_000, seeded(9)
    permanent = mechanism.permanent(np.full(draws, 1, np.uint32), source)
    bits = np.unpackbits(permanent, axis=1, count=size, bitorder="little")
    first = np.array(mechanism._chain.first)[(np.arange(size) != 1).astype(int)] / WORD
    z = (bits.mean(axis=0) - first) / np.sqrt(first * (1 - first) / draws)
    assert np.abs(z).max() < z_limit(size), f"z-scores {z} (false-alarm rate {FALSE_ALARM:g})"
    sent = np.unpackbits(
        mechanism.instant(np.repeat(permanent[:1], draws, axis=0), source),
        axis=1,
        count=size,
        bitorder="little",
    )
    second = np.array(mechanism._chain.second)[1 - bits[0]] / WORD
    z = (sent.mean(axis=0) - second) / np.sqrt(second * (1 - second) / draws)
    assert np.abs(z).max() < z_limit(size), f"z-scores {z} (false-alarm rate {FALSE_ALARM:g})"


@pytest.mark.parametrize("name", ["lgrr", "lolh"])
def test_both_rounds_of_responses_have_their_probabilities(name):
    mechanism = make(name, 4)
    draws, source, chain = 40_000, seeded(10), mechanism.response
    coins = np.repeat(mechanism.public_coins(1, source), draws, axis=0)
    state = mechanism.states(coins[:1], np.array([2], np.uint32))
    permanent = mechanism.memorise(coins, np.repeat(state, draws), source)
    kept = permanent["y"] if name == "lolh" else permanent
    sent = mechanism.instant(np.repeat(permanent[:1], draws, axis=0), source)
    answers = sent["y"] if name == "lolh" else sent
    for observed, value, response in ((kept, state[0], chain.first), (answers, kept[0], chain.second)):
        exact = np.array([float(chance) for chance in response.row(int(value))])
        z = (np.bincount(observed, minlength=chain.size) / draws - exact) / np.sqrt(
            exact * (1 - exact) / draws
        )
        assert np.abs(z).max() < z_limit(chain.size), f"z-scores {z} (false-alarm rate {FALSE_ALARM:g})"


def test_the_instant_round_keeps_the_hash_function():
    mechanism = make("lolh", 50)
    permanent = mechanism.permanent(np.arange(50, dtype=np.uint32), seeded(11))
    sent = mechanism.instant(permanent, seeded(12))
    assert (sent[["a", "b"]] == permanent[["a", "b"]]).all()


# --- many reports from one permanent one -----------------------------------------------


def sequence_probabilities(mechanism, times):
    """Return P(every sequence of reports | every value), exactly, by summing over permanent reports."""
    permanent, instant = products(mechanism)
    outputs = range(len(instant))
    table = []
    for row in permanent:
        chances = [
            sum(kept * math.prod(instant[x][y] for y in sequence) for x, kept in enumerate(row))
            for sequence in itertools.product(outputs, repeat=times)
        ]
        table.append(chances)
    return table


@pytest.mark.parametrize(
    ("name", "size", "times"),
    [
        ("lgrr", 3, 1),
        ("lgrr", 3, 4),
        ("lgrr", 2, 5),
        ("lsue", 2, 3),
        ("loue", 2, 3),
        ("losue", 3, 2),
        ("lsoue", 3, 2),
        ("lblh", 9, 5),
        ("lolh", 9, 3),
    ],
)
def test_repeated_epsilon_is_that_of_all_sequences(name, size, times):
    mechanism = make(name, size)
    table = sequence_probabilities(mechanism, times)
    worst = max(max(column) / min(column) for column in zip(*table, strict=True))
    stated = mechanism.repeated_epsilon(times)
    assert stated >= log_up(worst) - 1e-15
    assert stated == pytest.approx(log_up(worst), rel=1e-14)


@every_name
@pytest.mark.parametrize(("epsilon_inf", "epsilon_1"), PAIRS)
def test_repeated_epsilon_grows_from_epsilon_1_to_epsilon_inf(name, epsilon_inf, epsilon_1):
    mechanism = make(name, 16, epsilon_inf, epsilon_1)
    losses = [mechanism.repeated_epsilon(times) for times in (1, 2, 3, 5, 10, 100, 1000, 10**6, 10**12)]
    assert losses == sorted(losses)
    assert losses[0] == pytest.approx(epsilon_1, abs=1e-6)
    assert losses[-1] == mechanism.exact_permanent_epsilon()
    assert losses[6] == pytest.approx(epsilon_inf, abs=1e-3)


def test_two_memoized_reports_can_cost_more_than_two_fresh_ones():
    """Why both epsilons matter: the second round alone is weaker than the two together."""
    mechanism = make("lgrr", 1000, 4.0, 0.5)
    assert mechanism.repeated_epsilon(2) > 2 * mechanism.exact_epsilon()


@pytest.mark.parametrize(("name", "size"), [("lgrr", 3), ("lsue", 3), ("loue", 3), ("lblh", 3), ("lolh", 3)])
@pytest.mark.parametrize("memoized", [True, False])
def test_log_likelihood_is_that_of_the_exact_rounds(name, size, memoized):
    mechanism = make(name, size)
    permanent, instant = products(mechanism)
    chained = multiply(permanent, instant)
    source = seeded(13)
    one = mechanism.permanent(np.array([1], np.uint32), source)
    reports = mechanism.instant(np.repeat(one, 4, axis=0), source)
    states = list(range(size))
    if isinstance(mechanism, LongitudinalHashing):
        outputs = reports["y"].tolist()
        states = mechanism.hash(reports["a"][0], reports["b"][0], np.arange(size, dtype=np.uint32)).tolist()
    elif isinstance(mechanism, LongitudinalUnary):
        order = {report: index for index, report in enumerate(itertools.product((0, 1), repeat=size))}
        bits = np.unpackbits(reports, axis=1, count=size, bitorder="little").tolist()
        outputs = [order[tuple(report)] for report in bits]
    else:
        outputs = reports.tolist()
    found = mechanism.log_likelihood(reports, memoized=memoized)
    for upto in range(1, 5):
        seen = outputs[:upto]
        exact = [
            sum(kept * math.prod(instant[x][y] for y in seen) for x, kept in enumerate(permanent[state]))
            if memoized
            else math.prod(chained[state][y] for y in seen)
            for state in states
        ]
        exact = np.log(np.array([float(chance) for chance in exact]))
        assert np.allclose(found[upto - 1] - found[upto - 1].max(), exact - exact.max(), atol=1e-12)


def test_log_likelihood_refuses_what_no_device_sends():
    mechanism = make("lolh", 9)
    with pytest.raises(InvalidInputError, match="hash functions"):
        mechanism.log_likelihood(mechanism.privatize([0, 0, 0], rng=seeded(14)))
    with pytest.raises(InvalidInputError, match="no reports"):
        make("lgrr", 9).log_likelihood(np.empty(0, np.uint8))
