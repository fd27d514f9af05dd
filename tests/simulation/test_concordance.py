"""The fast Kendall tau is exactly the slow one."""

from __future__ import annotations

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

from ldpkit.simulation.metrics.concordance import TrueOrder, count_inversions
from ldpkit.simulation.metrics.ranking import kendall_tau


@pytest.mark.parametrize("k", [1, 2, 3, 8, 9, 17, 64, 65, 300])
@pytest.mark.parametrize("truth_ties", [False, True])
@pytest.mark.parametrize("estimate_ties", [False, True])
def test_it_agrees_with_the_metric(k: int, truth_ties: bool, estimate_ties: bool) -> None:
    generator = np.random.default_rng(k)
    truth, estimates = generator.random(k), generator.random((12, k))
    truth = np.floor(4 * truth) if truth_ties else truth
    estimates = np.floor(5 * estimates) if estimate_ties else estimates
    np.testing.assert_allclose(TrueOrder(truth).tau_b(estimates), kendall_tau(truth, estimates), atol=1e-12)


@given(
    st.integers(2, 12).flatmap(
        lambda k: st.tuples(*[st.lists(st.integers(0, 4), min_size=k, max_size=k)] * 2)
    )
)
def test_small_cases(pair: tuple[list[int], list[int]]) -> None:
    truth, estimate = np.array(pair[0], float), np.array([pair[1]], float)
    assert TrueOrder(truth).tau_b(estimate) == pytest.approx(kendall_tau(truth, estimate), abs=1e-12)


@given(st.permutations(range(11)))
def test_inversions_are_pairs_in_falling_order(order: list[int]) -> None:
    expected = sum(order[i] > order[j] for i in range(11) for j in range(i + 1, 11))
    assert count_inversions(np.array([order, sorted(order)])).tolist() == [expected, 0]
