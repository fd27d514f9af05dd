"""The earth mover's distance around a circle is the least work of moving mass either way."""

from __future__ import annotations

import numpy as np

from ldpkit.simulation.metrics import metric_for
from ldpkit.simulation.metrics.transport import emd, emd_with_distances


def test_it_is_the_solution_of_the_linear_program():
    rng = np.random.default_rng(5)
    for size in (2, 5, 8):
        places = np.arange(size)
        steps = np.abs(np.subtract.outer(places, places))
        truth, estimates = rng.dirichlet(np.ones(size)), rng.dirichlet(np.ones(size), 3)
        found = metric_for("circular_wasserstein")(truth, estimates)
        exact = emd_with_distances(truth, estimates, np.minimum(steps, size - steps))
        assert np.allclose(found, exact, atol=1e-9)


def test_it_turns_with_the_values_where_that_of_a_line_does_not():
    truth, estimate = np.array([0.6, 0.3, 0.1, 0.0]), np.array([[0.0, 0.2, 0.2, 0.6]])
    turned = [
        metric_for("circular_emd")(np.roll(truth, by), np.roll(estimate, by, axis=1)) for by in range(4)
    ]
    assert np.allclose(turned, turned[0])
    assert emd(truth, estimate) > turned[0] + 0.1
