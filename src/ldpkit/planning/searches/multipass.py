"""Multi-pass search, as algorithm 4 of the thesis, without its bias."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ldpkit.core.errors import InvalidParameterError
from ldpkit.core.parameters import check_whole
from ldpkit.planning.searches import ChosenEpsilon, search
from ldpkit.planning.searches.binary import SimulatedSearch
from ldpkit.planning.searches.isotonic import smallest_passing

if TYPE_CHECKING:
    from ldpkit.core.typing import Floats
    from ldpkit.planning.searches import TrialRunner

__all__ = ["MultiPass"]


@search("mpass", "multipass")
@dataclass(frozen=True)
class MultiPass(SimulatedSearch):
    """Walk through the range in steps, then around the best epsilon in smaller steps.

    The smallest epsilon that happened to pass among many is too small on average. So
    all passes together decide, with probabilities that are first made to rise with
    epsilon.

    Parameters
    ----------
    runs, average
        As in `SimulatedSearch`.
    passes : int
        How many passes: the S of the thesis.
    step : float
        The step of the first pass.
    g : float
        By what the step is divided after each pass.
    """

    title = "Multi-pass search"
    passes: int = 5
    step: float = 1.0
    g: float = 10.0

    def __post_init__(self) -> None:
        super().__post_init__()
        check_whole(self.passes, "passes")
        if isinstance(self.g, bool) or not isinstance(self.g, (int, float)) or not self.g > 1:
            raise InvalidParameterError(f"g must exceed 1, got {self.g!r}: otherwise the steps never shrink")
        if isinstance(self.step, bool) or not isinstance(self.step, (int, float)) or not self.step > 0:
            raise InvalidParameterError(f"the step must be positive, got {self.step!r}")

    def select(self, runner: TrialRunner) -> ChosenEpsilon:
        """Return the smallest epsilon that passes, by all passes together."""
        smallest, largest = runner.question.epsilon_min, runner.question.epsilon_max
        if not self.test(runner, largest).passed:
            return ChosenEpsilon(None)
        low, high, step, chosen = smallest, largest, self.step, largest
        for _ in range(self.passes):
            for epsilon in _walk(low, high, step):
                self.test(runner, epsilon)
            found = smallest_passing(runner.trace, runner.question.constraint, average=self.average)
            chosen = largest if found is None else found
            low, high = max(chosen - step, smallest), min(chosen + step, largest)
            step /= self.g
        return ChosenEpsilon(chosen)


def _walk(low: float, high: float, step: float) -> Floats:
    """Return low, low + step, ... up to high."""
    return np.asarray(low + step * np.arange(int((high - low) / step * (1 + 1e-12)) + 1), float)
