"""Negative controls: mechanisms with one thing wrong, which the contract's own checks must catch.

None of them is registered. Each control first passes the check unbroken, so that it is
the defect that is caught and nothing else.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property

import numpy as np
import pytest

import ldpkit
from contract.hash_checks import check_hash_pairs, check_hash_sampler
from ldpkit.core.errors import ContractError
from ldpkit.core.exact import WORD, RandomisedResponse
from ldpkit.mechanisms.channel import Channel
from ldpkit.testing.epsilon import check_channel, check_epsilon
from ldpkit.testing.moments import check_estimates, check_simulated_estimates, check_simulation_law
from ldpkit.testing.sampler import check_neighbours, check_sampler, check_supported

SIX = [ldpkit.GRR, ldpkit.SUE, ldpkit.OUE, ldpkit.BLH, ldpkit.OLH, ldpkit.SS]
every_kind = pytest.mark.parametrize("kind", SIX)


def caught(match):
    return pytest.raises(ContractError, match=match)


def test_reports_that_repeat_their_neighbours_noise_are_caught():
    class Echo(ldpkit.GRR):
        def _randomise(self, indices, source):
            reports = super()._randomise(indices, source)
            reports[1::2] = reports[: len(reports) // 2 * 2 : 2]
            return reports

    check_neighbours(ldpkit.GRR(4, 1.0))
    with caught("neighbouring reports depend on each other"):
        check_neighbours(Echo(4, 1.0))


@every_kind
def test_values_that_are_looked_up_elsewhere_than_they_are_listed_are_caught(kind):
    class Shifted(kind):
        def _supported(self, reports, values):
            return super()._supported(reports, (values + 1) % self.size)

    reports = kind(65, 1.0).privatize(np.arange(65), rng=ldpkit.random.seeded(1))
    check_supported(kind(65, 1.0), reports)
    with caught("supported differs from packed_supports"):
        check_supported(Shifted(65, 1.0), reports)


# --- the sampler -----------------------------------------------------------------------


@every_kind
def test_a_sampler_with_three_percent_more_epsilon_is_caught(kind):
    class Careless(kind):
        def _randomise(self, indices, source):
            return kind(self.domain, 1.03 * self.epsilon)._randomise(indices, source)

    check_sampler(kind(3, 1.0), draws=400_000)
    with caught("do not follow"):
        check_sampler(Careless(3, 1.0), draws=400_000)


def test_a_sampler_that_forgets_the_low_bits_of_its_threshold_is_caught():
    class Coarse(ldpkit.OUE):
        """Compares one byte with one byte, and takes a tie for 'not below'."""

        @cached_property
        def thresholds(self):
            own, other = super().thresholds
            return own, other >> 56 << 56

    class Forgetful(ldpkit.OUE):
        def _randomise(self, indices, source):
            return Coarse(self.domain, self.epsilon)._randomise(indices, source)

    check_sampler(ldpkit.OUE(2, 1.0), draws=2_000_000)
    with caught("do not follow the channel"):
        check_sampler(Forgetful(2, 1.0), draws=2_000_000)


def test_bits_that_share_their_noise_are_caught():
    class Shared(ldpkit.SUE):
        """Every bit is right by itself, but the first two flip together."""

        def _randomise(self, indices, source):
            bits = np.unpackbits(
                super()._randomise(indices, source), axis=1, count=self.size, bitorder="little"
            )
            bits[:, 1] = bits[:, 0] ^ (indices == 0) ^ (indices == 1)
            return np.packbits(bits, axis=1, bitorder="little")

    with caught("do not follow the channel"):
        check_sampler(Shared(3, 1.0))


def test_a_report_outside_the_channel_is_caught():
    class Chatty(ldpkit.SS):
        """Sends another set size for one value: valid on the wire of a sibling only."""

        def _randomise(self, indices, source):
            reports = super()._randomise(indices, source)
            reports[indices == 2] = 0b11111
            return reports

        def _is_valid(self, reports):
            return np.ones(len(reports), bool)

    with caught("does not have"):
        check_sampler(Chatty(5, 1.0), draws=1000)


# --- epsilon ---------------------------------------------------------------------------


class GreedyResponse(RandomisedResponse):
    """Rounds the wrong way: one unit in 2**64 from the others to the true value."""

    @cached_property
    def width(self):
        return RandomisedResponse(self.size, self.target).width - 1


@pytest.mark.parametrize("kind", [ldpkit.GRR, ldpkit.BLH, ldpkit.OLH])
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 8.0])
def test_one_unit_of_2_to_the_64_too_much_is_caught(kind, epsilon):
    class Greedy(kind):
        @cached_property
        def response(self):
            return GreedyResponse(super().response.size, self.epsilon)

    check_epsilon(kind(16, epsilon))
    with caught("above what it states"):
        check_epsilon(Greedy(16, epsilon))


@pytest.mark.parametrize("kind", [ldpkit.SUE, ldpkit.OUE])
def test_a_bit_threshold_rounded_the_wrong_way_is_caught(kind):
    class Greedy(kind):
        @cached_property
        def thresholds(self):
            own, other = super().thresholds
            return own, other - 1

    with caught("above what it states"):
        check_epsilon(Greedy(4, 1.0))
    with caught("above what it states"):
        check_channel(Greedy(4, 1.0))


def test_a_set_threshold_rounded_the_wrong_way_is_caught():
    class Greedy(ldpkit.SS):
        @cached_property
        def threshold(self):
            return super().threshold + 1

    with caught("above what it states"):
        check_epsilon(Greedy(16, 1.0))


def test_wasted_budget_is_caught():
    class Wasteful(ldpkit.GRR):
        @cached_property
        def response(self):
            return RandomisedResponse(self.size, self.epsilon - 1e-5)

    with caught("wastes budget"):
        check_epsilon(Wasteful(4, 1.0))


@every_kind
def test_an_exact_epsilon_that_is_not_that_of_the_channel_is_caught(kind):
    class Liar(kind):
        def channel(self, rng=None):
            return kind(self.domain, 1.000001 * self.epsilon).channel(rng)

    class Understater(kind):
        def channel(self, rng=None):
            return kind(self.domain, 0.999999 * self.epsilon).channel(rng)

    check_channel(kind(4, 1.0))
    with caught("above exact_epsilon"):
        check_channel(Liar(4, 1.0))
    with caught("only reaches"):
        check_channel(Understater(4, 1.0))


def test_a_channel_that_does_not_sum_to_one_is_caught():
    class Leaky(ldpkit.GRR):
        def channel(self, rng=None):
            whole = super().channel(rng)
            rows = [[entry - Fraction(1, WORD**3) for entry in row] for row in whole.probabilities]
            return Channel(whole.reports, rows)

    with caught("not exactly to 1"):
        check_channel(Leaky(4, 1.0))


def test_a_forgotten_report_is_caught():
    class Blind(ldpkit.GRR):
        def channel(self, rng=None):
            whole = super().channel(rng)
            return Channel(whole.reports[:-1], [row[:-1] for row in whole.probabilities])

    with caught("not exactly to 1"):
        check_channel(Blind(4, 1.0))


# --- estimates -------------------------------------------------------------------------


@every_kind
def test_a_q_that_is_five_percent_off_is_caught(kind):
    class Off(kind):
        @property
        def support_probabilities(self):
            p, q = super().support_probabilities
            return p, q * Fraction(105, 100)

    check_estimates(kind(6, 1.0))
    check_sampler(kind(6, 1.0))
    with caught("biased|do not follow"):  # a channel made from q is wrong along with it: the sampler tells
        check_estimates(Off(6, 1.0))
        check_sampler(Off(6, 1.0))


@every_kind
def test_a_simulation_of_another_epsilon_is_caught(kind):
    class Off(kind):
        def _sample_supports(self, counts, repeats, generator):
            return kind(self.domain, 1.02 * self.epsilon)._sample_supports(counts, repeats, generator)

    with caught("biased"):
        check_simulated_estimates(Off(9, 1.0))


@every_kind
def test_a_variance_that_is_a_fifth_too_small_is_caught(kind):
    class Boasting(kind):
        def variance(self, frequency, n, *, population=False):
            return 0.8 * super().variance(frequency, n, population=population)

    with caught("times the stated variance"):
        check_simulated_estimates(Boasting(9, 1.0))
    with caught("times the stated variance"):
        check_estimates(Boasting(9, 1.0), repeats=3000)


@pytest.mark.parametrize("kind", [ldpkit.GRR, ldpkit.SS])
def test_a_simulation_with_independent_values_is_caught_where_they_are_not(kind):
    class Independent(kind):
        """Has the right means and variances, but not the covariances."""

        _sample_supports = ldpkit.FrequencyOracle._sample_supports

    check_simulated_estimates(Independent(5, 1.0))
    with caught("covariance"):
        check_simulation_law(Independent(5, 1.0))


def test_a_simulation_with_dependent_values_is_caught_where_they_are_not():
    class Copied(ldpkit.OUE):
        """Two values that nobody holds get the same draw: each alone has the right law."""

        def _sample_supports(self, counts, repeats, generator):
            supports = super()._sample_supports(counts, repeats, generator)
            supports[:, 1] = supports[:, 0]
            return supports

    even = np.array([60, 60, 60])
    real, drawn = (kind(3, 1.0).simulate(even, rng=ldpkit.random.seeded(1)) for kind in (ldpkit.OUE, Copied))
    assert (real[:, 2] == drawn[:, 2]).all()
    with caught("simulate: wrong"):
        check_simulation_law(Copied(3, 1.0))


# --- hashing ---------------------------------------------------------------------------


def test_too_few_hash_functions_are_caught():
    class Few(ldpkit.OLH):
        def _hash_functions(self, count, source):
            reports = super()._hash_functions(count, source)
            reports["a"] &= np.uint32(63)
            return reports

    check_hash_pairs(ldpkit.OLH(100, 1.0), [(0, 1), (3, 77)])
    with caught("not hashed independently"):
        check_hash_pairs(Few(100, 1.0), [(0, 1)])


def test_constants_that_differ_in_high_bits_only_are_caught():
    class High(ldpkit.OLH):
        def constants(self, indices):
            return indices.astype(self.word) << self.word.type(31)

    with caught("not hashed independently"):
        check_hash_pairs(High(100, 1.0), [(0, 1)])


def test_coins_that_depend_on_the_value_are_caught():
    class Telling(ldpkit.BLH):
        """Draws hash functions that favour one bucket for value 2: the coins give it away."""

        def _randomise(self, indices, source):
            reports = super()._randomise(indices, source)
            turned = (
                (indices == 2) & (reports["b"] >> np.uint32(31) == 0) & (reports["a"] & np.uint32(1) == 0)
            )
            reports["b"][turned] |= np.uint32(1 << 31)
            reports["y"][turned] ^= np.uint8(1)  # the bucket moves with it, so that law is kept
            return reports

    with caught("not uniform"):
        check_hash_sampler(Telling(3, 1.0))
