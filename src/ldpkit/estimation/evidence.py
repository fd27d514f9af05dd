"""Evidence: all that reports say about the frequencies, for the exact likelihood.

A tally keeps how many reports support each value. That loses something: two collections
with equal tallies can have different likelihoods, because it matters which supports
came in the same report. Evidence keeps it. The likelihood of a report takes two levels,
one for the values it supports and one for all others, so evidence is one bit for each
report and value and one ratio for each mechanism, and reports of different mechanisms
and different epsilons pool into one likelihood.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ldpkit.core.cached import cached_property
from ldpkit.core.domains.categorical import CategoricalDomain
from ldpkit.core.errors import InvalidInputError, MismatchError
from ldpkit.core.hooks import call_up
from ldpkit.core.limits import check_memory
from ldpkit.core.provenance import UNKNOWN, Provenance
from ldpkit.core.typing import Bytes, Counts, Reports
from ldpkit.core.watching import Watch, unwatched
from ldpkit.mechanisms.base import Mechanism
from ldpkit.mechanisms.categorical.oracle import FrequencyOracle
from ldpkit.mechanisms.kinds import is_frequency
from ldpkit.mechanisms.tally import FrequencyTally, Tally

if TYPE_CHECKING:
    from ldpkit.estimation.estimate import Estimate
    from ldpkit.files.reportfile import ReportFile

__all__ = ["Evidence", "Part"]

_GROUPED_SIZE = 12  # up to 2**12 different supports: then count them instead of keeping each


@dataclass(frozen=True, eq=False)
class Part:
    """The reports of one mechanism, identical ones grouped where that is shorter.

    Parameters
    ----------
    oracle : FrequencyOracle
        What made the reports.
    supports : array of uint8, shape (rows, ceil(k / 8)), or None
        Packed supports; None where every report supports a single value, so that row v
        would be value v alone.
    counts : array of int, or None
        How many reports each row stands for; None is one each.
    """

    oracle: FrequencyOracle
    supports: Bytes | None
    counts: Counts | None

    @classmethod
    def of(cls, oracle: FrequencyOracle, reports: Reports) -> Part:
        """Return the part that some reports make."""
        if oracle.support_size == 1:
            return cls(oracle, None, oracle.tally(reports).counts)
        supports = oracle.packed_supports(reports)
        if oracle.size > _GROUPED_SIZE:
            return cls(oracle, supports, None)
        codes = supports.astype(np.int64) @ (1 << 8 * np.arange(supports.shape[1]))
        everything = np.arange(1 << oracle.size, dtype="<u2").view(np.uint8).reshape(-1, 2)
        patterns = np.ascontiguousarray(everything[:, : supports.shape[1]])
        return cls(oracle, patterns, np.bincount(codes, minlength=1 << oracle.size))

    @property
    def n(self) -> int:
        """The number of reports."""
        if self.counts is not None:
            return int(self.counts.sum())
        return 0 if self.supports is None else len(self.supports)

    @cached_property
    def excess(self) -> float:
        """By how much the likelihood under a supported value exceeds 1, that under another value."""
        return float(self.oracle.support_ratio - 1)

    def tally(self) -> FrequencyTally:
        """Return the support counts."""
        if self.supports is None:
            supports = self.counts
        elif self.counts is None:
            supports = self.oracle.count_packed(self.supports)
        else:
            supports = self.counts @ self.bits(slice(None))
        return FrequencyTally(self.oracle, self.n, np.asarray(supports))

    def bits(self, rows: slice | Counts) -> Bytes:
        """Return the supports of some rows, a byte of 0 or 1 for each value."""
        if self.supports is None:
            return np.eye(self.oracle.size, dtype=np.uint8)[rows]
        return np.unpackbits(self.supports[rows], axis=1, count=self.oracle.size, bitorder="little")

    def absorb(self, other: Part) -> Part:
        """Return this part with the counts of another one added."""
        return Part(self.oracle, self.supports, np.asarray(self.counts) + np.asarray(other.counts))


@dataclass(frozen=True, eq=False, repr=False)
class Evidence:
    """Reports in the form that the exact likelihood needs, of one mechanism or of many.

    Make it with `Evidence.of`; evidence adds, also across mechanisms and epsilons, as
    long as the domain is the same. Memory is k/8 bytes for each report, and less for
    small domains and for mechanisms whose reports name a single value.

    Parameters
    ----------
    parts : tuple of Part
        The reports, by mechanism.
    provenance : Provenance
        How the reports were made and which they are, as far as it is recorded.

    Examples
    --------
    >>> import ldpkit
    >>> from ldpkit.estimation.evidence import Evidence
    >>> careful, relaxed = ldpkit.OUE(4, epsilon=0.5), ldpkit.OLH(4, epsilon=3)
    >>> rng = ldpkit.random.seeded(1)
    >>> evidence = Evidence.of(careful, careful.privatize([0, 1, 1] * 1000, rng=rng))
    >>> evidence = evidence + Evidence.of(relaxed, relaxed.privatize([0, 1, 1] * 1000, rng=rng))
    >>> evidence
    Evidence(OUE(4, epsilon=0.5): 3000 + OLH(4, epsilon=3): 3000)
    >>> estimate = evidence.estimate("mle")
    >>> bool(abs(estimate[1] - 2 / 3) < 3 * estimate.stderr[1])
    True
    """

    parts: tuple[Part, ...]
    provenance: Provenance = UNKNOWN

    def __post_init__(self) -> None:
        if not self.parts:
            raise InvalidInputError("evidence needs at least one part: make it with Evidence.of")
        for part in self.parts:
            if part.oracle.domain is not self.domain and part.oracle.domain != self.domain:
                raise MismatchError(
                    f"evidence about the domain {part.oracle.domain} cannot be pooled with evidence about "
                    f"{self.domain}: frequencies belong to one domain"
                )

    @classmethod
    def of(cls, oracle: FrequencyOracle, reports: Reports, provenance: Provenance = UNKNOWN) -> Evidence:
        """Return the evidence in some reports of an oracle."""
        return cls((Part.of(_likely(oracle), reports),), provenance)

    @classmethod
    def from_file(cls, file: ReportFile, watch: Watch = unwatched) -> Evidence:
        """Return the evidence in a report file, which knows how its reports were made.

        Parameters
        ----------
        file : ReportFile
            Reports of a frequency oracle.
        watch : Watch
            As of `ReportFile.tally`.
        """
        oracle = _likely(file.mechanism)
        if oracle.support_size == 1:
            return cls.from_tally(file.tally(watch))
        check_memory(file.n * ((oracle.size + 7) // 8), file.size, f"the likelihood of {str(file.path)!r}")
        parts = [Part.of(oracle, reports) for reports in file.watched(watch, "reading")]
        if not parts:
            raise InvalidInputError(f"{str(file.path)!r} has no reports to estimate from")
        return replace(cls.merge([cls((part,)) for part in parts]), provenance=file.provenance)

    @classmethod
    def from_tally(cls, tally: Tally) -> Evidence:
        """Return the evidence in a tally, where the tally has lost nothing.

        That is so where every report supports a single value, as in GRR.
        """
        oracle = _likely(tally.mechanism)
        if oracle.support_size != 1:
            raise InvalidInputError(
                "mle needs the reports, not only their tally: "
                f'Evidence.of(oracle, reports).estimate("mle") with oracle={oracle!r}'
            )
        return cls((Part(oracle, None, tally.counts),), tally.provenance)

    @property
    def domain(self) -> CategoricalDomain:
        """The values whose frequencies the evidence is about."""
        return self.parts[0].oracle.domain

    @cached_property
    def n(self) -> int:
        """The number of reports."""
        return sum(part.n for part in self.parts)

    @property
    def oracles(self) -> list[FrequencyOracle]:
        """The mechanisms that made the reports, each once."""
        return list(dict.fromkeys(part.oracle for part in self.parts))

    def __add__(self, other: Evidence | Literal[0]) -> Evidence:
        if isinstance(other, int) and other == 0:  # the start of sum()
            return self
        if not isinstance(other, Evidence):
            return NotImplemented
        return Evidence.merge([self, other])

    __radd__ = __add__

    @classmethod
    def merge(cls, evidence: Iterable[Evidence]) -> Evidence:
        """Return the sum of some evidence, such as of the chunks of a file, at least one."""
        every = list(evidence)
        counted: dict[FrequencyOracle, Part] = {}
        rows: list[Part] = []
        for part in (part for each in every for part in each.parts):
            if part.counts is None:
                rows.append(part)
            else:
                known = counted.get(part.oracle)
                counted[part.oracle] = part if known is None else known.absorb(part)
        return cls((*counted.values(), *rows), Provenance.merge(each.provenance for each in every))

    def tally(self) -> FrequencyTally:
        """Return the tally, where all reports are of one mechanism."""
        if len(self.oracles) > 1:
            names = ", ".join(repr(oracle) for oracle in self.oracles)
            raise MismatchError(f"reports of {names} have no common tally: estimate by mle")
        total = FrequencyTally.merge(part.tally() for part in self.parts)
        return FrequencyTally(total.mechanism, total.n, total.counts, self.provenance)

    def tallies(self) -> list[tuple[FrequencyOracle, FrequencyTally]]:
        """Return each mechanism with the tally of its reports."""
        made = [(part.oracle, part.tally()) for part in self.parts]
        return [
            (oracle, FrequencyTally.merge(tally for maker, tally in made if maker == oracle))
            for oracle in self.oracles
        ]

    def estimate(self, method: str = "mle", *, consistency: str | None = None, **options: Any) -> Estimate:
        """Return the frequencies with their error bars.

        Parameters
        ----------
        method : str
            "mle", the maximum of the exact likelihood, or any estimator that works from
            a tally, where all reports are of one mechanism.
        consistency : str or None
            A post-processing method; what "mle" returns is consistent already.
        options
            What the estimator takes beyond that.
        """
        if method != "mle":
            return self.tally().estimate(method, consistency=consistency, **options)
        estimate: Estimate = self.provenance.sign(call_up("maximum_likelihood")(self, **options))
        return estimate if consistency is None else estimate.consistent(consistency)

    def __repr__(self) -> str:
        sizes = dict.fromkeys(self.oracles, 0)
        for part in self.parts:
            sizes[part.oracle] += part.n
        return f"Evidence({' + '.join(f'{oracle!r}: {n}' for oracle, n in sizes.items())})"


def _likely(mechanism: Mechanism) -> FrequencyOracle:
    """Return a frequency oracle whose likelihood is known, or refuse it."""
    if not is_frequency(mechanism):
        raise InvalidInputError(f"evidence needs a frequency oracle, got {mechanism!r}")
    if mechanism.support_ratio <= 1:  # asking for it refuses mechanisms that do not know
        raise InvalidInputError(f"reports of {mechanism!r} say nothing about the values they support")
    return mechanism
