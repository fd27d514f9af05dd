"""Matrix inversion: the unbiased estimate of every frequency oracle."""

from __future__ import annotations

import numpy as np

from ldpkit.estimation.consistency import Noise
from ldpkit.estimation.estimate import Estimate
from ldpkit.estimation.from_reports import estimator
from ldpkit.estimation.intervals import CountRegion
from ldpkit.mechanisms.tally import FrequencyTally

__all__ = ["matrix_inversion"]


@estimator("mi", FrequencyTally)
def matrix_inversion(tally: FrequencyTally, *, population: bool = False) -> Estimate:
    """Return unbiased frequencies with their standard errors.

    Parameters
    ----------
    tally : FrequencyTally
        Support counts of a frequency oracle.
    population : bool
        False: the error is about the people who reported. True: about the population
        they were drawn from.
    """
    oracle = tally.mechanism
    values = oracle.unbiased(tally.counts, tally.n)
    return Estimate(
        values=values,
        stderr=np.sqrt(oracle.variance(np.clip(values, 0, 1), tally.n, population=population)),
        n=tally.n,
        domain=oracle.domain,
        made_by=oracle.read_by("mi"),
        raw=values,
        unbiased=values,
        noise=Noise.of(oracle, tally.n),
        region=CountRegion([tally]),
        mechanisms=(oracle,),
        population=population,
    )
