"""Consistency methods against their definitions, on every kind of input."""

from __future__ import annotations

import csv
import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import ldpkit
from ldpkit.estimation.consistency import CONSISTENCY
from ldpkit.estimation.consistency.positive import significance_threshold
from ldpkit.estimation.consistency.power import LEAST_COUNT
from ldpkit.estimation.inversion import invert
from ldpkit.estimation.noise import Noise

NOISE = Noise(n=10_000, stderr=0.02)
SHIPPED = ["base_cut", "base_pos", "norm", "norm_cut", "norm_mul", "norm_sub", "power", "power_ns"]
NOT_NEGATIVE = [name for name in SHIPPED if name != "norm"]
SUM_TO_ONE = ["norm", "norm_mul", "norm_sub", "power_ns"]
IDEMPOTENT = [name for name in SHIPPED if not name.startswith("power")]

HARD_ROWS = {
    "all negative": [-0.3, -0.2, -0.1, -0.4],
    "all zero": [0.0, 0.0, 0.0, 0.0],
    "all equal": [0.7, 0.7, 0.7, 0.7],
    "sum below one": [0.2, 0.1, -0.05, 0.05],
    "sum above one": [0.9, 0.8, 0.7, 0.6],
    "one huge": [1e100, 0.1, 0.1, 0.1],
    "one hugely negative": [-1e100, 0.1, 0.1, 0.1],
    "huge both ways": [1e100, -1e100, 1e100, 0.0],
    "tiny": [5e-324, 0.0, -5e-324, 0.0],
    "counts instead of frequencies": [5000.0, 3000.0, 1500.0, 500.0],
}


def batches(largest: float, values: tuple[int, int] = (2, 12)) -> st.SearchStrategy[np.ndarray]:
    shapes = st.tuples(st.integers(1, 4), st.integers(*values))
    return shapes.flatmap(
        lambda shape: hnp.arrays(float, shape, elements=st.floats(-largest, largest, allow_nan=False))
    )


def apply(name: str, batch: object, noise: Noise = NOISE) -> np.ndarray:
    return CONSISTENCY.get(name)(np.asarray(batch, float), noise)


def test_shipped_methods_are_registered() -> None:
    assert set(SHIPPED) <= set(CONSISTENCY)


# What every method keeps, on every input


@pytest.mark.parametrize("name", SHIPPED)
@pytest.mark.parametrize("row", HARD_ROWS.values(), ids=HARD_ROWS.keys())
@pytest.mark.parametrize("noise", [NOISE, Noise(1, 1.0), Noise(10**12, 1e-7), Noise(10, 0.0)], ids=str)
def test_hard_rows_have_an_answer(name: str, row: list[float], noise: Noise) -> None:
    for size in (2, len(row)):
        result = apply(name, [row[:size]], noise)
        assert result.shape == (1, size)
        assert np.isfinite(result).all()
        if name in NOT_NEGATIVE:
            assert (result >= 0).all()


@pytest.mark.parametrize("name", SHIPPED)
@given(batch=batches(1e100))
@settings(max_examples=40, deadline=None)
def test_total_and_without_side_effects(name: str, batch: np.ndarray) -> None:
    before = batch.copy()
    batch.setflags(write=False)
    result = apply(name, batch)
    assert result.shape == batch.shape
    assert np.isfinite(result).all()
    assert not np.shares_memory(result, batch)
    np.testing.assert_array_equal(batch, before)


@pytest.mark.parametrize("name", SHIPPED)
@given(batch=batches(2.0))
@settings(max_examples=40, deadline=None)
def test_promises(name: str, batch: np.ndarray) -> None:
    result = apply(name, batch)
    if name in NOT_NEGATIVE:
        assert (result >= 0).all()
    if name in SUM_TO_ONE:
        np.testing.assert_allclose(result.sum(1), 1, atol=1e-12)
    if name == "norm_cut":
        assert (result.sum(1) <= 1 + 1e-11).all()
    if name in IDEMPOTENT:
        np.testing.assert_allclose(apply(name, result), result, atol=1e-12)


