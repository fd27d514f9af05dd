"""Groups of three and more, which the thesis leaves open: what they gain, and what a member learns.

Members are exchangeable, so a group is the law of how many of them are untruthful. Each
report on its own is that of randomised response, whatever the law.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from ldpkit.core.cached import cached_property
from ldpkit.core.errors import InvalidParameterError
from ldpkit.mechanisms.joint.table import log_ratio_up

__all__ = ["GroupLaw", "best_at_equal_epsilon", "least_variance", "strongest"]

SIZES = (2, 3, 4, 5, 6, 8, 12, 16)  # beyond, the program's probabilities are too small to be trusted
_TRUTH = 40  # probabilities of the truth that are tried for the best


@dataclass(frozen=True)
class GroupLaw:
    """How many members of a group are untruthful, any of them with the same probability.

    Parameters
    ----------
    weights : tuple of Fraction
        The probability of 0, 1, ... untruthful members.

    Examples
    --------
    >>> pair = GroupLaw((Fraction(1, 2), Fraction(1, 2), Fraction(0)))
    >>> pair.untruthful, pair.correlation, pair.learned(1)
    (Fraction(1, 4), Fraction(-1, 3), inf)
    """

    weights: tuple[Fraction, ...]

    def __post_init__(self) -> None:
        if len(self.weights) < 3 or sum(self.weights) != 1 or min(self.weights) < 0:
            raise InvalidParameterError("a group of two or more has probabilities that add up to one")

    @property
    def size(self) -> int:
        """The number of members."""
        return len(self.weights) - 1

    @cached_property
    def untruthful(self) -> Fraction:
        """The probability that one member is untruthful."""
        return self._all_of(1)

    def _all_of(self, members: int) -> Fraction:
        """Return the probability that some given members are all untruthful."""
        return self._pattern(members, members)

    def _pattern(self, members: int, untruthful: int) -> Fraction:
        """Return the probability that, of some given members, exactly some given ones are untruthful."""
        rest = self.size - members
        return sum(
            (
                self.weights[untruthful + more]
                * math.comb(rest, more)
                / Fraction(math.comb(self.size, untruthful + more))
                for more in range(rest + 1)
            ),
            Fraction(0),
        )

    @property
    def correlation(self) -> Fraction:
        """The correlation of the truthfulness of any two members."""
        u = self.untruthful
        return (self._all_of(2) - u**2) / (u * (1 - u))

    @property
    def third_order(self) -> float:
        """The third-order correlation: the mean product of three members' standardised truthfulness."""
        if self.size < 3:
            raise InvalidParameterError("two members have no third-order correlation")
        u = self.untruthful
        # Of untruthfulness it is E[abc] - 3 u E[ab] + 2 u^3; truthfulness has the other sign.
        moment = self._all_of(3) - 3 * u * self._all_of(2) + 2 * u**3
        return -float(moment) / math.pow(u * (1 - u), 1.5)

    def learned(self, known: int) -> float:
        """Return the exact epsilon towards whoever knows of so many other members whether they lied."""
        if not 0 <= known < self.size:
            raise InvalidParameterError(
                f"of {self.size} members up to {self.size - 1} others are known, got {known}"
            )
        ratios = [
            (self._pattern(known + 1, count), self._pattern(known + 1, count + 1))
            for count in range(known + 1)
        ]
        return max(log_ratio_up(truth, lie) for truth, lie in ratios if truth or lie)

    def ratio(self, share: float, n: int, epsilon: float) -> float:
        """Return the variance of a count among n people in random groups, over that of RR at `epsilon`."""
        u, rho = float(self.untruthful), float(self.correlation)
        together = rho * (self.size - 1) / (n - 1) * (n * (2 * share - 1) ** 2 - 1)
        own = u * (1 - u) / (1 - 2 * u) ** 2 * (1 + together)
        return own * (math.exp(epsilon) - 1) ** 2 / math.exp(epsilon)


