"""JRR and its relatives: whole laws against all pairings, against real reports, and against GRR."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import chi2, ks_2samp

import ldpkit
from ldpkit.core.errors import InvalidInputError, InvalidParameterError, MismatchError
from ldpkit.estimation.pair_law import PairCountLaw
from ldpkit.mechanisms.joint.pairing import random_order, uniform_choices
from ldpkit.mechanisms.joint.table import PairTable, rho_range
from ldpkit.mechanisms.joint.unary import truth_table
from mechanisms.matchings import count_law

FALSE_ALARM = 1e-6  # of each statistical test here; seeds are fixed, so it never flickers
SAFE = ldpkit.JRR(2, 1, 2)
STRONGEST = ldpkit.JRR(2, 1, adversary=ldpkit.Adversary(known=1))
POSITIVE = ldpkit.JRR(2, 1, 2, correlation="positive")
TABLE_4_3 = {
    "Kosarak": (20_000, 659),
    "Amazon": (10_000, 762),
    "E-commerce": (23_486, 19_314),
    "Census": (10_000, 9_528),
}


def surprise(observed, expected):
    """The p-value of counts against probabilities."""
    wanted = np.asarray(expected, float) * np.sum(observed)
    keep = wanted > 0
    assert not np.asarray(observed)[~keep].any()
    statistic = ((np.asarray(observed)[keep] - wanted[keep]) ** 2 / wanted[keep]).sum()
    return chi2.sf(statistic, keep.sum() - 1)


@pytest.mark.parametrize("n", [4, 6])
@pytest.mark.parametrize("oracle", [SAFE, STRONGEST, POSITIVE])
def test_theorem_4_and_the_whole_law_of_the_count(oracle, n):
    for ones in range(n + 1):
        exact = count_law(oracle.table, [1] * ones + [0] * (n - ones), 1)
        mean = sum(count * chance for count, chance in exact.items())
        variance = sum((count - mean) ** 2 * chance for count, chance in exact.items())
        wanted = oracle.variance(ones / n, n) * (n * (oracle.p - oracle.q)) ** 2
        assert float(variance) == pytest.approx(wanted, rel=1e-12)
        assert oracle.unbiased(np.array([n - float(mean), float(mean)]), n)[1] == pytest.approx(
            ones / n, abs=1e-12
        )
        counts, chances = PairCountLaw(oracle, n, population=False).chances(ones / n)
        law = dict(zip(counts.tolist(), chances.tolist(), strict=True))
        assert law == pytest.approx({count: float(exact.get(count, 0)) for count in law}, abs=1e-12)


@pytest.mark.parametrize("oracle", [SAFE, STRONGEST])
def test_simulated_and_real_counts_have_that_law(oracle):
    exact = count_law(oracle.table, [1, 1, 1, 0, 0, 0], 1)
    law = [float(exact.get(count, 0)) for count in range(7)]
    drawn = oracle.simulate([3, 3], rng=ldpkit.random.seeded(1), repeats=20_000)[:, 1]
    assert surprise(np.bincount(drawn, minlength=7), law) > FALSE_ALARM
    source = ldpkit.random.seeded(2)
    real = [int(oracle.privatize([1, 0, 1, 0, 1, 0], rng=source).sum()) for _ in range(3000)]
    assert surprise(np.bincount(real, minlength=7), law) > FALSE_ALARM


def test_many_people_against_the_law_and_against_real_reports():
    n, ones, repeats = 10_000, 659, 500
    drawn = SAFE.simulate([n - ones, ones], rng=ldpkit.random.seeded(3), repeats=20_000)[:, 1]
    variance = SAFE.variance(ones / n, n) * (n * (SAFE.p - SAFE.q)) ** 2
    assert abs(drawn.var() / variance - 1) < 4.9 * np.sqrt(2 / 20_000), "false alarm 1e-6"
    values, source = np.arange(n) < ones, ldpkit.random.seeded(4)
    real = [int(SAFE.privatize(values.astype(int), rng=source).sum()) for _ in range(repeats)]
    assert ks_2samp(drawn, real).pvalue > FALSE_ALARM


def test_three_values_against_all_pairings():
    oracle = ldpkit.JRR(3, 1, 2)
    values = [0, 0, 1, 2]
    for value in range(3):
        exact = count_law(oracle.table, values, value)
        mean = sum(count * chance for count, chance in exact.items())
        variance = float(sum((count - mean) ** 2 * chance for count, chance in exact.items()))
        share = values.count(value) / 4
        assert variance == pytest.approx(
            oracle.variance(share, 4) * (4 * (oracle.p - oracle.q)) ** 2, rel=1e-12
        )
        drawn = oracle.simulate([2, 1, 1], rng=ldpkit.random.seeded(5), repeats=20_000)[:, value]
        assert surprise(np.bincount(drawn, minlength=5), [exact.get(c, 0) for c in range(5)]) > FALSE_ALARM
        source = ldpkit.random.seeded(6 + value)
        real = [int((oracle.privatize(values, rng=source) == value).sum()) for _ in range(3000)]
        assert surprise(np.bincount(real, minlength=5), [exact.get(c, 0) for c in range(5)]) > FALSE_ALARM
    assert oracle.table.correlation == oracle.table.rho / 2, "rho is not the correlation (errata 37)"
    for rho in rho_range(3, Fraction(2, 5)):
        PairTable.correlated(3, Fraction(2, 5), rho)
        with pytest.raises(InvalidParameterError, match="rho must lie between"):
            PairTable.correlated(3, Fraction(2, 5), rho * Fraction(1001, 1000))


def test_published_ratios_by_theorem_and_by_simulation():
    rr = ldpkit.GRR(2, epsilon=1)
    wanted = {"Kosarak": 0.679012, "Amazon": 0.735716, "E-commerce": 0.847093, "Census": 0.698305}
    for name, (n, ones) in TABLE_4_3.items():
        assert STRONGEST.variance(ones / n, n) / rr.variance(ones / n, n) == pytest.approx(
            wanted[name], abs=5e-7
        )
        drawn = STRONGEST.simulate([n - ones, ones], rng=ldpkit.random.seeded(7), repeats=20_000)
        error = STRONGEST.unbiased(drawn, n)[:, 1] - ones / n
        assert abs((error**2).mean() / rr.variance(ones / n, n) / wanted[name] - 1) < 4.9 * np.sqrt(
            2 / 20_000
        )
    n, ones = TABLE_4_3["Kosarak"]
    assert SAFE.rho == pytest.approx(-0.204824, abs=5e-7)
    assert SAFE.variance(ones / n, n) / rr.variance(ones / n, n) == pytest.approx(0.821283, abs=5e-7)
    group = ldpkit.GroupCount(2, epsilon=1).variance(ones / n, n)
    assert group / rr.variance(ones / n, n) == pytest.approx(0.594310, abs=5e-7)


def test_at_equal_epsilon_towards_a_partner_no_correlation_beats_randomised_response():
    for epsilon in (0.1, 1.0, 3.0):
        rr = ldpkit.GRR(2, epsilon=epsilon)
        for alone in np.linspace(0.1, 0.99, 6) * epsilon:
            for sign in ("negative", "positive"):
                oracle = ldpkit.JRR(2, float(alone), epsilon, correlation=sign)
                for n, ones in ((10, 0), (10, 5), (1000, 500), (1000, 10)):
                    assert oracle.variance(ones / n, n) >= rr.variance(ones / n, n)


def test_where_correlation_hurts():
    rr, n = ldpkit.GRR(2, epsilon=1), 10_000
    width = 1 / (2 * np.sqrt(n))
    for share, helps in ((0.5, False), (0.5 + 0.9 * width, False), (0.5 + 1.1 * width, True), (0.1, True)):
        assert (SAFE.variance(share, n) < rr.variance(share, n)) == helps
        assert (POSITIVE.variance(share, n) < rr.variance(share, n)) != helps
    assert POSITIVE.rho > 0
    assert POSITIVE.exact_epsilon() == pytest.approx(2, abs=1e-9)


def test_integers_of_one_report_are_those_of_grr():
    for k in (2, 5):
        oracle, rr = ldpkit.JRR(k, 1, 2), ldpkit.GRR(k, epsilon=1)
        assert oracle.support_probabilities == rr.support_probabilities
        assert oracle.report_dtype == rr.report_dtype
        assert (oracle.exact_epsilon(), oracle.exact_epsilon_alone()) <= (2, rr.exact_epsilon())
        with pytest.raises(MismatchError, match="do not mix"):
            _ = oracle.tally([0, 1]) + rr.tally([0, 1])


def test_strongest_correlation_is_a_word_and_its_complement():
    """The one idea behind all: partners use the words w and ~w."""
    n = 1000
    reports = STRONGEST.privatize([0] * n, rng=ldpkit.random.seeded(8))
    (source,) = ldpkit.random.seeded(8).spawn(1)  # everybody is one chunk
    order = random_order(n, source)
    words = source.words(n // 2)
    keep = np.uint64(STRONGEST.response.keep)
    expected = np.empty(n, int)
    expected[order[0::2]], expected[order[1::2]] = words >= keep, ~words >= keep
    assert (reports == expected).all()
    assert not (expected[order[0::2]] & expected[order[1::2]]).any()


def test_the_whole_population_is_paired_whatever_the_chunks():
    """Negative control included: pairing within sorted chunks has another variance, and is seen."""
    values = np.repeat([0, 1], 500)
    pieces = [values[start : start + 100] for start in range(0, 1000, 100)]
    whole = STRONGEST.privatize(values, rng=ldpkit.random.seeded(9))
    (streamed,) = STRONGEST.privatize_stream(pieces, rng=ldpkit.random.seeded(9))
    assert (streamed == whole).all()
    wanted = STRONGEST.variance(0.5, 1000) * (1000 * (STRONGEST.p - STRONGEST.q)) ** 2
    source, repeats = ldpkit.random.seeded(10), 600
    limit = 4.9 * np.sqrt(2 / repeats)

    def spread(privatize):
        return np.var([int(privatize().sum()) for _ in range(repeats)]) / wanted - 1

    def all_at_once():
        return next(iter(STRONGEST.privatize_stream(pieces, rng=source)))

    def chunk_by_chunk():
        return np.concatenate([STRONGEST.privatize(piece, rng=source) for piece in pieces])

    assert abs(spread(all_at_once)) < limit, "false alarm 1e-6"
    assert spread(chunk_by_chunk) < -limit, "equals met equals"


def test_shuffles_are_uniform():
    source = ldpkit.random.seeded(11)
    partners = np.zeros(4, int)
    for _ in range(6000):
        order = random_order(4, source).tolist()
        partners[order[order.index(0) ^ 1]] += 1
    assert surprise(partners[1:], [1 / 3] * 3) > FALSE_ALARM
    assert surprise(np.bincount(uniform_choices(6000, 5, source).astype(int)), [0.2] * 5) > FALSE_ALARM


def test_fixed_pairs():
    source = ldpkit.random.seeded(12)
    values = [1, 1, 0, 0, 1]
    counts = np.array([SAFE.privatize(values, rng=source, pairs=[[0, 1], [2, 3]]) for _ in range(3000)])
    assert np.corrcoef(counts[:, 0], counts[:, 1])[0, 1] == pytest.approx(SAFE.rho, abs=0.08)
    assert abs(np.corrcoef(counts[:, 0], counts[:, 4])[0, 1]) < 0.08
    for bad, match in (
        ([[0, 0]], "two pairs"),
        ([[0], [1, 2]], "different lengths"),
        ([[0, 9]], "a position"),
        ([0, 1], "rows of two"),
    ):
        with pytest.raises(InvalidInputError, match=match):
            SAFE.privatize(values, pairs=bad)


def test_whoever_has_no_fixed_partner_answers_alone():
    """Many alone at once, of every kind of report: each is that of the oracle for people alone."""
    for name in ("jrr", "joint_sue", "joint_olh"):
        oracle, source = ldpkit.get(name, 3, epsilon_alone=1, epsilon=3), ldpkit.random.seeded(14)
        values = np.repeat([0, 1], 10_000)
        reports = oracle.privatize(values, rng=source, pairs=[[0, 19_999]])
        found = oracle.tally(reports).estimate()
        spread = np.sqrt(oracle.variance(0.5, 20_000) * 2)
        assert np.abs(found.values - [0.5, 0.5, 0.0]).max() < 5 * spread
        again = oracle.privatize(values, rng=ldpkit.random.seeded(14), pairs=[[19_999, 0]])
        assert len(again) == len(reports)
    alone = [SAFE.privatize([1] * 4, rng=source, pairs=np.empty((0, 2), int)) for _ in range(3000)]
    assert np.abs(np.corrcoef(np.array(alone).T) - np.eye(4)).max() < 0.1, "nobody met anybody"


@pytest.mark.parametrize(("name", "base"), [("joint_sue", "sue"), ("joint_olh", "olh")])
def test_bits_and_buckets(name, base):
    oracle, alone = (
        ldpkit.get(name, 4, epsilon_alone=1, epsilon=3),
        ldpkit.get(base, 4, epsilon=1),
    )
    assert oracle.support_probabilities == alone.support_probabilities
    people = np.array([60, 20, 15, 6])
    n, repeats = int(people.sum()), 1500
    values, source = np.repeat(np.arange(4), people), ldpkit.random.seeded(13)
    real = np.array([oracle.tally(oracle.privatize(values, rng=source)).counts for _ in range(repeats)])
    drawn = oracle.simulate(people, rng=source, repeats=20_000)
    for counts, runs in ((real, repeats), (drawn, 20_000)):
        found, wanted = oracle.unbiased(counts, n), oracle.variance(people / n, n)
        assert (abs(found.mean(axis=0) - people / n) < 5 * np.sqrt(wanted / runs)).all()
        assert (abs(found.var(axis=0) / wanted - 1) < 6 * np.sqrt(2 / runs)).all()


def test_hashing_gains_next_to_nothing():
    oracle, alone = ldpkit.get("joint_olh", 100, epsilon_alone=1, epsilon=4), ldpkit.OLH(100, epsilon=1)
    n, share = 10_000, 0.05
    saved = 1 - oracle.variance(share, n) / alone.variance(share, n)
    holders = share * n
    formula = (
        -float(oracle.table.covariance) * holders * (holders - 1) / (n - 1) / (n * (oracle.p - oracle.q)) ** 2
    )
    assert saved * alone.variance(share, n) == pytest.approx(formula, rel=1e-3)
    assert 0 < saved < 0.004


def test_oue_has_no_truth_table():
    with pytest.raises(InvalidParameterError, match="no table of who is truthful"):
        truth_table(ldpkit.OUE(4, epsilon=1), 2)
    assert truth_table(ldpkit.SUE(4, epsilon=1), 1).epsilon() <= 1


def test_refused():
    for alone, epsilon in ((1, 1), (2, 1), (0, 1), (1, -1)):
        with pytest.raises(InvalidParameterError):
            ldpkit.JRR(2, alone, epsilon)
    with pytest.raises(InvalidParameterError, match="rho must lie between"):
        PairTable.correlated(2, Fraction(3, 4), Fraction(-1, 2))
    with pytest.raises(InvalidParameterError, match="both partners are untruthful"):
        PairTable(2, Fraction(3, 4), Fraction(1, 2))
    with pytest.raises(InvalidInputError, match="negative"):
        SAFE.simulate([-1, 5])  # n1 above n
    for share, n in ((1.5, 10), (-0.1, 10), (np.nan, 10), (0.5, 0)):
        with pytest.raises(InvalidParameterError):
            SAFE.variance(share, n)


def test_intervals_cover_and_are_shorter_than_those_of_grr():
    for n in (2, 7, 40):
        law = PairCountLaw(SAFE, n, population=False)
        low, high = law.intervals(np.arange(n + 1), 0.05)
        for ones in range(n + 1):
            counts, chances = law.chances(ones / n)
            held = (low[counts] <= ones / n + 1e-12) & (high[counts] >= ones / n - 1e-12)
            assert chances[held].sum() >= 0.95, (n, ones)
    tally = ldpkit.Tally(SAFE, 4000, [2700, 1300])
    plain = ldpkit.Tally(ldpkit.GRR(2, epsilon=1), 4000, [2700, 1300])
    assert np.ptp(tally.estimate().interval(), axis=0)[1] < np.ptp(plain.estimate().interval(), axis=0)[1]
