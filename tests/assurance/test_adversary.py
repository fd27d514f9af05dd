"""The Bayesian adversary: against enumeration of everything, and against simulation."""

from __future__ import annotations

import itertools
import math

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

import ldpkit
from ldpkit.assurance.adversary import (
    attack_on,
    confusion,
    epsilon_warnings,
    in_words,
    measure,
    risk,
    suspicion,
)
from ldpkit.assurance.adversary.closed_form import guesses_of, supports_of
from ldpkit.assurance.adversary.words import suspicion_in_words
from ldpkit.core.errors import InvalidInputError, InvalidParameterError
from ldpkit.mechanisms.categorical.oracle import FrequencyOracle
from slow import slow

PLAIN = ("grr", "oue", "sue", "the", "ss")
HASHED = ("olh", "blh")


def table_of(rows):
    return np.array([[float(entry) for entry in row] for row in rows])


def best_guesses(channel, prior):
    """Return P(guess | report) of the Bayesian adversary, ties broken by a fair coin."""
    scores = prior[:, None] * channel
    best = scores >= scores.max(axis=0) * (1 - 1e-12)
    return best / best.sum(axis=0)


def enumerated(oracle, prior):
    """Return P(guess | value) by listing all reports and, for hashing, all hash functions."""
    if oracle.name in HASHED:
        functions = itertools.product(range(oracle.buckets), repeat=oracle.size)
        channels = [table_of([oracle.response.row(bucket) for bucket in each]) for each in functions]
    else:
        channels = [table_of(oracle.channel().probabilities)]
    return sum(channel @ best_guesses(channel, prior).T for channel in channels) / len(channels)


