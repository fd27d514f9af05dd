"""A constraint says what is wanted, in the direction that makes sense, or refuses."""

from __future__ import annotations

import math

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

from ldpkit.core.errors import InvalidParameterError, UnknownNameError
from ldpkit.planning.constraint import Constraint
from ldpkit.simulation.metrics import METRICS


def test_aliases_become_the_name_of_the_metric() -> None:
    assert str(Constraint("tau", "at least", 0.5, 0.8)) == (
        "Kendall's tau-b at least 0.5 with probability at least 0.8"
    )
    assert Constraint("topk_precision@3", "at least", 0.5).metric == "topk_precision@3"


@pytest.mark.parametrize("name", list(METRICS))
def test_every_metric_has_one_direction(name: str) -> None:
    directions = ("at least", "at most") if METRICS.get(name).larger_is_better else ("at most", "at least")
    assert Constraint(name, directions[0], 0.5).direction == directions[0]
    with pytest.raises(InvalidParameterError, match=f"{name} {directions[0]} 0.5"):
        Constraint(name, directions[1], 0.5)


def test_a_mismatch_is_explained() -> None:
    with pytest.raises(InvalidParameterError, match="agreement, and larger is better: bound it from below"):
        Constraint("kendall_tau", "at most", 0.5)
    with pytest.raises(InvalidParameterError, match="error, and smaller is better: bound it from above"):
        Constraint("mae", "at least", 0.5)


@pytest.mark.parametrize("probability", [0, 1, -0.1, 1.5, math.nan, math.inf, True, "0.9"])
def test_a_probability_lies_strictly_between_0_and_1(probability: float) -> None:
    with pytest.raises(InvalidParameterError, match="strictly between 0 and 1"):
        Constraint("mae", "at most", 0.1, probability)


@pytest.mark.parametrize("omega", [math.nan, math.inf, True, "much", None])
def test_omega_is_a_finite_number(omega: float) -> None:
    with pytest.raises(InvalidParameterError, match="omega"):
        Constraint("mae", "at most", omega)


def test_unknown_names_are_refused() -> None:
    with pytest.raises(UnknownNameError, match="kendall_tau"):
        Constraint("kendal_tau", "at least", 0.1)
    with pytest.raises(InvalidParameterError, match="'at most' or 'at least'"):
        Constraint("mae", "below", 0.1)


def test_omega_itself_is_good_enough() -> None:
    values = np.array([0.1, 0.2, 0.3])
    assert Constraint("mae", "at most", 0.2).holds(values).tolist() == [True, True, False]
    assert Constraint("tau", "at least", 0.2).holds(values).tolist() == [False, True, True]


@given(
    st.lists(st.integers(-5, 5), min_size=1, max_size=40),
    st.sampled_from([0.1, 0.5, 0.7, 0.9, 0.95]),
    st.booleans(),
)
def test_the_quantile_is_good_exactly_if_enough_values_are(
    values: list[int], probability: float, similar: bool
) -> None:
    name, direction = ("tau", "at least") if similar else ("mae", "at most")
    constraint = Constraint(name, direction, 0.0, probability)
    array = np.array(values, float)
    enough = constraint.holds(array).sum() >= probability * len(values) * (1 - 1e-12)
    assert bool(constraint.holds(np.array(constraint.quantile(array)))) == enough
