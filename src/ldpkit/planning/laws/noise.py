"""The law of the errors of an unbiased estimate: normal, with exact variances.

Supports of different values are independent in unary encoding and hashing. In GRR and
subset selection every report supports equally many values, so the errors sum to zero.
Their covariance matrix is then exactly that of independent errors with other variances,
minus their mean. So one law serves all pure protocols: independent normal errors with
variances `spread`, and for the latter two the mean taken off.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ldpkit.core.errors import InvalidParameterError

if TYPE_CHECKING:
    from ldpkit.core.typing import Counts, Floats
    from ldpkit.mechanisms.categorical.oracle import FrequencyOracle

__all__ = ["NoiseLaw"]

_DECOMPOSED = 400
"""Up to this many values the eigenvalues of the covariance matrix are computed."""


@dataclass(frozen=True, eq=False)
class NoiseLaw:
    """Errors of estimated frequencies.

    Parameters
    ----------
    variance : array
        The variance of the error of each value.
    spread : array
        The variances of independent errors that have the same differences in law.
    centred : bool
        Whether the errors are those independent ones minus their mean.
    smallest_count : float
        The smallest variance of a support count, which says how good the normal law is.

    Examples
    --------
    >>> import ldpkit
    >>> counts = np.array([600, 300, 100])
    >>> NoiseLaw.of(ldpkit.OUE(3, epsilon=1), counts).centred
    False
    >>> law = NoiseLaw.of(ldpkit.GRR(3, epsilon=1), counts)
    >>> bool(np.allclose(law.covariance().sum(axis=1), 0))  # the estimates always sum to one
    True
    """

    variance: Floats
    spread: Floats
    centred: bool
    smallest_count: float

    @classmethod
    def of(cls, oracle: FrequencyOracle, counts: Counts) -> NoiseLaw:
        """Return the law for a protocol and the people's values."""
        if not oracle.can("pure"):
            raise InvalidParameterError(
                f"the search method analytic needs a pure protocol, and {oracle.name} is not one: use "
                "sequential"
            )
        n = int(counts.sum())
        variance = np.asarray(oracle.variance(counts / n, n), float)
        smallest = float(variance.min()) * (n * (oracle.p - oracle.q)) ** 2
        if oracle.support_size is None:
            return cls(variance, variance, False, smallest)
        share = _shared(oracle, oracle.support_size, counts)
        return cls(variance, variance - 2 * share, True, smallest)

    def covariance(self) -> Floats:
        """Return the whole matrix."""
        matrix = np.diag(self.spread)
        if self.centred:
            k = len(self.spread)
            matrix = matrix - (self.spread[:, None] + self.spread) / k + self.spread.sum() / k**2
        return matrix

    def eigenvalues(self) -> Floats:
        """Return the variances of the independent directions of the errors.

        Those of a centred law lie between the variances that it was made from. In large
        domains the gaps are narrow, and each eigenvalue is set to the same place in its
        gap, which keeps their sum exact.
        """
        if not self.centred:
            return self.spread
        if len(self.spread) <= _DECOMPOSED:
            return np.asarray(np.maximum(np.linalg.eigvalsh(self.covariance())[1:], 0.0))
        ascending = np.sort(self.spread)
        width = ascending[-1] - ascending[0]
        place = (ascending[-1] - ascending.mean()) / width if width > 0 else 0.0
        return np.asarray(ascending[:-1] + place * np.diff(ascending))


def _shared(oracle: FrequencyOracle, omega: int, counts: Counts) -> Floats:
    """Return u such that the errors of two values i and j have covariance u[i] + u[j].

    A report is a set of omega values, uniform among those that hold the own value and
    among those that do not.
    """
    n, k, p, q = int(counts.sum()), oracle.size, oracle.p, oracle.q
    with_own = p * (omega - 1) / (k - 1)  # a report supports its own value and one other
    both = 0.0  # it supports two others
    if k > 2:
        both = (omega - 1) * (p * (omega - 2) + (1 - p) * omega) / ((k - 1) * (k - 2))
    shared = n * (both - q * q) / 2 + counts * (with_own - p * q - both + q * q)
    return np.asarray(shared / (n * (p - q)) ** 2)
