"""Attacks on mechanisms whose reports can be listed, each with its probability under every value."""

from __future__ import annotations

import numpy as np

from ldpkit.core.errors import InvalidParameterError
from ldpkit.core.typing import Floats
from ldpkit.mechanisms.categorical.oracle import FrequencyOracle
from ldpkit.mechanisms.kinds import is_memoized

__all__ = ["knows_ratio", "listed_chances", "listed_confusion"]

_LARGEST = 512  # values of a table that is made entry by entry
_TIE = 1e-9


def knows_ratio(oracle: FrequencyOracle) -> bool:
    """Whether the closed form for pure protocols can be used: the class says its `support_ratio`."""
    return oracle.can("pure") and type(oracle).support_ratio is not FrequencyOracle.support_ratio


def listed_chances(oracle: FrequencyOracle) -> Floats | None:
    """Return the probability of each report (column) for each value (row), or None if there are too many.

    Examples
    --------
    >>> import ldpkit
    >>> listed_chances(ldpkit.GRR(2, epsilon=1.0)).round(3).tolist()
    [[0.731, 0.269], [0.269, 0.731]]
    """
    if is_memoized(oracle) or oracle.joins_values or oracle.size > _LARGEST:
        return None
    try:
        rows = oracle.channel().probabilities
    except InvalidParameterError:  # too many to list
        return None
    return np.array([[float(chance) for chance in row] for row in rows])


def listed_confusion(chances: Floats, prior: Floats) -> Floats:
    """Return the probability of each guess (column) for each true value (row).

    Values that explain a report equally well share the guess.

    Examples
    --------
    >>> listed_confusion(np.array([[0.75, 0.25], [0.25, 0.75]]), np.array([0.5, 0.5])).tolist()
    [[0.75, 0.25], [0.25, 0.75]]
    """
    scores = prior[:, None] * chances
    best = scores >= scores.max(axis=0) * (1 - _TIE)
    return np.asarray(chances @ (best / best.sum(axis=0)).T)