def priors(size):
    generator = np.random.default_rng(size)
    yield np.full(size, 1 / size)
    yield generator.dirichlet(np.ones(size))
    yield generator.dirichlet(np.full(size, 20.0))
    tied = np.array([3.0, 1.0] * size)[:size]
    yield tied / tied.sum()
    yield np.eye(size)[size // 2]


def check_against_enumeration(oracle):
    for prior in priors(oracle.size):
        whole = enumerated(oracle, prior)
        assert np.abs(confusion(oracle, prior) - whole).max() < 1e-12
        assert risk(oracle, prior).success == pytest.approx(prior @ np.diag(whole), abs=1e-12)


@pytest.mark.parametrize("name", PLAIN)
@pytest.mark.parametrize("size", [2, 5, *slow(3, 6)])
@pytest.mark.parametrize("epsilon", [1.0, *slow(0.1, 3.0)])
def test_success_rate_against_enumeration(name, size, epsilon):
    check_against_enumeration(ldpkit.get(name, size, epsilon=epsilon))


@pytest.mark.parametrize(
    ("name", "size", "epsilon"),
    [("olh", 2, 1.0), ("olh", 4, 1.0), ("olh", 4, 1.4), ("olh", 3, 2.5), ("blh", 3, 0.5), ("blh", 6, 2.0)],
)
def test_hashing_against_all_hash_functions(name, size, epsilon):
    check_against_enumeration(ldpkit.get(name, size, epsilon=epsilon))


def test_enumeration_would_notice_a_wrong_tie():
    """Negative control: an adversary who takes the first of equal values confuses values otherwise."""
    oracle = ldpkit.OUE(4, epsilon=1.0)
    prior = np.full(4, 0.25)
    channel = table_of(oracle.channel().probabilities)
    first = np.eye(4)[np.argmax(prior[:, None] * channel, axis=0)].T
    assert np.abs(confusion(oracle, prior) - channel @ first.T).max() > 0.01


@pytest.mark.parametrize("name", [*PLAIN, *HASHED])
def test_every_measure_follows_from_the_table(name):
    oracle = ldpkit.get(name, 5, epsilon=1.5)
    prior, people = np.array([0.3, 0.3, 0.2, 0.1, 0.1]), np.array([0.1, 0.2, 0.3, 0.2, 0.2])
    amounts = np.array([0.0, 10.0, 20.0, 5.0, 7.0])
    found = risk(oracle, prior, people=people, amounts=amounts, eta=7)
    joint = people[:, None] * confusion(oracle, prior)
    low = amounts <= 7
    hits, alarms = joint[np.ix_(low, low)].sum(), joint[:, low].sum()
    assert found.success == pytest.approx(np.trace(joint), abs=1e-12)
    assert found.squared_error == pytest.approx((joint * (amounts[:, None] - amounts) ** 2).sum(), abs=1e-9)
    assert found.precision == pytest.approx(hits / alarms, abs=1e-12)
    assert found.recall == pytest.approx(hits / people[low].sum(), abs=1e-12)
    assert found.f_score == pytest.approx(2 * hits / (alarms + people[low].sum()), abs=1e-12)
    assert (found.how, found.success_stderr) == ("exact", 0.0)


@given(
    st.sampled_from([*PLAIN, *HASHED]),
    st.lists(st.integers(0, 50), min_size=2, max_size=12).filter(sum),
    st.floats(0.01, 8.0),
)
def test_nobody_does_better_than_epsilon_allows(name, counts, epsilon):
    """Rows are distributions; success lies between the blind guess and e^eps times it."""
    oracle = ldpkit.get(name, len(counts), epsilon=epsilon)
    prior = np.array(counts) / sum(counts)
    table = confusion(oracle, prior)
    assert (table >= -1e-12).all()
    assert table.sum(axis=1) == pytest.approx(1, abs=1e-9)
    found = risk(oracle, counts)
    assert found.blind - 1e-12 <= found.success <= min(1, math.exp(epsilon) * found.blind) + 1e-12


def test_known_rates():
    assert risk(ldpkit.GRR(10, epsilon=2.0)).success == pytest.approx(ldpkit.GRR(10, epsilon=2.0).p)
    # A prior beyond e^eps to one is not turned around by any report.
    assert risk(ldpkit.GRR(2, epsilon=1.0), [80, 20]).success == pytest.approx(0.8)
    assert risk(ldpkit.GRR(2, epsilon=1.0), [80, 20]).gain == pytest.approx(1.0)
    assert risk(ldpkit.GRR(2, epsilon=1.5), [80, 20]).gain > 1
    assert risk(ldpkit.SS(6, epsilon=3.0)).success == pytest.approx(risk(ldpkit.GRR(6, epsilon=3.0)).success)


def test_only_the_table_of_guesses_has_a_limit():
    big = risk(ldpkit.OLH(2000, epsilon=1.0), np.arange(2000) + 1.0)
    assert big.how == "exact"
    with pytest.raises(InvalidParameterError, match="at most 4096 values, got 5000: group values"):
        confusion(ldpkit.GRR(5000, epsilon=1.0), np.full(5000, 1 / 5000))


def test_a_million_values_are_exact_and_need_no_table():
    oracle = ldpkit.GRR(1_000_000, epsilon=8.0)
    huge = risk(oracle, eta=499_999)
    assert huge.how == "exact"
    assert huge.success == pytest.approx(oracle.p, rel=1e-9)
    # A uniform guess is off by (k^2 - 1) / 6 on average; one that is not right is as good as that here.
    assert huge.blind_squared_error == pytest.approx((1e12 - 1) / 6, rel=1e-9)
    assert huge.squared_error == pytest.approx((1 - oracle.p) * 1e12 / 6, rel=1e-5)
    assert huge.precision == pytest.approx(0.5 + oracle.p / 2, rel=1e-5)


@pytest.mark.parametrize("name", [*PLAIN, *HASHED])
def test_what_a_guess_is_worth_is_what_the_table_says(name):
    generator = np.random.default_rng(5)
    for k, epsilon in ((2, 0.3), (7, 1.0), (23, 3.0)):
        oracle = ldpkit.get(name, k, epsilon=epsilon)
        for weights in (np.ones(k), 1.0 + generator.integers(0, 3, k), generator.random(k) + 0.01):
            prior, worth = weights / weights.sum(), generator.normal(size=k)
            table, told = confusion(oracle, prior), guesses_of(oracle, prior)
            assert told.right == pytest.approx(table.diagonal(), abs=1e-12)
            assert told.expected(worth) == pytest.approx(table @ worth, abs=1e-12)


def test_a_simulation_that_would_take_hours_is_refused_before_it_draws():
    class Untouched:
        def __getattr__(self, name):
            raise AssertionError(f"the source was asked for {name}")

    with pytest.raises(InvalidParameterError, match=r"the limit is 8,589,934,592: attack 8,589 devices or"):
        risk(ldpkit.SHE(1_000_000, epsilon=1.0), rng=Untouched())
    with pytest.raises(InvalidParameterError, match=r"look at fewer reports, or group values"):
        risk(ldpkit.OUE(1_000_000, epsilon=1.0), reports=10_000, rng=Untouched())


# --- simulation ----------------------------------------------------------------------------


@pytest.mark.parametrize("name", [*PLAIN, *HASHED])
def test_simulated_attacks_agree_with_exact_ones(name, monkeypatch):
    oracle = ldpkit.get(name, 8, epsilon=1.5)
    prior = np.arange(1.0, 9)
    exact = risk(oracle, prior, eta=3)
    monkeypatch.setattr(measure, "_has_closed_form", lambda oracle, reports: False)
    monkeypatch.setattr(measure, "listed_chances", lambda oracle: None)
    simulated = risk(oracle, prior, eta=3, devices=20_000, rng=ldpkit.random.seeded(6))
    assert simulated.how == "simulated"
    assert abs(simulated.success - exact.success) < 4.5 * simulated.success_stderr, "false alarm: 7e-6"
    assert simulated.squared_error == pytest.approx(exact.squared_error, rel=0.1)
    wrong = risk(ldpkit.get(name, 8, epsilon=3.0), prior, devices=20_000, rng=ldpkit.random.seeded(6))
    assert abs(wrong.success - exact.success) > 4.5 * wrong.success_stderr, "the check would notice"


@pytest.mark.parametrize("name", ["she", "dbitflip"])
def test_mechanisms_without_a_closed_form(name):
    oracle = ldpkit.get(name, 6, epsilon=2.0)
    found = risk(oracle, devices=3000, rng=ldpkit.random.seeded(1))
    assert found.how == "simulated"
    assert found.blind < found.success < ldpkit.GRR(6, epsilon=2.0).p + 4.5 * found.success_stderr


def test_dbitflip_with_all_buckets_is_sue():
    prior = np.arange(1.0, 7)
    exact = risk(ldpkit.SUE(6, epsilon=2.0), prior)
    found = risk(ldpkit.get("dbitflip", 6, epsilon=2.0), prior, devices=4000, rng=ldpkit.random.seeded(2))
    assert abs(found.success - exact.success) < 4.5 * found.success_stderr, "false alarm: 7e-6"


def test_fresh_reports_add_up():
    rates = [
        risk(ldpkit.OUE(8, epsilon=1.0), reports=count, devices=2000, rng=ldpkit.random.seeded(1)).success
        for count in (1, 5, 40)
    ]
    assert rates[0] < rates[1] < rates[2]
    assert rates[2] > 0.9
    assert risk(ldpkit.OUE(8, epsilon=1.0), reports=5, devices=10).epsilon == pytest.approx(5, abs=1e-9)


@pytest.mark.parametrize("name", ["lgrr", "losue", "lolh"])
def test_memoized_reports_do_not(name):
    oracle = ldpkit.get(name, 8, epsilon_inf=2.0, epsilon_1=1.0)
    found = risk(oracle, reports=60, devices=800, rng=ldpkit.random.seeded(1))
    limit = math.exp(2.0) / (math.exp(2.0) + 7)
    assert found.success < limit + 4.5 * found.success_stderr
    assert found.epsilon <= 2.0 + 1e-9
    one = risk(oracle)
    assert one.how == "exact"
    assert one.success < found.success


def test_two_reports_of_a_pair_against_enumeration():
    """Two fresh GRR reports: the exact success by listing all pairs of reports."""
    oracle = ldpkit.GRR(3, epsilon=1.0)
    prior = np.array([0.5, 0.3, 0.2])
    one = table_of(oracle.channel().probabilities)
    both = (one[:, :, None] * one[:, None, :]).reshape(3, 9)
    exact = float((prior[:, None] * both).max(axis=0).sum())
    found = risk(oracle, prior, reports=2, devices=20_000, rng=ldpkit.random.seeded(4))
    assert abs(found.success - exact) < 4.5 * found.success_stderr, "false alarm: 7e-6"


# --- words and refusals --------------------------------------------------------------------


def test_words():
    sentences = in_words(risk(ldpkit.OUE(10, epsilon=1.0), eta=3))
    assert len(sentences) == 4
    assert "50%" in sentences[0]
    assert "at most 73.2%" in sentences[2]
    assert sentences[0].startswith("A report shows")
    assert sentences[1].endswith("if all values are equally likely.")
    hashed = in_words(risk(ldpkit.OLH(4, epsilon=2.0), [4, 3, 2, 1]))
    assert hashed[0].startswith("A report is compatible with the person's own value in 51.4%")
    assert "equally likely" not in hashed[1]
    assert "at most 3" in sentences[3]
    assert "no more often" in in_words(risk(ldpkit.GRR(2, epsilon=0.1), [9, 1]))[1]
    several = in_words(risk(ldpkit.GRR(3, epsilon=0.5), reports=4, devices=100, rng=ldpkit.random.seeded(1)))
    assert "the 4 reports" in several[1]


def test_suspicion_is_the_bound_of_every_posterior():
    oracle = ldpkit.GRR(4, epsilon=1.0)
    prior = np.array([0.4, 0.3, 0.2, 0.1])
    joint = prior[:, None] * table_of(oracle.channel().probabilities)
    posterior = joint / joint.sum(axis=0)
    for value, before in enumerate(prior):
        assert posterior[value].max() <= suspicion(before, 1.0) + 1e-12


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"prior": [1, 2]}, "the prior must have a number for each of 3 values"),
        ({"prior": [1, -1, 1]}, "must be finite, not negative"),
        ({"prior": [0, 0, 0]}, "not all zero"),
        ({"prior": ["a", "b", "c"]}, "must be numbers"),
        ({"people": [1, 2, float("nan")]}, "the people must be finite"),
        ({"amounts": [1, 2]}, "amounts must be 3 finite numbers"),
    ],
)
def test_input_that_makes_no_sense(arguments, message):
    with pytest.raises(InvalidInputError, match=message):
        risk(ldpkit.GRR(3, epsilon=1.0), **arguments)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [({"eta": float("nan")}, "eta must be a finite number"), ({"reports": 0}, "reports must be at least 1")],
)
def test_parameters_that_make_no_sense(arguments, message):
    with pytest.raises(InvalidParameterError, match=message):
        risk(ldpkit.GRR(3, epsilon=1.0), **arguments)


