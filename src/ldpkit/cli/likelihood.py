"""Maximum likelihood from files: every report counts, also of different mechanisms and epsilons."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ldpkit.cli.printing import progress_bar
from ldpkit.cli.tallies import open_all
from ldpkit.core.errors import InvalidInputError

if TYPE_CHECKING:
    from ldpkit.estimation.estimate import Estimate
    from ldpkit.estimation.evidence import Evidence
    from ldpkit.files.reportfile import ReportFile
    from ldpkit.mechanisms.tally import Tally

__all__ = ["estimate_likelihood"]

_FOR_A_VALUE = 1024  # bytes that the climb takes for each value of a domain


def estimate_likelihood(files: list[Path], consistency: str | None, *, population: bool = False) -> Estimate:
    """Return the most likely frequencies.

    Files may be of different mechanisms and epsilons, as long as the domain is the same.
    """
    from ldpkit.estimation.evidence import Evidence

    parts = open_all(files, for_a_value=_FOR_A_VALUE)
    evidence = Evidence.merge([_evidence(path, part) for path, part in zip(files, parts, strict=True)])
    return evidence.provenance.sign(evidence.estimate("mle", consistency=consistency, population=population))


def _evidence(path: Path, part: ReportFile | Tally) -> Evidence:
    from ldpkit.estimation.evidence import Evidence
    from ldpkit.mechanisms.kinds import is_frequency
    from ldpkit.mechanisms.tally import Tally

    if isinstance(part, Tally):
        return Evidence.from_tally(part)
    oracle = part.mechanism
    if not is_frequency(oracle):
        raise InvalidInputError(
            f"{str(path)!r} holds reports of {oracle!r}, which has no frequencies: leave --estimator out"
        )
    with progress_bar() as watch:
        return Evidence.from_file(part, watch)
