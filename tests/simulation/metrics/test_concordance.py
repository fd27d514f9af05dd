"""The fast Kendall tau is that of SciPy, one estimate at a time."""

from __future__ import annotations

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

from ldpkit.simulation.metrics import concordance
from ldpkit.simulation.metrics.concordance import TrueOrder, count_inversions
from slow import slow


def reference(truth: np.ndarray, estimates: np.ndarray) -> np.ndarray:
    """Return SciPy's tau-b, with the 0 that ldpkit promises where there is no order to agree with."""
    from scipy.stats import kendalltau

    taus = [kendalltau(truth, row).statistic if np.ptp(truth) and np.ptp(row) else 0.0 for row in estimates]
    assert np.isfinite(taus).all()
    return np.array(taus)


@pytest.mark.parametrize("k", [1, 2, 9, 65, *slow(3, 8, 17, 64, 300)])
@pytest.mark.parametrize("truth_ties", [False, True])
@pytest.mark.parametrize("estimate_ties", [False, True])
def test_it_agrees_with_scipy(k: int, truth_ties: bool, estimate_ties: bool) -> None:
    generator = np.random.default_rng(k)
    truth, estimates = generator.random(k), generator.random((12, k))
    truth = np.floor(4 * truth) if truth_ties else truth
    estimates = np.floor(5 * estimates) if estimate_ties else estimates
    estimates[3] = 0.25  # a constant row among others
    np.testing.assert_allclose(TrueOrder(truth).tau_b(estimates), reference(truth, estimates), atol=1e-12)


@pytest.mark.parametrize("truth", [[0.3, 0.7], [0.7, 0.3], [0.5, 0.5]])
def test_two_values_agree_disagree_or_have_no_order(truth: list[float]) -> None:
    estimates = np.array([[0.1, 0.9], [0.9, 0.1], [0.4, 0.4], [-2.0, 0.0], [0.0, -0.0]])
    sign = np.sign(truth[1] - truth[0])
    taus = TrueOrder(np.array(truth)).tau_b(estimates)
    assert taus.tolist() == [sign, -sign, 0, sign, 0]
    np.testing.assert_allclose(taus, reference(np.array(truth), estimates), atol=1e-12)


@pytest.mark.parametrize("k", [2, 5, 64])
def test_a_constant_side_has_no_order(k: int) -> None:
    generator = np.random.default_rng(k)
    flat, falling = np.full(k, 0.25), np.arange(k, 0, -1.0)
    assert TrueOrder(flat).tau_b(generator.random((4, k))).tolist() == [0] * 4
    assert TrueOrder(falling).tau_b(np.stack([flat, falling, -falling])).tolist() == [0, 1, -1]


@given(
    st.integers(2, 12).flatmap(
        lambda k: st.tuples(*[st.lists(st.integers(0, 4), min_size=k, max_size=k)] * 2)
    )
)
def test_small_cases(pair: tuple[list[int], list[int]]) -> None:
    truth, estimate = np.array(pair[0], float), np.array([pair[1]], float)
    assert TrueOrder(truth).tau_b(estimate) == pytest.approx(reference(truth, estimate), abs=1e-12)


def test_a_large_batch_is_done_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    generator = np.random.default_rng(1)
    order, estimates = TrueOrder(generator.random(9)), generator.random((50, 9))
    whole = order.tau_b(estimates)
    for entries in (1, 9 * 7, 9 * 50):
        monkeypatch.setattr(concordance, "_ENTRIES_AT_ONCE", entries)
        assert order.tau_b(estimates).tolist() == whole.tolist()
    assert order.tau_b(estimates[:0]).shape == (0,)


@given(st.permutations(range(11)))
def test_inversions_are_pairs_in_falling_order(order: list[int]) -> None:
    expected = sum(order[i] > order[j] for i in range(11) for j in range(i + 1, 11))
    assert count_inversions(np.array([order, sorted(order)])).tolist() == [expected, 0]
