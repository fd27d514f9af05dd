"""What every consistency method keeps, on every kind of input, and the tables of LDP3."""

from __future__ import annotations

import csv
import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings

import ldpkit
from estimation.batches import NOISE, apply, batches
from ldpkit.estimation.consistency import CONSISTENCY, Noise
from slow import slow

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


def test_shipped_methods_are_registered() -> None:
    assert set(SHIPPED) <= set(CONSISTENCY)


# What every method keeps, on every input


@pytest.mark.parametrize("name", SHIPPED)
@pytest.mark.parametrize("noise", [NOISE, Noise(10, 0.0), *slow(Noise(1, 1.0), Noise(10**12, 1e-7))], ids=str)
def test_hard_rows_have_an_answer(name: str, noise: Noise) -> None:
    for kind, row in HARD_ROWS.items():
        for size in (2, len(row)):
            result = apply(name, [row[:size]], noise)
            assert result.shape == (1, size), kind
            assert np.isfinite(result).all(), kind
            if name in NOT_NEGATIVE:
                assert (result >= 0).all(), kind


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
    estimates, noise = oracle.unbiased(supports, n), Noise.of(oracle, n)

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
