"""The exponential mechanism on an ordered grid: near points are likelier than far ones."""

from __future__ import annotations

from fractions import Fraction

from ldpkit.core.cached import cached_property
from ldpkit.core.errors import InvalidParameterError
from ldpkit.core.exact import WORD, exp_bounds
from ldpkit.mechanisms.categorical.matrix import MatrixMechanism

__all__ = ["Exponential"]

_ONE = 1 << 128  # one, in the integers that the decay is made of
_ROOM = Fraction(1, 1 << 30)  # of epsilon, left for rounding


class Exponential(MatrixMechanism):
    """The exponential mechanism whose score is minus the distance of two points of a grid.

    A point d steps away is e^(-eps d / (k - 1)) times as likely as the value itself, and
    the two ends of the grid realise epsilon. The usual form has eps/2 in place of eps and
    so keeps only half of what it states: take half the epsilon for that one.

    It is for a consumer of single values, such as a classifier, and is not registered:
    frequencies from its reports are all but unidentified at small epsilon, since the rows of
    neighbours hardly differ.

    Parameters
    ----------
    domain : int or sequence of labels
        The points in order, evenly spaced.
    epsilon : float
        The privacy budget.

    Examples
    --------
    >>> mechanism = Exponential([0.0, 0.5, 1.0], epsilon=2)
    >>> mechanism.probabilities.round(4).tolist()[0]
    [0.6652, 0.2447, 0.09]
    >>> 2 - 1e-8 < mechanism.exact_epsilon() <= 2
    True
    """

    name = "exponential"
    title = "Exponential mechanism on a grid"
    capabilities = MatrixMechanism.capabilities | {"valued"}
    citation = "McSherry, Talwar: Mechanism design via differential privacy. FOCS 2007"

    @cached_property
    def _decay(self) -> list[int]:
        """The weight of a point by its distance in steps."""
        rate = Fraction(self.epsilon) * (1 - _ROOM) / max(self.size - 1, 1)
        factor = int(_ONE / exp_bounds(rate)[0])
        decay = [_ONE]
        while len(decay) < self.size:
            decay.append(decay[-1] * factor // _ONE)
        return decay

    def matrix(self) -> list[list[Fraction]]:
        """Return the decay from each point to all others."""
        points = range(self.size)
        return [[Fraction(self._decay[abs(one - other)]) for other in points] for one in points]

    @cached_property
    def weights(self) -> list[list[int]]:
        """The integers of the sampler: the probabilities of reports over 2**64, a row for each value."""
        points, rows = range(self.size), list[list[int]]()
        for one in points:
            row = [self._decay[abs(one - other)] for other in points]
            total = sum(row)
            whole = [weight * WORD // total for weight in row]
            whole[one] += WORD - sum(whole)  # at most k parts in 2**64
            rows.append(whole)
        low = min(min(row) for row in rows)
        if low < self.size << 32:
            raise InvalidParameterError(
                f"epsilon={self.epsilon:g} is too large for the exponential mechanism: use less, or grr"
            )
        return rows
