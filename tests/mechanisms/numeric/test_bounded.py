"""The bounded Laplace mechanism: what it promises, read off the table that its sampler uses."""

from fractions import Fraction

import numpy as np
import pytest

import ldpkit
from ldpkit.core.exact import WORD, log_up


def make(epsilon, grid=None):
    return ldpkit.get("bounded_laplace", (0, 1), epsilon=epsilon, **({} if grid is None else {"grid": grid}))


@pytest.mark.parametrize("grid", [2, 4, 64, 1024])
@pytest.mark.parametrize("epsilon", [0.001, 0.5, 3.0, 20.0])
def test_the_realised_epsilon_is_that_of_the_whole_table(epsilon, grid):
    mechanism = make(epsilon, grid)
    table = mechanism.weights.astype(object)
    ratios = (Fraction(max(column), min(column)) for column in table.T)
    assert mechanism.exact_epsilon() == log_up(max(ratios)) <= epsilon
    assert mechanism.exact_epsilon() > epsilon * (1 - 1e-5)


@pytest.mark.parametrize("grid", [2, 64, 1024])
@pytest.mark.parametrize("epsilon", [0.001, 1.0, 20.0])
def test_rows_are_mirror_images_and_sum_to_all_words(epsilon, grid):
    table = make(epsilon, grid).weights
    np.testing.assert_array_equal(table, table[::-1, ::-1])
    assert set(table.astype(object).sum(axis=1)) == {WORD}
    assert not (table % 2).any()


def test_a_table_with_one_weight_too_many_is_worse():
    mechanism = make(1.0, 64)
    table = mechanism.weights.astype(object)
    table[5, 60] //= 2  # far from the value: the negative control
    assert log_up(max(Fraction(max(column), min(column)) for column in table.T)) > 1.0


def test_the_law_of_one_value_is_its_row_of_the_table():
    mechanism = make(2.0)
    for place in (0, 1, 300, 512, 1024):
        law = mechanism.law(place)
        widths = np.diff(law.edges).astype(object)
        assert (law.weights * widths).tolist() == mechanism.weights[place].astype(object).tolist()
        np.testing.assert_array_equal(law.heights, [weight / WORD for weight in law.weights])
