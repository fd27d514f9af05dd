"""The joint table of two partners: how likely each of them, and both, report untruthfully.

Each report on its own is randomised response. One further number, the probability that
both partners are untruthful, sets how they depend on each other, and so decides what one
learns from the other and how much the noise of the two cancels.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Self

from ldpkit.core.errors import InvalidParameterError
from ldpkit.core.exact import WORD, RandomisedResponse, exp_bounds, log_up

__all__ = ["NEGATIVE", "POSITIVE", "PairTable", "log_ratio_up"]

NEGATIVE, POSITIVE = "negative", "positive"


@dataclass(frozen=True)
class PairTable:
    """The exact law of who of two partners reports truthfully.

    Parameters
    ----------
    size : int
        The number of values. An untruthful report is a uniform other one.
    truthful : Fraction
        The probability p that one report is the true value.
    both : Fraction
        The probability that both reports are untruthful. Zero is the least correlation
        that there is if p is at least 1/2, and tells who knows one partner to be
        untruthful that the other is not.

    Examples
    --------
    >>> table = PairTable.correlated(2, Fraction(3, 4), Fraction(-1, 5))
    >>> table.both, round(table.epsilon_alone(), 6), round(table.epsilon(), 6)
    (Fraction(1, 40), 1.098612, 2.197225)
    >>> PairTable.correlated(2, Fraction(3, 4), Fraction(-1, 3)).epsilon()
    inf
    """

    size: int
    truthful: Fraction
    both: Fraction

    def __post_init__(self) -> None:
        if self.size < 2 or not 0 < self.truthful < 1:
            raise InvalidParameterError(
                f"a pair needs two values or more and a probability of the truth strictly between 0 and 1, "
                f"got {self.size} values and {float(self.truthful)!r}"
            )
        low, high = max(Fraction(0), 2 * self.untruthful - 1), self.untruthful
        if not low <= self.both <= high:
            raise InvalidParameterError(
                f"both partners are untruthful with a probability from {float(low):g} to {float(high):g} "
                f"if one is with {float(self.untruthful):g}, got {float(self.both)!r}"
            )

    @classmethod
    def correlated(cls, size: int, truthful: Fraction, rho: Fraction) -> Self:
        """Return the table of the thesis, with its parameter rho, which is the correlation for two values."""
        untruthful = 1 - truthful
        low, high = rho_range(size, truthful)
        if not low <= rho <= high:
            raise InvalidParameterError(
                f"rho must lie between {float(low):g} and {float(high):g} for {size} values and "
                f"p={float(truthful):g}, got {float(rho)!r}"
            )
        return cls(size, truthful, untruthful**2 + rho / (size - 1) * truthful * untruthful)

    @classmethod
    def of_epsilons(cls, size: int, alone: float, towards: float, sign: str = NEGATIVE) -> Self:
        """Return the table over 2**64 whose two epsilons are at most these, and all but equal to them.

        Parameters
        ----------
        size : int
            The number of values.
        alone : float
            The epsilon of one report on its own.
        towards : float
            The epsilon towards a partner who knows everything else, larger than `alone`; may be infinite.
        sign : {"negative", "positive"}
            The sign of the correlation.
        """
        response = RandomisedResponse(size, alone)
        untruthful = WORD - response.keep
        low, high = max(0, 2 * untruthful - WORD), untruthful
        if not math.isinf(towards):
            # A partner known to be untruthful or truthful makes the truth at most so much likelier, or less.
            above = exp_bounds(towards)[0] / (size - 1)
            below = 1 / (exp_bounds(towards)[0] * (size - 1))
            rest = WORD - 2 * untruthful
            low = max(
                low,
                math.ceil(untruthful / (1 + above)),
                math.ceil((below * untruthful - rest) / (1 + below)),
            )
            high = min(
                high,
                math.floor(untruthful / (1 + below)),
                math.floor((above * untruthful - rest) / (1 + above)),
            )
        if towards <= alone or low > high:
            raise InvalidParameterError(
                f"epsilon={towards:g} must exceed epsilon_alone={alone:g}: at equal epsilons partners are "
                "independent, so use GRR"
            )
        both = low if sign == NEGATIVE else high
        return cls(size, response.p, Fraction(both, WORD))

    @property
    def untruthful(self) -> Fraction:
        """The probability that one report is not the true value."""
        return 1 - self.truthful

    @property
    def one(self) -> Fraction:
        """The probability that the first report is truthful and the second is not."""
        return self.untruthful - self.both

    @property
    def neither(self) -> Fraction:
        """The probability that no report is untruthful."""
        return self.truthful - self.one

    @property
    def q(self) -> Fraction:
        """The probability of each value but the true one."""
        return self.untruthful / (self.size - 1)

    @property
    def covariance(self) -> Fraction:
        """The covariance of the two truthfulness indicators."""
        return self.both - self.untruthful**2

    @property
    def correlation(self) -> Fraction:
        """The correlation of the two truthfulness indicators."""
        return self.covariance / (self.truthful * self.untruthful)

    @property
    def rho(self) -> Fraction:
        """The parameter of the thesis: the correlation, times k - 1."""
        return self.correlation * (self.size - 1)

    @property
    def thresholds(self) -> tuple[int, int, int]:
        """The ends over 2**64 of 'both truthful', 'only the first' and 'only the second'."""
        scaled = [WORD * part for part in (self.neither, self.one, self.one)]
        if any(part.denominator != 1 for part in scaled):
            raise InvalidParameterError("the table is not one over 2**64: make it with of_epsilons")
        first, second, third = (int(part) for part in scaled)
        return first, first + second, first + second + third

    def epsilon_alone(self) -> float:
        """Return the epsilon of one report on its own, rounded up."""
        return log_ratio_up(self.truthful, self.q)

    def epsilon(self) -> float:
        """Return the epsilon towards whoever knows the partner and whether its report is true, rounded up."""
        worst = self.worst_ratio()
        return math.inf if worst is None else log_up(worst)

    def worst_ratio(self) -> Fraction | None:
        """Return how much likelier one value can make a report than another, to whoever knows the partner."""
        ratios = [
            (self.size - 1) * first / second if first and second else None
            for first, second in ((self.neither, self.one), (self.one, self.both))
        ]
        found = [max(ratio, 1 / ratio) for ratio in ratios if ratio is not None]
        return max(found) if len(found) == len(ratios) else None

    def by_partner(self) -> tuple[tuple[Fraction, Fraction], ...]:
        """Return what is known of a report to whoever knows whether the partner's is true.

        For a true and for an untrue one: how likely that is, and how likely the report then is true.

        Examples
        --------
        >>> PairTable.correlated(2, Fraction(3, 4), Fraction(-1, 5)).by_partner()
        ((Fraction(3, 4), Fraction(7, 10)), (Fraction(1, 4), Fraction(9, 10)))
        """
        return (self.truthful, self.neither / self.truthful), (self.untruthful, self.one / self.untruthful)

    def epsilon_given(self, *chances: Fraction) -> float:
        """Return the epsilon towards whoever thinks the partner truthful with one of some probabilities."""
        worst = 0.0
        for chance in chances:
            truthful = self.neither / self.truthful * chance + self.one / self.untruthful * (1 - chance)
            worst = max(worst, log_ratio_up(truthful, (1 - truthful) / (self.size - 1)))
        return worst


def rho_range(size: int, truthful: Fraction) -> tuple[Fraction, Fraction]:
    """Return the least and the largest rho: all four probabilities must exist.

    Examples
    --------
    >>> rho_range(2, Fraction(3, 4)), rho_range(3, Fraction(1, 2))
    ((Fraction(-1, 3), Fraction(1, 1)), (Fraction(-2, 1), Fraction(2, 1)))
    """
    odds = truthful / (1 - truthful) * (size - 1)  # p / q
    return max(-odds, -((size - 1) ** 2) / odds), Fraction(size - 1)


def log_ratio_up(first: Fraction, second: Fraction) -> float:
    """Return |ln(first / second)| rounded up; infinity if one of them is zero.

    Examples
    --------
    >>> log_ratio_up(Fraction(1), Fraction(0)), log_ratio_up(Fraction(1, 3), Fraction(1, 3))
    (inf, 0.0)
    """
    if first == second:
        return 0.0
    if not first or not second:
        return math.inf
    return log_up(max(first / second, second / first))
