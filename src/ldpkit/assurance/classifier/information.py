"""What a report tells in nats: the exact mutual information of a value and its report.

Theorem 19 of the thesis: an epsilon-LDP report tells at most min(log k, epsilon) of a value with
k possibilities, whatever the prior. The bound is right and wide: the divergence of two laws
within e^epsilon of each other is at most epsilon * tanh(epsilon / 2).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ldpkit.assurance.classifier.columns import as_private_column
from ldpkit.assurance.classifier.outputs import Outputs
from ldpkit.core.errors import InvalidParameterError
from ldpkit.core.typing import Floats

__all__ = ["channel_information", "information", "information_bound", "sharper_bound"]

_UNMERGED = 1 << 62  # pieces: each law as it is


def information_bound(epsilon: float, size: int) -> float:
    """Return the bound of Theorem 19 in nats.

    Examples
    --------
    >>> information_bound(1.0, 2) == math.log(2), information_bound(1.0, 101)
    (True, 1.0)
    """
    return min(math.log(size), epsilon)


def sharper_bound(epsilon: float, size: int) -> float:
    """Return min(log k, epsilon * tanh(epsilon / 2)), from the sharper bound on the divergence of two laws.

    Examples
    --------
    >>> round(sharper_bound(1.0, 101), 4)
    0.4621
    """
    return min(math.log(size), epsilon * math.tanh(epsilon / 2))


def information(given: Any, values: Any, prior: Any = None) -> float:
    """Return the mutual information of a value and what the model sees, in nats.

    Parameters
    ----------
    given : mechanism, or what wraps one
        As `utility` takes it for a column.
    values : sequence of float
        The values that occur.
    prior : sequence of float, optional
        How likely each of them is; evenly without.

    Examples
    --------
    >>> import ldpkit
    >>> places = np.linspace(0, 1, 11)
    >>> round(information(ldpkit.get("ogpm", (0, 1), epsilon=2), places), 4)
    0.4511
    """
    points = np.asarray(values, np.float64)
    law = as_private_column(given).outputs(points, _UNMERGED)
    shares = _shares(prior, len(points))
    # The laws are even between all their edges, so that their densities are compared there.
    edges = np.unique(law.edges)
    mixed = np.zeros(max(len(edges) - 1, 0))
    for row, share in enumerate(shares):
        mixed += share * _masses(law, row, edges)
    total = 0.0
    for row, share in enumerate(shares):
        total += share * _divergence(_masses(law, row, edges), mixed)
    return float(total + _channel(law.chances, shares))


def channel_information(rows: Any, prior: Any = None) -> float:
    """Return the mutual information of a value and its report, from the probabilities of a channel.

    Examples
    --------
    >>> import ldpkit
    >>> round(channel_information(ldpkit.GRR(2, epsilon=1).channel().probabilities), 4)
    0.1109
    """
    chances = np.array([[float(chance) for chance in row] for row in rows])
    return _channel(chances, _shares(prior, len(chances)))


def _shares(prior: Any, size: int) -> Floats:
    shares = np.full(size, 1 / size) if prior is None else np.asarray(prior, np.float64)
    if shares.shape != (size,) or (shares < 0).any() or abs(shares.sum() - 1) > 1e-9:
        raise InvalidParameterError(f"the prior must be {size} probabilities with sum 1, got {prior!r}")
    return shares


def _masses(law: Outputs, row: int, edges: Floats) -> Floats:
    sums = np.concatenate([[0.0], np.cumsum(law.masses[row])])
    own, first = np.unique(law.edges[row][::-1], return_index=True)  # of equal edges, the last sum counts
    if len(edges) < 2 or len(own) < 2:
        return np.zeros(max(len(edges) - 1, 0))
    return np.asarray(np.maximum(np.diff(np.interp(edges, own, sums[::-1][first])), 0.0))


def _divergence(masses: Floats, mixed: Floats) -> float:
    used = masses > 0
    return float(masses[used] @ np.log(masses[used] / mixed[used]))


def _channel(chances: Floats, shares: Floats) -> float:
    mixed = shares @ chances
    return float(sum(share * _divergence(row, mixed) for share, row in zip(shares, chances, strict=True)))
