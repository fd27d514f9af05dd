"""Whether the people behind several mechanisms can be of one population.

Pooling takes it for granted: one set of frequencies for all reports. If those who chose
a small epsilon differ from the rest, the pooled frequencies are those of nobody.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from ldpkit.core.typing import Counts, Floats, Label
from ldpkit.estimation.intervals import count_law, frequency_oracle, weighted_counts
from ldpkit.estimation.tails import CountLaw
from ldpkit.mechanisms.tally import Tally

__all__ = ["FALSE_ALARMS", "Homogeneity", "one_population"]

FALSE_ALARMS = 0.01
"""How often the test calls one population two, at most and nearly."""

_SUSPECT = 2.0  # standard scores; below, a difference needs no exact law
_ASSUMPTION = "one population answered all mechanisms"


@dataclass(frozen=True)
class Homogeneity:
    """The outcome of the test.

    Parameters
    ----------
    p_value : float
        How likely so large a difference is in one population, all values considered.
    value : label
        The value at which the mechanisms disagree most.
    frequencies : tuple of float
        What the two mechanisms that disagree most say about it.
    mechanisms : tuple of str
        These two.
    """

    p_value: float
    value: Label
    frequencies: tuple[float, float]
    mechanisms: tuple[str, str]

    @property
    def holds(self) -> bool:
        """Whether the reports can be of one population."""
        return self.p_value >= FALSE_ALARMS

    def diagnostics(self) -> dict[str, object]:
        """Return the assumption and the outcome, for `Estimate.diagnostics`."""
        found = {"assumption": _ASSUMPTION, "homogeneous": self.holds, "homogeneity_p": self.p_value}
        return found if self.holds else {**found, "warnings": [self.warning()]}

    def warning(self) -> str:
        """Return what a reader must know where the assumption fails."""
        first, second = (
            f"{frequency:.4g} by {mechanism}"
            for frequency, mechanism in zip(self.frequencies, self.mechanisms, strict=True)
        )
        return (
            f"these people do not come from one population: value {self.value!r} has frequency {first}, "
            f"{second} (p = {self.p_value:.2g}, false-alarm rate {FALSE_ALARMS:.0%}), "
            "and pooled frequencies and intervals hold for neither: estimate each mechanism on its own"
        )


def one_population(tallies: Sequence[Tally]) -> Homogeneity:
    """Test whether tallies of different mechanisms can be of one population.

    For each value and each pair of mechanisms, the difference of the two unbiased
    frequencies is compared with its law in one population that has the pooled frequency:
    the exact law where counts are small. The p-value is that of the largest difference,
    times the number of comparisons (Bonferroni).

    Examples
    --------
    >>> import ldpkit
    >>> careful, relaxed = ldpkit.GRR(2, epsilon=1), ldpkit.GRR(2, epsilon=3)
    >>> same = [ldpkit.Tally(careful, 1000, [600, 400]), ldpkit.Tally(relaxed, 1000, [700, 300])]
    >>> one_population(same).holds
    True
    >>> apart = [ldpkit.Tally(careful, 1000, [600, 400]), ldpkit.Tally(relaxed, 1000, [300, 700])]
    >>> print(one_population(apart).warning())
    these people do not come from one population: ...
    """
    law, counts = count_law(tallies, population=True)
    pooled = law.estimates(counts)
    pairs = list(combinations(tallies, 2))
    found = []
    for pair in pairs:
        scores, chances = _compare(pair, pooled)
        worst = int(np.lexsort((-np.abs(scores), chances))[0])
        found.append((float(chances[worst]), worst, pair))
    chance, worst, pair = min(found, key=lambda each: each[0])
    oracles = [frequency_oracle(tally.mechanism) for tally in pair]
    said = [
        float(oracle.unbiased(tally.counts[[worst]], tally.n)[0])
        for oracle, tally in zip(oracles, pair, strict=True)
    ]
    return Homogeneity(
        min(1.0, chance * len(pairs) * len(pooled)),
        oracles[0].domain.labels[worst],
        (said[0], said[1]),
        (repr(oracles[0]), repr(oracles[1])),
    )


def _compare(pair: Sequence[Tally], pooled: Floats) -> tuple[Floats, Floats]:
    """Return standard scores of the differences, and how likely larger ones are in either direction."""
    oracles = [frequency_oracle(tally.mechanism) for tally in pair]
    laws, people = [oracle.report_law for oracle in oracles], [tally.n for tally in pair]
    signs = np.array([1.0, -1.0])
    weights = np.array([1 / (n * (law.means[0] - law.means[1])) for law, n in zip(laws, people, strict=True)])
    law, sums = weighted_counts(laws, people, [tally.counts for tally in pair], signs * weights)
    mean, variance, *_ = law.moments(pooled)
    scores = (law.steps(sums) - mean) / np.sqrt(np.maximum(variance, 1e-300))
    chances = np.ones(len(pooled))
    suspects = np.flatnonzero(np.abs(scores) > _SUSPECT)
    for sign, side in ((1, law), (-1, law.negative())):
        some = suspects[sign * scores[suspects] > 0]
        if some.size:
            chances[some] = 2 * _tails(side, pooled[some], sign * sums[some])
    return scores, np.minimum(chances, 1)


def _tails(law: CountLaw, shares: Floats, sums: Counts) -> Floats:
    smooth = law.is_nearly_normal(shares)
    tails = np.empty(len(shares))
    tails[smooth] = law.approximate_upper_tails(shares[smooth], sums[smooth])
    rounded = np.rint(shares[~smooth] * law.shares) / law.shares
    if (~smooth).any():
        tails[~smooth] = law.upper_tails(rounded, sums[~smooth])
    return tails
