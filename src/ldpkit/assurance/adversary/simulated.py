"""Attacks by simulation: several reports of one person, and mechanisms without a closed form.

Values that explain the reports equally well share the guess, so that no coin of the
adversary's adds to the noise.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ldpkit.core.random import RandomSource
from ldpkit.core.typing import Floats, Indices, Reports
from ldpkit.mechanisms.categorical.oracle import FrequencyOracle
from ldpkit.mechanisms.kinds import is_memoized

__all__ = ["guesses"]

_BATCH = 1 << 21  # scores that are held at a time
_TIE = 1e-9


def guesses(
    oracle: FrequencyOracle, prior: Floats, truth: Indices, reports: int, source: RandomSource
) -> Iterator[tuple[Indices, Floats]]:
    """Yield some true values at a time with the adversary's guesses: a probability for each value.

    Parameters
    ----------
    oracle : FrequencyOracle
        What makes the reports; a longitudinal mechanism keeps its permanent ones.
    prior : array
        What the adversary believes before.
    truth : array
        The value of each attacked person.
    reports : int
        How many reports each of them sends about it.
    source : RandomSource
        For the reports.
    """
    with np.errstate(divide="ignore"):
        belief = np.log(prior)
    batch = max(1, _BATCH // oracle.size)
    for start in range(0, len(truth), batch):
        people = truth[start : start + batch]
        scores = belief + _evidence(oracle, people, reports, source)
        best = scores >= scores.max(axis=1, keepdims=True) - _TIE
        yield people, best / best.sum(axis=1, keepdims=True)


def _evidence(oracle: FrequencyOracle, people: Indices, reports: int, source: RandomSource) -> Floats:
    """Return the log-likelihood of what each person sent under each value, up to a common term."""
    if is_memoized(oracle):
        permanent = oracle.permanent(people, source)
        sent = [oracle.instant(permanent, source) for _ in range(reports)]
        return np.array([oracle.log_likelihood(_of_device(sent, i))[-1] for i in range(len(people))])
    told = np.zeros((len(people), oracle.size))
    for _ in range(reports):
        told += oracle.log_ratios(_fresh(oracle, people, source))
    return told


def _fresh(oracle: FrequencyOracle, people: Indices, source: RandomSource) -> Reports:
    labels = oracle.domain.labels
    return oracle.privatize([labels[index] for index in people.tolist()], rng=source)


def _of_device(sent: list[Reports], device: int) -> Reports:
    return np.array([reports[device] for reports in sent], dtype=sent[0].dtype)
