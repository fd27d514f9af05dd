"""A mechanism as a table: every report, and its exact probability under every value."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from ldpkit.core.errors import InvalidParameterError
from ldpkit.core.exact import log_up
from ldpkit.core.typing import Reports

__all__ = ["Channel", "check_enumerable", "rows_of_weights"]

_MOST_REPORTS = 1 << 16


@dataclass(frozen=True)
class Channel:
    """All reports of a mechanism with their exact probabilities.

    Parameters
    ----------
    reports : array
        Every possible report, once.
    probabilities : sequence of sequences of Fraction
        One row for each value, one entry for each report.
    """

    reports: Reports
    probabilities: Sequence[Sequence[Fraction]]

    def epsilon(self) -> float:
        """Return the largest log-ratio of two rows over all reports, rounded up.

        This is the definition of epsilon-LDP, computed by looking at everything.
        """
        worst = Fraction(1)
        for column in zip(*self.probabilities, strict=True):
            low, high = min(column), max(column)
            if high > 0 and low == 0:
                return float("inf")
            if high > 0:
                worst = max(worst, high / low)
        return log_up(worst)


def rows_of_weights(weights: Any, total: int) -> list[list[Fraction]]:
    """Return rows of integer weights as exact chances.

    Examples
    --------
    >>> rows_of_weights([[1, 3]], 4)
    [[Fraction(1, 4), Fraction(3, 4)]]
    """
    return [[Fraction(int(weight), total) for weight in row] for row in weights]


def check_enumerable(reports: int, what: str) -> None:
    """Refuse to list more reports than fit."""
    if reports > _MOST_REPORTS:
        raise InvalidParameterError(
            f"{what} has more than {_MOST_REPORTS} possible reports: use a smaller domain"
        )
