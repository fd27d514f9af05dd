"""The law of a count: cumulants of many outcomes are interpolated, exactly enough and in little memory."""

from __future__ import annotations

import tracemalloc

import numpy as np

import ldpkit


def test_many_outcomes_give_the_cumulants_of_their_sums():
    law = ldpkit.get("she", 2, epsilon=0.5).report_law
    t = np.linspace(-0.9, 0.9, 7) * law.largest_exponent
    for found, chances in zip(law.cumulants(t), (law.own, law.other), strict=True):
        exact = law._sum(t, chances)
        deviation = np.sqrt(law.moments[0].max())
        np.testing.assert_allclose(found.value, exact.value, atol=1e-5)
        np.testing.assert_allclose(found.slope / deviation, exact.slope / deviation, atol=1e-4)
        np.testing.assert_allclose(found.curvature, exact.curvature, rtol=1e-2)


def test_the_slopes_at_the_knots_are_those_of_the_sums():
    law = ldpkit.get("she", 2, epsilon=0.5).report_law
    knots, step = np.linspace(-law.largest_exponent, law.largest_exponent, 65, retstep=True)
    for (slope, curvature), chances in zip(law._tilted(float(step)), (law.own, law.other), strict=True):
        exact = law._sum(knots, chances)
        np.testing.assert_allclose(
            slope, exact.slope, rtol=1e-12, atol=1e-12 * np.sqrt(exact.curvature.max())
        )
        np.testing.assert_allclose(curvature, exact.curvature, rtol=1e-12)


def test_a_hundred_thousand_outcomes_take_little_memory():
    law = ldpkit.get("she", 2, epsilon=0.001).report_law
    assert len(law.outcomes) > 100_000
    tracemalloc.start()
    try:
        law.cumulants(np.zeros(1))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 30 << 20, f"{peak >> 20} MB: outcomes and knots are taken a block at a time"
