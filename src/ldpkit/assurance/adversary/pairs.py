"""What the adversary guesses from a report of a pair, exactly.

Partners share a random word, so the partner's report tells something about one's own. The
adversary is whom epsilon holds against: who knows the pairing, the partner's value and the
partner's report, and so whether that report is true. Given that, the report is randomised
response with another probability of the truth.
"""

from __future__ import annotations

import numpy as np

from ldpkit.core.errors import InvalidInputError, InvalidParameterError
from ldpkit.core.typing import Floats
from ldpkit.mechanisms.joint.oracle import PairedOracle

__all__ = ["MOST_VALUES", "pair_confusion"]

MOST_VALUES = 1024
"""Larger domains would take a table of guesses for every report."""

_TIE = 1e-12


def pair_confusion(oracle: PairedOracle, prior: Floats) -> Floats:
    """Return the probability of each guess (column) for each true value (row).

    Parameters
    ----------
    oracle : PairedOracle
        What makes the reports; a report is one value.
    prior : array
        What the adversary believes before; it sums to one.

    Examples
    --------
    >>> import ldpkit
    >>> oracle = ldpkit.JRR(3, epsilon_alone=1, epsilon=2)
    >>> pair_confusion(oracle, np.full(3, 1 / 3)).round(3)
    array([[0.576, 0.212, 0.212],
           [0.212, 0.576, 0.212],
           [0.212, 0.212, 0.576]])
    >>> pair_confusion(oracle, np.array([0.6, 0.2, 0.2])).diagonal().round(3)
    array([0.91 , 0.334, 0.334])
    """
    if oracle.support_size != 1:
        raise InvalidInputError(
            f"ldpkit cannot compute what an adversary who knows the partner learns from {oracle!r}: "
            "attack jrr, "
            "or see what 'audit' finds"
        )
    if oracle.size > MOST_VALUES:
        raise InvalidParameterError(
            f"pairs are attacked with at most {MOST_VALUES} values, got {oracle.size}: group values"
        )
    result = np.zeros((oracle.size, oracle.size))
    for chance, truthful in oracle.table.by_partner():
        channel = np.full(result.shape, float(1 - truthful) / (oracle.size - 1))
        np.fill_diagonal(channel, float(truthful))
        scores = prior[:, None] * channel
        best = scores >= scores.max(axis=0) * (1 - _TIE)
        result += float(chance) * channel @ (best / best.sum(axis=0)).T
    return result