def strongest(size: int, untruthful: Fraction) -> GroupLaw:
    """Return the law of the least correlation: the number of untruthful members is as constant as can be.

    Examples
    --------
    >>> [round(float(strongest(size, Fraction(1, 4)).correlation), 4) for size in (2, 3, 4, 5)]
    [-0.3333, -0.3333, -0.3333, -0.2]
    >>> round(strongest(3, Fraction(1, 4)).third_order, 4)
    -0.3849
    """
    mean = size * untruthful
    low = math.floor(mean)
    weights = [Fraction(0)] * (size + 1)
    weights[low] = 1 - (mean - low)
    if mean > low:
        weights[low + 1] = mean - low
    return GroupLaw(tuple(weights))


def least_variance(size: int, alone: float, epsilon: float) -> GroupLaw | None:
    """Return the law of the least correlation that keeps an epsilon towards all other members together.

    A linear program; the law is then mended to exact fractions, so `learned` tells its true epsilon.

    Examples
    --------
    >>> pair = least_variance(2, 1.0, 2.0)
    >>> round(float(pair.correlation), 6), round(pair.learned(1), 6)
    (-0.204824, 2.0)
    """
    from scipy.optimize import linprog

    factor, lies = math.exp(epsilon), np.arange(size + 1)
    u = 1 / (1 + math.exp(alone))
    # One pattern with `count` lies must be at most e^epsilon as likely as one with a lie more, and less.
    rows = np.zeros((2 * size, size + 1))
    for count in range(size):
        step = (size - count) / (count + 1)
        rows[2 * count, count : count + 2] = step, -factor
        rows[2 * count + 1, count : count + 2] = -factor * step, 1
    found = linprog(
        (lies - size * u) ** 2,
        A_ub=rows,
        b_ub=np.zeros(len(rows)),
        A_eq=np.array([np.ones(size + 1), lies]),
        b_eq=[1, size * u],
        bounds=(0, 1),
    )
    if found.status != 0:
        return None
    parts = [Fraction(max(0.0, float(each))) for each in found.x]
    total = sum(parts)
    return GroupLaw(tuple(each / total for each in parts))


def best_at_equal_epsilon(size: int, epsilon: float) -> tuple[float, GroupLaw]:
    """Return the least variance over that of RR at the same epsilon, if all hold the same value.

    Every epsilon of a report on its own up to `epsilon` is tried; `epsilon` holds towards
    all other members together.

    Examples
    --------
    >>> [round(best_at_equal_epsilon(size, 1.0)[0], 2) for size in (2, 16)]
    [1.0, 0.93]
    """
    found = []
    for alone in np.linspace(0.3, 1 - 1e-6, _TRUTH) * epsilon:
        law = least_variance(size, float(alone), epsilon)
        if law is not None and law.learned(size - 1) <= epsilon + 1e-6:
            found.append((law.ratio(0.0, 10**9, epsilon), law))
    return min(found, key=lambda each: each[0])


def rows(
    sizes: Sequence[int] = SIZES, epsilon: float = 1.0, towards: float = 2.0
) -> Iterator[dict[str, Any]]:
    """Yield for every size what the strongest, the capped and the equal-epsilon group reach."""
    from ldpkit.mechanisms.joint.group_count import GroupCount

    u = Fraction(1 / (1 + math.exp(epsilon)))
    base = math.exp(epsilon) / (math.exp(epsilon) - 1) ** 2
    for size in sizes:
        law, capped = strongest(size, u), least_variance(size, epsilon, towards)
        assert capped is not None
        equal, _ = best_at_equal_epsilon(size, epsilon)
        yield {
            "size": size,
            "correlation": float(law.correlation),
            "third_order": law.third_order if size > 2 else None,
            "variance": law.ratio(0.0, 10**9, epsilon),
            "one_member": law.learned(1),
            "all_members": law.learned(size - 1),
            f"variance_at_{towards:g}": capped.ratio(0.0, 10**9, epsilon),
            "variance_equal_epsilon": equal,
            "group_count": float(GroupCount(size, epsilon).group_variances()[0]) / size / base,
        }
