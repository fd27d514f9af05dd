"""AAA's linear program: reference optima, two solvers, feasibility, and the printed form, not private."""

from __future__ import annotations

import math

import numpy as np
import pytest

from ldpkit.core.errors import InvalidParameterError
from ldpkit.core.exact import log_up
from ldpkit.mechanisms.adaptive.descriptor import descriptor_of_law, descriptor_of_values
from ldpkit.mechanisms.adaptive.interior import minimise, starting_table
from ldpkit.mechanisms.adaptive.lattice import Lattice, smallest_noise_range
from ldpkit.mechanisms.adaptive.program import solve_with_highs
from ldpkit.mechanisms.adaptive.solve import UnfinishedWarning, fitted_table, solve
from ldpkit.mechanisms.tables.table import worst_ratio
from ldpkit.papers.aaa.tails import solve_with_tails

REFERENCE = {  # N=16, M=64: the optima at epsilon 0.5, 1, 2 and 4
    "gaussian": (15.856753, 3.489543, 0.587298, 0.059295),
    "exponential": (15.815365, 3.796377, 0.755363, 0.082284),
    "beta": (15.981264, 3.947934, 0.829291, 0.119293),
}
EPSILONS = (0.5, 1.0, 2.0, 4.0)
CASES = [
    (law, epsilon, value)
    for law, values in REFERENCE.items()
    for epsilon, value in zip(EPSILONS, values, strict=True)
]


def law(name):
    from scipy import stats

    laws = {
        "gaussian": stats.norm(0, 0.2),
        "exponential": stats.expon(-1, 1 / 6),
        "beta": stats.beta(0.5, 0.5, -1, 2),
    }
    return laws[name].cdf


def check_valid(solution, epsilon, slack=1e-9):
    lattice, table = solution.lattice, solution.table
    assert np.abs(table.sum(axis=0) - 1).max() < slack
    assert np.abs(lattice.places @ table - lattice.inputs).max() < slack * lattice.reach
    used = table.max(axis=1) > 1e-9
    assert (table[used].max(axis=1) <= math.exp(epsilon) * table[used].min(axis=1) * (1 + 1e-9)).all()


@pytest.mark.parametrize(("name", "epsilon", "value"), CASES)
def test_optima_are_the_reference(name, epsilon, value):
    descriptor = descriptor_of_law(law(name), 16)
    solution = minimise(Lattice(16, 64), descriptor, epsilon)
    assert solution.value == pytest.approx(value, abs=6e-7)
    assert solution.bound == pytest.approx(value, abs=6e-7)
    check_valid(solution, epsilon)
    # A range chosen by the program itself loses nothing.
    assert solve(descriptor, epsilon).value == pytest.approx(value, abs=6e-7)


@pytest.mark.parametrize(("name", "epsilon", "value"), CASES)
def test_highs_agrees(name, epsilon, value):
    solution = solve_with_highs(Lattice(16, 64), descriptor_of_law(law(name), 16), epsilon)
    assert solution is not None
    assert solution.value == pytest.approx(value, abs=6e-7)
    check_valid(solution, epsilon)


@pytest.mark.parametrize("bins", [1, 2, 5, 9, 12])
def test_two_solvers_find_the_same_for_any_descriptor(bins):
    random = np.random.default_rng(bins)
    for epsilon in (0.3, 1.0, 3.0):
        descriptor = random.dirichlet(np.full(bins + 1, 0.5))
        for shares in (descriptor, (descriptor + descriptor[::-1]) / 2):  # the latter by symmetry
            lattice = Lattice.choose(bins, epsilon)
            ours, theirs = minimise(lattice, shares, epsilon), solve_with_highs(lattice, shares, epsilon)
            assert theirs is not None
            assert ours.value == pytest.approx(theirs.value, rel=1e-7)
            assert ours.bound <= theirs.value * (1 + 1e-7)
            check_valid(ours, epsilon)
            check_valid(theirs, epsilon)


def test_tails_carry_no_mass_where_the_range_is_large():
    descriptor = descriptor_of_law(law("gaussian"), 8)
    without = minimise(Lattice(8, 32), descriptor, 1.0).value
    for ratio in (0.1, 0.5, 0.9):
        noise = solve_with_tails(descriptor, 1.0, 32, ratio)
        assert noise.value == pytest.approx(without, abs=1e-7)
        assert noise.q[:, [0, -1]].max() < 1e-9


