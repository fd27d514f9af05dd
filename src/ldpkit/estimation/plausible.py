"""Whether any people could have made some counts with a mechanism.

An estimate may be below zero by chance, and by chance it goes only so far. The count of a value is
least likely to be large where nobody holds it and least likely to be small where everybody does, so
these two laws bound what any people can have made. The sum of all counts does not depend on what
people hold at all.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from ldpkit.core.errors import LdpkitError
from ldpkit.core.numbertext import number_text
from ldpkit.core.parameters import exact_sum
from ldpkit.estimation.sums import set_law
from ldpkit.estimation.tails import CountLaw
from ldpkit.mechanisms.categorical.oracle import FrequencyOracle
from ldpkit.mechanisms.kinds import is_frequency, is_memoized
from ldpkit.mechanisms.tally import Tally

__all__ = ["FALSE_ALARM", "can_be_judged", "impossible_counts"]

FALSE_ALARM = 1e-6
"""The chance that counts which people did make are called impossible."""
_MOST_VALUES = 1 << 16  # of a sum whose law is convolved


def can_be_judged(tally: Tally) -> bool:
    """Whether the counts are sums over independent reports of a frequency oracle whose law is exact.

    Reports of pairs depend on each other, and so may those of devices that keep an answer: a file can
    hold several of one device.
    """
    mechanism = tally.mechanism
    if tally.n == 0 or not is_frequency(mechanism) or mechanism.can("joint") or is_memoized(mechanism):
        return False
    if not mechanism.can("pure"):  # a sum of noise with many outcomes takes longer than a check may
        return False
    try:
        _ = mechanism.joint_law
    except LdpkitError:  # of a matrix, whose law for all values is the widest of theirs
        return False
    return True


def impossible_counts(tally: Tally, false_alarm: float = FALSE_ALARM) -> str | None:
    """Return in words why no people can have made some counts; None if some could have.

    Parameters
    ----------
    tally : Tally
        The counts of a frequency oracle. Others are not judged.
    false_alarm : float
        The chance, at most, that counts which people made with the mechanism are called impossible.

    Examples
    --------
    >>> import ldpkit
    >>> oracle = ldpkit.GRR(["bus", "car", "bike"], epsilon=1)
    >>> print(impossible_counts(ldpkit.Tally(oracle, 1000, [990, 8, 2])))
    no people could have made these counts with this mechanism: 'bike' has an estimate of -57.6%, and \
chance takes it so low less than once in a million files even if nobody holds it
    >>> impossible_counts(ldpkit.Tally(oracle, 1000, [560, 230, 210])) is None
    True
    """
    if not can_be_judged(tally):
        return None
    mechanism = tally.mechanism
    assert is_frequency(mechanism)
    error = false_alarm / (2 * mechanism.size + 2)
    for finding, chance in (*_of_values(tally, mechanism), *_of_sum(tally, mechanism)):
        if chance < error:
            rarely = f"less than once in {number_text(1 / false_alarm, 9)} files"
            rarely = rarely.replace("1000000 files", "a million files")
            return f"no people could have made these counts with this mechanism: {finding.format(rarely)}"
    return None


def _of_values(tally: Tally, oracle: FrequencyOracle) -> Iterator[tuple[str, float]]:
    """Yield what is odd about the smallest and the largest count, and at most how likely it is."""
    law = CountLaw([oracle.report_law], [tally.n], population=False)
    estimates = oracle.unbiased(tally.counts, tally.n)
    for place, share, side, words in (
        (int(np.argmin(tally.counts)), 0.0, -1, "so low {} even if nobody holds it"),
        (int(np.argmax(tally.counts)), 1.0, 1, "so high {} even if everybody holds it"),
    ):
        label = oracle.domain.labels[place]
        told = f"{label!r} has an estimate of {100 * float(estimates[place]):.1f}%, and chance takes it "
        told = told.replace("{", "{{").replace("}", "}}") + words
        yield told, _tail(law if side == 1 else law.negative(), share, side * int(tally.counts[place]))


def _of_sum(tally: Tally, oracle: FrequencyOracle) -> Iterator[tuple[str, float]]:
    """Yield what is odd about the sum of all counts, where it says something."""
    if oracle.support_size is not None:
        return
    total, size, n = exact_sum(tally.counts), oracle.size, tally.n
    mean = oracle.p + (size - 1) * oracle.q
    share = (total / n - size * oracle.q) / (oracle.p - oracle.q)
    told = f"all estimates together make {100 * share:.1f}%, and chance takes them so far from 100% {{}}"
    if type(oracle)._sample_supports is FrequencyOracle._sample_supports and not oracle.joins_values:
        if size <= _MOST_VALUES:
            law = CountLaw([set_law(oracle.joint_law, size, size)], [n], population=False)
            side = 1 if total > n * mean else -1
            yield told, _tail(law if side == 1 else law.negative(), 1.0, side * total)
        return
    # How many values a report supports has a known mean and lies between 0 and all of them. Chernoff's
    # bound for a coin of that mean holds for it, whatever else its law is (Hoeffding 1963).
    seen, expected = total / (n * size), mean / size
    yield told, math.exp(-n * _divergence(seen, expected))


def _tail(law: CountLaw, share: float, count: int) -> float:
    """Return at most how likely a count is at least so large, given the share who hold the value."""
    shares, counts = np.array([share]), np.array([count])
    normal = bool(law.is_nearly_normal(shares)[0])
    return float((law.approximate_upper_tails if normal else law.upper_tails)(shares, counts)[0])


def _divergence(seen: float, expected: float) -> float:
    """Return the Kullback-Leibler divergence of two coins."""
    parts = ((seen, expected), (1 - seen, 1 - expected))
    return sum(one * math.log(one / other) for one, other in parts if one > 0)
