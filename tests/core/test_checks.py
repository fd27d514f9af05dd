"""Checks of parameters: what passes, what is refused, and in which words."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ldpkit
from ldpkit.core.errors import InvalidInputError, InvalidParameterError
from ldpkit.core.parameters import check_counts, check_epsilon, check_fraction, check_whole


@pytest.mark.parametrize(
    "epsilon", [0.001, 1, 20, 20.0, np.float32(0.5), np.int8(3), Fraction(1, 3), Decimal("0.25")]
)
def test_usable_epsilons_become_floats(epsilon):
    assert type(check_epsilon(epsilon)) is float
    assert check_epsilon(epsilon) == float(epsilon)


@pytest.mark.parametrize(
    "epsilon",
    [
        *(0, -1, 0.0009999, 20.000001, np.inf, -np.inf, np.nan, Decimal("nan"), True, False),
        *(None, "one", "", [], {}, 1j, b"one", object()),
        *(bad for bad in ("1.0", b"1", np.True_, 10**400, Fraction(10**400))),
    ],
)
def test_senseless_epsilons_are_refused_by_name(epsilon):
    with pytest.raises(InvalidParameterError, match="epsilon_1 must be"):
        check_epsilon(epsilon, "epsilon_1")


def test_the_message_has_the_bad_value_and_the_remedy():
    with pytest.raises(InvalidParameterError, match="epsilon must be positive and finite, got -1"):
        check_epsilon(-1)
    with pytest.raises(
        InvalidParameterError, match=r"between 0\.001 and 20, got 50: .*above, they hide nothing"
    ):
        check_epsilon(50)


@given(st.floats())
def test_any_float_is_a_usable_epsilon_or_refused(epsilon):
    try:
        assert check_epsilon(epsilon) == epsilon
    except InvalidParameterError:
        assert not 0.001 <= epsilon <= 20
    else:
        assert 0.001 <= epsilon <= 20


@pytest.mark.parametrize("value", [0.5, 1e-300, 1 - 1e-16, np.float32(0.25)])
def test_fractions_pass(value):
    assert check_fraction(value, "level") == float(value)


@pytest.mark.parametrize("value", [0, 1, 0.0, 1.0, -0.1, 1.1, 95, np.nan, np.inf, True, None, "0.5", [0.5]])
def test_what_is_no_fraction_is_refused(value):
    with pytest.raises(InvalidParameterError, match="level must lie strictly between 0 and 1"):
        check_fraction(value, "level")


@pytest.mark.parametrize("value", [1, 10**30, np.int16(5), np.uint64(2**63)])
def test_whole_numbers_pass(value):
    assert check_whole(value, "repeats") == int(value)
    assert type(check_whole(value, "repeats")) is int


@pytest.mark.parametrize("value", [0, -1, 1.0, 1.5, True, False, None, "1", np.float64(2), [1], np.nan])
def test_what_is_no_whole_number_is_refused(value):
    with pytest.raises(InvalidParameterError, match="repeats must be"):
        check_whole(value, "repeats")
    assert check_whole(0, "n", least=0) == 0


@pytest.mark.parametrize(
    "counts",
    [[1, 0, 2], (1, 0, 2), np.array([1, 0, 2], np.uint8), [1.0, 0.0, 2.0], np.array([1, 0, 2], ">i4")],
)
def test_counts_become_integers(counts):
    checked = check_counts(counts, 3)
    assert checked.dtype == np.int64
    assert checked.tolist() == [1, 0, 2]


@pytest.mark.parametrize(
    "counts",
    [
        *([1, 2], [1, 2, 3, 4], [[1, 2, 3]], [], 3, None, "123", ["1", "2", "3"], [1, 2, None]),
        *(
            [1, 2, -1],
            [1, 2, 0.5],
            [1, 2, np.nan],
            [1, 2, np.inf],
            [0, 0, 0],
            [True, False, True],
            [1, 2, 3j],
        ),
        *(bad for bad in ([[1], [2, 3], 4], [1e300, 0, 0], np.array([2**63, 0, 0], np.uint64))),
    ],
)
def test_senseless_counts_are_refused(counts):
    with pytest.raises(InvalidInputError, match="counts"):
        check_counts(counts, 3)


def test_counts_are_a_copy():
    counts = np.array([1, 2, 3])
    check_counts(counts, 3)[0] = 9
    assert counts[0] == 1


def test_a_whole_number_that_no_float_holds_is_refused_in_the_error_tree():
    with pytest.raises(InvalidParameterError):
        ldpkit.DBitFlip.check_parameters({"epsilon": 1.0, "d": -(10**400)})
    with pytest.raises(InvalidParameterError):
        ldpkit.GRR.check_parameters({"epsilon": 10**400})
