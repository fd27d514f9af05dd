"""Base-Pos, Base-Cut and the Norm methods against their definitions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ldpkit
from estimation.batches import NOISE, apply, batches, sixteenths
from ldpkit.estimation.consistency.positive import significance_threshold

# Base-Pos, Base-Cut, Norm, Norm-Mul


def test_base_pos() -> None:
    assert apply("base_pos", [[0.7, -0.1, 0.0]]).tolist() == [[0.7, 0.0, 0.0]]


def test_base_cut_threshold_is_the_normal_quantile() -> None:
    from scipy.stats import norm as normal

    assert significance_threshold(128, 0.01) == pytest.approx(0.01 * normal.ppf(1 - 2 / 128), rel=1e-12)
    threshold = significance_threshold(10, NOISE.stderr)
    row = np.array([[threshold, np.nextafter(threshold, 0), 0.5, -0.5, 0, 0, 0, 0, 0, 0]])
    assert apply("base_cut", row).tolist() == [[threshold, 0, 0.5, 0, 0, 0, 0, 0, 0, 0]]


@pytest.mark.parametrize("size", [2, 3, 4])
def test_base_cut_of_few_values_is_base_pos(size: int) -> None:
    row = [[0.3, -0.2, 1e-9, -1e-9][:size]]
    np.testing.assert_array_equal(apply("base_cut", row), apply("base_pos", row))


def test_base_cut_lets_two_absent_values_pass_on_average() -> None:
    generator = ldpkit.random.seeded(11).generator()
    absent = generator.normal(0, NOISE.stderr, (4000, 64))
    passed = (apply("base_cut", absent) > 0).sum(1)
    reach = 4 * np.sqrt(2 * (1 - 2 / 64) / 4000)
    assert abs(passed.mean() - 2) < reach, "false alarm with probability 6e-5"
    passed_base_pos = (apply("base_pos", absent) > 0).sum(1)
    assert abs(passed_base_pos.mean() - 2) > reach, "the negative control must fail"


def test_norm_shifts_all_by_the_same() -> None:
    batch = np.array([[0.9, 0.5, -0.2], [0.1, 0.1, 0.2]])
    difference = apply("norm", batch) - batch
    np.testing.assert_allclose(difference, [[-0.2 / 3] * 3, [0.2] * 3], atol=1e-15)


def test_norm_mul_keeps_ratios_and_is_uniform_when_nothing_is_positive() -> None:
    result = apply("norm_mul", [[1.5, 0.5, -0.1], [-1.0, 0.0, -2.0]])
    np.testing.assert_allclose(result, [[0.75, 0.25, 0], [1 / 3] * 3], atol=1e-15)


# Norm-Cut


def norm_cut_by_search(row: np.ndarray) -> np.ndarray:
    """Try every threshold, from zero upwards, and take the first that leaves at most one."""
    for threshold in np.unique([0.0, *row[row > 0]]):
        kept = np.where(row > threshold, row, 0.0)
        if np.sort(kept)[::-1].cumsum()[-1] <= 1 + 1e-12:
            break
    if kept.any() or not (row > 0).any():
        return kept
    largest = row == row.max()
    return largest / largest.sum()


@given(batch=st.one_of(batches(2.0), sixteenths()))
@settings(max_examples=300, deadline=None)
def test_norm_cut_is_the_smallest_threshold(batch: np.ndarray) -> None:
    expected = np.array([norm_cut_by_search(row) for row in batch])
    np.testing.assert_array_equal(apply("norm_cut", batch), expected)


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ([0.7, 0.6, 0.01], [0.7, 0.0, 0.0]),  # partial sums 0.7, 1.3, 1.31 skip one
        ([0.5, 0.5, 0.1], [0.5, 0.5, 0.0]),
        ([0.5, 0.3, -0.1], [0.5, 0.3, 0.0]),  # below one: only negatives go
        ([1.3, 0.2, 0.0], [1.0, 0.0, 0.0]),
        ([0.6, 0.6, 0.1], [0.5, 0.5, 0.0]),
        ([-0.1, -0.2, 0.0], [0.0, 0.0, 0.0]),
    ],
)
def test_norm_cut_by_hand(row: list[float], expected: list[float]) -> None:
    assert apply("norm_cut", [row]).tolist() == [expected]


# Norm-Sub


def is_projection(row: np.ndarray, result: np.ndarray, tolerance: float = 1e-9) -> bool:
    """Check the Karush-Kuhn-Tucker conditions of the nearest point on the simplex."""
    if (result < 0).any() or abs(result.sum() - 1) > tolerance:
        return False
    shift = result - row
    delta = shift[result > 0]
    same = np.ptp(delta) <= tolerance
    return bool(same and (row[result == 0] + delta.mean() <= tolerance).all())


def one_shift(row: np.ndarray) -> np.ndarray:
    """Norm-Sub as LDP3 prints it: negatives to zero, one constant on the others."""
    kept = row >= 0
    return np.where(kept, row + (1 - row[kept].sum()) / kept.sum(), 0.0)


@given(batch=st.one_of(batches(3.0), batches(1e-3), sixteenths()))
@settings(max_examples=300, deadline=None)
def test_norm_sub_is_the_nearest_distribution(batch: np.ndarray) -> None:
    for row, result in zip(batch, apply("norm_sub", batch), strict=True):
        assert is_projection(row, result)


def test_norm_sub_agrees_with_a_quadratic_program() -> None:
    from scipy.optimize import minimize

    batch = ldpkit.random.seeded(3).generator().normal(0.2, 0.4, (10, 6))
    for row, result in zip(batch, apply("norm_sub", batch), strict=True):
        solved = minimize(
            lambda x, row=row: ((x - row) ** 2).sum(),
            np.full(6, 1 / 6),
            jac=lambda x, row=row: 2 * (x - row),
            bounds=[(0, None)] * 6,
            constraints={"type": "eq", "fun": lambda x: x.sum() - 1, "jac": np.ones_like},
            method="SLSQP",
            options={"ftol": 1e-14},
        )
        np.testing.assert_allclose(result, solved.x, atol=1e-6)


def test_the_one_shift_of_the_paper_is_caught() -> None:
    row = np.array([0.7, 0.6, 0.01])
    np.testing.assert_allclose(one_shift(row), [0.597, 0.497, -0.093], atol=5e-4)
    assert not is_projection(row, one_shift(row)), "the negative control must fail"
    below_one = np.array([0.5, 0.3, -0.01])
    assert not is_projection(below_one, np.array([0.6, 0.4, 0.0])), "iterated shifts are no projection here"
    np.testing.assert_allclose(
        apply("norm_sub", [row, below_one]), [[0.55, 0.45, 0], [0.57, 0.37, 0.06]], atol=1e-12
    )


def test_norm_sub_keeps_its_digits_at_any_scale() -> None:
    batch = np.array([[1e100, 0.5, 0.2], [1e15, 1e15, 0.0], [-1e100, -1e100, -2e100]])
    assert apply("norm_sub", batch).tolist() == [[1, 0, 0], [0.5, 0.5, 0], [0.5, 0.5, 0]]
