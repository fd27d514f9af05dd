"""Likelihood in parts: each file answers what a step needs, and the sums go in the order of files."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ldpkit.core.domains.categorical import CategoricalDomain
from ldpkit.core.errors import InvalidInputError
from ldpkit.core.typing import Floats
from ldpkit.engines.tallies import Tallies
from ldpkit.estimation.bayes.errors import part_information
from ldpkit.estimation.bayes.loglikelihood import Expectation, Likelihood
from ldpkit.estimation.bayes.mle import maximum_likelihood
from ldpkit.estimation.estimate import Estimate
from ldpkit.estimation.evidence import Evidence
from ldpkit.files.arrow import Bad, decode_column, open_parquet
from ldpkit.mechanisms.categorical.oracle import FrequencyOracle
from ldpkit.mechanisms.kinds import is_frequency
from ldpkit.mechanisms.tally import FrequencyTally, Tally

__all__ = ["FilePart", "PartedEvidence", "likelihood_of"]

_BATCH = 1 << 20  # rows that are decoded at once


@dataclass(frozen=True)
class FilePart:
    """One file of reports, read anew whenever it is asked."""

    path: str
    oracle: Any
    column: str
    bad: Bad

    def evidence(self) -> Evidence:
        """Return the evidence in the file, which is one part."""
        file = open_parquet(self.path)
        if file.description is not None:
            file.description.check(self.oracle, file.title)
        first, pieces = 0, []
        for batch in file.batches([self.column], _BATCH):
            found = decode_column(batch.column(0), self.oracle, bad=self.bad, title=file.title, first=first)
            pieces.append(found.reports)
            first += len(batch)
        reports = np.concatenate(pieces) if pieces else self.oracle.decode(b"")
        return Evidence.of(self.oracle, reports)

    def expectations(self, frequencies: Floats, squares: bool) -> list[tuple[float, Expectation]]:
        """Return the sums that a step needs, a block after the other."""
        evidence = self.evidence()
        if evidence.n == 0:
            return []
        with Likelihood(evidence) as likelihood:
            return likelihood.expectations(frequencies, squares=squares)

    def information(self, frequencies: Floats, n: int) -> Floats:
        """Return what the file adds to the information of n reports."""
        evidence = self.evidence()
        if evidence.n == 0:
            return np.zeros((len(frequencies), len(frequencies)))
        (part,) = evidence.parts
        return part_information(part, frequencies, n)


Run = Callable[[Callable[..., Any], list[tuple[Any, ...]]], list[Any]]
"""Runs the work on each of some arguments, and returns what it gives in their order."""

Ask = Callable[..., list[Any]]
"""Asks every part for a method of `FilePart`, given its arguments; the answers come in order."""


class _PartedLikelihood(Likelihood):
    """The exact log-likelihood, whose blocks lie in files that others read."""

    def __init__(self, n: int, size: int, ask: Ask) -> None:
        self.n, self.size, self._ask = n, size, ask
        self._singles = []

    def expectations(self, frequencies: Floats, *, squares: bool) -> list[tuple[float, Expectation]]:
        """Return the sums over each block, in the order of files."""
        return [each for part in self._ask(FilePart.expectations, frequencies, squares) for each in part]


class PartedEvidence:
    """Evidence in files that workers read: `estimate("mle")` without ever having it in one place.

    Parameters
    ----------
    total : Tally
        The tally of all files.
    ask : callable
        Asks every file.
    """

    def __init__(self, total: Tally, ask: Ask) -> None:
        self.total, self._ask = _frequencies(total), ask
        if not total.n:
            raise InvalidInputError("the files hold no reports: there is nothing to estimate from")

    @property
    def n(self) -> int:
        """The number of reports."""
        return self.total.n

    @property
    def domain(self) -> CategoricalDomain:
        """The values whose frequencies the evidence is about."""
        return self.total.mechanism.domain

    @property
    def oracles(self) -> list[FrequencyOracle]:
        """The mechanism that made the reports."""
        return [self.total.mechanism]

    def tallies(self) -> list[tuple[FrequencyOracle, FrequencyTally]]:
        """Return the mechanism with the tally of all reports."""
        return [(self.total.mechanism, self.total)]

    def objective(self) -> Likelihood:
        """Return the log-likelihood to climb."""
        return _PartedLikelihood(self.n, len(self.domain), self._ask)

    def information(self, frequencies: Floats) -> Floats:
        """Return the observed information: minus the second derivatives of the log-likelihood."""
        matrix = np.zeros((len(frequencies), len(frequencies)))
        for each in self._ask(FilePart.information, frequencies, self.n):
            matrix += each
        return matrix

    def estimate(self, method: str = "mle", *, consistency: str | None = None, **options: Any) -> Estimate:
        """Return the frequencies with their error bars, as `Evidence.estimate` does."""
        if method != "mle":
            return self.total.estimate(method, consistency=consistency, **options)
        estimate = self.total.provenance.sign(maximum_likelihood(self, **options))
        return estimate if consistency is None else estimate.consistent(consistency)

    def __repr__(self) -> str:
        return f"PartedEvidence({self.total.mechanism!r}: {self.n})"


def likelihood_of(
    files: list[str], counted: Tallies, column: str, bad: Bad, run: Run
) -> Evidence | PartedEvidence:
    """Return the evidence in some files, given their tally and what runs tasks; warn of rows set aside."""
    total = counted.total()
    if counted.bad:
        warnings.warn(f"{counted.bad:,} rows held no report and were set aside", stacklevel=3)
    parts = [FilePart(file, total.mechanism, column, bad) for file in files]

    def ask(work: Callable[..., Any], *arguments: Any) -> list[Any]:
        return run(work, [(part, *arguments) for part in parts])

    _frequencies(total)
    if _is_counted(total.mechanism):  # then what matters fits into one memory: count it once
        return replace(Evidence.merge(ask(FilePart.evidence)), provenance=total.provenance)
    return PartedEvidence(total, ask)


def _is_counted(oracle: Any) -> bool:
    """Whether evidence of an oracle is counts and not rows, however many reports there are."""
    return bool(Evidence.of(oracle, oracle.decode(b"")).parts[0].counts is not None)


def _frequencies(total: Tally) -> FrequencyTally:
    if not is_frequency(total.mechanism) or not isinstance(total, FrequencyTally):
        raise InvalidInputError(f"evidence needs a frequency oracle, got {total.mechanism!r}")
    return total
