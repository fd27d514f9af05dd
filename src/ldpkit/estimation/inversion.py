"""Matrix inversion: the unbiased estimate of every frequency oracle."""

from __future__ import annotations

from typing import Any

import numpy as np

from ldpkit.core.errors import InvalidInputError
from ldpkit.core.typing import Counts, Floats
from ldpkit.estimation.estimate import Estimate
from ldpkit.estimation.intervals import CountRegion, frequency_oracle
from ldpkit.estimation.noise import Noise
from ldpkit.mechanisms.categorical.oracle import FrequencyOracle
from ldpkit.mechanisms.kinds import is_paired
from ldpkit.mechanisms.tally import ESTIMATORS, Tally

__all__ = ["describe", "invert", "matrix_inversion"]


def invert(oracle: FrequencyOracle, supports: Counts, n: int) -> Floats:
    """Return unbiased frequencies from support counts, for one collection or a batch.

    Examples
    --------
    >>> import ldpkit, numpy as np
    >>> oracle = ldpkit.GRR(2, epsilon=20)
    >>> invert(oracle, np.array([[30, 70]]), 100).round(6).tolist()
    [[0.3, 0.7]]
    """
    return oracle.unbiased(supports, n)


def describe(tally: Tally, method: str) -> dict[str, Any]:
    """Return how an estimate was made, for the reader of its repr and files."""
    oracle = tally.mechanism
    promise = {"promise": oracle.promise()} if is_paired(oracle) else {}  # it depends on who reads it
    return {"mechanism": oracle.name, **oracle.parameters(), "method": method, **promise}


@ESTIMATORS.register("mi")
def matrix_inversion(tally: Tally, *, population: bool = False) -> Estimate:
    """Return unbiased frequencies with their standard errors.

    Parameters
    ----------
    tally : Tally
        Support counts of a frequency oracle.
    population : bool
        False: the error is about the people who reported. True: about the population
        they were drawn from.
    """
    oracle = frequency_oracle(tally.mechanism)
    if tally.n == 0:
        raise InvalidInputError("the tally is empty: there are no reports to estimate from")
    values = invert(oracle, tally.counts, tally.n)
    variance = oracle.variance(np.clip(values, 0, 1), tally.n, population=population)
    return Estimate(
        values=values,
        stderr=np.sqrt(variance),
        n=tally.n,
        domain=oracle.domain,
        made_by=describe(tally, "mi"),
        raw=values,
        unbiased=values,
        noise=Noise.of(oracle, tally.n),
        region=CountRegion([tally]),
        mechanisms=(oracle,),
        population=population,
    )
