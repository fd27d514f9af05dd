"""How many people hold a value, and how many pairs the same, where everybody's partner is drawn uniformly."""

from __future__ import annotations

import numpy as np

from ldpkit.core.errors import InvalidInputError, InvalidParameterError
from ldpkit.core.parameters import check_people
from ldpkit.core.typing import Counts, Floats

__all__ = ["MOST_PEOPLE", "check_shares", "pairs_of_equals"]

MOST_PEOPLE = 10**9  # NumPy draws hypergeometric numbers of fewer
_MOST_VALUES = 512
_ROUNDING = 1e-9


def check_shares(frequency: float | Floats, n: int) -> Floats:
    """Return shares of n people as an array, or refuse what is none.

    Examples
    --------
    >>> check_shares(1.5, 10)
    Traceback (most recent call last):
    ...
    ldpkit.core.errors.InvalidParameterError: a share of 10 people lies between 0 and 1, got 1.5
    """
    people, shares = check_people(n), np.asarray(frequency, float)
    wrong = ~((shares >= -_ROUNDING) & (shares <= 1 + _ROUNDING))
    if wrong.any():
        raise InvalidParameterError(
            f"a share of {people} people lies between 0 and 1, got {shares[wrong].flat[0]:g}"
        )
    return shares


def pairs_of_equals(counts: Counts, repeats: int, generator: np.random.Generator) -> tuple[Counts, Counts]:
    """Draw for whole collections the number of pairs of two equal values, and who is left alone.

    People sit down on first and second seats; both halves are uniform choices, and so is
    who of the second faces whom of the first.

    Returns
    -------
    tuple of arrays, shapes (repeats, k) and (repeats,)
        The pairs in which both hold each value; and the value of who has no partner, -1 for nobody.

    Examples
    --------
    >>> equal, alone = pairs_of_equals(np.array([4, 0, 1]), 2, np.random.default_rng(1))
    >>> equal[:, 0].tolist() in ([2, 2], [2, 1], [1, 2], [1, 1]), set(alone.tolist()) <= {0, 2}
    (True, True)
    """
    n, k = int(counts.sum()), len(counts)
    if n >= MOST_PEOPLE or k > _MOST_VALUES:
        raise InvalidInputError(
            f"pairs are simulated of fewer than {MOST_PEOPLE:,} people and at most {_MOST_VALUES} values, "
            f"got {n:,} and {k}: privatize and tally instead"
        )
    left = np.tile(counts, (repeats, 1))
    alone = np.full(repeats, -1)
    if n % 2:
        alone = generator.choice(k, repeats, p=counts / n)
        left[np.arange(repeats), alone] -= 1
    first = _spread(left, np.full(repeats, n // 2), generator)
    second = left - first
    equal = np.empty_like(left)
    for value in range(k):
        facing = _spread(second, first[:, value], generator)
        equal[:, value] = facing[:, value]
        second = second - facing
    return equal, alone


def _spread(counts: Counts, chosen: Counts, generator: np.random.Generator) -> Counts:
    """Draw how many of each kind are in a uniform choice of so many, a row for each collection."""
    picked = np.zeros_like(counts)
    rest, wanted = counts.sum(axis=1), np.array(chosen)
    for kind in range(counts.shape[1]):
        rest = rest - counts[:, kind]
        picked[:, kind] = generator.hypergeometric(counts[:, kind], rest, wanted)
        wanted = wanted - picked[:, kind]
    return picked
