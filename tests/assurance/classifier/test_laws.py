"""Laws of privatized columns: against the mechanisms' own cdf, the thesis' numbers, and enumeration."""

from __future__ import annotations

import math

import numpy as np
import pytest

import ldpkit
from ldpkit.assurance.classifier.columns import as_private_column
from ldpkit.core.errors import InvalidParameterError, OutOfDomainError
from slow import slow

GRID = [step / 100 for step in range(101)]


def within(mechanism: object, theta: float, x: float = 0.5) -> float:
    law = as_private_column(mechanism).outputs(np.array([x]))
    return float(law.between(np.array([x - theta]), np.array([x + theta]))[0])


def test_the_worked_example_has_the_corrected_numbers() -> None:
    assert within(ldpkit.get("laplace", (0, 1), epsilon=2), 0.3) == pytest.approx(0.451188, abs=2e-6)
    assert within(ldpkit.get("ogpm", (0, 1), epsilon=2), 0.3) == pytest.approx(0.852848, abs=2e-6)
    assert within(ldpkit.NearestPoint(ldpkit.GRR(GRID, epsilon=2)), 0.3) == pytest.approx(0.627523, abs=1e-6)
    assert 1 - math.exp(-0.3 * 5.3648) == pytest.approx(0.8, abs=1e-5)
    for name, needed in (("laplace", 5.3648), ("ogpm", 1.3863)):
        assert within(ldpkit.get(name, (0, 1), epsilon=needed + 2e-4), 0.3) >= 0.8
        assert within(ldpkit.get(name, (0, 1), epsilon=needed - 1e-3), 0.3) < 0.8


def test_an_interval_that_leaves_the_window_on_one_side_is_not_what_the_thesis_prints() -> None:
    assert within(ldpkit.get("ogpm", (0, 1), epsilon=1), 0.1, 0.05) == pytest.approx(0.247308, abs=2e-6)


NUMERIC = ["ogpm", "laplace", "truncated_laplace", "pm", "duchi"]


@pytest.mark.parametrize(
    "name", [*NUMERIC, *slow("sw", "hm", "staircase", "bounded_laplace", "truncated_pm", "truncated_sw")]
)
def test_a_law_is_that_of_cdf_and_atoms(name: str) -> None:
    mechanism = ldpkit.get(name, (-1, 3), epsilon=1.5)
    values, at = np.array([-1.0, -0.3, 2.2]), np.linspace(-1.5, 3.5, 21)
    law = as_private_column(mechanism).outputs(values)
    found = law.below(np.broadcast_to(at, (3, 21)), inclusive=True)
    expected = np.array([mechanism.cdf(at, value) for value in values])
    assert np.abs(found - expected).max() <= law.slack + 1e-9
    assert law.slack < 1e-5
    # The integral of the distribution function up to b is the mean of max(b - Y, 0).
    fine = np.linspace(-60, 3.5, 400_001)
    height = law.below(np.broadcast_to(fine, (3, len(fine))))
    assert np.abs(np.trapezoid(height, fine, axis=1) - law.integral(np.full((3, 1), 3.5))[:, 0]).max() < 2e-3


def test_clipping_is_post_processing_of_the_reports() -> None:
    clipped = as_private_column(ldpkit.Clipped(ldpkit.get("laplace", (0, 1), epsilon=1)))
    own = as_private_column(ldpkit.get("truncated_laplace", (0, 1), epsilon=1))
    at = np.linspace(-0.2, 1.2, 29)[None, :]
    for x in (0.0, 0.4):
        gap = clipped.outputs(np.array([x])).below(at) - own.outputs(np.array([x])).below(at)
        assert np.abs(gap).max() < 1e-5
    drawn = clipped.draw(np.full(1000, 0.9), ldpkit.random.seeded(1))
    assert drawn.min() >= 0
    assert drawn.max() <= 1


def test_the_exponential_mechanism_keeps_its_epsilon_and_the_usual_form_half_of_it() -> None:
    mechanism = ldpkit.Exponential(11, epsilon=3)
    assert 3 - 1e-6 < mechanism.channel().epsilon() <= 3
    distance = np.abs(np.subtract.outer(np.arange(11), np.arange(11))) / 10
    usual = np.exp(-3 * distance / 2)
    usual /= usual.sum(axis=1, keepdims=True)
    assert float(np.log(usual.max(axis=0) / usual.min(axis=0)).max()) == pytest.approx(1.5)
    assert np.abs(ldpkit.Exponential(11, epsilon=1.5).probabilities - usual).max() < 1e-8
    with pytest.raises(InvalidParameterError, match="too large"):
        _ = ldpkit.Exponential(101, epsilon=20).weights


def test_values_out_of_range_are_named_with_their_rows() -> None:
    column = as_private_column(ldpkit.get("ogpm", (0, 1), epsilon=1))
    with pytest.raises(OutOfDomainError, match=r"'bmi' has 2 values outside \[0, 1\].*rows 1, 3"):
        column.check(np.array([0.5, 1.2, 0.1, -1.0]), "bmi")
    off_grid = as_private_column(ldpkit.GRR(GRID, epsilon=1))
    with pytest.raises(OutOfDomainError, match="1 value outside the 101 points"):
        off_grid.check(np.array([0.5, 0.505]), "age")
    as_private_column(ldpkit.NearestPoint(ldpkit.GRR(GRID, epsilon=1))).check(np.array([0.505]), "age")
    with pytest.raises(InvalidParameterError, match="numeric mechanism"):
        as_private_column(ldpkit.Clipped(ldpkit.GRR(GRID, epsilon=1)))
    with pytest.raises(InvalidParameterError, match="must be the numbers"):
        as_private_column(ldpkit.GRR(["a", "b"], epsilon=1)).outputs(np.array([0.0]))
