"""The exhaustive grids: the checks of the contract at many more sizes and epsilons."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from contract.subjects import MECHANISM_NAMES, ORACLE_NAMES, oracle
from ldpkit.mechanisms.base import MECHANISMS
from ldpkit.mechanisms.kinds import is_numeric
from ldpkit.testing import example
from ldpkit.testing.epsilon import check_channel, check_epsilon
from ldpkit.testing.examples import SMALLEST_EPSILON
from ldpkit.testing.moments import check_estimates, check_simulated_estimates, check_simulation_law
from ldpkit.testing.numeric import check_density
from ldpkit.testing.sampler import check_sampler

pytestmark = pytest.mark.slow
LISTED = [name for name in ORACLE_NAMES if name != "she"]
NUMERIC_NAMES = [name for name in MECHANISM_NAMES if is_numeric(MECHANISMS.get(name))]
every_oracle = pytest.mark.parametrize("name", ORACLE_NAMES)
every_listed = pytest.mark.parametrize("name", LISTED)
every_number = pytest.mark.parametrize("name", NUMERIC_NAMES)


@every_oracle
@pytest.mark.parametrize("size", [2, 3, 16, 128, 1000, 1024])
@pytest.mark.parametrize(
    "epsilon", [0.001, 0.1, 0.3, 0.5, np.log(2), 1.0, np.log(3), 2.0, np.pi, 4.0, 8.0, 19.99]
)
def test_epsilon_is_exact(name, size, epsilon):
    check_epsilon(oracle(name, size, float(epsilon)))


@every_oracle
@given(size=st.integers(2, 5000), epsilon=st.floats(0.001, 20.0))
def test_epsilon_is_exact_anywhere(name, size, epsilon):
    assume(epsilon > SMALLEST_EPSILON or not MECHANISMS.get(name).can("joint"))
    check_epsilon(oracle(name, size, epsilon))


@every_listed
@pytest.mark.parametrize("size", [2, 3, 4, 6])
@pytest.mark.parametrize("epsilon", [0.001, 0.5, 1.0, 2.0, 5.0])
def test_epsilon_is_that_of_the_enumerated_channel(name, size, epsilon):
    check_channel(oracle(name, size, epsilon))


@every_listed
@pytest.mark.parametrize(("size", "epsilon"), [(2, 0.1), (5, 1.0), (9, 3.0), (4, 8.0)])
def test_reports_follow_the_channel(name, size, epsilon):
    check_sampler(oracle(name, size, epsilon), draws=400_000, seed=21)


@every_oracle
@pytest.mark.parametrize(("size", "epsilon"), [(2, 1.0), (9, 0.5), (12, 2.0)])
def test_estimates_are_unbiased(name, size, epsilon):
    mechanism = oracle(name, size, epsilon)
    check_simulated_estimates(mechanism, repeats=4000 if mechanism.can("pure") else 800)
    check_estimates(mechanism)
    check_simulation_law(mechanism)


@every_number
@pytest.mark.parametrize("epsilon", [0.1, 0.5, 1.0, 2.0, 4.0, 8.0])
def test_numbers(name, epsilon):
    mechanism = example(name, (-1, 1), epsilon)
    check_epsilon(mechanism)
    check_density(mechanism)
    for grid in (2, 4, 8):
        check_channel(mechanism.sibling(grid))
    check_sampler(mechanism.sibling(8), draws=40_000, seed=23)
