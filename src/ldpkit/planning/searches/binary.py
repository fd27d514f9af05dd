"""Binary search, as algorithm 1 of the thesis, with a largest epsilon that is tested."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ldpkit.core.parameters import check_whole
from ldpkit.planning.searches import ChosenEpsilon, Search, TrialRunner, check_tolerance, search

if TYPE_CHECKING:
    from ldpkit.planning.plan import Trial

__all__ = ["BinarySearch", "SimulatedSearch"]


@dataclass(frozen=True)
class SimulatedSearch(Search):
    """A search that simulates the same number of collections at every epsilon.

    Parameters
    ----------
    runs : int
        How many collections; the thesis does not say how many it took.
    average : bool
        Whether the mean of the metric, too, must be on the good side of omega. The
        thesis' algorithms ask for this, its problem does not; it matters for
        probabilities of about one half and less.
    """

    runs: int = 200
    average: bool = False

    def __post_init__(self) -> None:
        check_whole(self.runs, "runs")

    def test(self, runner: TrialRunner, epsilon: float) -> Trial:
        """Simulate at an epsilon and judge."""
        return runner.test(epsilon, self.runs, average=self.average)


@search("bs", "binary")
@dataclass(frozen=True)
class BinarySearch(SimulatedSearch):
    """Halve the range of epsilon until it is narrower than a tolerance.

    The largest epsilon is tested first: if it fails, the constraint is infeasible. The
    answer has passed its test.

    Parameters
    ----------
    runs, average
        As in `SimulatedSearch`.
    tolerance : float
        The width at which to stop: the phi of the thesis.
    """

    title = "Binary search"
    tolerance: float = 0.01

    def __post_init__(self) -> None:
        super().__post_init__()
        check_tolerance(self.tolerance)

    def select(self, runner: TrialRunner) -> ChosenEpsilon:
        """Return the upper end of the last range."""
        low, high = runner.question.epsilon_min, runner.question.epsilon_max
        if not self.test(runner, high).passed:
            return ChosenEpsilon(None)
        while high - low >= self.tolerance:
            middle = (low + high) / 2
            if self.test(runner, middle).passed:
                high = middle
            else:
                low = middle
        return ChosenEpsilon(high)