@pytest.mark.parametrize("name", SHIPPED)
def test_rows_and_order_do_not_matter(name: str) -> None:
    generator = ldpkit.random.seeded(5).generator()
    batch = generator.normal(0.05, 0.05, (6, 20))
    whole = apply(name, batch)
    one_by_one = np.concatenate([apply(name, batch[row : row + 1]) for row in range(6)])
    np.testing.assert_allclose(whole, one_by_one, atol=1e-13)
    order = generator.permutation(20)
    np.testing.assert_allclose(apply(name, batch[:, order]), whole[:, order], atol=1e-12)


@pytest.mark.parametrize("name", SHIPPED)
def test_empty_batch(name: str) -> None:
    assert apply(name, np.empty((0, 3))).shape == (0, 3)


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


def sixteenths(values: tuple[int, int] = (2, 9)) -> st.SearchStrategy[np.ndarray]:
    """Rows with many ties and exact sums."""
    sizes = st.integers(*values)
    return sizes.flatmap(
        lambda k: hnp.arrays(float, (1, k), elements=st.integers(-8, 24).map(lambda x: x / 16))
    )


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


# Power


def posterior_means(counts: np.ndarray, people: int, sigma: float, exponent: float) -> np.ndarray:
    """Integrate the posterior of each count on a grid so fine that nothing else matters."""
    logs = np.linspace(np.log(LEAST_COUNT), np.log(people), 100_001)
    x = np.exp(logs)
    means = []
    for count in counts:
        energy = (1 - exponent) * logs - ((x - count) / sigma) ** 2 / 2
        weights = np.exp(energy - energy.max())
        means.append(np.trapezoid(weights * x, logs) / np.trapezoid(weights, logs))
    return np.array(means)


def log_evidence(counts: np.ndarray, people: int, sigma: float, exponent: float) -> float:
    logs = np.linspace(np.log(LEAST_COUNT), np.log(people), 100_001)
    x = np.exp(logs)
    prior = np.exp((1 - exponent) * logs)
    prior /= np.trapezoid(prior, logs)
    return float(
        sum(np.log(np.trapezoid(prior * np.exp(-(((x - c) / sigma) ** 2) / 2), logs)) for c in counts)
    )


POWER_NOISE = Noise(100_000, 0.004)
POWER_ROW = np.array([0.31, 0.14, 0.09, 0.05, 0.041, 0.02, 0.011, 0.006, 0.002, -0.001, -0.004, -0.009])


def test_power_is_the_posterior_mean_at_the_likeliest_exponent() -> None:
    from scipy.optimize import minimize_scalar

    counts, people = POWER_ROW * POWER_NOISE.n, POWER_NOISE.n
    sigma = POWER_NOISE.stderr * people
    best = minimize_scalar(
        lambda s: -log_evidence(counts, people, sigma, s), bounds=(0, 4), method="bounded"
    ).x
    expected = posterior_means(counts, people, sigma, best) / people
    result = apply("power", [POWER_ROW], POWER_NOISE)[0]
    np.testing.assert_allclose(result, expected, atol=2e-3 * POWER_NOISE.stderr)
    other = posterior_means(counts, people, sigma, best + 0.3) / people
    assert np.abs(other - expected).max() > 2e-2 * POWER_NOISE.stderr, "the negative control must fail"


@pytest.mark.parametrize("place", [-8, -3, -1, 0, 0.5, 2, 5, 9, 10, 11, 16, 17, 30, 100])
@pytest.mark.parametrize("exponent", [0.0, 1.0, 2.5])
def test_nodes_integrate_the_posterior(place: float, exponent: float) -> None:
    from ldpkit.estimation.consistency.power import _Integrals

    people, sigma = 100_000, 400.0
    counts = np.array([place * sigma])
    mean = _Integrals.of(counts[None, :], people, sigma).posterior_mean(np.array([exponent]))[0]
    np.testing.assert_allclose(mean, posterior_means(counts, people, sigma, exponent), atol=1e-3 * sigma)


def test_nodes_integrate_the_posterior_at_the_upper_end() -> None:
    from ldpkit.estimation.consistency.power import _Integrals

    people, sigma = 100_000, 400.0
    counts = np.array([people - sigma, people, people + 3 * sigma])
    mean = _Integrals.of(counts[None, :], people, sigma).posterior_mean(np.array([1.0]))[0]
    np.testing.assert_allclose(mean, posterior_means(counts, people, sigma, 1.0), atol=1e-3 * sigma)
    assert (mean < people).all()


