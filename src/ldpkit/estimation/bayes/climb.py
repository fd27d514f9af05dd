"""Climbing a concave log-likelihood on the simplex: EM, SQUAREM and scoring.

An EM step multiplies every frequency by its slope. It never goes down, but it crawls
where most reports are explained by chance. Two ways to go faster:

- "squarem" (Varadhan, Roland 2008): two EM steps, an extrapolation along them, a third
  step to land. The steps leave out reports explained by chance, which say nothing about
  frequencies: still EM, but with less missing information.
- "scoring": Newton steps with the diagonal of the information matrix, each solved
  exactly on the simplex by water-filling, so that frequencies reach zero and leave it
  again. Supports of different values are nearly independent in all pure protocols,
  hence the diagonal is nearly all there is: usually 5 to 20 steps to the maximum.

Both go back when the likelihood falls. However one climbs, the largest slope certifies
how far there is to go: no distribution has a log-likelihood per report that is more than
`max(slope) - 1` higher.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ldpkit.core.errors import InvalidParameterError
from ldpkit.core.parameters import check_whole
from ldpkit.core.typing import Floats
from ldpkit.estimation.bayes.loglikelihood import Objective, View

__all__ = ["Climb", "Rules", "check_start", "climb"]

_SHRINK = 1 / 16  # an extrapolation shrinks a frequency no further: from zero there is no return
_ROUNDING = 1e-13  # differences of a log-likelihood below this share of it mean nothing
_FLATTEST = 1e-3  # the least curvature that scoring believes, as a share of the largest


@dataclass(frozen=True)
class Rules:
    """How to climb, and when to stop.

    Parameters
    ----------
    max_iterations : int
        The largest number of steps.
    accelerate : bool or {"squarem", "scoring"}
        False takes plain EM steps; True is "squarem".
    largest_change, largest_gap : float
        Stop where a step changes no frequency by more than the one, or the gap is no
        more than the other.
    """

    max_iterations: int = 10_000
    accelerate: bool | str = False
    largest_change: float = 0.0
    largest_gap: float = 0.0

    def __post_init__(self) -> None:
        check_whole(self.max_iterations, "max_iterations")
        if self.accelerate not in (False, True, "squarem", "scoring"):
            raise InvalidParameterError(
                f'accelerate must be False, True, "squarem" or "scoring", got {self.accelerate!r}'
            )
        for tolerance in (self.largest_change, self.largest_gap):
            if not isinstance(tolerance, (int, float, np.floating)) or not 0 <= tolerance < np.inf:
                raise InvalidParameterError(f"tolerance must be finite and not negative, got {tolerance!r}")


@dataclass(frozen=True)
class Climb:
    """Where a climb ended, and how.

    Parameters
    ----------
    frequencies : array
        The last distribution.
    iterations : int
        How many steps were taken, those that were taken back included.
    converged : bool
        Whether a tolerance was reached within the iterations allowed.
    log_likelihood : float
        At the last distribution, up to a constant that does not depend on it.
    gap : float
        An upper bound of what is missing to the largest log-likelihood per report.
    """

    frequencies: Floats
    iterations: int
    converged: bool
    log_likelihood: float
    gap: float

    def diagnostics(self, **more: Any) -> dict[str, Any]:
        """Return all but the frequencies, for `Estimate.diagnostics`."""
        return {
            "iterations": self.iterations,
            "converged": self.converged,
            "log_likelihood": self.log_likelihood,
            "gap": self.gap,
            **more,
        }


def climb(objective: Objective, start: Floats, rules: Rules) -> Climb:
    """Climb from a distribution until the rules say stop.

    Examples
    --------
    >>> from ldpkit.estimation.bayes.loglikelihood import Surrogate
    >>> supports = Surrogate(np.array([30, 20, 10]), 0.5, 1 / (np.e + 1))
    >>> for accelerate in (False, "squarem", "scoring"):
    ...     top = climb(supports, np.full(3, 1 / 3), Rules(accelerate=accelerate, largest_gap=1e-12))
    ...     print(top.frequencies.round(4).tolist(), top.converged)
    [0.8328, 0.1672, 0.0] True
    [0.8328, 0.1672, 0.0] True
    [0.8328, 0.1672, 0.0] True
    """
    walk = _Walk(objective, start, rules)
    if rules.accelerate == "scoring":
        walk.score()
    else:
        while not walk.over:
            if rules.accelerate:
                walk.leap()
            else:
                walk.step(0.0)
    view = objective(walk.at)
    return Climb(walk.at, walk.iterations, walk.converged, view.log_likelihood, view.gap)


class _Walk:
    """A point on the simplex that moves uphill."""

    def __init__(self, objective: Objective, start: Floats, rules: Rules) -> None:
        self.objective, self.at, self.rules = objective, start, rules
        self.iterations, self.converged = 0, False
        self.longest = 1.0

    @property
    def over(self) -> bool:
        return self.converged or self.iterations >= self.rules.max_iterations

    def look(self, *, curvature: bool = False) -> View:
        """Return the view from here; at the top the walk is over."""
        view = self.objective(self.at, curvature=curvature)
        self.iterations += 1
        self.converged = view.gap <= self.rules.largest_gap
        return view

    def move(self, to: Floats) -> None:
        """Go there; if that is no distance the walk is over."""
        change = float(np.abs(to - self.at).max())
        self.at, self.converged = to, change <= self.rules.largest_change

    def step(self, without_base: float = 1.0) -> float:
        """Take an EM step, leaving out a share of the base; return the log-likelihood before it."""
        view = self.look()
        if not self.converged:
            grown = self.at * (view.slope - without_base * view.base)
            self.move(grown / grown.sum())
        return view.log_likelihood

    def leap(self) -> None:
        """Take two EM steps and extrapolate; go back if that went downhill."""
        start = self.at
        self.step()
        first = self.at
        if self.over:
            return
        reached = self.step()
        second = self.at
        if self.over:
            return
        length = min(_step_length(start, first, second), self.longest)
        self.at = _extrapolate(start, first, second, length)
        if _fell(self.step(), reached):
            self.at, self.converged, self.longest = second, False, max(1.0, length / 4)
        elif length == self.longest:
            self.longest *= 4

    def score(self) -> None:
        """Take scoring steps to the end; damp them where one went downhill."""
        here, view, damping = self.at, self.look(curvature=True), 1.0
        while not self.over:
            self.at = here
            self.move(_newton(here, view, damping))
            if self.over:
                return
            ahead = self.look(curvature=True)
            if _fell(ahead.log_likelihood, view.log_likelihood):
                self.converged, damping = False, 2 * damping
            else:
                here, view = self.at, ahead
        self.at = here


def _fell(new: float, old: float) -> bool:
    return new < old - _ROUNDING * abs(old)


def _step_length(start: Floats, first: Floats, second: Floats) -> float:
    step, bend = first - start, second - 2 * first + start
    curvature = float(bend @ bend)
    return max(1.0, float(np.sqrt((step @ step) / curvature))) if curvature else 1.0


def _extrapolate(start: Floats, first: Floats, second: Floats, length: float) -> Floats:
    far = start + 2 * length * (first - start) + length**2 * (second - 2 * first + start)
    inside = np.maximum(far, _SHRINK * second)
    return np.asarray(inside / inside.sum())


def _newton(frequencies: Floats, view: View, damping: float) -> Floats:
    """Return the top of the parabola with the view's slope and curvature, on the simplex."""
    assert view.curvature is not None
    steepest = view.curvature.max() or 1.0  # a single report shows no curvature at all
    steep = damping * np.maximum(view.curvature, _FLATTEST * steepest)
    rim = frequencies * steep + view.slope
    order = np.argsort(-rim)
    width = np.cumsum(1 / steep[order])
    level = (np.cumsum(rim[order] / steep[order]) - 1) / width
    last = np.flatnonzero(rim[order] > level)[-1]  # the water covers the highest rims
    filled = np.maximum(rim - level[last], 0) / steep
    return np.asarray(filled / filled.sum())


def check_start(start: object, size: int) -> Floats:
    """Return a start as a distribution without zeros, or refuse it; None is the uniform one."""
    if start is None:
        return np.full(size, 1 / size)
    try:
        array = np.asarray(start, float)
    except (TypeError, ValueError):
        raise InvalidParameterError(f"start must be {size} frequencies, got {start!r}") from None
    if array.shape != (size,):
        raise InvalidParameterError(f"start must have {size} frequencies, got shape {array.shape}")
    if not (np.isfinite(array).all() and (array > 0).all()):
        raise InvalidParameterError(
            "start must be positive everywhere: a frequency that starts at zero stays at zero"
        )
    return np.asarray(array / array.sum())
