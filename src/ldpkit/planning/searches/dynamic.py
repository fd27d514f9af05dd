"""Dynamic binary search, as algorithm 3 of the thesis, with a number of runs that always exists."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ldpkit.core.errors import InvalidParameterError
from ldpkit.core.parameters import check_whole
from ldpkit.planning.searches import search
from ldpkit.planning.searches.binary import BinarySearch

if TYPE_CHECKING:
    from ldpkit.planning.plan import Trial
    from ldpkit.planning.searches import TrialRunner

__all__ = ["DynamicBinarySearch"]


@search("dbs", "dynamic")
@dataclass(frozen=True)
class DynamicBinarySearch(BinarySearch):
    """Binary search that simulates more where the mean of the metric is close to omega.

    After `runs` collections with a mean at distance d from omega, there are C/d in all,
    at least `runs` and at most `most`; where d is zero, `most`.

    Parameters
    ----------
    runs : int
        The smallest number of runs, N_min in the thesis.
    average, tolerance
        As in `BinarySearch`.
    most : int
        The largest number of runs, N_max in the thesis.
    c : float
        The C of the thesis; it has the unit of the metric.
    """

    title = "Dynamic binary search"
    runs: int = 50
    most: int = 500
    c: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        check_whole(self.most, "most", least=self.runs)
        if isinstance(self.c, bool) or not isinstance(self.c, (int, float)) or not 0 < self.c < math.inf:
            raise InvalidParameterError(f"c must be positive and finite, got {self.c!r}")

    def test(self, runner: TrialRunner, epsilon: float) -> Trial:
        """Simulate at an epsilon as often as needed and judge."""
        values = runner.draw(epsilon, self.runs)
        distance = abs(float(values.mean()) - runner.question.constraint.omega)
        wanted = self.most if distance * self.most <= self.c else math.floor(self.c / distance)
        if wanted > self.runs:
            values = np.concatenate([values, runner.draw(epsilon, wanted - self.runs)])
        return runner.judge(epsilon, values, average=self.average)
