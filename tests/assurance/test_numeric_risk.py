"""The adversary of numbers: exact against the listed channel, never above what epsilon allows."""

from __future__ import annotations

import math

import numpy as np
import pytest

import ldpkit
from ldpkit.assurance.adversary import numeric_confusion, risk
from ldpkit.core.errors import InvalidInputError, InvalidParameterError

SMALL = ["pm", "hm", "duchi", "sw", "truncated_laplace"]


@pytest.mark.parametrize("name", SMALL)
def test_success_is_that_of_the_listed_channel(name):
    mechanism = ldpkit.get(name, (0, 16), epsilon=1.5, grid=16)
    points = np.array([1.0, 4.0, 9.0, 15.0])
    prior = np.array([0.4, 0.3, 0.2, 0.1])
    channel = np.array(mechanism.channel().probabilities, float)
    likely = channel[points.astype(int)]
    best = (prior[:, None] * likely).max(axis=0).sum()
    found = risk(mechanism, prior, amounts=points)
    assert found.success == pytest.approx(best, rel=1e-12)
    assert found.how == "exact"
    table = numeric_confusion(mechanism, prior, points)
    assert table.sum(axis=1) == pytest.approx(np.ones(4))
    error = sum(prior[i] * table[i, j] * (points[i] - points[j]) ** 2 for i in range(4) for j in range(4))
    assert found.squared_error == pytest.approx(error)


@pytest.mark.parametrize("name", ["pm", "sw", "duchi"])
def test_no_guess_is_right_more_often_than_epsilon_allows(name):
    for epsilon in (0.5, 3.0):
        found = risk(ldpkit.get(name, (0, 1), epsilon=epsilon))
        assert found.blind == pytest.approx(1 / 16)
        assert found.blind < found.success <= math.exp(epsilon) / 16 * (1 + 1e-9)


def test_the_public_function_takes_numbers_and_cells():
    numbers = np.array([1.0, 2.0, 3.0, 90.0])
    found = ldpkit.risk("pm", interval=(0, 100), epsilon=[4, 1], bins=10, numbers=numbers)
    low, high = found.rows()
    assert (low["blind"], high["epsilon"] > low["epsilon"]) == (0.75, True)
    assert "10 cells of [0, 100]" in found.title
    flat = ldpkit.risk("pm", interval=(0, 100), bins=10, numbers=numbers, prior="uniform")
    assert flat.rows()[0]["blind"] == pytest.approx(0.1)
    told = ldpkit.risk("pm", interval=(0, 100), bins=10, prior={5: 3, 95: 1}).rows()[0]
    assert told["blind"] == 0.75


@pytest.mark.parametrize(
    ("ask", "said"),
    [
        (lambda: ldpkit.risk("pm", domain=4), "give interval"),
        (lambda: ldpkit.risk("grr", interval=(0, 1)), "give domain"),
        (lambda: ldpkit.risk("pm", interval=(0, 1), bins=1), "bins must be between 2 and 256"),
        (lambda: ldpkit.risk("pm", interval=(0, 1), reports=2), "is on one report"),
    ],
)
def test_what_cannot_be_is_refused(ask, said):
    with pytest.raises((InvalidParameterError, InvalidInputError), match=said):
        ask()
