"""Intervals cover: by exact summation over every count that can be."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom

import ldpkit
from contract.subjects import oracle as make
from ldpkit.core.errors import InvalidInputError, InvalidParameterError
from ldpkit.estimation.evidence import Evidence
from ldpkit.estimation.intervals import (
    CountRegion,
    exact_coverage,
    share_intervals,
    weighted_counts,
    worth,
)
from ldpkit.estimation.tails import CountLaw
from ldpkit.mechanisms.categorical.report_law import ReportLaw


def count_chances(oracle, n, holders):
    """Return the probability of each count of a value that so many of n people hold, by plain convolution."""
    own = binom.pmf(np.arange(holders + 1), holders, oracle.p)
    return np.convolve(own, binom.pmf(np.arange(n - holders + 1), n - holders, oracle.q))


def wald(oracle, n, counts):
    """Return the intervals as they are usually made: 1.96 standard errors around the unbiased estimate."""
    values = oracle.unbiased(counts, n)
    reach = 1.96 * np.sqrt(oracle.variance(np.clip(values, 0, 1), n))
    return np.clip(values - reach, 0, 1), np.clip(values + reach, 0, 1)


def public(oracle, n, counts, **options):
    """Return the intervals of some counts of value 0, as users get them."""
    ends = []
    for count in counts:
        others = np.full(oracle.size, 0)
        others[0], others[1] = count, n - count
        low, high = ldpkit.Tally(oracle, n, others).estimate().interval(**options)
        ends.append((low[0], high[0]))
    return np.array(ends).T


def covered(chances, ends, truth):
    low, high = ends
    return float(chances[(low <= truth + 1e-12) & (truth <= high + 1e-12)].sum())


@pytest.mark.parametrize(
    ("oracle", "n", "holders"),
    [
        (ldpkit.OUE(16, epsilon=10), 50, 1),  # Wald intervals cover 50 %
        (ldpkit.GRR(5000, epsilon=6), 1000, 10),  # 62 %
        (ldpkit.GRR(16, epsilon=6), 50, 3),  # 81 %
    ],
    ids=repr,
)
def test_they_cover_where_counts_are_small(oracle, n, holders):
    chances = count_chances(oracle, n, holders)
    counts = np.flatnonzero(chances > 1e-7)
    chances = chances[counts]
    share = holders / n
    assert covered(chances, public(oracle, n, counts), share) >= 0.95
    assert covered(chances, wald(oracle, n, counts), share) < 0.95, (
        "negative control: Wald intervals fail here"
    )


def test_they_cover_the_population_where_asked():
    oracle, n, share = ldpkit.GRR(2, epsilon=4), 2000, 0.3
    chances = binom.pmf(np.arange(n + 1), n, oracle.q + share * (oracle.p - oracle.q))
    counts = np.flatnonzero(chances > 1e-9)
    chances = chances[counts]
    ends = {
        population: share_intervals(CountLaw([oracle.report_law], [n], population), counts, 0.05)
        for population in (False, True)
    }
    assert covered(chances, ends[True], share) >= 0.95
    assert covered(chances, ends[False], share) < 0.5, "negative control: those of these people alone"
    place = int(np.argmax(chances))
    for population in (False, True):
        shown = public(oracle, n, counts[place : place + 1], population=population)
        assert shown[:, 0].tolist() == pytest.approx([float(end[place]) for end in ends[population]])


@pytest.mark.parametrize(("n", "holders"), [(20_000, 6000), (400, 0)])
def test_approximate_tails_keep_the_level(n, holders):
    """Where no law is summed, coverage is still at least the level, and hardly more."""
    oracle = ldpkit.OUE(16, epsilon=1)
    chances = count_chances(oracle, n, holders)
    counts = np.flatnonzero(chances > 1e-9)
    law = CountLaw([oracle.report_law], [n], population=False)
    assert law.is_nearly_normal(np.array([holders / n])).all()
    assert 0.95 <= covered(chances[counts], share_intervals(law, counts, 0.05), holders / n) < 0.985


def test_exact_coverage_of_many_counts_is_that_of_intervals_alone():
    # A page of a few values gives each an interval of its own, which is narrower than one for neighbours.
    law = CountLaw([ldpkit.OUE(2, epsilon=0.1).report_law], [20_000], population=False)
    counts, chances = law.chances(0.3)
    alone = [share_intervals(law, some, 0.05) for some in np.array_split(counts, len(counts) // 200)]
    low, high = (np.concatenate(ends) for ends in zip(*alone, strict=True))
    coverage, width = exact_coverage(law, 0.3, 0.05)
    assert coverage == pytest.approx(chances[(low <= 0.3) & (high >= 0.3)].sum(), abs=1e-9)
    assert width == pytest.approx(chances @ (high - low), rel=1e-3)


def test_exact_coverage_is_the_sum_over_all_counts():
    oracle, n, holders = ldpkit.GRR(16, epsilon=6), 50, 3
    law = CountLaw([oracle.report_law], [n], population=False)
    chances, counts = count_chances(oracle, n, holders), np.arange(n + 1)
    expected = covered(chances, share_intervals(law, counts, 0.05), holders / n)
    assert exact_coverage(law, holders / n, 0.05)[0] == pytest.approx(expected, abs=1e-9)


def test_exact_tails_are_those_of_plain_summation():
    oracle, n = ldpkit.OUE(4, epsilon=3), 60
    law = CountLaw([oracle.report_law], [n], population=False)
    for holders in (0, 7, 60):
        above = np.cumsum(count_chances(oracle, n, holders)[::-1])[::-1]
        found = law.upper_tails(np.full(n + 1, holders / n), np.arange(n + 1))
        assert np.allclose(found, above, atol=1e-11)


def test_exact_tails_of_many_people():
    """Rounding is not multiplied by a hundred million people."""
    n, q = 10**8, 3e-8
    law = CountLaw([ReportLaw.supporting(0.9, q)], [n], population=False)
    found = law.upper_tails(np.zeros(12), np.arange(12))
    assert np.allclose(found, binom.sf(np.arange(12) - 1, n, q), atol=1e-11)


def test_approximate_tails_are_never_too_low_and_hardly_too_high():
    oracle, n, holders = ldpkit.OUE(4, epsilon=2), 500, 40
    law = CountLaw([oracle.report_law], [n], population=False)
    above = np.cumsum(count_chances(oracle, n, holders)[::-1])[::-1]
    counts = np.flatnonzero((above > 1e-8) & (above < 0.3))
    ratio = law.approximate_upper_tails(np.full(len(counts), holders / n), counts) / above[counts]
    assert (ratio >= 1).all()
    assert (ratio < 1.006).all()


@pytest.mark.parametrize("name", ["she", "the", "dbitflip", "lolh", "ss"])
def test_the_declared_law_is_that_of_the_mechanism(name):
    oracle = make(name, 5)
    law = oracle.report_law
    assert law.own.sum() == pytest.approx(1)
    assert law.other.sum() == pytest.approx(1)
    own, other = law.means
    assert oracle.unbiased(np.array([other, own]), 1) == pytest.approx([0, 1], abs=1e-6)
    variances = law.moments[0] / (own - other) ** 2
    assert variances == pytest.approx([oracle.variance(1.0, 1), oracle.variance(0.0, 1)], rel=1e-6)


def test_a_mechanism_without_a_law_says_so():
    class Silent(ldpkit.GRR):
        name = "silent"
        capabilities = ldpkit.GRR.capabilities - {"pure"}

    with pytest.raises(InvalidInputError, match="must give report_law"):
        ldpkit.Tally(Silent(2, epsilon=1), 10, [4, 6]).estimate().interval()


def test_laplace_noise_of_few_people_covers():
    """SHE: 3000 collections of 6 people."""
    oracle = ldpkit.get("she", 2, epsilon=1)
    counts = oracle.simulate([4, 2], rng=ldpkit.random.seeded(1), repeats=3000)[:, 0]
    low, high = share_intervals(CountLaw([oracle.report_law], [6], population=False), counts, 0.05)
    rate = ((low <= 4 / 6) & (high >= 4 / 6)).mean()
    assert rate > 0.95 - 6 * np.sqrt(0.95 * 0.05 / 3000), f"covers {rate:.3f} (false-alarm rate 1e-9)"


def test_a_million_values_share_what_they_can():
    """Neighbouring counts share the wider interval: never narrower than alone, and hardly wider."""
    oracle, n = ldpkit.OUE(10, epsilon=1), 10**8
    law = CountLaw([oracle.report_law], [n], population=False)
    counts = np.random.default_rng(1).normal(n * oracle.q, 5 * np.sqrt(n), 100_000).astype(np.int64)
    low, high = share_intervals(law, counts, 0.05)
    alone_low, alone_high = share_intervals(law, counts[:50], 0.05)
    assert (low[:50] <= alone_low).all()
    assert (high[:50] >= alone_high).all()
    widest = (alone_high - alone_low).max()
    assert ((high - low)[:50] <= alone_high - alone_low + 0.03 * widest).all()


# --- likelihood ------------------------------------------------------------------------


def test_maximum_likelihood_intervals_do_not_collapse():
    """At epsilon 6 an absent value made the information matrix sure of itself: coverage .07 to .51."""
    oracle, runs = ldpkit.OUE(4, epsilon=6), 100
    values = np.repeat([0, 1], [60, 40])
    hits = collapsed = 0
    for run in range(runs):
        reports = oracle.privatize(values, rng=ldpkit.random.seeded(run))
        low, high = Evidence.of(oracle, reports).estimate("mle").interval()
        hits += low[0] <= 0.6 <= high[0]
        collapsed += high[0] - low[0] < 0.01
    assert hits / runs > 0.95 - 6 * np.sqrt(0.95 * 0.05 / runs), f"{hits / runs} (false-alarm rate 1e-9)"
    assert collapsed == 0


def test_pooled_counts_cover():
    share = 0.3
    oracles, people, runs = [ldpkit.OUE(16, epsilon=1), ldpkit.GRR(16, epsilon=6)], [300, 200], 500
    generator = np.random.default_rng(2)
    counts = []
    for oracle, n in zip(oracles, people, strict=True):
        holders = generator.binomial(n, share, runs)
        counts.append(generator.binomial(holders, oracle.p) + generator.binomial(n - holders, oracle.q))
    laws = [oracle.report_law for oracle in oracles]
    law, sums = weighted_counts(laws, people, counts, worth(oracles))  # all runs at once, of one value
    low, high = share_intervals(law, sums, 0.05)
    rate = ((low <= share) & (share <= high)).mean()
    assert rate > 0.95 - 6 * np.sqrt(0.95 * 0.05 / runs), f"covers {rate:.3f} (false-alarm rate 1e-9)"
    alone = share_intervals(CountLaw([oracles[1].report_law], [200], population=True), counts[1], 0.05)
    assert (high - low).mean() < (alone[1] - alone[0]).mean(), "pooling gains on the better part alone"


def test_several_mechanisms_have_only_their_population_in_common():
    law = ReportLaw.supporting(0.7, 0.3)
    with pytest.raises(InvalidParameterError, match="population"):
        CountLaw([law, law], [10, 10], population=False)
    tallies = [ldpkit.Tally(ldpkit.GRR(2, epsilon=each), 100, [60, 40]) for each in (1, 2)]
    region = CountRegion(tallies)
    assert np.array_equal(region.ends(0.05, population=False), region.ends(0.05, population=True))
