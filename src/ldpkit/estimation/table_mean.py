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
from ldpkit.estimation.from_reports import ESTIMATORS, check_reported
from ldpkit.estimation.mean import MeanAsked, ReportNoise, on_line
from ldpkit.estimation.numeric import NumericEstimate
from ldpkit.mechanisms.adaptive.compare import rounding_variance
from ldpkit.mechanisms.adaptive.mechanism import AAA
from ldpkit.mechanisms.kinds import is_fitted
from ldpkit.mechanisms.tally import Tally

__all__ = ["table_mean"]


@ESTIMATORS.register("table_mean")
def table_mean(tally: Tally, *, population: bool = False, people: int | None = None) -> NumericEstimate:
    """Return the mean with its standard error and an interval.

    Parameters
    ----------
    tally : Tally
        Reports of AAA.
    population : bool
        False: the error is about the people who reported. True: about the population
        they were drawn from, with the variance seen among the reports.
    people : int, optional
        Of how many people those who reported are a random sample: the error is then about all of them.
    """
    mechanism = tally.mechanism
    if not is_fitted(mechanism):
        raise InvalidInputError(f"table_mean is for reports of AAA, got {mechanism!r}: use 'mean'")
    check_reported(tally)
    asked = MeanAsked(tally.n, people, population)
    return on_line(mechanism, tally, asked, _noise(mechanism, tally), "table_mean")


def _noise(mechanism: AAA, tally: Tally) -> ReportNoise:
    """Return the noise of the reports, on the scale where low is 0 and high is 1."""
    table = mechanism.table
    places = 2 * np.array(table.outputs) / table.bins - 1  # on the scale of [-1, 1], as all below
    seen = tally.counts[:-1] / tally.n
    square = float(seen @ (places - seen @ places) ** 2) * tally.n / max(tally.n - 1, 1)
    weights = _noise_weights(mechanism, tally.n)
    noise = float(seen @ weights)
    doubt = math.sqrt(max(float(seen @ (weights - noise) ** 2), 0.0) / tally.n)
    least, largest = table.variances.min(), table.variances.max()
    # Rounding adds at most the square of half a step, wherever within their cells people are.
    rounding = 1 / table.bins**2
    # The whole that is seen is no less than a part, but for chance.
    likely, most = (
        float(np.clip(value, least, largest)) for value in (min(noise, square), noise + 2 * doubt)
    )
    spread = max(square - likely - rounding_variance(table.bins), 0.0)
    return ReportNoise((likely + rounding) / 4, (most + rounding) / 4, spread / 4)


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
