"""Mechanisms from a matrix: exact epsilon, exact scores, and refusals."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import ldpkit
from ldpkit.core.errors import InvalidParameterError
from ldpkit.core.exact import WORD
from ldpkit.estimation.intervals import share_intervals
from ldpkit.estimation.tails import CountLaw
from ldpkit.mechanisms.categorical.matrix import MatrixMechanism
from ldpkit.testing import check_mechanism
from ldpkit.testing.moments import check_estimates

UNEVEN = [[5, 2, 2, 1, 2], [2, 4, 2, 2, 2], [1, 1, 3, 2, 1]]  # three values, five reports, no symmetry


class Uneven(MatrixMechanism):
    """A matrix without any symmetry."""

    name, title, citation = "uneven", "A matrix without symmetry", "none"

    def matrix(self):
        return UNEVEN


def with_matrix(rows, size=2, epsilon=1.0):
    class Given(MatrixMechanism):
        name = "given"

        def matrix(self):
            return rows

    return Given(size, epsilon)


@pytest.fixture
def uneven():
    return Uneven(3, epsilon=2.0)


def test_epsilon_is_that_of_the_matrix_and_of_the_listed_channel(uneven):
    rows = [[Fraction(weight, sum(row)) for weight in row] for row in UNEVEN]
    worst = max(max(column) / min(column) for column in zip(*rows, strict=True))
    assert uneven.exact_epsilon() == pytest.approx(np.log(float(worst)), abs=1e-15)
    assert uneven.channel().epsilon() == uneven.exact_epsilon()
    assert all(sum(row) == WORD for row in uneven.weights)


def test_a_matrix_that_is_just_right_is_rounded_towards_privacy():
    """Floats next to e^epsilon: whatever they round to, the stated epsilon is kept and not wasted."""
    for epsilon in (0.001, 0.3, 1.0, np.log(3), 7.7, 20.0):
        power = np.exp(epsilon)
        made = with_matrix([[power, 1, 1], [1, power, 1], [1, 1, power]], 3, epsilon)
        assert epsilon - 1e-6 < made.exact_epsilon() <= epsilon


def test_scores_are_unbiased_for_every_value(uneven):
    said = uneven.probabilities @ uneven.unbiased(uneven.scores, 1)
    assert said == pytest.approx(np.eye(3), abs=1e-12)
    variances = uneven.probabilities @ uneven.unbiased(uneven.scores, 1) ** 2 - np.eye(3)
    people = np.array([0.5, 0.2, 0.3])
    assert uneven.variance(people, 10) == pytest.approx(people @ variances / 10)
    assert uneven.variance(0.2, 10) >= uneven.variance(people, 10)[1]


def test_intervals_of_a_matrix_without_symmetry_cover():
    """1000 collections of 300 people: 95% intervals of each of three values."""
    oracle, people = Uneven(3, epsilon=2.0), np.array([150, 60, 90])
    counts = oracle.simulate(people, rng=ldpkit.random.seeded(1), repeats=1000)
    law = CountLaw([oracle.report_law], [300], population=False)
    least = 0.95 - 6 * np.sqrt(0.95 * 0.05 / 1000)  # false-alarm rate 1e-9
    for value, share in enumerate(people / 300):
        low, high = share_intervals(law, counts[:, value], 0.05)
        assert ((low <= share) & (share <= high)).mean() > least
        middle, half = (low + high) / 2, (high - low) / 4
        assert (abs(middle - share) <= half).mean() < least, "negative control: half as wide"


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([[1, 1]], "2 rows of one length, got 1 rows"),
        ([[1, 1], [1]], "2 rows of one length"),
        ([[1, 0], [0, 1]], "positive numbers only"),
        ([[1, float("nan")], [1, 1]], "finite numbers only"),
        ([["a", 1], [1, 1]], "finite numbers only"),
        ([[9, 1], [1, 9]], "has epsilon 2.19722, more than the 1"),
        (np.ones((2, 1 << 18)), "take fewer reports"),
    ],
)
def test_bad_matrices_are_refused_before_anything_is_drawn(untouched, rows, message):
    with pytest.raises(InvalidParameterError, match=message):
        with_matrix(rows).privatize([0, 1], rng=untouched)


def test_a_matrix_that_tells_values_apart_too_little_cannot_be_estimated():
    oracle = with_matrix([[2, 1], [1, 2], [3, 3]], 3)
    with pytest.raises(InvalidParameterError, match="cannot be inverted"):
        oracle.tally(oracle.privatize([0, 1, 2]))


def test_rows_of_different_sums_are_named_as_what_raises_epsilon():
    e = float(np.exp(1))
    with pytest.raises(
        InvalidParameterError, match=r"has epsilon 1\.\d+.* the sums differ \(4\.71.* to 6\.43.*\)"
    ):
        with_matrix([[e, e, 1], [1, e, 1], [1, 1, e]], size=3).exact_epsilon()
    with pytest.raises(InvalidParameterError, match="make its columns more even"):
        with_matrix([[4, 1, 1], [1, 4, 2], [1, 1, 4]], size=3).exact_epsilon()


def test_too_many_values_are_refused():
    with pytest.raises(InvalidParameterError, match="at most 512 values, got 513"):
        Uneven(513, epsilon=1.0)


class Ladder(MatrixMechanism):
    """The own value e^eps, the two nearest e^(eps/2), others 1: at the ends, both are on one side."""

    name, title, citation = "ladder_of_a_test", "Ladder", "none"

    def matrix(self):
        places = np.arange(self.size)
        apart = abs(places[:, None] - places)
        rank = np.argsort(np.argsort(apart, axis=1, kind="stable"), axis=1)
        return np.exp(self.epsilon * np.select([rank == 0, rank <= 2], [1.0, 0.5], 0.0))


class Tilted(MatrixMechanism):
    """Randomised response that reports the first value twice as often as others."""

    name, title, citation = "tilted_of_a_test", "Tilted", "none"

    def matrix(self):
        often = np.ones(self.size) + (np.arange(self.size) == 0)
        return np.eye(self.size) * np.expm1(self.epsilon) + often


@pytest.mark.parametrize("kind", [Ladder, Tilted])
def test_a_matrix_whose_variance_differs_by_value_keeps_the_contract(kind):
    report = check_mechanism(kind(8, epsilon=1), only=("unbiased", "simulation"))
    assert report.passed == ("unbiased", "simulation")


@pytest.mark.parametrize(
    ("factor", "words"), [(0.99, "times the stated variance"), (1.01, "too much variance")]
)
def test_a_stated_variance_that_is_one_percent_off_is_caught(factor, words):
    class Wrong(Ladder):
        def variance(self, frequency, n, *, population=False):
            return factor * super().variance(frequency, n, population=population)

    check_estimates(Ladder(8, epsilon=1))
    with pytest.raises(ldpkit.errors.ContractError, match=words):
        check_estimates(Wrong(8, epsilon=1))


def test_one_check_is_no_checks():
    assert repr(check_mechanism(Ladder(8, epsilon=1), only=("frozen",))).endswith("passes 1 check")
