"""Relaxed binary search, as algorithm 2 of the thesis, with an answer that is tested."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ldpkit.core.errors import InvalidParameterError
from ldpkit.planning.searches import ChosenEpsilon, search
from ldpkit.planning.searches.binary import BinarySearch

if TYPE_CHECKING:
    from ldpkit.planning.searches import TrialRunner

__all__ = ["RelaxedBinarySearch"]


@search("rbs", "relaxed")
@dataclass(frozen=True)
class RelaxedBinarySearch(BinarySearch):
    """Binary search that keeps a margin beyond the middle, so that one unlucky test does no harm.

    Each step keeps 1/2 + 1/g of the range, so g must exceed 2: with 2 the search never
    ends. The upper end of the last range was perhaps never tested; it is, and raised by
    the tolerance until it passes.

    Parameters
    ----------
    runs, average, tolerance
        As in `BinarySearch`.
    g : float
        The margin is the width of the range over g.
    """

    title = "Relaxed binary search"
    g: float = 4.0

    def __post_init__(self) -> None:
        super().__post_init__()
        if isinstance(self.g, bool) or not isinstance(self.g, (int, float)) or not self.g > 2:
            raise InvalidParameterError(f"g must exceed 2, got {self.g!r}: otherwise the range never shrinks")

    def select(self, runner: TrialRunner) -> ChosenEpsilon:
        """Return the first epsilon that passes, from the upper end of the last range on."""
        low, high = runner.question.epsilon_min, runner.question.epsilon_max
        largest = high
        if not self.test(runner, high).passed:
            return ChosenEpsilon(None)
        while high - low >= self.tolerance:
            middle, margin = (low + high) / 2, (high - low) / self.g
            if self.test(runner, middle).passed:
                high = middle + margin
            else:
                low = middle - margin
        while high < largest and not self.test(runner, high).passed:
            high = min(high + self.tolerance, largest)
        return ChosenEpsilon(high)
