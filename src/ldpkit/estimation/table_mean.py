"""The mean from reports of a table mechanism, with the error that its table implies.

A table's variance differs from input to input as the program wills, so the noise in a
collection depends on where the people are. Every output gets a weight such that the mean
weight, for each input, is about that input's variance; the mean weight of the reports is
then about the noise that was added, whoever the people are.
"""

from __future__ import annotations

import math

import numpy as np

from ldpkit.core.errors import InvalidInputError
from ldpkit.core.typing import Floats
from ldpkit.estimation.numeric import NumericEstimate
from ldpkit.mechanisms.numeric.adaptive.compare import rounding_variance
from ldpkit.mechanisms.numeric.adaptive.mechanism import AAA
from ldpkit.mechanisms.tally import ESTIMATORS, Tally

__all__ = ["table_mean"]


@ESTIMATORS.register("table_mean")
def table_mean(tally: Tally, *, population: bool = False) -> NumericEstimate:
    """Return the mean with its standard error.

    Parameters
    ----------
    tally : Tally
        Reports of AAA.
    population : bool
        False: the error is about the people who reported. True: about the population
        they were drawn from, with the variance seen among the reports.
    """
    mechanism = tally.mechanism
    if not isinstance(mechanism, AAA):
        raise InvalidInputError(f"table_mean is for reports of AAA, got {mechanism!r}: use 'mean'")
    if tally.n == 0:
        raise InvalidInputError("the tally is empty: there are no reports to estimate from")
    domain, table = mechanism.domain, mechanism.table
    share = float(mechanism.total(tally.counts) / tally.n)
    places = 2 * np.array(table.outputs) / table.bins - 1  # on the scale of [-1, 1], as all below
    seen = tally.counts[:-1] / tally.n
    square = float(seen @ (places - (2 * share - 1)) ** 2) * tally.n / max(tally.n - 1, 1)
    noise = min(float(seen @ _noise_weights(mechanism, tally.n)), square)  # the whole is no less than a part
    noise = float(np.clip(noise, table.variances.min(), table.variances.max()))
    # Rounding adds at most the square of half a step, wherever within their cells people are.
    most = square if population else noise + 1 / table.bins**2
    scale = domain.width / 2
    return NumericEstimate(
        mean=domain.low + domain.width * share,
        stderr=scale * math.sqrt(most / tally.n),
        variance=scale**2 * max(square - noise - rounding_variance(table.bins), 0.0),
        n=tally.n,
        domain=domain,
        made_by={"mechanism": mechanism.name, **mechanism.parameters(), "method": "table_mean"},
        tally=tally,
    )


def _noise_weights(mechanism: AAA, n: int) -> Floats:
    """Return a weight for each output whose mean is, for every input, nearly that input's variance.

    Least squares of what is missing and of how the mean weight of n reports scatters;
    with few reports the weights are all near the mean variance of the inputs.
    """
    variances = mechanism.table.variances
    rows = np.array([[float(weight) for weight in row] for row in mechanism.table.rows])
    rows /= rows.sum(axis=1, keepdims=True)
    system = np.vstack([math.sqrt(n / len(rows)) * rows, np.diag(np.sqrt(rows.mean(axis=0)))])
    goal = np.concatenate(
        [math.sqrt(n / len(rows)) * (variances - variances.mean()), np.zeros(rows.shape[1])]
    )
    return np.asarray(np.linalg.lstsq(system, goal, rcond=None)[0] + variances.mean())
