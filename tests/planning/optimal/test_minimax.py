"""The best of all mechanisms: bounds that hold, what is known exactly, and the circle."""

from __future__ import annotations

import math

import numpy as np
import pytest

import ldpkit
from ldpkit.core.errors import InvalidParameterError
from ldpkit.mechanisms.cells.widths import end_error
from ldpkit.mechanisms.tables.program import best_table, row_sums
from ldpkit.planning.optimal.minimax import circle_optimum, minimax
from slow import slow

REFERENCE = {1.0: (0.316169, 0.316529), 2.0: (0.200805, 0.201227), 4.0: (0.077973, 0.079308)}


@pytest.mark.parametrize("epsilon", [1.0, 2.0])
def test_the_bounds_of_absolute_error(epsilon):
    low, high = REFERENCE[epsilon]
    found = minimax((0, 1), epsilon)
    assert low - 1e-6 < found.lower <= high, "the bound is valid, and as good as the known one"
    assert found.upper >= low
    assert found.upper < 1.01 * found.lower, "optimal is within 1% of the bound"
    assert found.gap < 0.01
    assert found.closed_form == pytest.approx(1 / (1 + math.exp(epsilon / 2)))
    assert found.closed_form > 1.15 * found.upper


@pytest.mark.parametrize("epsilon", slow(1.0, 2.0, 4.0))
def test_the_bounds_on_a_finer_grid(epsilon):
    low, high = REFERENCE[epsilon]
    found = minimax((0, 1), epsilon, intervals=64)
    assert low - 1e-6 < found.lower <= found.upper < high
    assert found.lower <= high
    assert found.upper >= low


@pytest.mark.parametrize("epsilon", [0.1, 1.0, math.log(3 + 2 * math.sqrt(2)) - 1e-9])
def test_one_bit_is_minimax_for_squared_error(epsilon):
    e = math.exp(epsilon)
    found = minimax((0, 1), epsilon, power=2)
    assert found.lower == pytest.approx(e / (1 + e) ** 2, abs=1e-9)
    assert found.upper == pytest.approx(e / (1 + e) ** 2, abs=1e-9)
    places = np.array(found.mechanism.table.outputs) / found.mechanism.output_steps
    assert places == pytest.approx([1 / (1 + e), e / (1 + e)], abs=1e-6)
    coin = ldpkit.get("compressed_duchi", (0, 1), epsilon=epsilon)
    x = np.linspace(0, 1, 9)
    assert found.mechanism.error(x, 2) == pytest.approx(coin.error(x, 2), abs=1e-6)


def test_beyond_that_epsilon_one_bit_is_not_enough():
    found = minimax((0, 1), 2.5, power=2, intervals=8)
    e = math.exp(2.5)
    assert len(found.mechanism.table.outputs) > 2
    assert (
        found.upper < ldpkit.get("compressed_duchi", (0, 1), epsilon=2.5).error(np.linspace(0, 1, 9), 2).max()
    )
    assert found.lower >= e / (1 + e) ** 2 - 1e-9


def test_scale_and_shift_change_nothing_but_the_unit():
    found, moved = minimax((0, 1), 1.0, power=2), minimax((-3, 7), 1.0, power=2)
    assert moved.lower == pytest.approx(100 * found.lower)
    assert moved.upper == pytest.approx(100 * found.upper)
    x = np.linspace(-3, 7, 17)
    assert moved.mechanism.error(x, 2).max() == pytest.approx(moved.upper, rel=1e-5)


def test_a_prior_has_a_bound_too():
    found = minimax((0, 10), 2.0, prior=[2.0, 4.0, 4.0, 9.0])
    assert found.lower == pytest.approx(found.upper, rel=1e-6)
    assert found.prior
    many = minimax((0, 1), 2.0, prior=np.linspace(0, 1, 200), intervals=16)
    assert many.lower <= many.upper < 1.05 * many.lower


def test_a_program_that_is_not_solved_leaves_the_closed_form():
    found = minimax((0, 1), 3.25, intervals=48, time_limit=1e-4)
    assert found.mechanism == ldpkit.get("ogpm", (0, 1), epsilon=3.25)
    assert found.upper == pytest.approx(1 / (1 + math.exp(1.625)))
    assert 0 < found.lower < found.upper
    assert f"may be {found.gap:.3%} above the optimum" in found.warnings[0]
    assert found.to_dict()["about"]["solved"] is False


def test_where_rounding_costs_more_than_is_won_the_closed_form_is_better():
    found = minimax((0, 1), 12.0, intervals=4)
    assert found.mechanism.name == "ogpm"
    assert "rounding to the grid" in found.notes()[0]


@pytest.mark.parametrize("power", [1.0, 2.0])
@pytest.mark.parametrize("epsilon", [0.5, 2.0, 4.0])
def test_on_a_circle_the_program_never_beats_the_closed_form(epsilon, power):
    """All tables between points and arcs: averaged over rotations they are circulant, and no better."""
    size = 12
    # A report spreads evenly over an arc of 1/size, so the table is a mechanism on the circle.
    fine = (np.arange(200) + 0.5) / 200
    spread = (np.arange(size)[:, None] + fine) / size
    arc = np.abs(spread[:, None, :] - np.arange(size)[None, :, None] / size)
    loss = (np.minimum(arc, 1 - arc) ** power).mean(axis=-1)
    mass = row_sums(np.ones((size, size))), np.ones(size)
    every = best_table((size, size), epsilon, row_sums(loss), [mass])
    turned = sum(np.roll(np.roll(every.table, -k, axis=0), -k, axis=1) for k in range(size)) / size
    assert (turned * loss).sum(axis=0).max() == pytest.approx(every.value, rel=1e-6), (
        "averaging loses nothing"
    )
    best = end_error(epsilon, power, 0.5)
    assert best <= every.value + 1e-4, "the program beats the closed form"
    assert every.value < 1.3 * best + 0.02, "the program is about the same problem"
    found = circle_optimum(1.0, epsilon, power=power)
    assert found.lower == best
    assert found.gap < 1e-4


def test_records_and_refusals():
    found = minimax((0, 1), 1.0, intervals=4)
    told = found.to_dict()
    assert [row["what"] for row in told["rows"]] == ["bound", "optimal", "ogpm"]
    assert len(told["about"]["probabilities"]) == 5
    assert np.sum(told["about"]["probabilities"], axis=1) == pytest.approx(np.ones(5))
    assert "x=0.25" in repr(found)
    for options, message in (
        ({"power": 0}, "power must be"),
        ({"power": -2.0}, "power must be"),
        ({"intervals": 129}, "too fine"),
        ({"prior": [0.5], "weights": [0.5, 0.5]}, "one weight for each"),
        ({"prior": [2.0]}, "2"),
    ):
        with pytest.raises((InvalidParameterError, ldpkit.LdpkitError), match=message):
            minimax((0, 1), 1.0, **options)