def test_power_uses_the_noise_of_all_people() -> None:
    """LDP3 takes k for n, a noise k times too small, and then hardly shrinks at all."""
    row, noise = POWER_ROW[None, :], POWER_NOISE
    too_small = Noise(noise.n, noise.stderr / np.sqrt(128))
    shrunk, hardly = apply("power", row, noise), apply("power", row, too_small)
    small = slice(6, 9)
    assert (shrunk[0, small] < 0.8 * row[0, small]).all()
    assert (hardly[0, small] > 0.95 * row[0, small]).all(), "the negative control must fail"


def test_power_keeps_order_and_range() -> None:
    row = np.linspace(-0.1, 1.2, 60)[None, :]
    result = apply("power", row)
    assert (np.diff(result[0]) >= 0).all()
    assert result.min() >= LEAST_COUNT / NOISE.n
    assert result.max() <= 1


def test_power_without_noise_changes_nothing_inside() -> None:
    row = [[0.6, 0.4, 0.0, -0.2, 1.2]]
    expected = [[0.6, 0.4, LEAST_COUNT / 50, LEAST_COUNT / 50, 1.0]]
    assert apply("power", row, Noise(50, 0.0)).tolist() == expected
    np.testing.assert_allclose(apply("power", row, Noise(50, 1e-9)), expected, atol=1e-6)


def test_power_in_chunks_is_power() -> None:
    batch = ldpkit.random.seeded(2).generator().normal(0.01, 0.02, (40, 700))
    whole = apply("power", batch)  # some thirty rows fit a chunk
    np.testing.assert_allclose(whole[-2:], apply("power", batch[-2:]), atol=1e-13)


# The tables of LDP3, on its own data


def data_counts(name: str) -> np.ndarray:
    folder = os.environ.get("LDPKIT_DATA")
    if not folder:
        pytest.skip("set LDPKIT_DATA to the folder with the data sets")
    with (Path(folder) / f"{name}_counts.csv").open() as file:
        return np.array([int(row["count"]) for row in csv.DictReader(file)])


# Mean absolute error x 1e3 of OLH, epsilon 1: Tables I and II; power_ns as corrected in its noise.
TABLES = {
    "kosarak": {
        "base_pos": 1.33,
        "norm": 1.56,
        "norm_cut": 1.47,
        "norm_mul": 1.39,
        "norm_sub": 1.27,
        "power_ns": 0.90,
    },
    "bms_pos": {
        "base_pos": 1.76,
        "norm": 2.14,
        "norm_cut": 1.98,
        "norm_mul": 1.67,
        "norm_sub": 1.66,
        "power_ns": 1.28,
    },
}


def agrees_with_table(errors: np.ndarray, printed: float) -> bool:
    """Whether a mean of errors could be the printed mean of ten, rounded to two digits.

    Four standard deviations of the difference: a false alarm has probability 6e-5.
    """
    deviation = errors.std() * np.sqrt(1 / 10 + 1 / len(errors))
    return bool(abs(errors.mean() - printed) < 4 * deviation + 0.005)


@pytest.mark.parametrize("name", TABLES)
def test_tables_of_ldp3(name: str) -> None:
    counts = data_counts(name)
    n, oracle = int(counts.sum()), ldpkit.OLH(len(counts), epsilon=1.0)
    supports = oracle.simulate(counts, rng=ldpkit.random.seeded(1), repeats=100)
    estimates, noise = invert(oracle, supports, n), Noise.of(oracle, n)

    def errors(batch: np.ndarray) -> np.ndarray:
        return np.abs(batch - counts / n).mean(1) * 1e3

    found = {method: errors(apply(method, estimates, noise)) for method in TABLES[name]}
    for method, printed in TABLES[name].items():
        message = f"{method}: {found[method].mean():.3f}, not {printed}; false alarm with probability 6e-5"
        assert agrees_with_table(found[method], printed), message
    assert not agrees_with_table(errors(estimates), TABLES[name]["norm_sub"]), (
        "the negative control must fail"
    )
    assert found["power_ns"].mean() < 0.8 * found["norm_sub"].mean(), (
        "with the right noise PowerNS is the best"
    )
