"""What the adversary guesses from a noisy number, on a line or a circle, exactly.

The adversary tells apart a few numbers of the interval or the circle. A report is a cell or an atom, and
under each number its probability is known in integers; between the edges of all these laws
it is constant. So the best guess is found segment by segment, and nothing is simulated.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ldpkit.core.errors import InvalidInputError, InvalidParameterError
from ldpkit.core.typing import Floats
from ldpkit.mechanisms.circular.mechanism import CircularMechanism
from ldpkit.mechanisms.numeric.mechanism import NumericMechanism

__all__ = ["BINS", "MOST_POINTS", "cell_middles", "numeric_confusion"]

BINS = 16
"""How many numbers are told apart unless the caller says otherwise."""

MOST_POINTS = 256

_SEGMENTS = 1 << 16  # that are looked at at a time
_TIE = 1e-12


def cell_middles(mechanism: NumericMechanism | CircularMechanism, bins: int = BINS) -> Floats:
    """Return the middles of equally wide cells of the interval or the circle.

    Examples
    --------
    >>> import ldpkit
    >>> cell_middles(ldpkit.PM((0, 100), epsilon=1), 4).tolist()
    [12.5, 37.5, 62.5, 87.5]
    """
    if isinstance(bins, bool) or not 2 <= bins <= MOST_POINTS:
        raise InvalidParameterError(f"bins must be between 2 and {MOST_POINTS}, got {bins}")
    return np.asarray(mechanism.domain.low + mechanism.domain.width * (np.arange(bins) + 0.5) / bins)


def numeric_confusion(
    mechanism: NumericMechanism | CircularMechanism, prior: Floats, points: Floats
) -> Floats:
    """Return the probability of each guess (column) for each true number (row).

    Numbers that explain a report equally well share the guess.

    Parameters
    ----------
    mechanism : NumericMechanism or CircularMechanism
        What makes the report.
    prior : array
        What the adversary believes before; it sums to one.
    points : array
        The numbers that are told apart.

    Examples
    --------
    >>> import ldpkit
    >>> duchi = ldpkit.Duchi((0, 1), epsilon=1.0)
    >>> numeric_confusion(duchi, np.array([0.5, 0.5]), np.array([0.0, 1.0])).round(3)
    array([[0.731, 0.269],
           [0.269, 0.731]])
    """
    if not 2 <= len(points) <= MOST_POINTS:
        raise InvalidInputError(f"give 2 to {MOST_POINTS} numbers to tell apart, got {len(points)}")
    result = np.zeros((len(points), len(points)))
    for masses in _likelihoods(mechanism, points):
        scores = prior[:, None] * masses
        best = scores >= scores.max(axis=0) * (1 - _TIE)
        result += masses @ (best / best.sum(axis=0)).T
    return result


def _likelihoods(mechanism: NumericMechanism | CircularMechanism, points: Floats) -> Iterator[Floats]:
    """Yield the probabilities of some reports, one row for each number and one column for each segment."""
    laws = [mechanism.law(int(place)) for place in mechanism.domain.encode(points, steps=mechanism.grid)]
    if mechanism.atom_points:
        yield np.array([law.atom_masses for law in laws])
    edges = np.sort(np.concatenate([law.edges for law in laws]), kind="stable")  # merges sorted runs
    edges = edges[np.diff(edges, append=edges[-1:] + 1) > 0]
    for start in range(0, len(edges) - 1, _SEGMENTS):
        some = edges[start : start + _SEGMENTS + 1]
        inside = some[:-1] + 0.5
        yield np.array([law.height(inside) for law in laws]) * np.diff(some)
