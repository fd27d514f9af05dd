"""Evidence that lies elsewhere: what maximum likelihood asks of reports that no one machine holds."""

from __future__ import annotations

from typing import Protocol, TypeAlias

from ldpkit.core.domains.categorical import CategoricalDomain
from ldpkit.core.typing import Floats
from ldpkit.estimation.bayes.loglikelihood import Objective
from ldpkit.estimation.evidence import Evidence
from ldpkit.mechanisms.categorical.oracle import FrequencyOracle
from ldpkit.mechanisms.tally import FrequencyTally

__all__ = ["AnyEvidence", "EvidenceElsewhere"]


class EvidenceElsewhere(Protocol):
    """Reports in parts on other machines, which answer for each part what a step needs."""

    @property
    def n(self) -> int:
        """The number of reports."""

    @property
    def domain(self) -> CategoricalDomain:
        """The values whose frequencies the evidence is about."""

    @property
    def oracles(self) -> list[FrequencyOracle]:
        """The mechanisms that made the reports, each once."""

    def tallies(self) -> list[tuple[FrequencyOracle, FrequencyTally]]:
        """Return each mechanism with the tally of its reports."""

    def objective(self) -> Objective:
        """Return the log-likelihood to climb."""

    def information(self, frequencies: Floats) -> Floats:
        """Return the observed information, as `errors.information` has it."""


AnyEvidence: TypeAlias = Evidence | EvidenceElsewhere