class SilentGRR(ldpkit.GRR):
    """Does not say how much likelier a report is under a value that it supports."""

    name = "silent_grr"
    support_ratio = FrequencyOracle.support_ratio


@pytest.mark.parametrize("prior", [None, [4, 3, 2, 1]])
def test_a_mechanism_that_does_not_tell_its_ratio_is_attacked_by_its_list(prior):
    silent, told, larger = (
        risk(each, prior) for each in (SilentGRR(4, 1.0), ldpkit.GRR(4, 1.0), ldpkit.GRR(4, 1.1))
    )
    assert (silent.how, silent.success_stderr) == ("exact", 0)
    assert silent.success == pytest.approx(told.success, abs=1e-9)
    assert silent.success != pytest.approx(larger.success, abs=1e-3), "the check would notice"


class Stars(ldpkit.MatrixMechanism):
    """A near rating is likelier than a far one."""

    name = "stars_for_the_adversary"

    def matrix(self):
        far = np.abs(np.subtract.outer(np.arange(self.size), np.arange(self.size)))
        return np.exp(-self.epsilon * far / (2 * far.max()))


def test_a_table_is_attacked_exactly():
    stars, prior = Stars(5, epsilon=2.0), np.array([4, 1, 1, 1, 1]) / 8
    found = risk(stars, prior)
    assert found.how == "exact"
    assert found.success == pytest.approx((prior[:, None] * stars.probabilities).max(axis=0).sum(), abs=1e-12)
    assert attack_on(stars).success > 1 / 5, "warnings of a large epsilon know it too"


