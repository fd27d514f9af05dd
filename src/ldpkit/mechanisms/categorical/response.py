"""Randomised response in integers: keep with one threshold, else a uniform other value.

GRR uses it on the domain, local hashing on the buckets of a hash. One random word w
decides: below `keep` the value stays, and the rest of the range is cut into pieces of
equal width, one for each other value. All probabilities are integers over 2**64, so
the realised epsilon is ln(keep / width), exactly.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from ldpkit.core.cached import cached_property
from ldpkit.core.exact import WORD, exp_bounds, log_up

__all__ = ["RandomisedResponse"]


@dataclass(frozen=True)
class RandomisedResponse:
    """The integers of randomised response over `size` values.

    Examples
    --------
    >>> response = RandomisedResponse(3, 1.0)
    >>> response.keep + 2 * response.width == 2**64
    True
    >>> 1 - 1e-15 < response.epsilon() <= 1
    True
    """

    size: int
    target: float

    @cached_property
    def width(self) -> int:
        """The integer width of each other value: 2**64 / (e**eps + size - 1), rounded up."""
        low, _ = exp_bounds(self.target)
        ideal = WORD / (low + self.size - 1)
        return -((-ideal.numerator) // ideal.denominator)

    @cached_property
    def keep(self) -> int:
        """The integer width of the true value: what the others leave."""
        return WORD - (self.size - 1) * self.width

    @property
    def p(self) -> Fraction:
        """The probability of the true value."""
        return Fraction(self.keep, WORD)

    @property
    def q(self) -> Fraction:
        """The probability of each other value."""
        return Fraction(self.width, WORD)

    def epsilon(self) -> float:
        """Return the realised epsilon, rounded up."""
        ratio = Fraction(self.keep, self.width)
        return log_up(max(ratio, 1 / ratio))  # either way round, should rounding ever turn it

    def row(self, value: int) -> list[Fraction]:
        """Return the exact probability of every output for one value."""
        return [self.p if output == value else self.q for output in range(self.size)]