def test_the_printed_constraints_are_caught_as_not_private():
    """The negative control: the same audit passes the corrected program and catches the printed one."""
    descriptor = descriptor_of_law(law("gaussian"), 4)
    right = solve_with_tails(descriptor, 1.0, 8, 0.5)
    assert right.value == pytest.approx(3.645792, abs=6e-7)
    ratio = worst_ratio(right.rows())
    assert ratio is not None
    assert log_up(ratio) == pytest.approx(1.0, abs=1e-9)
    printed = solve_with_tails(descriptor, 1.0, 8, 0.5, printed=True)
    assert printed.value == pytest.approx(0.590711, abs=6e-7)
    assert worst_ratio(printed.rows()) is None, "the audit does not see that an output gives an input away"


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 2.0])
@pytest.mark.parametrize("bins", [3, 16])
def test_the_smallest_noise_range_is_exact(bins, epsilon):
    least = smallest_noise_range(bins, epsilon)
    shares = np.full(bins + 1, 1 / (bins + 1))
    assert solve_with_highs(Lattice(bins, least), shares, epsilon) is not None
    assert solve_with_highs(Lattice(bins, least - 1), shares, epsilon) is None
    fitted_table(shares, epsilon, noise_range=least).check(epsilon)
    with pytest.raises(InvalidParameterError, match=f"infeasible for {bins} bins.*give at least {least}"):
        fitted_table(shares, epsilon, noise_range=least - 1)


def test_outputs_are_thinned_at_a_tiny_epsilon():
    lattice = Lattice.choose(16, 0.002)
    assert len(lattice.outputs) <= 2049
    assert lattice.stride > 1
    assert lattice.outputs[0] + lattice.outputs[-1] == 16
    with pytest.raises(InvalidParameterError, match="even number"):
        Lattice.choose(99, 0.001)


def test_the_start_is_strictly_inside():
    lattice = Lattice.choose(10, 0.7)
    table, floor = starting_table(lattice, 0.7)
    assert (table > floor[:, None]).all()
    assert (table < math.exp(0.7) * floor[:, None]).all()
    assert table.sum(axis=0) == pytest.approx(1)
    assert lattice.places @ table == pytest.approx(lattice.inputs)


def test_an_unfinished_solver_says_so_and_gives_a_valid_mechanism():
    descriptor = descriptor_of_law(law("gaussian"), 10)
    with pytest.warns(
        UnfinishedWarning, match="private and unbiased, but give more than 0 s or fewer than 10"
    ):
        table = fitted_table(descriptor, 1.0, time_limit=0.0)
    table.check(1.0)
    duchi = 1 / math.tanh(0.5) ** 2
    assert descriptor @ table.variances < 1.2 * duchi
    # It is not kept in place of the optimum.
    assert descriptor @ fitted_table(descriptor, 1.0).variances < 0.85 * duchi


def test_highs_that_does_not_finish_gives_way_to_the_other_solver(monkeypatch):
    lattice, descriptor = Lattice(16, 64), descriptor_of_law(law("exponential"), 16)
    assert solve_with_highs(lattice, descriptor, 1.0, time_limit=1e-6) is None
    monkeypatch.setattr(
        "ldpkit.mechanisms.adaptive.solve.solve_with_highs", lambda *arguments, **options: None
    )
    with pytest.warns(UnfinishedWarning, match="HiGHS did not solve the program of 16 bins"):
        found = solve(descriptor, 1.0, solver="highs", time_limit=30)
    assert found.value == pytest.approx(3.796377, abs=6e-7)


def test_unknown_solver():
    with pytest.raises(InvalidParameterError, match="solver must be"):
        solve([0.5, 0.5], 1.0, solver="simplex")


def test_descriptors_of_values_and_laws_agree():
    values = np.linspace(-1, 1, 200_001)
    assert descriptor_of_values(values, 8) == pytest.approx(
        descriptor_of_law(lambda x: (x + 1) / 2, 8), abs=1e-5
    )


@pytest.mark.parametrize(
    ("descriptor", "message"),
    [
        ([1.0], "at least two"),
        ([[0.5, 0.5]], "at least two"),
        ([0.5, 0.6], "sum to 1, got 1.1"),
        ([1.5, -0.5], "got -0.5 at position 1"),
        ([0.5, float("nan")], "got nan at position 1"),
    ],
)
def test_bad_descriptors(descriptor, message):
    with pytest.raises(InvalidParameterError, match=message):
        solve(descriptor, 1.0)
