"""Maximum likelihood from the reports themselves, of one mechanism or of many."""

from __future__ import annotations

import math
from typing import Any, Unpack

import numpy as np

from ldpkit.core.errors import InvalidParameterError
from ldpkit.core.typing import Counts, Floats
from ldpkit.estimation.bayes.bootstrap import resample
from ldpkit.estimation.bayes.climb import Climb, Rules, check_start, climb
from ldpkit.estimation.bayes.elsewhere import AnyEvidence
from ldpkit.estimation.bayes.errors import ErrorOptions, ErrorRules, Errors, by_information
from ldpkit.estimation.bayes.loglikelihood import Likelihood
from ldpkit.estimation.consistency import Noise
from ldpkit.estimation.estimate import Estimate
from ldpkit.estimation.evidence import Evidence
from ldpkit.estimation.from_reports import ESTIMATORS
from ldpkit.estimation.homogeneity import one_population
from ldpkit.estimation.intervals import CountRegion
from ldpkit.mechanisms.tally import Tally

__all__ = ["from_tally", "maximise", "maximum_likelihood"]


def maximise(
    evidence: AnyEvidence,
    *,
    rules: Rules | None = None,
    start: object = None,
    counts: list[Counts] | None = None,
) -> Climb:
    """Return the maximum of the exact likelihood, without standard errors.

    Parameters
    ----------
    evidence : Evidence
        The reports.
    rules : Rules, optional
        How to climb and when to stop; scoring to a gap of 1e-10 by default.
    start : array, optional
        A distribution without zeros; uniform by default.
    counts : sequence of arrays, optional
        How often each row of each part counts instead.
    """
    begin = check_start(start, len(evidence.domain))
    chosen = rules or Rules(accelerate="scoring", largest_gap=1e-10)
    if not isinstance(evidence, Evidence):
        return climb(evidence.objective(), begin, chosen)
    with Likelihood(evidence, counts) as likelihood:
        return climb(likelihood, begin, chosen)


def maximum_likelihood(
    evidence: AnyEvidence,
    *,
    max_iterations: int = 10_000,
    tolerance: float = 1e-10,
    start: object = None,
    accelerate: bool | str = "scoring",
    **error_options: Unpack[ErrorOptions],
) -> Estimate:
    """Return the frequencies under which the reports are likeliest.

    Parameters
    ----------
    evidence : Evidence or EvidenceElsewhere
        The reports; pooled from several mechanisms it gives the generalised IBU. They may lie on
        other machines, as those of `ldpkit.engines.dask.likelihood`.
    max_iterations : int
        The largest number of iterations. With `accelerate=False`, few iterations from a
        uniform start regularise: they smooth the result towards the start.
    tolerance : float
        Stop when the log-likelihood per report is certainly within this of its maximum.
    start : array, optional
        A distribution without zeros; uniform by default. It matters only to a climb that
        is stopped early: there is one maximum unless the reports leave it open.
    accelerate : bool or {"squarem", "scoring"}
        How to climb: Newton steps with the diagonal of the information matrix by
        default, "squarem" (or True), or plain EM (False).
    **error_options
        `errors`, `repeats`, `rng` and `population` as in `ErrorRules`: from the information
        matrix, or from estimates on reports drawn with replacement.

    Examples
    --------
    >>> import ldpkit
    >>> oracle = ldpkit.OLH(64, epsilon=2)
    >>> reports = oracle.privatize([7, 7, 9] * 5000, rng=ldpkit.random.seeded(1))
    >>> estimate = Evidence.of(oracle, reports).estimate("mle")
    >>> bool(abs(estimate[7] - 2 / 3) < 4 * estimate.stderr[7]), estimate.diagnostics["converged"]
    (True, True)
    """
    rules = Rules(max_iterations, accelerate, largest_gap=tolerance)
    error_rules = ErrorRules(**error_options)
    if error_rules.errors == "bootstrap" and not isinstance(evidence, Evidence):
        raise InvalidParameterError(
            'errors="bootstrap" draws reports again, and these are on other machines: leave it out'
        )
    top = maximise(evidence, rules=rules, start=start)

    def again(counts: list[Counts]) -> Floats:
        return maximise(evidence, rules=rules, start=start, counts=counts).frequencies

    if error_rules.errors == "bootstrap" and isinstance(evidence, Evidence):
        found = _spread(
            resample(evidence, again, error_rules), top.frequencies, evidence.n, error_rules.population
        )
    else:
        found = by_information(evidence, top.frequencies, population=error_rules.population)
    tallies = [tally for _, tally in evidence.tallies() if tally.n]
    agreement = one_population(tallies).diagnostics() if len(tallies) > 1 else {}
    return Estimate(
        values=top.frequencies,
        stderr=found.stderr,
        n=evidence.n,
        domain=evidence.domain,
        made_by=_describe(evidence),
        raw=top.frequencies,
        unbiased=_unbiased(evidence),
        noise=Noise(evidence.n, _noise(evidence)),
        region=CountRegion(tallies),
        mechanisms=tuple(evidence.oracles),
        population=error_rules.population,
        diagnostics=top.diagnostics(tolerance=tolerance, errors=found.method, **agreement),
    )


@ESTIMATORS.register("mle")
def from_tally(tally: Tally, **options: Any) -> Estimate:
    """Return the maximum-likelihood estimate from a tally, where a tally is enough.

    It is for mechanisms whose reports support a single value, such as GRR. For others
    two collections with the same tally can have different maxima, so the reports are
    needed: `Evidence.of(oracle, reports).estimate("mle")`.
    """
    return maximum_likelihood(Evidence.from_tally(tally), **options)


def _spread(estimates: Floats, frequencies: Floats, n: int, population: bool) -> Errors:
    variance = estimates.var(axis=0, ddof=1)
    if not population:  # reports drawn anew are of people drawn anew
        variance = np.maximum(variance - frequencies * (1 - frequencies) / n, 0)
    return Errors(np.sqrt(variance), "bootstrap")


def _noise(evidence: AnyEvidence) -> float:
    """Return the standard error of a value that nobody holds, in the best unbiased average."""
    precision = sum(1 / oracle.variance(0.0, tally.n) for oracle, tally in evidence.tallies() if tally.n)
    return math.sqrt(1 / precision)


def _unbiased(evidence: AnyEvidence) -> Floats:
    """Return the unbiased average over the mechanisms that is best for rare values."""
    tallies = [(oracle, tally) for oracle, tally in evidence.tallies() if tally.n]
    weights = np.array([1 / oracle.variance(0.0, tally.n) for oracle, tally in tallies])
    estimates = np.array([oracle.unbiased(tally.counts, tally.n) for oracle, tally in tallies])
    return np.asarray(weights @ estimates / weights.sum())


def _describe(evidence: AnyEvidence) -> dict[str, Any]:
    oracles = evidence.oracles
    if len(oracles) == 1:
        return oracles[0].read_by("mle")
    return {"mechanism": " + ".join(repr(oracle) for oracle in oracles), "method": "mle"}