def test_reports_that_support_nothing_have_no_closed_form():
    with pytest.raises(InvalidInputError, match="do not support values: attack them by simulation"):
        supports_of(ldpkit.get("she", 3, epsilon=1.0))


def test_labels_are_amounts_where_they_are_numbers():
    assert risk(ldpkit.GRR([10, 30], epsilon=1.0)).blind_squared_error == pytest.approx(200)
    amounts = risk(ldpkit.GRR(["a", "b"], epsilon=1.0), amounts=[0, 1])
    assert amounts.blind_squared_error == pytest.approx(0.5)


def test_labels_that_are_no_numbers_have_no_squared_error():
    found = risk(ldpkit.GRR(["a", "b"], epsilon=1.0))
    assert (found.squared_error, found.blind_squared_error) == (None, None)
    assert risk(ldpkit.GRR(2, epsilon=1.0)).squared_error is not None


# --- what a large epsilon gives away -------------------------------------------------------


@pytest.mark.parametrize(
    ("epsilon", "words"),
    [(None, ""), (4.0, ""), (4.01, "is large."), (8.0, "is large."), (8.01, "promises almost")],
)
def test_thresholds_of_warnings(epsilon, words):
    told = epsilon_warnings(epsilon, subject="oue", attack=lambda: attack_on(ldpkit.OUE(4, epsilon=8.01)))
    assert len(told) == bool(words)
    assert words in "".join(told)
    assert ("Guessing from the report" in "".join(told)) == ("promises" in words)


def test_an_attack_is_computed_only_where_it_is_told():
    def attack():
        raise AssertionError("not asked for")

    assert epsilon_warnings(7.0, attack=attack)[0].startswith("epsilon 7 is large.")


def test_what_is_almost_certain_is_not_said_to_be_certain():
    assert "at most 99.99999955%" in suspicion_in_words(19.2)


def test_pairs_are_attacked_by_whoever_knows_the_partner():
    """From one report alone the guess is right in 0.55 of all cases; epsilon is not about that."""
    oracle = ldpkit.JRR(2, epsilon_alone=0.2, epsilon=2)
    table = oracle.table
    pairs = [(table.neither, table.one), (table.one, table.both)]  # own truth and lie, by the partner's truth
    found = risk(oracle)
    assert found.success == pytest.approx(float(sum(max(pair) for pair in pairs)), abs=1e-12)
    assert found.success > oracle.p + 0.1
    assert "knowing the partner" in found.notes()[1]
    with pytest.raises(InvalidParameterError, match="one report"):
        risk(oracle, reports=2)
    with pytest.raises(InvalidInputError, match="knows the partner"):
        risk(ldpkit.get("joint_sue", 3, epsilon_alone=1, epsilon=2))
